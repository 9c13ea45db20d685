"""Model calls and agent steps, written as they happen and read by a resume, a fork or a replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from workbench.agents.agent_context import INHERITED, AgentStep, ForkDiverged, Inherited, InheritedAnswer
from workbench.documenters.types import DocsName, parse_docs
from workbench.models.types import Answer, CallRecord, Message, Request, Usage
from workbench.orders.docs_estimate import model_of
from workbench.orders.run import replay_plan
from workbench.plans.plan import RegenerationPlan
from workbench.rubric.scorecard import Scorecard
from workbench.session import SessionReader, SessionWriter
from workbench.session.json_forms import picked
from workbench.session.rows import AccessedFileRow, CallRow, RunRow, ScoreRow, StepRow, TrialRow

JUDGE = "/judge"  # suffix that turns the scope of a trial into that of its judge


def _messages(writer: SessionWriter, messages: tuple[Message, ...]) -> str:
    return writer.blob(json.dumps([[message.role, writer.blob(message.content)] for message in messages]))


_ANSWER = (
    "answer_blob", "reasoning_blob", "answered_by", "finish_reason", "prompt_tokens", "completion_tokens", "cached_tokens",
    "cost_usd", "latency_s", "attempts", "response_schema_blob",
)  # fmt: skip
# Each attempt at a request has a row, including unanswered attempts of an earlier process.
_BILLED = """
SELECT sum(tried.prompt_tokens), sum(tried.completion_tokens), sum(tried.cost_usd) FROM calls AS last JOIN calls AS tried
USING (scope, digest, nth, sample, model) WHERE last.id = ? AND scope = ?
"""


@dataclass(eq=False)
class SessionCallLog:
    """The gateway's call log in a session: it recalls answers after a resume, and records calls with all attempts."""

    _writer: SessionWriter
    _run: str
    _last: dict[str, int] = field(default_factory=dict, init=False)

    def last_call(self, scope: str) -> int | None:
        return self._last.get(scope)

    def take_over(self, scope: str, call: int) -> None:
        """Make a call of another work item the latest call of this one, so that this item inherits its answer."""
        self._last[scope] = call

    def billed(self, scope: str) -> dict[str, Any]:
        """Return the tokens and US dollars of a work item's latest request, including all attempts that were billed."""
        with self._writer.transaction() as connection:
            row = connection.execute(_BILLED, (self._last.get(scope), scope)).fetchone()
        return dict(zip(("prompt_tokens", "completion_tokens", "cost_usd"), row, strict=True))

    def billed_in_total(self, scope: str) -> dict[str, Any]:
        """Return the tokens and US dollars of all requests of a work item."""
        with self._writer.transaction() as connection:
            sums = "SELECT sum(prompt_tokens), sum(completion_tokens), sum(cost_usd) FROM calls WHERE scope = ?"
            row = connection.execute(sums, (scope,)).fetchone()
        return dict(zip(("prompt_tokens", "completion_tokens", "cost_usd"), row, strict=True))

    def recall(self, request: Request, nth: int) -> Answer | None:
        """Return the recorded answer to the same request for the same work item, or None."""
        if not request.scope:
            return None
        with self._writer.transaction() as connection:
            row = connection.execute(
                f"SELECT id, {', '.join(_ANSWER)} FROM calls WHERE scope = ? AND digest = ? AND nth = ? AND sample = ? "
                "AND model = ? AND answer_blob IS NOT NULL ORDER BY id LIMIT 1",
                (request.scope, request.digest, nth, request.sample, request.model),
            ).fetchone()
        if row is None:
            return None
        self._last[request.scope] = row[0]
        with SessionReader(self._writer.path, surveyed=False) as reader:
            return _answer(reader, row[1:], "recorded")

    def record(self, call: CallRecord) -> None:
        """Write a finished call durably before returning."""
        request, answer, usage = call.request, call.answer, call.usage
        # Only the embedded model uses the grammar, so do not record it with answers of other models.
        grammar = request.grammar if answer is None or answer.shaped else None
        shape = grammar or (json.dumps(request.json_schema) if request.json_schema else None)
        with self._writer.transaction():
            key = self._writer.insert(
                "calls",
                {
                    "run_id": self._run,
                    **picked(request, "scope", "purpose", "model", "digest", "sample"),
                    "nth": call.nth,
                    "messages_blob": _messages(self._writer, request.messages),
                    "response_schema_blob": self._writer.blob(shape) if shape else None,
                    "sampling": json.dumps(request.sampling.to_json()),
                    "answer_blob": self._writer.blob(answer.text) if answer else None,
                    "reasoning_blob": self._writer.blob(answer.reasoning) if answer and answer.reasoning else None,
                    **picked(answer, "model:answered_by", "finish_reason", "latency_s"),
                    "error_kind": call.error.kind if call.error else None,
                    "error": str(call.error) if call.error else None,
                    **picked(usage, "prompt_tokens", "completion_tokens", "cached_tokens"),
                    **picked(call, "cost_usd", "started_at"),
                    "attempts": json.dumps([asdict(attempt) for attempt in call.attempts]),
                    "source": answer.source if answer else "error",
                },
            )
            if call.cost_usd:
                self._writer.add_spend(self._run, call.cost_usd)
        self._last[request.scope] = key


