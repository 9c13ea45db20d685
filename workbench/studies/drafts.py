"""A study as a person chooses it in a form: lists as they were picked, all else as it was typed, checked field by field."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from workbench import numbers
from workbench.agents.names import agent_info, current_name
from workbench.catalog import check_python, check_there, resolve_case
from workbench.documenters.names import SCOPES, parse_docs
from workbench.errors import BadField, WorkbenchError
from workbench.rubric.judging import parse_judge
from workbench.studies.checking import column_problem
from workbench.studies.declaration import AGENTS, DOCS, EVERY_CASE, MOST_CELLS, Column, Limits, Study
from workbench.studies.known import packaged_studies, study_named

_T = TypeVar("_T")
ROWS, SYSTEMS, MODELS = (
    {AGENTS: "cases", DOCS: "sources"},
    {AGENTS: "agents", DOCS: "docs"},
    {AGENTS: "models", DOCS: "evaluators"},
)
"""What a form calls the rows, and both sides of the columns, by the kind of the study."""
NUMBERS = {AGENTS: ("repeats", "steps"), DOCS: ("samples", "k", "tasks")}
"""Its numbers, likewise; ``spend`` is one of both."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a form holds.

    Attributes:
        kind: ``agents`` or ``docs``.
        name: Name of the study.
        rows: Test cases or sources.
        systems: Agents or doc systems.
        models: Models or evaluators; each stands with each system.
        judges: Of ``agents``.
        numbers: Texts of the fields of :data:`NUMBERS` and ``spend``; "" where that means something.
        scope: Of ``docs``: where their docstrings stand.
        checks: Of ``agents``: whether the README of each trial is checked.
        base: What no field asks for: title, seed, results of others, other settings.
    """

    kind: str
    name: str
    rows: tuple[str, ...]
    systems: tuple[str, ...]
    models: tuple[str, ...]
    judges: tuple[str, ...] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)
    scope: str = SCOPES[0]
    checks: bool = False
    base: Study | None = None


def draft_of(study: Study) -> Draft:
    """Return a declared study as a form holds it."""
    limits = study.limits
    typed = {
        "repeats": str(study.repeats), "samples": str(study.samples), "k": ", ".join(map(str, study.k)),
        "steps": str(limits.steps or ""), "tasks": str(limits.tasks or ""), "spend": f"{study.spend_limit:g}" if study.spend_limit else "",
    }  # fmt: skip
    return Draft(
        study.kind,
        study.name,
        study.rows,
        tuple(dict.fromkeys(one.system for one in study.columns)),
        tuple(dict.fromkeys(one.model for one in study.columns if one.model)),
        study.settings.judges,
        {name: typed[name] for name in (*NUMBERS[study.kind], "spend")},
        study.settings.docs_scope or SCOPES[0],
        study.settings.checks,
        study,
    )


def drafted(draft: Draft) -> Study:
    """Return the study that a form declares; what it names is not looked up, see :func:`look_up`.

    Raises:
        BadField: It says which field cannot be so, and why.
    """
    kind = draft.kind
    name = draft.name.strip()
    if not name or not name.isprintable() or "/" in name or len(name) > 60:
        raise BadField("name", "The name must have 1 to 60 characters on one line, without '/'.")
    if not draft.rows:
        raise BadField(ROWS[kind], f"Choose at least one of the {ROWS[kind]}.")
    results = draft.base.results if draft.base is not None else ()
    if not draft.systems and not results:
        raise BadField(SYSTEMS[kind], f"Choose at least one {'agent' if kind == AGENTS else 'doc system'}.")
    systems = [current_name(one) if kind == AGENTS else one for one in draft.systems]
    for number, one in enumerate(systems):
        if one in systems[:number]:
            raise BadField(SYSTEMS[kind], f"{one} is there twice; each is named once.")
    columns = tuple(Column(one, model) for one, model in itertools.product(systems, draft.models or ("",)))
    if len(draft.rows) * len(columns) > MOST_CELLS:
        cells = len(draft.rows) * len(columns)
        raise BadField(ROWS[kind], f"A study has at most {MOST_CELLS:,} cells, and this one {cells:,}.")
    samples = _whole(draft, "samples", 1) if kind == DOCS else 1
    base = draft.base if draft.base is not None else Study(name, kind)
    limits = Limits(
        base.limits.steps if kind == DOCS else _whole(draft, "steps", 1, empty=0),
        base.limits.read,
        base.limits.answer_tokens,
        _whole(draft, "tasks", 1, empty=0) if kind == DOCS else base.limits.tasks,
    )
    settings = replace(base.settings, judges=draft.judges, checks=draft.checks) if kind == AGENTS else base.settings
    if kind == DOCS and draft.scope != (settings.docs_scope or SCOPES[0]):
        settings = replace(settings, docs_scope=draft.scope)
    study = replace(
        base,
        name=name,
        kind=kind,
        rows=draft.rows,
        columns=columns,
        repeats=_whole(draft, "repeats", 1, numbers.MOST_REPEATS) if kind == AGENTS else 1,
        samples=samples,
        k=_ks(draft, samples) if kind == DOCS else base.k,
        spend_limit=_dollars(draft),
        limits=limits,
        settings=settings,
    )
    if name in packaged_studies() and study != study_named(name):
        raise BadField(
            "name", f"{name} is the study that comes with the program, as it is there; give yours another name."
        )
    return study


def _whole(draft: Draft, name: str, least: int, most: int = numbers.MOST_ITEMS, *, empty: int | None = None) -> int:
    text = draft.numbers.get(name, "").strip()
    if not text and empty is not None:
        return empty
    return _read(name, text, lambda: numbers.whole(text, least, most))


def _read(name: str, text: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except ValueError as expected:
        said = "not nothing" if not text else ""
        wanted = str(expected).partition(", not ")[0] if said else str(expected)
        raise BadField(name, f"{name} must be {wanted}{', ' if said else ''}{said}.") from None


def _ks(draft: Draft, samples: int) -> tuple[int, ...]:
    texts = [one for one in draft.numbers.get("k", "").replace(",", " ").split() if one]
    found = tuple(sorted({_read("k", one, lambda one=one: numbers.whole(one, 1)) for one in texts}))  # type: ignore[misc]
    if not found:
        raise BadField("k", "k must be one whole number or several, such as 1, 3.")
    if found[-1] > samples:
        raise BadField("k", f"k must be at most the number of samples: pass@{found[-1]} of {samples} is not defined.")
    return found


def _dollars(draft: Draft) -> float:
    text = draft.numbers.get("spend", "").strip().removeprefix("$")
    return _read("spend", text, lambda: numbers.amount(text)) if text else 0.0


def look_up(study: Study) -> None:
    """Make sure that all that a form named is there, and say in which field it is not; models are left to who can ask them.

    Raises:
        BadField: An unknown case, source, agent, doc system or judge.
    """
    for row in study.rows:
        if study.kind == AGENTS and row == EVERY_CASE:
            continue
        _there(ROWS[study.kind], lambda row=row: _row(study, row))  # type: ignore[misc]
    for column in study.columns:
        if study.kind == AGENTS:
            _there("agents", lambda name=column.system: agent_info(name))  # type: ignore[misc]
        elif not column_problem(study, column):
            _there("docs", lambda name=column.system: parse_docs(name))  # type: ignore[misc]
    for judge in study.settings.judges:
        _there("judges", lambda judge=judge: parse_judge(judge))  # type: ignore[misc]


def _row(study: Study, row: str) -> None:
    (check_there if study.kind == AGENTS else check_python)(resolve_case(row))


def _there(name: str, find: Callable[[], object]) -> None:
    try:
        find()
    except WorkbenchError as problem:
        raise BadField(name, str(problem)) from None
