"""Write a foreign trajectory into a session: its rows, and beside them what rows have no place for.

A trajectory is one transaction. The trajectory that its rows alone would give back is compared with it, and the
difference is stored (:mod:`workbench.interop.formats.checking`), so that nothing can be lost that this module forgot.
"""

from __future__ import annotations

import json
import posixpath
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from workbench.agents.protocol import OPEN
from workbench.base.text import one_line
from workbench.engine.records import score_row
from workbench.interop.formats.checking import difference
from workbench.interop.formats.problems import ForeignProblem, amount_of, count_of
from workbench.interop.formats.trajectory import (
    OWN,
    Result,
    Step,
    ToolCall,
    Trajectory,
    head_to_json,
    own_of,
    step_to_json,
)
from workbench.session import SessionReader, SessionWriter
from workbench.session.blobs import put
from workbench.session.labels import remark_target
from workbench.session.rows import ScoreRow, StepRow, TrialRow

#: Keys of the own extra that rows hold, so that they are written anew from them and never kept beside.
HELD = frozenset(
    {"case_id", "case_name", "content", "snapshot", "readme", "metadata", "parsed", "scorecards", "remarks", "labels", "seen",
     "task", "repeat", "seconds", "problem", "submission"}
)  # fmt: skip


def text_in(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def objects_in(values: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = values.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def without_held(trajectory: Trajectory) -> Trajectory:
    rest = {key: value for key, value in own_of(trajectory.extra).items() if key not in HELD}
    extra = {key: value for key, value in trajectory.extra.items() if key != OWN}
    return replace(trajectory, extra={**extra, OWN: rest} if rest else extra)


def put_own(writer: SessionWriter, trial: str, own: Mapping[str, Any]) -> None:
    """Write scores, remarks, tags and seen files of a trial, within the caller's transaction."""
    for one in objects_in(own, "scorecards"):
        writer.put_score(_score(writer, trial, one))
    for one in objects_in(own, "remarks"):
        text, part = text_in(one, "text"), text_in(one, "part")
        if text.strip():
            step = count_of(one.get("step"))
            target = remark_target(trial, part)
            values = {"item": target, "step": step, "text": text, "at": amount_of(one.get("at")) or 0.0}
            writer.insert("annotations", values)
    for one in objects_in(own, "labels"):
        if text_in(one, "label"):
            values = {name: text_in(one, name) for name in ("part", "label")}
            writer.insert("labels", {**values, "item": trial, "at": amount_of(one.get("at")) or 0.0}, conflict="IGNORE")
    for one in objects_in(own, "seen"):
        if text_in(one, "path") and one.get("how") in ("listed", "read"):
            values = {"trial_id": trial, "path": one["path"], "how": one["how"], "step": count_of(one.get("step")) or 0,
                      "size": count_of(one.get("size")) or 0, "blob": None}  # fmt: skip
            writer.insert("seen", values, conflict="IGNORE")


def _score(writer: SessionWriter, trial: str, values: Mapping[str, Any]) -> ScoreRow:
    from workbench.rubric import Scorecard
    from workbench.session import score_cards

    try:
        decoded, lost = score_cards.card(json.dumps(values.get("card")))
        if lost:
            raise ValueError(lost)
        card = Scorecard.from_json(decoded)
    except ValueError:
        raise ForeignProblem("has a scorecard that cannot be read") from None
    blob = writer.blob(json.dumps(values["card"], ensure_ascii=False))
    problem = values.get("problem")
    at = amount_of(values.get("at")) or 0.0
    return score_row(trial, card, blob, at, problem if isinstance(problem, str) else None)


def recorded_own(reader: SessionReader, trial: TrialRow) -> dict[str, Any]:
    of = f"of trial {trial.id}"
    metadata = reader.kept(trial.metadata_blob, f"the metadata {of}")
    values: dict[str, Any] = {
        "case_id": trial.case_id,
        "case_name": trial.case_name,
        "content": trial.content,
        "snapshot": trial.snapshot,
        "readme": reader.kept(trial.readme_blob, f"the README {of}"),
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
        "seen": [
            {"path": row.path, "how": row.how, "step": row.step, "size": row.size} for row in reader.seen(trial.id)
        ],
    }
    return {key: value for key, value in values.items() if value not in (None, "", [])}


def without_case(values: Mapping[str, Any], task: str, *names: str) -> dict[str, Any]:
    """Return an own extra without a case that only repeats the trajectory's task or one of ``names``."""
    return {
        key: value
        for key, value in values.items()
        if key not in {"case_id", "case_name"} or value not in (task, *names)
    }


_READING = "read_file view_file read view open open_file cat str_replace_editor str_replace_based_edit_tool"
_READERS = frozenset(_READING.split())
_LISTERS = frozenset({"list_directory", "list_dir", "list_files", "ls"})
_SHELLS = frozenset({"bash", "shell", "execute_bash", "run_command", "terminal", "execute"})
_PATHS = ("path", "file_path", "filename", "file", "filepath")
_SHELL_READERS = frozenset({"cat", "nl", "head", "tail"})
_OPERATORS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "(", ")"})
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Seen:
    """A path that was listed or read."""

    path: str
    how: str


