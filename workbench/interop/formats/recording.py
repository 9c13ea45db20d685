"""Convert trajectories to session rows and back without loss.

A trajectory is written in one transaction. It is then compared with the trajectory reconstructed from its rows, and the
difference is stored. Therefore, fields that this module does not map are not lost either.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.agents.protocol import OPEN, RESPOND, TOOLS, Action, parse_action
from workbench.base.text import one_line
from workbench.base.typed_json import convert, encode
from workbench.engine.records import score_row
from workbench.interop.formats.trajectory import (
    OWN,
    Result,
    Step,
    ToolCall,
    Totals,
    Trajectory,
    head_to_json,
    iso,
    own_of,
    seen_in,
    unix,
)
from workbench.interop.formats.values import (
    ForeignProblem,
    amount_of,
    count_of,
    difference,
    patched,
    text_or_none,
)
from workbench.session import SessionReader, SessionWriter
from workbench.session.blobs import put
from workbench.session.labels import remark_target
from workbench.session.rows import ImportedRow, ScoreRow, StepRow, TrialRow

#: Keys of ``extra["workbench"]`` that are stored in rows; they are derived from the rows instead of being stored twice.
HELD = frozenset(
    {"case_id", "case_name", "content", "snapshot", "readme", "metadata", "parsed", "scorecards", "remarks", "labels", "accessed_files",
     "task", "repeat", "seconds", "problem", "submission"}
)  # fmt: skip


_TARGETS = ("path", "file_path", "filename", "command", "cmd", "query", "pattern", "url", "code", "input")
_WIDTH = 200
UNKNOWN = "unknown"
"""The name of a case or agent that the file does not specify."""


def _text_in(values: Mapping[str, Any], name: str) -> str:
    return text_or_none(values.get(name)) or ""


def _objects_in(values: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = values.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def without_held(trajectory: Trajectory) -> Trajectory:
    rest = {key: value for key, value in own_of(trajectory.extra).items() if key not in HELD}
    extra = {key: value for key, value in trajectory.extra.items() if key != OWN}
    return replace(trajectory, extra={**extra, OWN: rest} if rest else extra)


def put_own(writer: SessionWriter, trial: str, own: Mapping[str, Any]) -> None:
    """Write a trial's scores, remarks, tags and accessed files within the caller's transaction."""
    for one in _objects_in(own, "scorecards"):
        writer.put_score(_score(writer, trial, one))
    for one in _objects_in(own, "remarks"):
        text, part = _text_in(one, "text"), _text_in(one, "part")
        if text.strip():
            step = count_of(one.get("step"))
            target = remark_target(trial, part)
            values = {"item": target, "step": step, "text": text, "at": amount_of(one.get("at")) or 0.0}
            writer.insert("annotations", values)
    for one in _objects_in(own, "labels"):
        if _text_in(one, "label"):
            values = {name: _text_in(one, name) for name in ("part", "label")}
            writer.insert("labels", {**values, "item": trial, "at": amount_of(one.get("at")) or 0.0}, conflict="IGNORE")
    for one in _objects_in(own, "accessed_files"):
        if _text_in(one, "path") and one.get("access") in ("listed", "read"):
            values = {"trial_id": trial, "path": one["path"], "access": one["access"], "step": count_of(one.get("step")) or 0,
                      "size": count_of(one.get("size")) or 0, "blob": None}  # fmt: skip
            writer.insert("accessed_files", values, conflict="IGNORE")


def _score(writer: SessionWriter, trial: str, values: Mapping[str, Any]) -> ScoreRow:
    from workbench.rubric import Scorecard
    from workbench.session import score_cards

    try:
        decoded, lost = score_cards.card(json.dumps(values.get("card")))
        if lost:
            raise ValueError(lost)
        card = Scorecard.from_json(decoded)
    except ValueError:
        raise ForeignProblem("has an invalid scorecard") from None
    blob = writer.blob(json.dumps(values["card"], ensure_ascii=False))
    return score_row(trial, card, blob, amount_of(values.get("at")) or 0.0, text_or_none(values.get("problem")))


def recorded_own(reader: SessionReader, trial: TrialRow) -> dict[str, Any]:
    of = f"of trial {trial.id}"
    metadata = reader.text_or_none(trial.metadata_blob, f"the metadata {of}")
    values: dict[str, Any] = {
        "case_id": trial.case_id,
        "case_name": trial.case_name,
        "content": trial.content,
        "snapshot": trial.snapshot,
        "readme": reader.text_or_none(trial.readme_blob, f"the README {of}"),
        "metadata": reader.decoded(metadata, dict, f"the metadata {of}") if metadata and metadata != "null" else None,
        "parsed": None if trial.parsed is None else bool(trial.parsed),
        "scorecards": [
            {"at": row.at, "problem": row.problem, "card": card}
            for row in reader.scores(trial.id)
            if (card := reader.card(row))
        ],
        "remarks": [
            {"step": row.step, "part": row.part, "text": row.text, "at": row.at} for row in reader.annotations(trial.id)
        ],
        "labels": [{"part": row.part, "label": row.label, "at": row.at} for row in reader.labels(trial.id)],
        "accessed_files": [
            {"path": row.path, "access": row.access, "step": row.step, "size": row.size}
            for row in reader.accessed_files(trial.id)
        ],
    }
    return {key: value for key, value in values.items() if value not in (None, "", [])}


def without_case(values: Mapping[str, Any], task: str, *names: str) -> dict[str, Any]:
    """Return ``extra["workbench"]``, without a case that only repeats the trajectory's task or one of ``names``."""
    return {
        key: value
        for key, value in values.items()
        if key not in {"case_id", "case_name"} or value not in (task, *names)
    }


