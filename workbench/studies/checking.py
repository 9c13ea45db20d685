"""Make sure that all that a study names is there before anything starts; and a study as a form holds it, checked field by field."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from workbench import numbers
from workbench.agents.names import agent_info, current_name
from workbench.catalog import check_python, check_there, load_cases, resolve_case
from workbench.documenters.names import SCOPES, parse_docs, parse_scope
from workbench.errors import BadField, UsageError, WorkbenchError
from workbench.regeneration.selections import parse_selection
from workbench.studies.declaration import AGENTS, DOCS, EVERY_CASE, MOST_CELLS, PAPER, BadStudy, Column, Limits, Study
from workbench.studies.study_files import packaged_studies, study_named

PROGRAMS = ("repoagent", "osa")
"""Doc systems that are programs of others; where one cannot be used here, its cells say so and the others go on."""
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
    """What a form holds: lists as they were picked, all else as it was typed.

    Attributes:
        numbers: Texts of the fields of :data:`NUMBERS` and ``spend``; "" where that means something.
        scope: Of ``docs``: where their docstrings stand.
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


# -- what is named


def look_up(study: Study) -> None:
    """Make sure that all that a form named is there; models are left to who can ask them.

    Raises:
        BadField: An unknown case, source, agent, doc system or judge; it says in which field.
    """
    from workbench.rubric.judging import parse_judge

    agents = study.kind == AGENTS
    for row in study.rows:
        if not (agents and row == EVERY_CASE):
            _there(ROWS[study.kind], row, lambda row: (check_there if agents else check_python)(resolve_case(row)))
    for column in study.columns:
        if agents:
            _there("agents", column.system, agent_info)
        elif not column_problem(study, column):
            _there("docs", column.system, parse_docs)
    for judge in study.settings.judges:
        _there("judges", judge, parse_judge)


def _there(name: str, said: str, find: Callable[[str], object]) -> None:
    try:
        find(said)
    except WorkbenchError as problem:
        raise BadField(name, str(problem)) from None


def check_study(study: Study) -> Study:
    """Return a study with its rows written out, after making sure that all it names is there.

    Raises:
        UsageError: It names an unknown case, agent, doc system, rubric or judge.
    """
    if study.kind == PAPER:
        return study
    study = replace(study, rows=_rows(study))
    look_up(study)
    if study.kind == AGENTS:
        _check_rubrics(study)
    else:
        parse_scope(study.settings.docs_scope)
        parse_selection(study.settings.selection)
    return study


def column_problem(study: Study, column: Column) -> str:
    """Return why a column's program cannot be used here, "" where it can; its cells carry the sentence."""
    kind, _, model = column.system.partition(":")
    if study.kind != DOCS or column.source or kind not in PROGRAMS or not model:
        return ""
    try:
        known = parse_docs(column.system).kind != "extension"
    except UsageError:
        known = False
    return (
        ""
        if known
        else f"The doc system {column.system} cannot be used: this version of the workbench does not run {kind}."
    )


def _rows(study: Study) -> tuple[str, ...]:
    if EVERY_CASE not in study.rows:
        return study.rows
    if study.kind == DOCS:
        raise BadStudy('rows = ["all"] means the test cases, and the rows of doc systems are named one by one.')
    bundled = [case.id for case in load_cases()[0] if case.kind != "own"]
    return tuple(dict.fromkeys([*bundled, *(row for row in study.rows if row != EVERY_CASE)]))


def _check_rubrics(study: Study) -> None:
    from workbench.rubric import rubrics

    known = [info.name for info in rubrics()]
    for name in study.settings.rubrics:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise BadStudy(
                f"There is no rubric {name!r}; "
                + (f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}.")
            )
