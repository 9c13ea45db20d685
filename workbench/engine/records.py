"""Write model calls and agent steps into the session as they happen."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.agents.agent_context import Step
from workbench.agents.inherited import INHERITED
from workbench.models.types import Answer, CallRecord, Message, Request, Usage
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import AccessedFileRow, CallRow, RunRow, StepRow

JUDGE = "/judge"  # suffix that makes the scope of a trial's judge from the trial's own scope


def _messages(writer: SessionWriter, messages: tuple[Message, ...]) -> str:
    return writer.blob(json.dumps([[message.role, writer.blob(message.content)] for message in messages]))


# The tries of one request have a row each, those of an earlier process that came to no answer as well.
_BILLED = """
SELECT sum(tried.prompt_tokens), sum(tried.completion_tokens), sum(tried.cost_usd) FROM calls AS last JOIN calls AS tried
USING (scope, digest, nth, sample, model) WHERE last.id = ? AND scope = ?
"""


class SessionCallLog:
    """The gateway's call log in a session file: recalls answers after a resume, and records every call with its tries."""

    def __init__(self, writer: SessionWriter, run: str) -> None:
        self._writer = writer
        self._run = run
        self._last: dict[str, int] = {}

    def last_call(self, scope: str) -> int | None:
        return self._last.get(scope)

    def take_over(self, scope: str, call: int) -> None:
        """Let a call of another work item be the latest of this one, whose answer it inherits."""
        self._last[scope] = call

    def billed(self, scope: str) -> dict[str, Any]:
        """Return tokens and US dollars of the latest request of a work item, with every try of it that was billed."""
        with self._writer.transaction() as connection:
            row = connection.execute(_BILLED, (self._last.get(scope), scope)).fetchone()
        return dict(zip(("prompt_tokens", "completion_tokens", "cost_usd"), row, strict=True))

    def recall(self, request: Request, nth: int) -> Answer | None:
        """Return the answer that this session holds for the same work item and request."""
        if not request.scope:
            return None
        with self._writer.transaction() as connection:
            row = connection.execute(
                "SELECT id, answer_blob, reasoning_blob, answered_by, finish_reason, prompt_tokens, completion_tokens, "
                "cached_tokens, cost_usd, latency_s, attempts, shape_blob FROM calls WHERE scope = ? AND digest = ? AND nth = ? "
                "AND sample = ? AND model = ? AND answer_blob IS NOT NULL ORDER BY id LIMIT 1",
                (request.scope, request.digest, nth, request.sample, request.model),
            ).fetchone()
        if row is None:
            return None
        self._last[request.scope] = row[0]
        with SessionReader(self._writer.path, surveyed=False) as reader:
            return _answer(reader, row[1:], "recorded")

    def record(self, call: CallRecord) -> None:
        """Write one finished call durably before returning."""
        request, answer, usage = call.request, call.answer, call.usage
        # A grammar that the model was not held to (only the embedded one is) shaped nothing.
        grammar = request.grammar if answer is None or answer.shaped else None
        shape = grammar or (json.dumps(request.json_schema) if request.json_schema else None)
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
                    "prompt_tokens": usage.prompt_tokens if usage else None,
                    "completion_tokens": usage.completion_tokens if usage else None,
                    "cached_tokens": usage.cached_tokens if usage else None,
                    "cost_usd": call.cost_usd,
                    "latency_s": answer.latency_s if answer else None,
                    "attempts": json.dumps([asdict(attempt) for attempt in call.attempts]),
                    "source": answer.source if answer else "error",
                    "started_at": call.started_at,
                },
            )
            if call.cost_usd:
                self._writer.add_spend(self._run, call.cost_usd)
        self._last[request.scope] = key


