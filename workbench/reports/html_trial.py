"""One trial in the HTML report: README beside its scores, metadata, and the trajectory step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.reports import report_tables, wording
from workbench.reports.checked import NOT_IN_POINTS, checked_readme
from workbench.reports.contents import Contents, Trial, accessed_files_words, evidence_words
from workbench.reports.excerpts import Excerpt, Excerpts, pretty_json, split_answer
from workbench.reports.grounded import grounded
from workbench.reports.html_diff import difference
from workbench.reports.html_parts import bar, details, e, facts, pre, table
from workbench.reports.html_readme import rendered
from workbench.results.scores import card_of
from workbench.session.forks import inheritance
from workbench.session.json_forms import TIER_NAMES
from workbench.session.judges import in_words, with_limit
from workbench.session.labels import part_in_words
from workbench.session.reader import SessionReader
from workbench.session.rows import ScoreRow, StepRow

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Criterion


def section(reader: SessionReader, contents: Contents, trial: Trial, excerpts: Excerpts) -> Iterator[str]:
    """Yield the section of one trial."""
    row = trial.row
    yield f'<section class="item" id="trial-{e(row.id)}"><h2>{e(report_tables.trial_title(trial))}</h2>\n'
    yield facts(
        [
            ("trial", row.id),
            ("status", wording.state(row.state)),
            ("steps", str(row.steps)),
            ("tokens in", wording.count(row.prompt_tokens or None)),
            ("tokens out", wording.count(row.completion_tokens or None)),
            ("cost $", wording.money(row.cost_usd)),
            ("seconds", wording.seconds(row.seconds)),
            ("repository", accessed_files_words(reader, row)),
        ]
    )
    if row.error:
        yield f'<p class="problem">✗ {e(row.error)}</p>\n'
    if trial.problem:
        yield f'<p class="problem">? {e(trial.problem)}</p>\n'
    if row.parsed == 0:
        yield '<p class="problem">! The answer did not keep the protocol.</p>\n'
    yield remarks(contents, row.id)
    yield '<div class="beside">\n'
    yield _readme(reader, trial, excerpts)
    yield '<div class="scores">\n'
    for place, score in enumerate(trial.scores):
        yield _score(reader, score, unfolded=place == 0)
    if not trial.scores:
        yield '<p class="note">Not scored.</p>\n'
    if trial.imported_scores:
        yield f"<h4>{report_tables.IMPORTED_TITLE}</h4>{table(report_tables.imported_scores(trial))}"
    yield "</div></div>\n"
    yield _check(reader, trial)
    yield _grounding(reader, trial)
    if row.metadata_blob:
        metadata = excerpts.of(row.metadata_blob, f"the metadata of trial {row.id}")
        yield details(f"Metadata <small>{e(metadata.words)}</small>", pre(pretty_json(metadata.text)))
    steps = reader.steps(row.id)
    yield f"<h3>Trajectory <small>{wording.plural(len(steps), 'step')}</small></h3>\n"
    for step in steps:
        yield _step(step, excerpts, inheritance(trial.row, step.number))
    yield "</section>\n"


def remarks(contents: Contents, item: str) -> str:
    """Return the tags of an item and people's remarks on it."""
    tags = contents.all_tags(item)
    lines = [f'<p class="remark">Tags: {e(tags)}</p>\n'] if tags else []
    for remark in contents.remarks(item):
        place = f" on {e(part_in_words(remark.of))}" if remark.of else ""
        lines.append(f'<p class="remark">Remark{place}: {e(remark.text)}</p>\n')
    return "".join(lines)


def _readme(reader: SessionReader, trial: Trial, excerpts: Excerpts) -> str:
    digest = trial.row.readme_blob
    if digest is None:
        return '<div class="readme none"><p class="note">No README was handed in.</p></div>\n'
    readme = excerpts.readme(digest, f"the README of trial {trial.row.id}")
    shown = rendered(readme.text)
    source = details(
        f"Markdown source <small>{e(readme.words)}</small>", pre(readme.text), kind="source", unfolded=shown is None
    )
    if not readme.text.strip():
        shown = '<p class="note">The README is empty.</p>'
    if shown is None:
        shown = '<p class="note">Too long to render; the source is below.</p>'
    changed = _since_parent(reader, trial, readme, excerpts) if trial.row.parent else ""
    return f'<div><h3>README</h3><div class="readme">{shown}</div>\n{changed}{source}</div>\n'


def _since_parent(reader: SessionReader, trial: Trial, readme: Excerpt, excerpts: Excerpts) -> str:
    parent = reader.trial(trial.row.parent)
    if parent is None or parent.readme_blob is None:
        why = "that is not in this session" if parent is None else "that handed in none"
        return f'<p class="note">Fork of trial {e(trial.row.parent[:8])}, {why}: no README to compare with.</p>\n'
    before = excerpts.readme(parent.readme_blob, f"the README of trial {parent.id}")
    names = (f"README of {parent.id[:8]}, the parent", f"README of {trial.row.id[:8]}, the fork")
    return difference("README since its parent's", before, readme, excerpts, names=names)


