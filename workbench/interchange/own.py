"""What the workbench says of a trial beyond its trajectory: the case, what was handed in, scores, remarks, tags, files seen.

It travels in ``extra["workbench"]`` of a trajectory. Read from a file it is a claim like any other: values of another type are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.engine.score_rows import score_row
from workbench.interchange.problems import ForeignProblem, amount_of, count_of
from workbench.interchange.trajectory import OWN, Step, Trajectory, own_of
from workbench.session import SessionReader, SessionWriter
from workbench.session.labels import remark_target
from workbench.session.rows import ScoreRow, TrialRow

#: Keys of the own extra that rows hold, so that they are written anew from them and never kept beside.
HELD = frozenset(
    {"case_id", "case_name", "content", "snapshot", "readme", "metadata", "parsed", "scorecards", "remarks", "labels", "seen",
     "task", "repeat", "seconds", "problem", "submission"}
)  # fmt: skip


def step_values(step: Step) -> Mapping[str, Any]:
    """Return what the workbench wrote of a step: ``prompt``, ``kind``, ``action``, ``target``, ``problem``, ``settings``, ``answer``."""
    return own_of(step.extra)


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _objects(values: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = values.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class OwnValues:
    """The own extra of a trajectory, each value of its type; ``readme`` is None where nothing was handed in."""

    case_id: str
    case_name: str
    content: str
    snapshot: str | None
    readme: str | None
    metadata: Any
    parsed: int | None
    scorecards: tuple[Mapping[str, Any], ...]
    remarks: tuple[Mapping[str, Any], ...]
    labels: tuple[Mapping[str, Any], ...]
    seen: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, trajectory: Trajectory) -> OwnValues:
        values = own_of(trajectory.extra)
        readme = values.get("readme")
        return cls(
            case_id=_text(values, "case_id"),
            case_name=_text(values, "case_name"),
            content=_text(values, "content"),
            snapshot=_text(values, "snapshot") or None,
            readme=readme if isinstance(readme, str) else None,
            metadata=values.get("metadata"),
            parsed=1 if values.get("parsed") is True else 0 if values.get("parsed") is False else None,
            scorecards=tuple(_objects(values, "scorecards")),
            remarks=tuple(_objects(values, "remarks")),
            labels=tuple(_objects(values, "labels")),
            seen=tuple(_objects(values, "seen")),
        )


def without_held(trajectory: Trajectory) -> Trajectory:
    rest = {key: value for key, value in own_of(trajectory.extra).items() if key not in HELD}
    extra = {key: value for key, value in trajectory.extra.items() if key != OWN}
    return replace(trajectory, extra={**extra, OWN: rest} if rest else extra)


def put_own(writer: SessionWriter, trial: str, own: OwnValues) -> None:
    """Write scores, remarks, tags and seen files of a trial, within the caller's transaction."""
    for one in own.scorecards:
        writer.put_score(_score(writer, trial, one))
    for one in own.remarks:
        text, part = _text(one, "text"), _text(one, "part")
        if text.strip():
            step = count_of(one.get("step"))
            target = remark_target(trial, part)
            values = {"item": target, "step": step, "text": text, "at": amount_of(one.get("at")) or 0.0}
            writer.insert("annotations", values)
    for one in own.labels:
        if _text(one, "label"):
            values = {name: _text(one, name) for name in ("part", "label")}
            writer.insert("labels", {**values, "item": trial, "at": amount_of(one.get("at")) or 0.0}, conflict="IGNORE")
    for one in own.seen:
        if _text(one, "path") and one.get("how") in ("listed", "read"):
            values = {"trial_id": trial, "path": one["path"], "how": one["how"], "step": count_of(one.get("step")) or 0,
                      "size": count_of(one.get("size")) or 0, "blob": None}  # fmt: skip
            writer.insert("seen", values, conflict="IGNORE")


def _score(writer: SessionWriter, trial: str, values: Mapping[str, Any]) -> ScoreRow:
    from workbench.rubric import Scorecard
    from workbench.session import json_forms

    try:
        decoded, lost = json_forms.card(json.dumps(values.get("card")))
        if lost:
            raise ValueError(lost)
        card = Scorecard.from_json(decoded)
    except (json_forms.WrongForm, ValueError, KeyError, TypeError, AttributeError):
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
    """Return an own extra without a case that is only what the trajectory calls its task, or one of ``names``."""
    return {
        key: value
        for key, value in values.items()
        if key not in {"case_id", "case_name"} or value not in (task, *names)
    }
