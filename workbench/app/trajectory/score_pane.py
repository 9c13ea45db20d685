"""The scores: a bar for each tier, each criterion with its points and reason, the selected one with its evidence."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message

from workbench.app.toolkit.document import Line
from workbench.app.toolkit.virtual_view import Part, VirtualView, fit
from workbench.app.trajectory.loading import Card
from workbench.app.trajectory.scores import Item, Proof, Tier, given_of, points, tiers_of
from workbench.session.judges import in_words, is_offline
from workbench.text import one_line

BAR = 15


@dataclass(frozen=True, slots=True)
class _Row:
    parts: tuple[Part, ...]
    item: int | None  # the criterion that a click selects
    head: bool = False


class ScorePane(VirtualView):
    """One scorecard at a time; a cursor goes over its criteria."""

    ALLOW_SELECT = False

    class Chosen(Message):
        """Another criterion is under the cursor."""

        def __init__(self, item: Item | None) -> None:
            super().__init__()
            self.item = item

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.card: Card | None = None
        self.cursor = -1
        self.empty_text = ""
        self.agreement: tuple[str, ...] = ()
        self._tiers: tuple[Tier, ...] = ()
        self._items: list[Item] = []
        self._rows: list[_Row] = []

    @property
    def selected(self) -> Item | None:
        """The criterion under the cursor; None until the cursor was moved."""
        return self._items[self.cursor] if 0 <= self.cursor < len(self._items) else None

    def show(self, card: Card | None, empty_text: str, agreement: tuple[str, ...] = ()) -> None:
        """Show a scorecard and how its judge agrees with others, or say why there is none."""
        if card == self.card and empty_text == self.empty_text and agreement == self.agreement:
            return
        self.agreement = agreement
        chosen = self.selected
        self.card = card
        self.empty_text = empty_text
        self._tiers = tiers_of(card) if card else ()
        self._items = [item for tier in self._tiers for item in tier.criteria]
        key = chosen.key if chosen else None
        self.cursor = next((i for i, item in enumerate(self._items) if item.key == key), -1)
        self._build()

    def row_count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        """Return one row."""
        row = self._rows[y]
        fill = ""
        if row.head and row.item == self.cursor:
            fill = "cursor" if self.has_focus else "cursor-blurred"
        return list(row.parts), fill

    def move(self, rows: int) -> None:
        """Go to another criterion."""
        self._choose(self.cursor + rows)

    def go_to_end(self, last: bool) -> None:
        """Go to the first or last criterion."""
        self._choose(len(self._items) - 1 if last else 0)

    def choose_with_evidence(self) -> Item | None:
        """Return the selected criterion, or select the first that has evidence."""
        if self.selected is None:
            first = next((i for i, item in enumerate(self._items) if item.proofs), None)
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
        """Select the criterion under the mouse."""
        y = event.y + self.scroll_offset.y
        if y < len(self._rows) and self._rows[y].item is not None:
            self._choose(self._rows[y].item or 0)

    def on_resize(self) -> None:
        """Lay out for the new width."""
        self._build()

    def on_focus(self) -> None:
        """Put the cursor somewhere."""
        if self.cursor < 0 and self._items:
            self._choose(0)
        self.refresh()

    def on_blur(self) -> None:
        """Repaint the cursor."""
        self.refresh()

    # -- laying out

    def _build(self) -> None:
        width = self.text_width
        self._rows = []
        if not self._tiers:
            for part in _wrapped(self.empty_text, max(10, width - 2)):
                self._rows.append(_Row(((f" {part}", "dim"),), None))
        if self.card and (given := given_of(self.card)):
            self._rows += [_Row(((f" {part}", "warn"),), None) for part in _wrapped(given, max(10, width - 2))]
        index = 0
        for tier in self._tiers:
            self._rows.append(_Row(tuple(_tier_parts(tier, width)), None))
            for item in tier.criteria:
                self._item_rows(index, item, width)
                index += 1
        for line in self.agreement:
            self._rows += [_Row(((f" {part}", "dim"),), None) for part in _wrapped(line, max(10, width - 2))]
        self.set_size(len(self._rows))
        self.refresh()

    def _item_rows(self, index: int, item: Item, width: int) -> None:
        score = f"{points(item.points):>4} / {points(item.maximum):<2}" if item.maximum else "   remark"[:9]
        name_width = _name_width(width)
        name = fit(item.title, name_width)
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
        said = f"{points(item.given)} by the format · {item.reason}" if item.given else item.reason
        reason = one_line(said, max(room, 1)) if room >= 8 else ""
        self._rows.append(
            _Row((("   ", ""), (name, ""), (score, style), ("  ", ""), (reason, "dim")), index, head=True)
        )
        if index != self.cursor:
            return
        if len(said) > len(reason) or not reason:
            self._rows += [_Row(((f"     {part}", ""),), index) for part in _wrapped(said, width - 7)]
        if item.judged_by != "rule":
            spread = f", repeats {', '.join(points(value) for value in item.samples)}" if len(item.samples) > 1 else ""
            by = in_words(item.judged_by) if is_offline(item.judged_by) else f"judged by {item.judged_by}"
            self._rows.append(_Row(((f"     {by}{spread}", "dim"),), index))
        for proof in item.proofs[:6]:
            self._rows.append(_Row((("     ▸ ", "bullet"), (fit(_proof_text(proof), width - 8), "em")), index))
        if len(item.proofs) > 6:
            self._rows.append(_Row(((f"       and {len(item.proofs) - 6} more", "dim"),), index))


def _proof_text(proof: Proof) -> str:
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


def _wrapped(text: str, width: int) -> list[str]:
    from workbench.app.toolkit.document import Document

    line = Line(text)
    return [text[row.start : row.end].rstrip() for row in Document((line,), text).rows(width)]