def seen_in(step: Step) -> list[Seen]:
    """Return what the calls of a step listed or read; of several calls only those with distinguishable results."""
    results = {one.call: one.text for one in step.results or () if one.call}
    found = []
    for call in step.calls:
        observed = results.get(call.id) if call.id in results else (step.observed if len(step.calls) == 1 else None)
        if observed:
            found += list(_of_call(call, observed))
    return list(dict.fromkeys(one for one in found if one.path and len(one.path) <= _LONGEST and "\0" not in one.path))


def _of_call(call: ToolCall, observed: str) -> Iterator[Seen]:
    name, arguments = call.name.rpartition(".")[2].lower(), call.arguments
    if name in _SHELLS:
        yield from _of_command(_text(arguments, ("command", "cmd")), observed)
        return
    path = _text(arguments, _PATHS)
    if name in _LISTERS:
        yield from _listed(path or ".", observed)
    elif name in _READERS and path and arguments.get("command", "view") == "view":
        yield Seen(_plain(path), "read")


def _text(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := arguments.get(name), str)), "")


def _of_command(command: str, observed: str) -> Iterator[Seen]:
    """Parse a command of nothing but one cat, nl, head, tail or ls: with pipes, variables or patterns it is unknown."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return
    if not words or _OPERATORS & set(words) or any(character in command for character in "*?$`\n"):
        return
    program, *rest = words
    paths = [word for word in rest if not word.startswith("-") and not word.isdecimal()]
    if program in _SHELL_READERS:
        yield from (Seen(_plain(path), "read") for path in paths)
    elif program == "ls" and len(rest) == len(paths) <= 1:
        yield from _listed(paths[0] if paths else ".", observed)


def _listed(folder: str, observed: str) -> Iterator[Seen]:
    try:
        value = json.loads(observed)
    except (ValueError, RecursionError):
        value = None
    names = value if isinstance(value, list) else observed.splitlines()
    for line in names:
        name = line.strip() if isinstance(line, str) else ""
        if name and not name.startswith("<") and ":" not in name:
            yield Seen(_plain(posixpath.join(folder, name)), "listed")


def _plain(path: str) -> str:
    plain = posixpath.normpath(path)
    return f"{plain}/" if path.endswith("/") and plain not in {".", "/"} else plain


_TARGETS = ("path", "file_path", "filename", "command", "cmd", "query", "pattern", "url", "code", "input")
_WIDTH = 200
UNKNOWN = "unknown"
"""The name of a case or an agent of which the file says nothing."""


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
    """Record a trajectory as a trial of a run that is done (or failed), in one transaction.

    ``origin`` has ``format``, ``source`` and ``digest`` of its file; ``case`` "" is the file's; ``readme`` overrides
    its submission.
    """
    own = own_of(trajectory.extra)
    shown = [step for step in trajectory.steps if not own_of(step.extra).get("prompt")]
    rows = [_step_row(trial, number, step) for number, step in enumerate(shown, 1)]
    row = _trial_row(trial, run, position, trajectory, own, [row for row, _, _ in rows], case)
    extra = {
        "head": difference(head_of(row), head_to_json(without_held(trajectory))),
        "steps": {
            str(number): found
            for number, (step, kept) in enumerate(zip(shown, rows, strict=True), 1)
            if (found := difference(step_to_json(read_row(kept[0], kept[1], kept[2])), step_to_json(step))) is not None
        },
        "prompts": [
            [place, step_to_json(step)]
            for place, step in enumerate(trajectory.steps)
            if own_of(step.extra).get("prompt")
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
        for kept, answer, observation in rows:
            stored = replace(
                kept,
                answer_blob=put(connection, answer) if answer else None,
                observation_blob=put(connection, observation) if observation else None,
            )
            writer.insert("steps", {name: getattr(stored, name) for name in StepRow.__dataclass_fields__})
        # What the agent itself recorded counts over what can be read out of its calls.
        for number, step in enumerate(() if objects_in(own, "seen") else shown, 1):
            for one in seen_in(step):
                seen = {"trial_id": trial, "path": one.path, "how": one.how, "step": number, "size": 0}
                writer.insert("seen", seen, conflict="IGNORE")
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
    """Return the row of a trial; sums are those that the file states, else those of the steps that have any."""
    totals = trajectory.totals
    times = [row.at for row in steps if row.at]
    costs = [row.cost_usd for row in steps if row.cost_usd is not None]
    name = _word(case or text_in(own, "case_id") or trajectory.task or UNKNOWN)
    summed_prompt = sum(row.prompt_tokens or 0 for row in steps)
    summed_completion = sum(row.completion_tokens or 0 for row in steps)
    return TrialRow(
        id=trial,
        run_id=run,
        position=position,
        case_id=name,
        case_name=name if case else _word(text_in(own, "case_name") or name),
        agent=_word(trajectory.agent or UNKNOWN),
        model=_word(trajectory.model),
        repeat=trajectory.repeat,
        state="failed" if trajectory.problem else "done",
        error_kind="imported" if trajectory.problem else None,
        error=trajectory.problem or None,
        snapshot=text_in(own, "snapshot") or None,
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
        content=text_in(own, "content"),
    )


def _word(text: str) -> str:
    return one_line(text, _WIDTH)


def head_of(row: TrialRow) -> dict[str, Any]:
    shown: dict[str, Any] = {"model": row.model, "task": row.case_id, "repeat": row.repeat, "seconds": row.seconds}
    return head_to_json(Trajectory(row.agent, (), problem=row.error or "", **shown))


def _step_row(trial: str, number: int, step: Step) -> tuple[StepRow, str, str]:
    values = own_of(step.extra)
    answer = values.get("answer")
    if not isinstance(answer, str):
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
        problem=values["problem"] if isinstance(values.get("problem"), str) else None,
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
    """Return a turn as the workbench writes an agent's answer: thoughts, words, and calls between ``<json>`` tags."""
    parts = [part for part in (step.reasoning, step.text) if part]
    parts += [
        f"<json>{json.dumps({'name': call.name, 'kwargs': dict(call.arguments)}, ensure_ascii=False)}</json>"
        for call in step.calls
    ]
    return "\n".join(parts)


def read_row(row: StepRow, answer: str, observation: str) -> Step:
    """Return the step that a row and its texts alone give back."""
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


def unix(text: str | None) -> float | None:
    """Return an ISO 8601 time in unix seconds, None if it is invalid; without a zone it is UTC."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def iso(moment: float) -> str:
    """Return unix seconds as ISO 8601 in UTC, to the microsecond."""
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")


def parts_of(answer: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Return the words of an answer and its calls, without ids; if its tags hold no calls, all is words."""
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
