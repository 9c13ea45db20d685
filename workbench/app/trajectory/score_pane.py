"""The scores: a bar for each tier, each criterion with its points and reason, the selected one with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from workbench.app.toolkit.virtual_view import Part, VirtualView, fit
from workbench.app.trajectory.score_views import VIEWS, Scale, ViewRow, beside, scale_of, what_it_takes
from workbench.app.trajectory.score_views import wrapped as _wrapped
from workbench.app.trajectory.scores import Tier, given_of, points, tiers_of
from workbench.session.judges import in_words, is_offline
from workbench.session.labels import STAR, criterion_part
from workbench.session.labels import in_words as in_label_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Criterion, Evidence, Scorecard
    from workbench.rubric.spread import PointSpread

BAR = 15
_MOST_ROWS = 8  # of a reason, until its criterion is selected


@dataclass(frozen=True, slots=True)
class _Row:
    parts: tuple[Part, ...]
    item: int | None  # the criterion that a click selects
    head: bool = False


class ScorePane(VirtualView):
    """One scorecard at a time, or several side by side; a cursor goes over its criteria.

    Attributes:
        view: One of :data:`workbench.app.trajectory.score_views.VIEWS`.
    """

    ALLOW_SELECT = False

    class Chosen(Message):
        """Another criterion is under the cursor."""

        def __init__(self, item: Criterion | None) -> None:
            super().__init__()
            self.item = item

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.card: Scorecard | None = None
        self.cursor = -1
        self.empty_text = ""
        self.agreement: tuple[str, ...] = ()
        self._tiers: tuple[Tier, ...] = ()
        self._items: list[Criterion] = []
        self._rows: list[_Row] = []
        self._places: dict[tuple[int, str], int] = {}
        self._others: tuple[Scorecard, ...] = ()
        self._repeats: Mapping[Scale, Sequence[PointSpread]] = {}
        self._labels: Mapping[str, Sequence[str]] = {}
        self._remarks: Mapping[str, Sequence[str]] = {}
        self._works = ""
        self.view = VIEWS[0]

    @property
    def selected(self) -> Criterion | None:
        """The criterion under the cursor; None until the cursor was moved."""
        return self._items[self.cursor] if 0 <= self.cursor < len(self._items) else None

    @property
    def chosen_part(self) -> tuple[str, str] | None:
        """The title of the criterion under the cursor and the part of the trial that it is; None where there is none."""
        item = self.selected
        return None if item is None else (item.title, self._part(item))

    def _part(self, item: Criterion) -> str:
        tier = next((one.number for one in self._tiers if item in one.criteria), 0)
        return criterion_part(self.card.rubric if self.card is not None else "", tier, item.key)

    def show(
        self,
        card: Scorecard | None,
        empty_text: str,
        agreement: tuple[str, ...] = (),
        others: tuple[Scorecard, ...] = (),
        repeats: Mapping[Scale, Sequence[PointSpread]] | None = None,
        labels: Mapping[str, Sequence[str]] | None = None,
        remarks: Mapping[str, Sequence[str]] | None = None,
        works: str = "",
    ) -> None:
        """Show a scorecard and how its judge agrees with others, or say why there is none.

        Args:
            card: The scorecard.
            empty_text: Why there is none.
            agreement: A line for each tier that another judge scored too.
            others: The trial's other scorecards.
            repeats: How the points of its repeats lie, by rubric and judge.
            labels: Stars and tags of the trial's parts, criteria among them.
            remarks: What people said of its criteria.
            works: How much of the README holds, beside the points and in none of them; "" to say nothing of it.
        """
        now = (card, empty_text, agreement, others, repeats or {}, labels or {}, remarks or {}, works)
        known = (
            *(self.card, self.empty_text, self.agreement, self._others, self._repeats, self._labels, self._remarks),
            self._works,
        )
        if now == known:
            return
        self.agreement, self._others, self._repeats, self._labels = agreement, others, repeats or {}, labels or {}
        self._remarks, self._works = remarks or {}, works
        chosen = self.selected
        self.card = card
        self.empty_text = empty_text
        self._tiers = tiers_of(card) if card else ()
        self._items = [item for tier in self._tiers for item in tier.criteria]
        found = ((tier.number, item.key) for tier in self._tiers for item in tier.criteria)
        self._places = {key: place for place, key in reversed(list(enumerate(found)))}
        key = chosen.key if chosen else None
        self.cursor = next((i for i, item in enumerate(self._items) if item.key == key), -1)
        self._build()

    def row_count(self) -> int:
        return len(self._rows)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        row = self._rows[y]
        fill = ""
        if row.head and row.item == self.cursor:
            fill = "cursor" if self.has_focus else "cursor-blurred"
        return list(row.parts), fill

    def move(self, rows: int) -> None:
        order = self._order
        if order:
            at = order.index(self.cursor) + rows if self.cursor in order else 0
            self._choose(order[max(0, min(at, len(order) - 1))])

    def go_to_end(self, last: bool) -> None:
        order = self._order
        if order:
            self._choose(order[-1 if last else 0])

    @property
    def _order(self) -> list[int]:
        return [row.item for row in self._rows if row.head and row.item is not None]

    def turn(self, step: int) -> None:
        """Show the scores in the next (1) or previous (-1) way."""
        self.view = VIEWS[(VIEWS.index(self.view) + step) % len(VIEWS)]
        self._build()
        if self._order and self.cursor not in self._order:
            self._choose(self._order[0])
        self.scroll_to(y=0, animate=False, immediate=True)

    def choose(self, tier: int, key: str) -> None:
        """Put the cursor on a criterion, if the scorecard has it."""
        if (tier, key) in self._places:
            self._choose(self._places[tier, key])

    def choose_with_evidence(self) -> Criterion | None:
        """Return the selected criterion, or select the first that has evidence."""
        if self.selected is None:
            first = next((i for i, item in enumerate(self._items) if item.evidence), None)
            if first is not None:
                self._choose(first)
        return self.selected

    def _choose(self, index: int) -> None:
        if not self._items:
            return
        index = max(0, min(index, len(self._items) - 1))
        if index != self.cursor:
            self.cursor = index
            self._build()
            self.post_message(self.Chosen(self.selected))
        mine = [y for y, row in enumerate(self._rows) if row.item == index]
        if mine:
            self.keep_in_sight(mine[-1])
            self.keep_in_sight(mine[0], margin=1 if mine[0] else 0)

    def on_click(self, event: events.Click) -> None:
        y = event.y + self.scroll_offset.y
        if y < len(self._rows) and self._rows[y].item is not None:
            self._choose(self._rows[y].item or 0)

    def on_resize(self) -> None:
        self._build()

    def on_focus(self) -> None:
        if self.cursor < 0 and self._items:
            self._choose(next(iter(self._order), 0))
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # -- laying out

    def _build(self) -> None:
        width = self.text_width
        self._rows = []
        if not self._tiers:
            for line in self.empty_text.split("\n"):
                parts = _wrapped(line, max(10, width - 2))
                self._rows += [_Row(((f" {part}", "dim"),), None) for part in parts]
        if self.card and (given := given_of(self.card)):
            self._rows += [_Row(((f" {part}", "warn"),), None) for part in _wrapped(given, max(10, width - 2))]
        if self.card and self._tiers and self.view != VIEWS[0]:
            self._rows += self._other_view(self.card, width)
            self.set_size(len(self._rows))
            self.refresh()
            return
        index = 0
        for tier in self._tiers:
            self._rows.append(_Row(tuple(_tier_parts(tier, width)), None))
            for item in tier.criteria:
                self._item_rows(index, item, width)
                index += 1
        if self._works and self._tiers:
            self._rows.append(_Row(((" Works", "strong"), ("  in no points", "dim")), None))
            self._rows += [_Row(((f"     {part}", ""),), None) for part in _wrapped(self._works, max(10, width - 7))]
        for line in self.agreement:
            self._rows += [_Row(((f" {part}", "dim"),), None) for part in _wrapped(line, max(10, width - 2))]
        self.set_size(len(self._rows))
        self.refresh()

    def _other_view(self, card: Scorecard, width: int) -> list[_Row]:
        rows: list[ViewRow] = (
            what_it_takes(card, width) if self.view == VIEWS[1] else beside(card, self._others, self._repeats, width)
        )
        return [
            _Row(row.parts, self._places.get(row.about) if row.about is not None else None, row.head) for row in rows
        ]

    def _item_rows(self, index: int, item: Criterion, width: int) -> None:
        score = f"{points(item.points):>4} / {points(item.maximum):<2}" if item.maximum else "   remark"[:9]
        name_width = _name_width(width)
        part = self._part(item)
        labels, remarks = self._labels.get(part, ()), self._remarks.get(part, ())
        mark = STAR if STAR in labels else "✎" if remarks else "#" if labels else ""
        name = fit(f"{mark} {item.title}" if mark else item.title, name_width)
        room = width - name_width - len(score) - 6
        style = (
            "unscored"
            if item.points is None
            else "ok"
            if item.points >= item.maximum
            else "bad"
            if not item.points
            else "warn"
        )
        if not item.maximum:
            style = "dim"
        # Who judged stands below; at each criterion it would take the room of the reason.
        told = item.reason.removeprefix("offline judge: ")
        said = f"{points(item.given)} by the format · {told}" if item.given else told
        here = index == self.cursor
        lost = item.points is None or item.points < item.maximum
        below = len(said) > room and (lost or here) if said else False
        reason = "" if below or room < 8 else one_line(said, max(room, 1))
        self._rows.append(
            _Row((("   ", ""), (name, ""), (score, style), ("  ", ""), (reason, "dim")), index, head=True)
        )
        if below:
            rows = _wrapped(said, width - 7)
            if len(rows) > _MOST_ROWS and not here:
                rows = [*rows[: _MOST_ROWS - 1], rows[_MOST_ROWS - 1][: width - 9] + " …"]
            self._rows += [_Row(((f"     {part}", "" if here else "dim"),), index) for part in rows]
        if not here:
            return
        if labels:
            self._rows.append(_Row(((f"     {in_label_words(labels)}", "em"),), index))
        for remark in remarks:
            self._rows += [
                _Row(((f"     {row}", "em"),), index) for row in _wrapped(f"✎ {one_line(remark, 600)}", width - 7)
            ]
        spread = self._spread_of(item)
        if spread:
            self._rows.append(_Row(((f"     {spread}", "dim"),), index))
        if item.judged_by != "rule":
            spread = f", repeats {', '.join(points(value) for value in item.samples)}" if len(item.samples) > 1 else ""
            by = in_words(item.judged_by) if is_offline(item.judged_by) else f"judged by {item.judged_by}"
            self._rows.append(_Row(((f"     {by}{spread}", "dim"),), index))
        for proof in item.evidence[:6]:
            self._rows.append(_Row((("     ▸ ", "bullet"), (fit(_proof_text(proof), width - 8), "em")), index))
        if len(item.evidence) > 6:
            self._rows.append(_Row(((f"       and {len(item.evidence) - 6} more", "dim"),), index))

    def _spread_of(self, item: Criterion) -> str:
        """Return how a criterion came out over the repeats of the trial, "" where it has none."""
        spreads = self._repeats.get(scale_of(self.card), ()) if self.card else ()
        tier = next((one.number for one in self._tiers if item in one.criteria), 0)
        one = next((one for one in spreads if one.tier == tier and one.criterion in (item.key, item.title)), None)
        if one is None or one.sd is None:
            return ""
        return f"over {one.n} repeats: {one.mean:.1f} ± {one.sd:.1f} ({points(one.low)} to {points(one.high)})"


def _proof_text(proof: Evidence) -> str:
    where = f" {proof.path}" + (f":{proof.line}" if proof.line else "") if proof.path else ""
    return f"{proof.kind}{where}  {one_line(proof.text, 300)}"


def _tier_parts(tier: Tier, width: int) -> list[Part]:
    name = fit(f"{tier.number} {tier.name}", _name_width(width) + 2)
    if tier.points is None:
        why = one_line(tier.why, max(1, width - len(name) - 15))
        return [(f" {name}", "strong"), ("? unscored", "unscored"), (f" ({why})", "dim")]
    bar = max(4, min(BAR, width - len(name) - 14))
    full = round(bar * tier.points / tier.maximum) if tier.maximum else 0
    score = f"{points(tier.points):>4} / {points(tier.maximum):<2}  "
    return [(f" {name}", "strong"), (score, "strong"), ("█" * full, "bar"), ("░" * (bar - full), "bar-rest")]


def _name_width(width: int) -> int:
    return max(12, min(24, width // 3))
