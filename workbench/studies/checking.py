"""Check that everything a study names exists before it starts, and validate the form of a study field by field."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.agents.names import agent_info
from workbench.base.errors import BadField, UsageError, WorkbenchError
from workbench.catalog import check_python, check_there, load_cases, resolve_case
from workbench.documenters.types import SCOPES, parse_docs, parse_scope
from workbench.regeneration.tasks import parse_selection
from workbench.studies.declaration import AGENTS, DOCS, EVERY_CASE, PAPER, BadStudy, Study, StudyColumn
from workbench.studies.study_files import Typed, declared_of, packaged_studies, parse_study, study_named

PROGRAMS = ("repoagent", "osa")
"""Doc systems that are external programs.

If one cannot be used here, its cells say so and the other columns continue.
"""
ROWS, SYSTEMS, MODELS = (
    {AGENTS: "cases", DOCS: "sources"},
    {AGENTS: "agents", DOCS: "docs"},
    {AGENTS: "models", DOCS: "evaluators"},
)
"""Form labels for the rows and for the two parts of a column, by the kind of study."""
NUMBERS = {AGENTS: ("repeats", "steps"), DOCS: ("samples", "k", "tasks")}
"""Numeric fields of a form by the kind of study; ``spend`` is common to both."""


def values_of(study: Study) -> dict[str, Any]:
    """Return the values of a study's form fields: lists as tuples, everything else as text."""
    kind, limits = study.kind, study.limits
    typed = {
        "repeats": str(study.repeats), "samples": str(study.samples), "k": ", ".join(map(str, study.k)),
        "steps": str(limits.steps or ""), "tasks": str(limits.tasks or ""), "spend": f"{study.spend_limit:g}" if study.spend_limit else "",
    }  # fmt: skip
    settings = study.settings
    agents = {"judges": settings.judges, "checks": "yes" if settings.checks else "no", "use": settings.use}
    return {
        "compare": kind,
        "name": study.name,
        ROWS[kind]: study.rows,
        SYSTEMS[kind]: tuple(dict.fromkeys(one.system for one in study.columns)),
        MODELS[kind]: tuple(dict.fromkeys(one.model for one in study.columns if one.model)),
        **{name: typed[name] for name in (*NUMBERS[kind], "spend")},
        **(agents if kind == AGENTS else {"scope": study.settings.docs_scope or SCOPES[0]}),
    }


def drafted(values: Mapping[str, Any], like: Study | None = None) -> Study:
    """Return the study that a form declares; names are not looked up, see :func:`look_up`. Raises BadField."""
    kind, limit = values["compare"], NUMBERS[values["compare"]][-1]
    base = declared_of(like) if like is not None and like.kind == kind else {}
    typed: dict[str, Any] = {name: Typed(values[name].strip()) for name in NUMBERS[kind]}
    limits = {**base.get("limits", {}), limit: typed.pop(limit) or 0}
    if kind == DOCS:
        typed["k"] = [Typed(one) for one in typed["k"].replace(",", " ").split()]
    settings = dict(base.get("settings", {}))
    if kind == AGENTS:
        settings |= {
            "judges": list(values["judges"]),
            "checks": values["checks"] == "yes",
            "use": values["use"].strip(),
        }
    elif values["scope"] != settings.get("docs_scope", SCOPES[0]):
        settings["docs_scope"] = values["scope"]
    declared = {
        **base,
        **typed,
        "name": values["name"].strip(),
        "kind": kind,
        "rows": list(values[ROWS[kind]]),
        "spend_limit": Typed(values["spend"].strip().removeprefix("$") or "0"),
        "columns": {key: list(values[key]) for key in (SYSTEMS[kind], MODELS[kind])},
        "limits": limits,
        "settings": settings,
    }
    if "results" in base and not values[SYSTEMS[kind]]:
        del declared["columns"]
    try:
        study = parse_study(declared, Path())
    except BadStudy as problem:
        if not problem.key:
            raise
        key = problem.key.rpartition(".")[2]
        field = {"rows": ROWS[kind], "spend_limit": "spend"}.get(key, key)
        expected = problem.expected.replace("not ''", "not nothing")
        raise BadField(field, f"{field} must be {expected}.") from None
    if study.name in packaged_studies() and study != study_named(study.name):
        message = f"{study.name} is the name of a bundled study; choose another name for yours."
        raise BadField("name", message)
    return study


# -- looking up names


def look_up(study: Study) -> None:
    """Check that everything named in a form exists, except models, which are checked on use. Raises BadField."""
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
    """Return a study with its rows spelled out, after checking that everything it names exists. Raises UsageError."""
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


def column_problem(study: Study, column: StudyColumn) -> str:
    """Return why the program of a column cannot be used here, or "" if it can; its cells show the reason."""
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