def record(
    writer: SessionWriter,
    run: str,
    position: int,
    trial: str,
    trajectory: Trajectory,
    origin: Mapping[str, str],
    *,
    case: str = "",
    readme: str | None = None,
) -> None:
    """Record a trajectory as a finished (or failed) trial, in one transaction.

    ``origin`` contains the ``format``, ``source`` and ``digest`` of the file. If ``case`` is "", the file's own case is
    used. ``readme`` overrides the trajectory's submission.
    """
    own = own_of(trajectory.extra)
    shown = [step for step in trajectory.steps if not own_of(step.extra).get("prompt")]
    rows = [_step_row(trial, number, step) for number, step in enumerate(shown, 1)]
    row = _trial_row(trial, run, position, trajectory, own, [row for row, _, _ in rows], case)
    extra = {
        "head": difference(head_of(row), head_to_json(without_held(trajectory))),
        "steps": {
            str(number): found
            for number, (step, original) in enumerate(zip(shown, rows, strict=True), 1)
            if (found := difference(encode(read_row(original[0], original[1], original[2])), encode(step))) is not None
        },
        "prompts": [
            [place, encode(step)] for place, step in enumerate(trajectory.steps) if own_of(step.extra).get("prompt")
        ],
        "scores": trajectory.scores,
    }
    with writer.transaction() as connection:
        values = {name: getattr(row, name) for name in TrialRow.__dataclass_fields__}
        readme = readme if readme is not None else own.get("readme")
        if isinstance(readme, str):
            values |= {"readme_blob": put(connection, readme), "parsed": 0 if own.get("parsed") is False else 1}
            values["metadata_blob"] = put(connection, json.dumps(own.get("metadata"), ensure_ascii=False, indent=2))
        writer.insert("trials", values)
        for original, answer, observation in rows:
            stored = replace(
                original,
                answer_blob=put(connection, answer) if answer else None,
                observation_blob=put(connection, observation) if observation else None,
            )
            writer.insert("steps", {name: getattr(stored, name) for name in StepRow.__dataclass_fields__})
        # Accesses that the agent recorded take precedence over those derived from its calls.
        for number, step in enumerate(() if _objects_in(own, "accessed_files") else shown, 1):
            for one in seen_in(step):
                seen = {"trial_id": trial, "path": one.path, "access": one.how, "step": number, "size": 0}
                writer.insert("accessed_files", seen, conflict="IGNORE")
        put_own(writer, trial, own)
        kept_beside = put(connection, json.dumps(extra, ensure_ascii=False))
        writer.insert("imported", {"item": trial, **origin, "extra_blob": kept_beside, "at": time.time()})


