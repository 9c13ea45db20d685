"""What a trial brought: its README, its metadata and how it differs from the trial before, as documents."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.key_table import with_keys
from workbench.app.toolkit.amounts import money, size_of
from workbench.app.toolkit.document import (
    Document,
    Line,
    code,
    difference,
    joined,
    note,
    of_lines,
    position,
    prepared,
    styled,
)
from workbench.app.trajectory import markdown
from workbench.app.trajectory.loading import TrialState, load_trial, state_of, why_not
from workbench.app.trajectory.scores import points, tiers_of
from workbench.app.trajectory.step_content import cut_of
from workbench.comparison.line_diff import line_diff

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Scorecard
    from workbench.session.reader import SessionReader

README, CHECK, METADATA, DIFFERENCE, GROUNDING, EXPLORATION = TABS = (
    "README",
    "Check",
    "Metadata",
    "Diff to previous",
    "Grounding",
    "Explored",
)
SHOWN_AT_FIRST = 256_000
COMPARED = 400_000
"""Bytes of each README that are compared: matching lines takes quadratic time at worst."""
_NAMES_LIMIT = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """The document of a tab; ``readme`` is the text that offsets of evidence count in, ``raw`` how it is shown."""

    document: Document
    readme: str = ""
    raw: bool = False


def load_outcome(
    reader: SessionReader, state: TrialState, tab: str, *, raw: bool, limit: int = SHOWN_AT_FIRST
) -> Outcome:
    """Read and lay out README, metadata or difference of a trial."""
    if tab == METADATA:
        return Outcome(_metadata(reader, state, limit))
    if tab == DIFFERENCE:
        return Outcome(_difference(reader, state))
    readme = _readme(reader, state, limit)
    if not readme.strip():
        return Outcome(_no_readme(state))
    cut = cut_of(reader.size(state.trial.readme_blob), limit)
    raw = raw or len(readme) > markdown.RENDER_LIMIT
    lay_out = markdown.source if raw else markdown.render
    return Outcome(lay_out(readme, step_of=_step_finder(state), cut=cut), readme, raw)


def _readme(reader: SessionReader, state: TrialState, limit: int) -> str:
    return reader.shown(state.trial.readme_blob, f"the README of trial {state.trial.id}", limit)


def _step_finder(state: TrialState) -> markdown.StepOf:
    """Return what finds the step that read the file which a line names."""
    steps: dict[str, int] = {}
    for (path, how), row in state.seen.items():
        if how == "read" and len(steps) < _NAMES_LIMIT:
            for name in (path, path.rpartition("/")[2]):
                if len(name) > 3:
                    steps[name] = min(row.step, steps.get(name, row.step))
    names = "|".join(re.escape(name) for name in sorted(steps, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w/.-])(?:{names})(?![\w-])")

    def step_of(text: str) -> int | None:
        found = pattern.search(text) if steps else None
        return steps[found.group()] if found else None

    return step_of


def _no_readme(state: TrialState) -> Document:
    if state_of(state) in {"queued", "running"}:
        return note("No README yet: it comes with the agent's last step.")
    if said := why_not(state, "a README was written"):
        return note(*said)
    if state.trial.parsed == 0:
        return note("The last answer could not be read, so it holds no README.", "The last step's Raw tab shows it.")
    if state.trial.readme_blob is None:
        return note("The file that this trial was imported from holds no README.")
    return note("The agent answered with an empty README.")


def _metadata(reader: SessionReader, state: TrialState, limit: int) -> Document:
    text = reader.shown(state.trial.metadata_blob, f"the metadata of trial {state.trial.id}", limit)
    if not text.strip():
        done = state_of(state) == "done"
        return note("The agent gave no metadata." if done else "No metadata yet: it comes with the agent's last step.")
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return code(text, "metadata.txt", cut=cut_of(reader.size(state.trial.metadata_blob), limit))
    document = code(json.dumps(decoded, indent=2, ensure_ascii=False), "metadata.json")
    if isinstance(decoded, dict) and decoded:
        return document
    kind = "an empty object" if decoded == {} else f"{_kind(decoded)}, not an object"
    warning = styled((f"! The metadata is {kind}: schema.org needs keys and values.", "warn"), indent=2)
    return Document((warning, Line(""), *document.lines), document.text)


def _kind(value: object) -> str:
    names = {str: "a text", list: "a list", bool: "true or false", int: "a number", float: "a number"}
    return "nothing (null)" if value is None else names.get(type(value), "something else")


def locate(document: Document, readme: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Return where characters ``start`` to ``end`` of the README stand in its document, as (line, from, to).

    In the source view that is exact. In the rendered view a line whose text contains the characters is marked there,
    any other line of the span as a whole.
    """
    first, first_column = position(readme, start)
    last, last_column = position(readme, max(start, end))
    found: list[tuple[int, int, int]] = []
    wanted = prepared(readme[start:end]).strip("#*`_ ")
    for index, line in enumerate(document.lines):
        if line.source < 0 or line.source_end <= first or line.source > last or not line.text:
            continue
        left, right = 0, len(line.text)
        if document.numbered:
            left = first_column if line.source == first else 0
            right = last_column if line.source == last else right
        elif wanted and "\n" not in wanted and (at := line.text.find(wanted)) >= 0:
            left, right = at, at + len(wanted)
        if right > left:
            found.append((index, left, right))
    return found


