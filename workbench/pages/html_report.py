"""A session as one HTML page that loads nothing: no fonts, no images; it opens from a disk in ten years.

Its one script searches the page; without it nothing is missing but the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from workbench.base.text import plural
from workbench.pages import report_tables, session_figures, wording
from workbench.pages.contents import Contents
from workbench.pages.excerpts import Excerpts
from workbench.pages.html_frame import closing, e, opening
from workbench.pages.page import Note, Section
from workbench.pages.page_html import contents_list, details, links, marked, parts, section
from workbench.pages.session_page import items, overview, remarks, session_facts
from workbench.session.labels import SESSION
from workbench.session.reader import SessionReader

_LISTED = 300
_FEW = 12
"""Up to so many trials and tasks are listed and, on paper, their steps and bodies printed; of more, what the reader opened."""
_SCRIPT = Path(__file__).with_name("report.js")


def render(reader: SessionReader, contents: Contents) -> Iterator[str]:
    yield opening(f"{contents.name} · Workbench report", script=_SCRIPT.read_text(encoding="utf-8"))
    said = " ".join(marked(state) for state in dict.fromkeys(wording.state(run.state) for run in contents.runs))
    told = parts((session_facts(contents), *remarks(contents, SESSION)))
    yield f'<header><p class="over">Workbench session</p><h1>{e(contents.name)}</h1><p>{said}</p>\n{told}</header>\n'
    yield _search_box(contents)
    first = (*_points(contents), *overview(contents))
    yield _contents_list(contents, first)
    few = len(contents.trials) + sum(len(outcome.tasks) for _, outcome in contents.regenerations) <= _FEW
    yield '<main class="few">\n' if few else "<main>\n"
    yield parts(Note(advice, "advice") for advice in report_tables.state_advice(contents, contents.file))
    for one in chain(first, items(reader, contents, Excerpts(reader))):
        yield from section(one)
    yield "</main>\n"
    yield closing(f"Written by {contents.created_by or 'workbench'}'s report from {contents.file}.")


def _points(contents: Contents) -> Iterator[Section]:
    drawn = (session_figures.points_by_trial(contents), session_figures.distribution_of_points(contents))
    if contents.item is None and any(drawn):
        yield Section("Points", tuple(filter(None, drawn)), anchor="points")


def _search_box(contents: Contents) -> str:
    both = bool(contents.trials) and bool(contents.regenerations)
    noun = "item" if both else "task" if contents.regenerations else "trial"
    return (
        f'<search id="search" data-noun="{noun}" hidden><label for="wanted">Search</label>'
        '<input id="wanted" type="search" autocomplete="off" spellcheck="false" placeholder="press / and type">'
        '<button type="button" aria-label="Previous match">↑</button>'
        '<button type="button" aria-label="Next match">↓</button><output for="wanted"></output></search>\n'
    )


def _contents_list(contents: Contents, first: Sequence[Section]) -> str:
    entries = [(f"trial-{trial.row.id}", report_tables.trial_title(trial)) for trial in contents.trials]
    entries += [
        (f"task-{task.id}", f"{task.qualified_name} · {task.path}")
        for _, outcome in contents.regenerations
        for task in outcome.tasks
    ]
    inner = links(entries[:_LISTED])
    if len(entries) > _LISTED:
        inner += f"<li>… and {len(entries) - _LISTED:,} more below</li>"
    listed = details(plural(len(entries), "item"), f"<ol>{inner}</ol>", unfolded=len(entries) <= _FEW)
    return contents_list(((one.anchor, one.title) for one in first), listed if entries else "")