def _trial_row(
    trial: str,
    run: str,
    position: int,
    trajectory: Trajectory,
    own: Mapping[str, Any],
    steps: Sequence[StepRow],
    case: str,
) -> TrialRow:
    """Return the row of a trial; its totals are the file's or, if missing, sums over the steps."""
    totals = trajectory.totals
    times = [row.at for row in steps if row.at]
    costs = [row.cost_usd for row in steps if row.cost_usd is not None]
    name = _word(case or _text_in(own, "case_id") or trajectory.task or UNKNOWN)
    summed_prompt = sum(row.prompt_tokens or 0 for row in steps)
    summed_completion = sum(row.completion_tokens or 0 for row in steps)
    return TrialRow(
        id=trial,
        run_id=run,
        position=position,
        case_id=name,
        case_name=name if case else _word(_text_in(own, "case_name") or name),
        agent=_word(trajectory.agent or UNKNOWN),
        model=_word(trajectory.model),
        repeat=trajectory.repeat,
        state="failed" if trajectory.problem else "done",
        error_kind="imported" if trajectory.problem else None,
        error=trajectory.problem or None,
        snapshot=_text_in(own, "snapshot") or None,
        parsed=None,
        readme_blob=None,
        metadata_blob=None,
        steps=len(steps),
        prompt_tokens=totals.prompt_tokens if totals.prompt_tokens is not None else summed_prompt,
        completion_tokens=totals.completion_tokens if totals.completion_tokens is not None else summed_completion,
        cost_usd=totals.cost_usd if totals.cost_usd is not None else sum(costs) if costs else None,
        started_at=min(times, default=None),
        finished_at=max(times, default=None),
        seconds=trajectory.seconds,
        content=_text_in(own, "content"),
    )


def _word(text: str) -> str:
    return one_line(text, _WIDTH)


def head_of(row: TrialRow) -> dict[str, Any]:
    shown: dict[str, Any] = {"model": row.model, "task": row.case_id, "repeat": row.repeat, "seconds": row.seconds}
    return head_to_json(Trajectory(row.agent, (), problem=row.error or "", **shown))


def _step_row(trial: str, number: int, step: Step) -> tuple[StepRow, str, str]:
    values = own_of(step.extra)
    answer = text_or_none(values.get("answer"))
    if answer is None:
        answer = answer_text(step)
    kind, action, target = _acted(step, values)
    observed = step.observed
    row = StepRow(
        trial_id=trial,
        number=number,
        kind=kind,
        action=action,
        target=target,
        call_id=None,
        answer_blob=None,
        observation_blob=None,
        observation_size=len(observed.encode("utf-8", "surrogatepass")),
        problem=text_or_none(values.get("problem")),
        prompt_tokens=step.prompt_tokens,
        completion_tokens=step.completion_tokens,
        cost_usd=step.cost_usd,
        seconds=step.seconds,
        model=step.model,
        settings=json.dumps(values["settings"]) if isinstance(values.get("settings"), dict) else "{}",
        at=unix(step.at) or 0.0,
    )
    return row, answer, observed