def _answer(reader: SessionReader, row: tuple[object, ...], source: str) -> Answer | None:
    """Return a recorded answer, or None if its text cannot be read, as if it had not been recorded."""
    text, reasoning, by, finish, prompt, completion, cached, cost, latency, attempts, shape = row
    recorded_text = reader.text_or_none(str(text), "a recorded answer")
    if recorded_text is None:
        return None
    return Answer(
        text=recorded_text,
        model=str(by or ""),
        usage=Usage(*(value if isinstance(value, int) else 0 for value in (prompt, completion, cached))),
        cost_usd=cost if isinstance(cost, float) else None,
        latency_s=latency if isinstance(latency, float) else 0.0,
        finish_reason=str(finish or "stop"),
        attempts=max(1, len(reader.decoded(str(attempts), list, "the attempts of a recorded answer"))),
        source=source,
        reasoning=reader.text_or_none(str(reasoning) if reasoning else None, "a recorded reasoning"),
        shaped=shape is not None,
    )


def recorded_answer(reader: SessionReader, call: CallRow) -> Answer | None:
    return _answer(reader, attrgetter(*_ANSWER)(call), "recorded") if call.answer_blob is not None else None


class SessionReplay:
    """Answers recorded in another session, looked up by request digest, sample index and occurrence.

    Two doc systems may lead to the same prompt, each with its own answers. Answers from runs that are ``alike`` take
    precedence; otherwise the oldest answer is used.
    """

    def __init__(self, path: Path, alike: Callable[[RunRow], bool] | None = None) -> None:
        self._reader = SessionReader(path)
        self._first = [run.id for run in self._reader.runs() if alike(run)] if alike is not None else []

    def find(self, digest: str, sample: int, nth: int) -> Answer | None:
        """Return the recorded answer unchanged, or None if the other session has none."""
        rows = self._reader.query(
            f"SELECT {', '.join(_ANSWER)} FROM calls WHERE digest = ? AND sample = ? AND nth = ? AND answer_blob IS NOT NULL "
            "ORDER BY run_id IN (SELECT value FROM json_each(?)) DESC, id LIMIT 1",
            (digest, sample, nth, json.dumps(self._first)),
        )
        return _answer(self._reader, rows[0], "replay") if rows else None