def _answer(reader: SessionReader, row: tuple[object, ...], source: str) -> Answer | None:
    """Return a recorded answer, None where its text cannot be read: then it is as if it had not been recorded."""
    text, reasoning, by, finish, prompt, completion, cached, cost, latency, attempts, shape = row
    said = reader.kept(str(text), "a recorded answer")
    if said is None:
        return None
    return Answer(
        text=said,
        model=str(by or ""),
        usage=Usage(_int(prompt), _int(completion), _int(cached)),
        cost_usd=cost if isinstance(cost, float) else None,
        latency_s=latency if isinstance(latency, float) else 0.0,
        finish_reason=str(finish or "stop"),
        attempts=max(1, len(reader.decoded(str(attempts), list, "the attempts of a recorded answer"))),
        source=source,
        reasoning=reader.kept(str(reasoning) if reasoning else None, "a recorded reasoning"),
        shaped=shape is not None,
    )


def recorded_answer(reader: SessionReader, call: CallRow) -> Answer | None:
    """Return the answer of a recorded call, None where it has none or its text cannot be read."""
    if call.answer_blob is None:
        return None
    values = (call.answer_blob, call.reasoning_blob, call.answered_by, call.finish_reason, call.prompt_tokens,
              call.completion_tokens, call.cached_tokens, call.cost_usd, call.latency_s, call.attempts, call.shape_blob)  # fmt: skip
    return _answer(reader, values, "recorded")


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


class SessionReplay:
    """Answers recorded in another session, looked up by request digest, sample index and occurrence.

    Two doc systems may lead to one prompt, of which each was answered for itself: answers of runs that are ``alike`` go first, else the
    oldest.
    """

    def __init__(self, path: Path, alike: Callable[[RunRow], bool] | None = None) -> None:
        self._reader = SessionReader(path)
        self._first = [run.id for run in self._reader.runs() if alike(run)] if alike is not None else []

    def find(self, digest: str, sample: int, nth: int) -> Answer | None:
        """Return the recorded answer unchanged, or None if that session has none."""
        rows = self._reader.query(
            "SELECT answer_blob, reasoning_blob, answered_by, finish_reason, prompt_tokens, completion_tokens, "
            "cached_tokens, cost_usd, latency_s, attempts, shape_blob FROM calls "
            "WHERE digest = ? AND sample = ? AND nth = ? AND answer_blob IS NOT NULL "
            "ORDER BY run_id IN (SELECT value FROM json_each(?)) DESC, id LIMIT 1",
            (digest, sample, nth, json.dumps(self._first)),
        )
        return _answer(self._reader, rows[0], "replay") if rows else None


class TrialLog:
    """The agent context's step log in a session file: writes a step, its accessed files and the trial's sums together."""

    def __init__(self, writer: SessionWriter, calls: SessionCallLog, trial: str) -> None:
        self._writer = writer
        self._calls = calls
        self._trial = trial

    def step(self, step: Step) -> None:
        answer, observation = step.answer, step.observation
        # What a fork inherits was paid for by its parent.
        paid = bool(step.request) and (answer is None or answer.source != INHERITED)
        billed = self._calls.billed(self._trial) if paid else {}
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
                    prompt_tokens=billed.get("prompt_tokens"),
                    completion_tokens=billed.get("completion_tokens"),
                    cost_usd=billed.get("cost_usd"),
                    seconds=step.seconds,
                    model=answer.model if answer else (step.request.model if step.request else None),
                    settings=json.dumps(settings),
                    at=step.at,
                )
            )
            if observation is not None:
                seen = [
                    AccessedFileRow(self._trial, path, "listed", step.number, 0, None) for path in observation.listed
                ]
                if observation.read:
                    blob = self._writer.blob(observation.text)
                    seen.append(
                        AccessedFileRow(self._trial, observation.read, "read", step.number, observation.size, blob)
                    )
                self._writer.add_accessed_file(seen)
            connection.execute(
                "UPDATE trials SET (steps, prompt_tokens, completion_tokens, cost_usd) = ("
                "SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0), sum(cost_usd) "
                "FROM steps WHERE trial_id = trials.id) WHERE id = ?",
                (self._trial,),
            )
