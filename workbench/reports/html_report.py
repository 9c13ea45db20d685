"""A session as one HTML page that loads nothing: no fonts, no images; it opens from a disk in ten years.

Its one script searches the page; without it nothing is missing but the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from workbench.reports import (
    distributions,
    figures,
    html_regeneration,
    html_trial,
    report_tables,
    session_figures,
    wording,
)
from workbench.reports.contents import Contents
from workbench.reports.distributions import Strips
from workbench.reports.excerpts import Excerpts
from workbench.reports.html_frame import closing, opening
from workbench.reports.html_parts import e, facts, marked, table
from workbench.reports.page import Heat
from workbench.session.labels import SESSION
from workbench.session.reader import SessionReader

_LISTED = 300
_UNFOLDED_ON_PAPER = 12
"""Up to so many trials and tasks their steps and bodies are printed, too; of more, what the reader opened."""
_SCRIPT = Path(__file__).with_name("report.js")


def render(reader: SessionReader, contents: Contents) -> Iterator[str]:
    """Yield the page section by section."""
    excerpts = Excerpts(reader)
    title = f"{contents.name} · Workbench report"
    yield opening(title, script=_SCRIPT.read_text(encoding="utf-8"))
    yield _head(contents)
    yield _search_box(contents)
    yield _contents_list(contents)
    yield '<main class="few">\n' if _items(contents) <= _UNFOLDED_ON_PAPER else "<main>\n"
    for advice in report_tables.state_advice(contents, contents.file):
        yield f'<p class="advice">{e(advice)}</p>\n'
    if contents.item is None:
        yield _figures(contents)
    if contents.spread:
        yield f'<section id="means"><h2>Means</h2>\n{table(report_tables.means(contents))}'
        yield '<p class="note">Means over trials with the standard deviation of the sample.</p></section>\n'
    if contents.trials:
        yield f'<section id="trials"><h2>Trials</h2>\n{table(report_tables.trials(contents), "trial-")}'
        first = " by ".join(contents.judged[0]) if contents.judged else ""
        tiers = f"T1 to T4 are the tiers of {first}: structure, sections, accuracy, quality. " if first else ""
        yield f'<p class="note">{e(tiers)}? is unscored, which is not 0.</p></section>\n'
    if contents.agreement:
        yield f'<section id="agreement"><h2>Agreement of judges</h2>\n{table(report_tables.agreement(contents))}'
        yield f'<p class="note">{e(report_tables.AGREEMENT_SENTENCE)}</p></section>\n'
    for run, outcome in contents.regenerations:
        yield html_regeneration.overview(contents, run, outcome)
    yield f'<section id="runs"><h2>Runs</h2>\n{table(report_tables.runs(contents))}'
    if away := report_tables.put_away_sentence(contents):
        yield f'<p class="note">{e(away)}</p>\n'
    yield "</section>\n"
    for trial in contents.trials:
        yield from html_trial.section(reader, contents, trial, excerpts)
    for _, outcome in contents.regenerations:
        for task in outcome.tasks:
            yield from html_regeneration.section(reader, contents, task, outcome, excerpts)
    if reader.damage:
        yield f'<section id="damaged"><h2>Damaged</h2>\n<p class="problem">{e(report_tables.DAMAGE_SENTENCE)}</p>\n<ul>'
        yield from (f"<li>{e(one.sentence)}</li>\n" for one in reader.damage)
        yield "</ul></section>\n"
    yield "</main>\n"
    yield closing(f"Written by {contents.created_by or 'workbench'}'s report from {contents.file}.")


def _head(contents: Contents) -> str:
    states = list(dict.fromkeys(wording.state(run.state) for run in contents.runs))
    tasks = sum(len(outcome.tasks) for _, outcome in contents.regenerations)
    spend = sum(run.row.spend_usd for run in contents.runs)
    numbers = facts(
        [
            ("created", wording.when(contents.created_at)),
            ("by", contents.created_by),
            ("runs", str(len(contents.runs))),
            ("trials", str(len(contents.trials)) if contents.trials else ""),
            ("tasks", str(tasks) if tasks else ""),
            ("spend $", wording.money(spend)),
        ]
    )
    said = " ".join(marked(state) for state in states)
    return f'<header><p class="over">Workbench session</p><h1>{e(contents.name)}</h1><p>{said}</p>\n{numbers}{html_trial.remarks(contents, SESSION)}</header>\n'


def _figures(contents: Contents) -> str:
    drawn = []
    match session_figures.points_by_trial(contents):
        case Heat() as matrix:
            drawn.append(figures.heat(matrix))
        case Strips() as columns:
            drawn.append(distributions.strips(columns))
    if (counted := session_figures.distribution_of_points(contents)) is not None:
        drawn.append(distributions.histograms(counted))
    return f'<section id="points"><h2>Points</h2>\n{"".join(drawn)}</section>\n' if drawn else ""


def _items(contents: Contents) -> int:
    return len(contents.trials) + sum(len(outcome.tasks) for _, outcome in contents.regenerations)


def _search_box(contents: Contents) -> str:
    both = bool(contents.trials) and bool(contents.regenerations)
    noun = "item" if both else "task" if contents.regenerations else "trial"
    return (
        f'<search id="search" data-noun="{noun}" hidden><label for="wanted">Search</label>'
        '<input id="wanted" type="search" autocomplete="off" spellcheck="false" placeholder="press / and type">'
        '<button type="button" aria-label="Previous match">↑</button>'
        '<button type="button" aria-label="Next match">↓</button><output for="wanted"></output></search>\n'
    )


def _contents_list(contents: Contents) -> str:
    entries: list[tuple[str, str]] = []
    if contents.judged and contents.item is None:
        entries.append(("points", "Points"))
    if contents.spread:
        entries.append(("means", "Means"))
    if contents.trials:
        entries.append(("trials", "Trials"))
    if contents.agreement:
        entries.append(("agreement", "Agreement of judges"))
    entries += [(f"regeneration-{run.row.id}", f"Regeneration {run.row.id}") for run, _ in contents.regenerations]
    entries.append(("runs", "Runs"))
    items = [(f"trial-{trial.row.id}", report_tables.trial_title(trial)) for trial in contents.trials]
    items += [
        (f"task-{task.id}", f"{task.qualified_name} · {task.path}")
        for _, outcome in contents.regenerations
        for task in outcome.tasks
    ]
    lines = "".join(f'<li><a href="#{e(anchor)}">{e(words)}</a></li>' for anchor, words in entries)
    inner = "".join(f'<li><a href="#{e(anchor)}">{e(words)}</a></li>' for anchor, words in items[:_LISTED])
    if len(items) > _LISTED:
        inner += f"<li>… and {len(items) - _LISTED:,} more below</li>"
    opened = " open" if len(items) <= 12 else ""
    listed = (
        f"<details{opened}><summary>{wording.plural(len(items), 'item')}</summary><ol>{inner}</ol></details>"
        if items
        else ""
    )
    return f'<nav aria-label="Contents"><h2>Contents</h2><ul>{lines}</ul>{listed}</nav>\n'