# -- the trial before it on the same case


def _difference(reader: SessionReader, state: TrialState) -> Document:
    """Read the previous trial and lay out what changed since: scores, effort, README."""
    if state.place.previous is None:
        again = with_keys("Press {trajectory.rerun} to run it again and compare.")
        return note("This is the first trial of its case in this session.", again)
    before = load_trial(reader, state.place.previous)
    if before is None:
        return note("The previous trial is no longer in the session.")
    old, new = before.trial, state.trial
    lines = [
        styled((f"since {old.agent} · {old.model} · repeat {old.repeat}", "dim")),
        Line(""),
    ]
    lines += [*_scores(before.cards, state.cards), Line("")]
    effort = {
        "steps": (old.steps, new.steps, "{:,.0f}"),
        "tokens": (old.prompt_tokens + old.completion_tokens, new.prompt_tokens + new.completion_tokens, "{:,.0f}"),
        "seconds": (old.seconds, new.seconds, "{:,.1f}"),
    }
    lines += [_change(name, a, b, shape) for name, (a, b, shape) in effort.items()]
    if old.cost_usd or new.cost_usd:
        lines.append(Line(f"{'cost':<24} {money(old.cost_usd or 0):>8} → {money(new.cost_usd or 0):>8}"))
    lines.append(Line(""))
    was, now = (_readme(reader, one, COMPARED).replace("\r\n", "\n") for one in (before, state))
    sizes = [reader.size(one.readme_blob) for one in (old, new)]
    cut = f"Only the first {size_of(COMPARED)} of each README are compared." if max(sizes) > COMPARED else None
    old_lines, new_lines = (text.split("\n") if text else [] for text in (was, now))
    diff = line_diff(old_lines, new_lines, 2)
    said = diff.words if diff.hunks or now else "neither trial wrote one"
    lines.append(styled(("README", "heading"), (f"  {said}", "dim")))
    return joined([of_lines(lines), difference(diff, old_lines, new_lines)], cut=cut)


def _scores(before: tuple[Scorecard, ...], after: tuple[Scorecard, ...]) -> list[Line]:
    lines: list[Line] = []
    known = {(card.rubric, card.judge): card for card in before}
    for card in after:
        old = known.get((card.rubric, card.judge))
        if old is None:
            continue
        lines += [Line("")] if lines else []
        lines.append(styled((card.rubric, "heading"), (f"  judge {card.judge}", "dim")))
        lines.append(_change("total", old.total, card.total))
        then = {tier.number: tier for tier in tiers_of(old)}
        for tier in tiers_of(card):
            was = then.get(tier.number)
            lines.append(_change(f"{tier.number} {tier.name}", was.points if was else None, tier.points))
            items = {item.key: item for item in was.criteria} if was else {}
            for item in tier.criteria:
                previous = items.get(item.key)
                if previous and previous.points != item.points and item.maximum:
                    lines.append(_change(f"  {item.title}", previous.points, item.points))
    return lines or list(note("No scores by the same rubric and judge to compare.").lines)


def _change(name: str, before: float | None, after: float | None, shape: str = "") -> Line:
    """Return ``name  before → after  (+difference)``; of points, unless a shape is given, more is better."""
    old, new = (shape.format(one) if one is not None and shape else points(one) for one in (before, after))
    text, tail, style = f"{name[:24]:<24} {old:>8} → {new:>8}", "", "dim"
    if before is not None and after is not None and round(before - after, 2):
        more = after > before
        tail = f"  {'+' if more else '−'}{(shape or '{:g}').format(abs(round(after - before, 2)))}"
        style = style if shape else "added" if more else "removed"
    return styled((text, ""), (tail, style))
