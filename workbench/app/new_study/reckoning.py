"""How large a study is and what it will take, by the same rates as ``workbench study --dry-run``; called in threads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app import runs
from workbench.engine.session_names import new_place
from workbench.studies.declaration import AGENTS

if TYPE_CHECKING:
    from workbench.engine.estimate import Estimate, Measured
    from workbench.settings import Settings
    from workbench.studies.declaration import Study

_ROWS = {AGENTS: ("case", "cases")}
_SYSTEMS = {AGENTS: ("agent", "agents")}
_MODELS = {AGENTS: ("model", "models")}
_OF_DOCS = (("source", "sources"), ("doc system", "doc systems"), ("evaluator", "evaluators"))


@dataclass(frozen=True, slots=True)
class Reckoned:
    """What was reckoned.

    Attributes:
        sentence: ``2 cases × 3 agents × 3 repeats = 18 trials, about …``.
        estimate: What is still to be done.
        changes: Whether the session has another study of that name, which becomes this one.
    """

    sentence: str
    estimate: Estimate
    changes: bool = False


def place_of(session: str, name: str) -> Path:
    """Return the session file that is meant; "" is the one of ``workbench study NAME``. One that is only read gives way to a new one.

    Raises:
        UsageError: It cannot be a session's name.
    """
    path = new_place(session or f"study-{name}")
    return path if not path.exists() or runs.is_writable(path) else runs.new_session(f"study-{name}")


def reckoned(study: Study, session: Path, measured: Measured, settings: Settings) -> Reckoned:
    """Return what a study will take in a session.

    Raises:
        WorkbenchError: It names what is not there, or a model that cannot be asked.
    """
    from workbench.engine.study_client import resolved_study
    from workbench.engine.study_estimate import estimate_study

    whole = resolved_study(study, session)
    told = estimate_study(measured, session, whole, settings.trials_at_once)
    cells = len(whole.rows) * len(whole.columns)
    if study.kind == AGENTS:
        said = told.beside(cells * whole.repeats)
    else:
        said = f"{cells:,} cell{'' if cells == 1 else 's'}{': ' if told.count is not None else ' of '}{told.sentence()}"
    return Reckoned(f"{_product(whole)} = {said}.", told, _has_another(session, whole))


def _product(study: Study) -> str:
    """Return ``2 cases × 3 agents × 3 repeats``; what there is one of is left out, but for rows."""
    rows = _ROWS.get(study.kind, _OF_DOCS[0])
    systems = {one.system for one in study.columns}
    models = {one.model for one in study.columns}
    times = study.repeats if study.kind == AGENTS else study.samples
    each = ("repeat", "repeats") if study.kind == AGENTS else ("sample", "samples")
    parts = [
        _count(len(study.rows), *rows),
        _count(len(systems), *_SYSTEMS.get(study.kind, _OF_DOCS[1])),
        _count(len(models), *_MODELS.get(study.kind, _OF_DOCS[2])) if len(models) > 1 else "",
        _count(times, *each) if times > 1 else "",
    ]
    return " × ".join(filter(None, parts))


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _has_another(session: Path, study: Study) -> bool:
    from workbench.session import SessionReader
    from workbench.studies.declaration import BadStudy
    from workbench.studies.following import declared

    if not session.exists():
        return False
    with SessionReader(session, surveyed=False) as reader:
        if reader.study(study.name) is None:
            return False
        try:
            return declared(reader, study.name) != study
        except BadStudy:
            return True
