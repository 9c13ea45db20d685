"""Look up what a study names before anything starts: cases, sources, agents, doc systems, rubrics, judges, results of others."""

from __future__ import annotations

import difflib
from dataclasses import replace

from workbench.agents.names import agent_info
from workbench.catalog import check_there, load_cases, resolve_case
from workbench.catalog.resolving import check_python
from workbench.documenters.names import parse_docs, parse_scope
from workbench.errors import UsageError
from workbench.regeneration.selections import parse_selection
from workbench.studies.declaration import AGENTS, DOCS, EVERY_CASE, PAPER, BadStudy, Column, Study

PROGRAMS = ("repoagent", "osa")
"""Doc systems that are programs of others; where one cannot be used here, its cells say so and the others go on."""


def check_study(study: Study) -> Study:
    """Return a study with its rows written out, after making sure that all it names is there.

    Raises:
        UsageError: It names an unknown case, agent, doc system or rubric.
    """
    if study.kind == PAPER:
        return study
    rows = _rows(study)
    if study.kind == AGENTS:
        for column in study.columns:
            agent_info(column.system)
        for row in rows:
            check_there(resolve_case(row))
        _check_scoring(study)
    else:
        for column in study.columns:
            if not column_problem(study, column):
                parse_docs(column.system)
        for row in rows:
            check_python(resolve_case(row))
        parse_scope(study.settings.docs_scope)
        parse_selection(study.settings.selection)
    return replace(study, rows=rows)


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


def _check_scoring(study: Study) -> None:
    from workbench.rubric import rubrics
    from workbench.rubric.judging import parse_judge

    known = [info.name for info in rubrics()]
    for name in study.settings.rubrics:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise BadStudy(
                f"There is no rubric {name!r}; "
                + (f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}.")
            )
    for judge in study.settings.judges:
        parse_judge(judge)