def _check(reader: SessionReader, trial: Trial) -> str:
    found = checked_readme(reader, trial)
    if found is None:
        return ""
    inside = [
        f'<p class="note">{e(NOT_IN_POINTS)}</p>\n',
        *(f'<p class="note">{e(note)}</p>\n' for note in found.notes),
    ]
    for one in found.alarms:
        inside.append(f'<p class="problem">{e(one.head)}</p>\n' + (pre("\n".join(one.lines)) if one.lines else ""))
    head = f"Works <small>{e(found.works)}</small>"
    return details(head, "".join(inside), kind="paper", unfolded=bool(found.alarms))


def _grounding(reader: SessionReader, trial: Trial) -> str:
    found = grounded(reader, trial.row)
    if found is None or not (found.counts or found.patterns):
        return ""
    inside = [f'<p class="note">{e(found.note)}</p>\n'] if found.note else []
    if found.inventions:
        listed = "".join(f"<li>{e(one)}</li>" for one in found.inventions)
        inside.append(f"<p>Likely inventions, nowhere in the repository:</p><ul>{listed}</ul>\n")
    if found.patterns:
        inside.append(f"<p>Exploration: {e('; '.join(found.patterns))}.</p>\n")
    head = f"Where the README comes from <small>{e(found.counts or 'no README')}</small>"
    return details(head, "".join(inside), kind="paper", unfolded=bool(found.inventions))


def _score(reader: SessionReader, score: ScoreRow, *, unfolded: bool) -> str:
    card = card_of(reader, score)
    parts = []
    for number, tier in card.tiers.items() if card else ():
        parts.append(
            f'<div class="tier"><b>{number} {e(TIER_NAMES.get(number, f"Tier {number}"))}</b>{bar(tier.points, tier.maximum)}'
            f'<span class="n">{e(wording.of(tier.points, tier.maximum))}</span></div>\n<ul class="criteria">'
        )
        parts += [_criterion(one) for one in card.criteria if one.tier == number] if card else []
        parts.append("</ul>\n")
    for spread in card.spread if card else ():
        words = f"{spread.of}: {spread.mean:.1f} ± {spread.sd:.1f} over {spread.repeats} judgements"
        parts.append(f'<p class="note">{e(words)}</p>\n')
    judge = with_limit(in_words(score.judge), score.judge)
    points = wording.score(score.total, score.out_of, card.given if card else None)
    head = f'<span class="score">{e(points)}</span> {e(score.rubric)} <small>{e(judge)}</small>'
    return details(head, "".join(parts), kind="card paper", unfolded=unfolded)


def _criterion(one: Criterion) -> str:
    points, most = one.points, one.maximum
    numbers = e(wording.of(points, most)) if most else ""
    state = "warn" if points is None else "good" if points >= most else "bad" if points <= 0 else ""
    given = wording.given(one.given)
    reason = f"{one.reason}; {given}" if given and one.given else one.reason
    evidence = "".join(f"<li>{e(evidence_words(item))}</li>" for item in one.evidence)
    shown = details("evidence", f"<ul>{evidence}</ul>", kind="evidence paper") if evidence else ""
    return (
        f'<li><div><span>{e(one.title)}</span><span class="n {state if most else ""}">{numbers}</span></div>'
        f"<p>{e(reason)}</p>{shown}</li>\n"
    )


def _step(step: StepRow, excerpts: Excerpts, inherited: str) -> str:
    mark = {"invalid": "!", "error": "✗"}.get(step.kind, "")
    head = (
        f'<span class="no">{step.number}</span><span class="do">{mark} {e(step.action)}</span>'
        f'<span class="on">{e("" if step.target == step.action else step.target)}</span>'
        f'<span class="n">{e(inherited) or f"{wording.count(step.tokens)} tok"}</span><span class="n">{wording.seconds(step.seconds)} s</span>'
    )
    parts = []
    if step.problem:
        parts.append(f'<p class="problem">{e(step.problem)}</p>\n')
    of = f"step {step.number} of trial {step.trial_id}"
    answer = excerpts.of(step.answer_blob, f"the answer of {of}")
    thought, call = split_answer(answer.text)
    if thought:
        parts.append(f"<h4>Thought</h4>{pre(thought, 'prose')}")
    if call:
        parts.append(f"<h4>Call <small>{e(answer.words)}</small></h4>{pre(call, 'prose')}")
    if step.observation_blob:
        observation = excerpts.of(step.observation_blob, f"the observation of {of}")
        parts.append(f"<h4>Observation <small>{e(observation.words)}</small></h4>{pre(observation.text)}")
    if step.model or step.settings not in {"", "{}"}:
        parts.append(f'<p class="note">{e(" · ".join(filter(None, (step.model, step.settings))))}</p>\n')
    kind = "step bad" if step.kind == "error" else "step warn" if step.kind == "invalid" else "step"
    return details(head, "".join(parts), kind=kind)