def answer_text(step: Step) -> str:
    """Format a step like an answer of the workbench's agents: thoughts, text, and calls between ``<json>`` tags."""
    parts = [part for part in (step.reasoning, step.text) if part]
    parts += [
        f"<json>{json.dumps({'name': call.name, 'kwargs': dict(call.arguments)}, ensure_ascii=False)}</json>"
        for call in step.calls
    ]
    return "\n".join(parts)


def read_row(row: StepRow, answer: str, observation: str) -> Step:
    """Return the step reconstructed from only a row and its texts."""
    source = row.action if row.kind == "plan" and row.action in {"system", "user"} else "agent"
    text, calls = parts_of(answer) if source == "agent" else (answer, ())
    return Step(
        source=source,
        text=text,
        calls=calls,
        results=(Result(observation),) if observation or row.observation_size else None,
        model=row.model,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost_usd=row.cost_usd,
        at=iso(row.at) if row.at else None,
        seconds=row.seconds,
    )


def _acted(step: Step, values: Mapping[str, Any]) -> tuple[str, str, str]:
    kind, action, target = (values.get(name) for name in ("kind", "action", "target"))
    if kind in {"tool", "respond", "invalid", "plan", "error"} and isinstance(action, str) and isinstance(target, str):
        return str(kind), action, target
    if step.source != "agent":
        return "plan", step.source, one_line(step.text, _WIDTH)
    if not step.calls:
        return "plan", "message", one_line(step.text, _WIDTH)
    first = step.calls[0]
    arguments = first.arguments
    named = next((arguments[name] for name in _TARGETS if isinstance(arguments.get(name), str)), None)
    if named is None:
        named = next((value for value in arguments.values() if isinstance(value, str)), "")
    return "tool", one_line(", ".join(call.name for call in step.calls), _WIDTH), one_line(named, _WIDTH)


