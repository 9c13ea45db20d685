"""How a trial differs from the one before it on the same case: scores, effort, README."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.amounts import money, size_of
from workbench.app.toolkit.document import Document, Line, Span, closed, note, prepared
from workbench.app.trajectory.loading import TrialState, load_trial
from workbench.app.trajectory.scores import points, tiers_of
from workbench.comparison.line_diff import ADDED, REMOVED, SAME, line_diff

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Scorecard
    from workbench.session.reader import SessionReader

COMPARED = 400_000
"""Bytes of each README that are compared: matching lines takes quadratic time at worst."""
_STYLES = {REMOVED: "removed", ADDED: "added"}


def load_comparison(reader: SessionReader, state: TrialState) -> Document:
    """Read the previous trial and lay out what changed since."""
    if state.place.previous is None:
        return note(
            "This is the first trial of its case in this session.",
            f"Press {key_of('trajectory.rerun')} to run it again and compare.",
        )
    before = load_trial(reader, state.place.previous)
    if before is None:
        return note("The previous trial is no longer in the session.")
    lines: list[Line] = []
    old, new = before.trial, state.trial
    title = f"since {old.agent} · {old.model} · repeat {old.repeat}"
    lines.append(Line(title, ((0, len(title), "dim"),)))
    lines += [Line(""), *_scores(before.cards, state.cards)]
    effort = [
        ("steps", old.steps, new.steps, "{:,.0f}"),
        ("tokens", old.prompt_tokens + old.completion_tokens, new.prompt_tokens + new.completion_tokens, "{:,.0f}"),
        ("seconds", old.seconds, new.seconds, "{:,.1f}"),
    ]
    lines += [_change(name, a, b, shape, neutral=True) for name, a, b, shape in effort]
    if old.cost_usd or new.cost_usd:
        text = f"{'cost':<24} {money(old.cost_usd or 0):>8} → {money(new.cost_usd or 0):>8}"
        lines.append(Line(text))
    lines.append(Line(""))
    said = [line.text for line in lines]
    for line, text in _readme_diff(_readme(reader, before), _readme(reader, state)):
        lines.append(line)
        said.append(text)
    sizes = [reader.size(one.readme_blob) for one in (old, new)]
    cut = f"Only the first {size_of(COMPARED)} of each README are compared." if max(sizes) > COMPARED else None
    return Document(closed(tuple(lines), cut), "\n".join(said), cut)


def _readme(reader: SessionReader, state: TrialState) -> list[str]:
    text = reader.shown(state.trial.readme_blob, f"the README of trial {state.trial.id}", COMPARED)
    return text.replace("\r\n", "\n").split("\n") if text else []


def _scores(before: tuple[Scorecard, ...], after: tuple[Scorecard, ...]) -> list[Line]:
    lines: list[Line] = []
    old_by_key = {(card.rubric, card.judge): card for card in before}
    for card in after:
        old = old_by_key.get((card.rubric, card.judge))
        if old is None:
            continue
        heading = card.rubric
        judge = f"  judge {card.judge}"
        lines.append(
            Line(heading + judge, ((0, len(heading), "heading"), (len(heading), len(heading) + len(judge), "dim")))
        )
        lines.append(_change("total", old.total, card.total, "{:g}"))
        then = {tier.number: tier for tier in tiers_of(old)}
        for tier in tiers_of(card):
            was = then.get(tier.number)
            lines.append(_change(f"{tier.number} {tier.name}", was.points if was else None, tier.points, "{:g}"))
            was_by_key = {item.key: item for item in was.criteria} if was else {}
            for item in tier.criteria:
                previous = was_by_key.get(item.key)
                if previous and previous.points != item.points and item.maximum:
                    lines.append(_change(f"  {item.title}", previous.points, item.points, "{:g}"))
        lines.append(Line(""))
    if not lines:
        return [*note("No scores by the same rubric and judge to compare.").lines, Line("")]
    return lines


def _change(name: str, before: float | None, after: float | None, shape: str, *, neutral: bool = False) -> Line:
    """Return ``name  before → after  (+difference)``."""
    old = shape.format(before) if before is not None and neutral else points(before)
    new = shape.format(after) if after is not None and neutral else points(after)
    text = f"{name[:24]:<24} {old:>8} → {new:>8}"
    spans: tuple[Span, ...] = ()
    if before is not None and after is not None and round(before - after, 2):
        difference = after - before
        sign = "+" if difference > 0 else "−"
        tail = f"  {sign}{shape.format(abs(round(difference, 2)))}"
        style = "dim" if neutral else "added" if difference > 0 else "removed"
        spans = ((len(text), len(text) + len(tail), style),)
        text += tail
    return Line(text, spans)


def _readme_diff(before: list[str], after: list[str]) -> Iterator[tuple[Line, str]]:
    heading = "README"
    if before == after:
        text = "README  the same" if after else "README  neither trial wrote one"
        yield Line(text, ((0, 6, "heading"), (6, len(text), "dim"))), text
        return
    diff = line_diff(before, after, 2)
    text = f"{heading}  {diff.words}"
    yield Line(text, ((0, len(heading), "heading"), (len(heading), len(text), "dim"))), text
    for hunk in diff.hunks:
        where = f"@@ lines {hunk.before[0]}–{hunk.before[1]} → {hunk.after[0]}–{hunk.after[1]} @@"
        yield Line(where, ((0, len(where), "hunk"),)), where
        for sign, line in hunk.lines:
            margin = "  " if sign == SAME else f"{sign} "
            shown = margin + prepared(line)
            spans: tuple[Span, ...] = () if sign == SAME else ((0, len(shown), _STYLES[sign]),)
            yield Line(shown, spans, indent=2), margin + line