@dataclass(eq=False)
class TrialLog:
    """The agent's step log in a session file: it writes a step, the files accessed and the trial's totals together."""

    _writer: SessionWriter
    _calls: SessionCallLog
    _trial: str

    def step(self, step: AgentStep) -> None:
        answer, observation = step.answer, step.observation
        # The steps that a fork inherits were paid for by the parent.
        paid = bool(step.request) and (answer is None or answer.source != INHERITED)
        billed = self._calls.billed(self._trial) if paid else {}
        settings = dict(step.request.sampling.to_json()) if step.request else {}
        if answer is not None and answer.dropped:
            settings["dropped"] = list(answer.dropped)
        with self._writer.transaction() as connection:
            self._writer.add_step(
                StepRow(
                    trial_id=self._trial,
                    **picked(step, "number", "kind", "action", "target", "problem", "seconds", "at"),
                    call_id=self._calls.last_call(self._trial) if step.request else None,
                    answer_blob=self._writer.blob(answer.text) if answer else None,
                    observation_blob=self._writer.blob(observation.text) if observation else None,
                    observation_size=len(observation.text.encode("utf-8", "surrogatepass")) if observation else 0,
                    prompt_tokens=billed.get("prompt_tokens"),
                    completion_tokens=billed.get("completion_tokens"),
                    cost_usd=billed.get("cost_usd"),
                    model=answer.model if answer else (step.request.model if step.request else None),
                    settings=json.dumps(settings),
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
                self._writer.add_accessed_files(seen)
            connection.execute(
                "UPDATE trials SET (steps, prompt_tokens, completion_tokens, cost_usd) = ("
                "SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0), sum(cost_usd) "
                "FROM steps WHERE trial_id = trials.id) WHERE id = ?",
                (self._trial,),
            )


MESSAGE, OBSERVATION = "message", "observation"
"""The editable parts of a step: the model's answer and the observation."""


def inherited_by(reader: SessionReader, fork: TrialRow, on_inherited: Callable[[int], None]) -> Inherited:
    """Return the steps that a fork inherits.

    Raises ForkDiverged if the parent no longer exists or its answers cannot be read.
    """
    given, observations = _up_to(reader, fork, fork.fork_step)
    edited_call = _call_of(reader, fork.parent, fork.fork_step) if fork.edited == MESSAGE else None
    return Inherited(fork.parent, fork.fork_step, given, observations, fork.edited, edited_call, on_inherited)


def _up_to(reader: SessionReader, trial: TrialRow, step: int) -> tuple[tuple[InheritedAnswer, ...], dict[int, str]]:
    given: list[InheritedAnswer] = []
    observations: dict[int, str] = {}
    if trial.parent:
        parent = reader.trial(trial.parent)
        if parent is None:
            raise ForkDiverged(f"The fork does not start, because trial {trial.parent} is no longer in the session.")
        last = min(step, trial.fork_step)
        before, observations = _up_to(reader, parent, last)
        given = list(before)
        if last == trial.fork_step and trial.edited:
            text = reader.text(trial.edit_blob)
            if trial.edited == OBSERVATION:
                observations[last] = text
            else:
                call = _call_of(reader, parent.id, last)
                given = [
                    replace(one, answer=replace(one.answer, text=text)) if one.call == call else one for one in given
                ]
    last_own = "SELECT max(call_id) FROM steps JOIN calls ON calls.id = call_id WHERE trial_id = ? AND number <= ? AND scope = trial_id"
    own = reader.query(last_own, (trial.id, step))[0][0] or 0  # calls are counted from 1
    for row in reader.calls(trial.id) if own else ():
        if row.answer_blob is not None and row.id <= own:
            answer = recorded_answer(reader, row)
            if answer is None:
                raise ForkDiverged(f"The fork does not start, because an answer of trial {trial.id} cannot be read.")
            given.append(InheritedAnswer(row.id, row.digest, answer))
    return tuple(given), observations


def _call_of(reader: SessionReader, trial: str, step: int) -> int | None:
    found = reader.query("SELECT call_id FROM steps WHERE trial_id = ? AND number = ?", (trial, step))
    return found[0][0] if found else None


REPLAY = "replay:"


def recorded_documenter(docs: str) -> str:
    """Return the model that wrote docs of this kind in a replayed session, or "" for none.

    Its token limit is needed to find the recorded answers.
    """
    name = parse_docs(docs)
    model = model_of(name)
    if not model.startswith(REPLAY):
        return ""
    with SessionReader(Path(model.removeprefix(REPLAY)), surveyed=False) as reader:
        asked = [_docs(run) for run in reader.runs() if run.kind == "regenerate"]
    found = [model_of(one) for one in asked if one.kind == name.kind]
    return next((one for one in reversed(found) if not one.startswith(REPLAY)), "")


def has_docs_of(run: RunRow) -> Callable[[RunRow], bool] | None:
    """Return a predicate that selects recorded runs with the docs of ``run``, or None if ``run`` has no docs."""
    if run.kind != "regenerate":
        return None
    own = _docs(run)

    def alike(recorded: RunRow) -> bool:
        if recorded.kind != "regenerate":
            return False
        other = _docs(recorded)
        replays = model_of(own).startswith(REPLAY)
        return other.kind == own.kind and other.version == own.version and (replays or other.rest == own.rest)

    return alike


def _docs(run: RunRow) -> DocsName:
    return parse_docs(RegenerationPlan.from_json(run.config).docs)


_DEPTH = 8  # maximum depth of replays of replays


def recorded_model(model: str) -> str:
    """Return the model behind ``replay:SESSION``; other models are returned unchanged.

    Requests depend on this model: the embedded one gets grammars, reads less, and gets only one attempt per request.
    """
    for _ in range(_DEPTH):
        if not model.startswith(REPLAY):
            break
        model = replay_plan(Path(model.removeprefix(REPLAY))).model
    return model


def score_row(trial: str, card: Scorecard, blob: str, at: float, problem: str | None) -> ScoreRow:
    tiers = {number: tier.points for number, tier in card.tiers.items()}
    return ScoreRow(
        trial, card.rubric, card.judge, card.total, card.out_of,
        tiers.get(1), tiers.get(2), tiers.get(3), tiers.get(4), blob, at, problem,
    )  # fmt: skip