def parts_of(answer: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Split an answer into its text and its calls, without ids; tags without valid calls are treated as text."""
    start = answer.find(OPEN)
    if start < 0:
        return answer, ()
    calls, position = [], start
    decoder = json.JSONDecoder(strict=False)
    while position >= 0:
        try:
            value, end = decoder.raw_decode(answer, position + len(OPEN))
        except (ValueError, RecursionError):
            return answer, ()
        if (
            not isinstance(value, dict)
            or not isinstance(value.get("name"), str)
            or not isinstance(value.get("kwargs", {}), dict)
        ):
            return answer, ()
        calls.append(ToolCall("", value["name"], value.get("kwargs", {})))
        position = answer.find(OPEN, end)
    return answer[:start].rstrip("\n"), tuple(calls)


# -- export


_PATH = {"type": "object", "properties": {"path": {"type": "string"}}}
_README = {"type": "object", "properties": {"readme": {"type": "string"}, "metadata": {"type": "object"}}}
_DESCRIBED = {
    **{name: (text, _PATH) for name, text in TOOLS.items()},
    RESPOND: ("respond(readme, metadata) hands in the finished README and metadata", _README),
}
_TOOLS = [
    {"type": "function", "function": {"name": name, "description": text, "parameters": parameters}}
    for name, (text, parameters) in _DESCRIBED.items()
]
"""The tools of the workbench's agents, in OpenAI's format."""


def recorded_trajectory(reader: SessionReader, trial: TrialRow) -> Trajectory:
    """Return the trajectory of a trial, with scores, remarks and tags in ``extra["workbench"]``."""
    origin = reader.imported(trial.id)
    own = recorded_own(reader, trial)
    if origin is not None:
        found = _imported(reader, trial, origin)
        # Do not repeat values that have their own fields in the file.
        own = without_case(own, found.task, UNKNOWN)
        if _is_derived(found, own.get("accessed_files", ())):
            own.pop("accessed_files", None)
        own = {**own, **own_of(found.extra)}
        return replace(found, extra={**found.extra, **({OWN: own} if own else {})})
    return _native(reader, trial, {"trial": trial.id, **without_case(own, trial.case_id)})


def _is_derived(trajectory: Trajectory, seen: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the accessed files follow from the calls, in which case readers can derive them."""
    derived = {(one.path, one.how) for step in trajectory.steps for one in seen_in(step)}
    return all(not one["size"] and (one["path"], one["access"]) in derived for one in seen)


def _texts(reader: SessionReader, row: StepRow) -> tuple[str, str]:
    of = f"of step {row.number} of trial {row.trial_id}"
    answer, observation = (
        reader.text_or_none(row.answer_blob, f"the answer {of}"),
        reader.text_or_none(row.observation_blob, f"the observation {of}"),
    )
    return answer or "", observation or ""


def _imported(reader: SessionReader, trial: TrialRow, origin: ImportedRow) -> Trajectory:
    extra = reader.decoded(
        reader.text_or_none(origin.extra_blob, f"the origin of trial {trial.id}"),
        dict,
        f"the origin of trial {trial.id}",
    )
    changes = extra.get("steps", {})
    steps = [
        patched(encode(read_row(row, *_texts(reader, row))), changes.get(str(row.number)))
        for row in reader.steps(trial.id)
    ]
    for place, values in extra.get("prompts", ()):
        steps.insert(place, values)
    return convert(Trajectory, {**patched(head_of(trial), extra.get("head")), "steps": steps})


# -- trials that ran here


def _native(reader: SessionReader, trial: TrialRow, own: dict[str, Any]) -> Trajectory:
    rows = reader.steps(trial.id)
    return Trajectory(
        agent=trial.agent,
        version=reader.meta().get("created_by", "").removeprefix("workbench ") or "unknown",
        model=trial.model,
        task=trial.case_id,
        repeat=trial.repeat,
        tools=_TOOLS,
        totals=Totals(trial.prompt_tokens or None, trial.completion_tokens or None, trial.cost_usd)
        if rows
        else Totals(),
        seconds=trial.seconds,
        problem=(trial.error or trial.state) if trial.state != "done" else "",
        steps=(*_prompts(reader, rows), *(_step(reader, row) for row in rows)),
        extra={OWN: own},
    )


def _prompts(reader: SessionReader, rows: Sequence[StepRow]) -> list[Step]:
    call = next((reader.call(row.call_id) for row in rows if row.call_id is not None), None)
    extra = {OWN: {"prompt": True}}
    if call is None:
        return []
    return [Step(role, text, extra=extra) for role, text in reader.messages(call) if role in {"system", "user"}]


def _step(reader: SessionReader, row: StepRow) -> Step:
    answer, observation = _texts(reader, row)
    text, calls = parts_of(answer) if row.kind in {"tool", "respond"} else (answer, ())
    if row.kind in {"tool", "respond"} and not calls and isinstance(action := parse_action(answer), Action):
        text, calls = action.thought, (ToolCall("", action.name, action.kwargs),)
    calls = tuple(
        ToolCall(f"step_{row.number}_call_{place}", one.name, one.arguments) for place, one in enumerate(calls, 1)
    )
    settings = reader.decoded(row.settings, dict, f"the settings of step {row.number} of trial {row.trial_id}")
    own = {name: getattr(row, name) for name in ("kind", "action", "target", "problem")} | {
        "settings": settings or None
    }
    call = reader.call(row.call_id) if row.call_id is not None else None
    reasoning = reader.text_or_none(call.reasoning_blob, f"the reasoning of call {call.id}") if call else None
    step = Step(
        source="agent",
        text=text,
        reasoning=reasoning,
        calls=calls,
        results=(Result(observation, calls[0].id if calls else None),) if row.observation_blob else None,
        model=row.model,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cached_tokens=call.cached_tokens if call else None,
        cost_usd=row.cost_usd,
        at=iso(row.at),
        seconds=row.seconds,
    )
    if answer != answer_text(step):
        own["answer"] = answer
    return replace(step, extra={OWN: {key: value for key, value in own.items() if value is not None}})
