"""What the engine writes into the session: model calls as the gateway makes them, steps as the agents make them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from workbench.agents.desk import Step
from workbench.models.types import Answer, CallRecord, Message, Request, Usage
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import SeenRow, StepRow

JUDGE = "/judge"  # scope of a trial's judge, beside the trial's own


def _messages(writer: SessionWriter, messages: tuple[Message, ...]) -> str:
    return writer.blob(json.dumps([[message.role, writer.blob(message.content)] for message in messages]))


class SessionCallLog:
    """The gateway's log on a session file: remembers answers for a resume, records every call with its tries.

    Args:
        writer: The session.
        run: Id of the run whose spend grows with each call.
    """

    def __init__(self, writer: SessionWriter, run: str) -> None:
        self._writer = writer
        self._run = run
        self._last: dict[str, int] = {}

    def last_call(self, scope: str) -> int | None:
        """Return the id of the newest call of a work item, recalled ones included."""
        return self._last.get(scope)

    def recall(self, request: Request, nth: int) -> Answer | None:
        """Return the answer that this session holds for the same work item and request."""
        if not request.scope:
            return None
        with self._writer.transaction() as connection:
            row = connection.execute(
                "SELECT id, answer_blob, reasoning_blob, answered_by, finish_reason, prompt_tokens, completion_tokens, "
                "cached_tokens, cost_usd, latency_s, attempts FROM calls WHERE scope = ? AND digest = ? AND nth = ? "
                "AND sample = ? AND model = ? AND answer_blob IS NOT NULL ORDER BY id LIMIT 1",
                (request.scope, request.digest, nth, request.sample, request.model),
            ).fetchone()
        if row is None:
            return None
        self._last[request.scope] = row[0]
        with SessionReader(self._writer.path) as reader:
            return _answer(reader, row[1:], "recorded")

    def record(self, call: CallRecord) -> None:
        """Write one finished call; when this returns it survives a kill."""
        request, answer = call.request, call.answer
        shape = request.grammar or (json.dumps(request.json_schema) if request.json_schema else None)
        with self._writer.transaction():
            key = self._writer.insert(
                "calls",
                {
                    "run_id": self._run,
                    "scope": request.scope,
                    "purpose": request.purpose,
                    "model": request.model,
                    "digest": request.digest,
                    "sample": request.sample,
                    "nth": call.nth,
                    "messages_blob": _messages(self._writer, request.messages),
                    "shape_blob": self._writer.blob(shape) if shape else None,
                    "sampling": json.dumps(request.sampling.to_json()),
                    "answer_blob": self._writer.blob(answer.text) if answer else None,
                    "reasoning_blob": self._writer.blob(answer.reasoning) if answer and answer.reasoning else None,
                    "answered_by": answer.model if answer else None,
                    "finish_reason": answer.finish_reason if answer else None,
                    "error_kind": call.error.kind if call.error else None,
                    "error": str(call.error) if call.error else None,
                    "prompt_tokens": answer.usage.prompt_tokens if answer else None,
                    "completion_tokens": answer.usage.completion_tokens if answer else None,
                    "cached_tokens": answer.usage.cached_tokens if answer else None,
                    "cost_usd": answer.cost_usd if answer else None,
                    "latency_s": answer.latency_s if answer else None,
                    "attempts": json.dumps([asdict(attempt) for attempt in call.attempts]),
                    "source": answer.source if answer else "error",
                    "started_at": call.started_at,
                },
            )
            if answer and answer.cost_usd:
                self._writer.add_spend(self._run, answer.cost_usd)
        self._last[request.scope] = key


def _answer(reader: SessionReader, row: tuple[object, ...], source: str) -> Answer:
    text, reasoning, by, finish, prompt, completion, cached, cost, latency, attempts = row
    return Answer(
        text=reader.text(str(text)),
        model=str(by or ""),
        usage=Usage(_int(prompt), _int(completion), _int(cached)),
        cost_usd=cost if isinstance(cost, float) else None,
        latency_s=latency if isinstance(latency, float) else 0.0,
        finish_reason=str(finish or "stop"),
        attempts=max(1, len(json.loads(str(attempts)))),
        source=source,
        reasoning=reader.text(str(reasoning)) if reasoning else None,
    )


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


class SessionReplay:
    """Answers recorded in another session, found by what was asked, the sample and how often it was asked before.

    Args:
        path: The session file.
    """

    def __init__(self, path: Path) -> None:
        self._reader = SessionReader(path)

    def find(self, digest: str, sample: int, nth: int) -> Answer | None:
        """Return the recorded answer byte for byte, or None if that session has none."""
        rows = self._reader.query(
            "SELECT answer_blob, reasoning_blob, answered_by, finish_reason, prompt_tokens, completion_tokens, "
            "cached_tokens, cost_usd, latency_s, attempts FROM calls "
            "WHERE digest = ? AND sample = ? AND nth = ? AND answer_blob IS NOT NULL ORDER BY id LIMIT 1",
            (digest, sample, nth),
        )
        return _answer(self._reader, rows[0], "replay") if rows else None


class TrialLog:
    """The desk's log on a session file: a step, what it showed of the repository, and the trial's sums go in together.

    Args:
        writer: The session.
        calls: The log of the gateway that answers this trial.
        trial: Identity of the trial.
    """

    def __init__(self, writer: SessionWriter, calls: SessionCallLog, trial: str) -> None:
        self._writer = writer
        self._calls = calls
        self._trial = trial

    def step(self, step: Step) -> None:
        """Write a step; a step that is there already (resume) stays as it was."""
        answer, observation = step.answer, step.observation
        settings = dict(step.request.sampling.to_json()) if step.request else {}
        if answer is not None and answer.dropped:
            settings["dropped"] = list(answer.dropped)
        with self._writer.transaction() as connection:
            self._writer.add_step(
                StepRow(
                    trial_id=self._trial,
                    number=step.number,
                    kind=step.kind,
                    action=step.action,
                    target=step.target,
                    call_id=self._calls.last_call(self._trial) if step.request else None,
                    answer_blob=self._writer.blob(answer.text) if answer else None,
                    observation_blob=self._writer.blob(observation.text) if observation else None,
                    observation_size=len(observation.text.encode("utf-8", "surrogatepass")) if observation else 0,
                    problem=step.problem,
                    prompt_tokens=answer.usage.prompt_tokens if answer else None,
                    completion_tokens=answer.usage.completion_tokens if answer else None,
                    cost_usd=answer.cost_usd if answer else None,
                    seconds=step.seconds,
                    model=answer.model if answer else (step.request.model if step.request else None),
                    settings=json.dumps(settings),
                    at=step.at,
                )
            )
            if observation is not None:
                seen = [SeenRow(self._trial, path, "listed", step.number, 0, None) for path in observation.listed]
                if observation.read:
                    blob = self._writer.blob(observation.text)
                    seen.append(SeenRow(self._trial, observation.read, "read", step.number, observation.size, blob))
                self._writer.add_seen(seen)
            connection.execute(
                "UPDATE trials SET (steps, prompt_tokens, completion_tokens, cost_usd) = ("
                "SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0), sum(cost_usd) "
                "FROM steps WHERE trial_id = trials.id) WHERE id = ?",
                (self._trial,),
            )
