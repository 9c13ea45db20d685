"""The scores pane: a bar per tier, a row per criterion with points and reason, and the evidence of the selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual import events

from workbench.app.keys import key_of
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.app.toolkit.workers import LatestWorker
from workbench.app.trajectory import scores, use_list
from workbench.app.trajectory.scores import CRITERIA, MISSING, VIEWS, ScoreLine, scale_of, wrapped
from workbench.app.trajectory.trial_state import TrialState, state_of, why_not
from workbench.base.text import one_line
from workbench.pages import wording
from workbench.pages.wording import points
from workbench.session.judges import in_words, is_offline
from workbench.session.labels import STAR, criterion_of, criterion_part
from workbench.session.labels import in_words as in_label_words

if TYPE_CHECKING:
    from workbench.results.spread import PointSpread
    from workbench.rubric.scorecard import Criterion, Evidence, Scorecard
    from workbench.session.reader import SessionReader

    Repeats = Mapping[tuple[str, str], tuple[PointSpread, ...]]
    """The spread of the points over all repeats of a trial, by rubric and judge."""

BAR = 15
_MOST_ROWS = 8  # maximum rows of a reason, unless its criterion is selected


class ScorePane(RowList):
    """Shows the scorecard of the selected rubric and judge, or several side by side; the cursor moves over criteria.

    ``view`` is one of :data:`workbench.app.trajectory.scores.VIEWS`.
    """

    ALLOW_SELECT = False
    narrows = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.card: Scorecard | None = None
        self.view = CRITERIA
        self.reading_repeats = LatestWorker(self, "repeats")
        self._wanted: tuple[str, str] | None = None
        self._reader: SessionReader | None = None
        self._state: TrialState | None = None
        self._repeats: Repeats = {}
        self._known: tuple[object, ...] = ()
        self._items: list[Criterion] = []
        self._rows: list[ScoreLine] = []
        self._places: dict[tuple[int, str], int] = {}
        self._evidence: tuple[Criterion | None, int] = None, -1  # the evidence that was shown last
        self._item = -1  # index of the selected criterion

    @property
    def selected(self) -> Criterion | None:
        """The criterion under the cursor, or None until the cursor has been moved."""
        return self._items[self._item] if 0 <= self._item < len(self._items) else None

    @property
    def chosen_part(self) -> tuple[str, str] | None:
        """The title and label part of the selected criterion, or None if none is selected."""
        item = self.selected
        return None if item is None else (item.title, self._part(item))

    def _part(self, item: Criterion) -> str:
        return criterion_part(self.card.rubric if self.card is not None else "", item.tier, item.key)

    def show(self, reader: SessionReader, state: TrialState) -> None:
        """Show the scores of a trial, or the reason why there are none."""
        if self._state is None or self._state.trial.id != state.trial.id:
            self._repeats, self.reading_repeats.requested_key = {}, ()
        self._reader, self._state = reader, state
        # Show the remarks on the whole trial; those on a step or criterion are shown beside it.
        remarks = [f"✎ {one_line(remark.text, 400)}" for remark in state.annotations if not remark.of]
        line = self.query_ancestor(Pane).query_one("#score-remarks", Static)
        line.update("\n".join(remarks))
        line.display = bool(remarks)
        self._show()
        if self.has_focus:
            self._ask_repeats()

    def _ask_repeats(self) -> None:
        reader, state = self._reader, self._state
        if reader is None or state is None or not state.cards:
            return

        def work() -> Repeats:
            from workbench.results.scores import repeat_spreads

            return repeat_spreads(reader, state.trial)

        def done(found: Repeats) -> None:
            self._repeats = found
            self._show()

        self.reading_repeats.ask_for((str(reader.path), state.trial.id, state.scored), work, done)

    def _show(self) -> None:
        state = self._state
        if state is None:
            return
        cards, shown = state.cards, self.view
        card = next((one for one in cards if scale_of(one) == self._wanted), cards[0] if cards else None)
        titles = ("Score", "")
        if card is not None:
            text = f"Score {scores.title(card)} · {one_line(card.rubric, 30)}{' ▾' if len(cards) > 1 else ''}"
            text += f" · {use_list.headline(state.use)}" if state.use is not None else ""
            titles = text if shown == CRITERIA else f"{text} · {shown}", scores.judge_of(card)
        self.query_ancestor(Pane).titled(*titles)
        said_of = state.agreement, state.labels, state.annotations, state.works, state.use, state.imported_scores
        known = (card, cards, shown, self._repeats, *said_of, state_of(state))
        if known == self._known:
            return
        self._known, chosen, self.card = known, self.selected, card
        self._items = [one for tier in card.tiers for one in card.criteria if one.tier == tier] if card else []
        self._places = {(item.tier, item.key): at for at, item in reversed(list(enumerate(self._items)))}
        self._item = next((at for at, item in enumerate(self._items) if chosen and item.key == chosen.key), -1)
        self._build()

    def row_count(self) -> int:
        return len(self._rows)

    def parts_of(self, index: int, width: int) -> tuple[Part, ...]:
        return self._rows[index].parts

    def selectable(self, index: int) -> bool:
        return self._rows[index].head

    def set_cursor(self, index: int, step: int = 1) -> None:
        super().set_cursor(index, step)
        item = self._rows[self.cursor].item if 0 <= self.cursor < len(self._rows) else None
        if item is not None and item != self._item:
            self._item = item
            self._build()  # the selected criterion is shown in full
        mine = [y for y, row in enumerate(self._rows) if row.item == self._item]
        if mine:
            self.keep_in_sight(mine[-1])
            self.keep_in_sight(mine[0], margin=1 if mine[0] else 0)

    def _go_to(self, item: int) -> None:
        at = next((y for y, row in enumerate(self._rows) if row.head and row.item == item), None)
        if at is not None:
            self.set_cursor(at)

    def turn(self, step: int) -> None:
        """Switch to the next (1) or previous (-1) view."""
        self.view = VIEWS[(VIEWS.index(self.view) + step) % len(VIEWS)]
        self._show()
        if self.cursor < 0:
            self.set_cursor(0)
        self.scroll_to(y=0, animate=False, immediate=True)

    def go_to(self, part: str) -> None:
        """Select the criterion ``part`` in a scorecard of its rubric.

        See :func:`workbench.session.labels.criterion_part` for the format.
        """
        wanted = criterion_of(part)
        if wanted is None or self._state is None:
            return
        rubric, tier, key = wanted
        if self.card is None or self.card.rubric != rubric:
            self._wanted = next((scale_of(card) for card in self._state.cards if card.rubric == rubric), self._wanted)
            self._show()
        self._go_to(self._places.get((tier, key), -1))

    def next_card(self) -> None:
        cards = self._state.cards if self._state is not None else ()
        if cards:
            at = next((index for index, card in enumerate(cards) if card == self.card), 0)
            self._wanted = scale_of(cards[(at + 1) % len(cards)])
            self._show()

    def next_evidence(self) -> tuple[str, Evidence | None]:
        """Return a sentence and the next evidence of the selected criterion, or of the first criterion with evidence.

        The evidence is None if there is none; the sentence then says why.
        """
        if self.selected is None:
            self._go_to(next((at for at, item in enumerate(self._items) if item.evidence), -1))
        item = self.selected
        if item is None:
            return "No criterion with evidence is shown yet." if self.card is None else "No evidence.", None
        if not item.evidence:
            return f"{item.title}: no evidence; {item.reason}", None
        before, at = self._evidence
        at = (at + 1) % len(item.evidence) if before == item else 0
        self._evidence = item, at
        return f"evidence {at + 1} of {len(item.evidence)}: {item.title}", item.evidence[at]

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # a click on any row of a criterion selects it
        y = event.y + self.scroll_offset.y
        item = self._rows[y].item if y < len(self._rows) else None
        if item is not None:
            self._go_to(item)

    def on_resize(self) -> None:
        self._build()

    def on_focus(self) -> None:
        if self.cursor < 0:
            self.set_cursor(0)
        self._ask_repeats()

    # -- layout

    def _build(self) -> None:
        self._rows = self._laid_out(self.text_width)
        heads = (y for y, row in enumerate(self._rows) if row.head and row.item == self._item)
        self.cursor = next(heads, -1)
        self.set_size(len(self._rows))
        self.refresh()

    def _laid_out(self, width: int) -> list[ScoreLine]:
        state, card = self._state, self.card
        if state is None:
            return []
        if card is None:
            waiting = state_of(state) in {"queued", "running"}
            texts = ("Scores follow once the README is written.",) if waiting else why_not(state, "its score")
            if state.imported_scores:
                words = (
                    ": ".join(filter(None, (f"{one.scorer} {one.value}", one.explanation)))
                    for one in state.imported_scores
                )
                texts = "Scores from the imported file, by another scorer:", *(one_line(one, 400) for one in words)
            lines = [row for line in texts or ("There are no scores.",) for row in wrapped(line, width)]
            return lines + _use(state, width)
        rows = wrapped(format_note, width, "warn") if (format_note := scores.format_note(card)) else []
        if self.view == MISSING:
            return rows + scores.missing_points_view(card, self._places, width)
        if self.view != CRITERIA:
            cards = (card, *(one for one in state.cards if one is not card))
            return rows + scores.side_by_side(cards, self._repeats.get(scale_of(card), ()), self._places, width)
        for index, item in enumerate(self._items):
            if not index or self._items[index - 1].tier != item.tier:
                rows.append(ScoreLine(_tier_parts(card, item.tier, width)))
            rows += self._criterion(state, index, item, width)
        if card.rubric == "strict":  # the check result is shown with this rubric only
            unchecked = f"not checked yet; {key_of('trajectory.check')} checks the README"
            works = state.works.words() if state.works is not None else unchecked
            rows += [
                ScoreLine(((" Works", "strong"), ("  not part of the score", "dim"))),
                *wrapped(works, width, "", indent=5),
            ]
        rows += _use(state, width)
        return rows + [row for line in scores.agreement_lines(state.agreement, card) for row in wrapped(line, width)]

    def _criterion(self, state: TrialState, index: int, item: Criterion, width: int) -> list[ScoreLine]:
        part, here = self._part(item), index == self._item
        score = f"{points(item.points):>4} / {points(item.maximum):<2}" if item.maximum else "   remark"
        labels = state.labels.get(part, ())
        remarks = [remark.text for remark in state.annotations if remark.part == part]
        mark = STAR if STAR in labels else "✎" if remarks else "#" if labels else ""
        name = fit(f"{mark} {item.title}" if mark else item.title, _name_width(width))
        room = width - len(name) - len(score) - 6
        lost = item.points is None or item.points < item.maximum
        style = "dim" if not item.maximum else "ok" if not lost else "bad" if not item.points else "warn"
        style = "unscored" if item.maximum and item.points is None else style
        # The judge is named below; repeating it here would leave less space for the reason.
        reason_text = item.reason.removeprefix("offline judge: ")
        message = f"{points(item.given)} by the format · {reason_text}" if item.given else reason_text
        below = len(message) > room and (lost or here)
        reason = "" if below or room < 8 else one_line(message, max(room, 1))
        head = (("   ", ""), (name, ""), (score, style), ("  ", ""), (reason, "dim"))
        rows = [ScoreLine(head, index, head=True)]

        def more(text: str, style: str = "dim") -> list[ScoreLine]:
            return wrapped(text, width, style, indent=5, item=index)

        if below:
            whole = more(message, "" if here else "dim")
            if len(whole) > _MOST_ROWS and not here:
                last = whole[_MOST_ROWS - 1].parts[0][0][: width - 4]
                whole = [*whole[: _MOST_ROWS - 1], ScoreLine(((f"{last} …", "dim"),), index)]
            rows += whole
        if not here:
            return rows
        if labels:
            rows += more(in_label_words(labels), "em")
        for remark in remarks:
            rows += more(f"✎ {one_line(remark, 600)}", "em")
        rows += more(spread) if (spread := self._spread_of(item)) else []
        if item.judged_by != "rule":
            spread = f", repeats {', '.join(points(value) for value in item.samples)}" if len(item.samples) > 1 else ""
            by = in_words(item.judged_by) if is_offline(item.judged_by) else f"judged by {item.judged_by}"
            rows += more(f"{by}{spread}")
        for proof in item.evidence[:6]:
            text = fit(one_line(wording.evidence(proof), 400), width - 8)
            rows.append(ScoreLine((("     ▸ ", "bullet"), (text, "em")), index))
        return rows + (more(f"  and {len(item.evidence) - 6} more") if len(item.evidence) > 6 else [])

    def _spread_of(self, item: Criterion) -> str:
        """Return the spread of a criterion over the repeats of the trial, or "" if there are no repeats."""
        spreads = self._repeats.get(scale_of(self.card), ()) if self.card else ()
        mine = (one for one in spreads if one.tier == item.tier and one.criterion in (item.key, item.title))
        one = next(mine, None)
        if one is None or one.sd is None:
            return ""
        return f"over {one.n} repeats: {one.mean:.1f} ± {one.sd:.1f} ({points(one.low)} to {points(one.high)})"


def _use(state: TrialState, width: int) -> list[ScoreLine]:
    if state.use is None:
        return []
    heading = ScoreLine(((" Use", "strong"), ("  not part of the score", "dim")))
    return [heading, *wrapped(use_list.sentence(state.use), width, "", indent=5)]


def _tier_parts(card: Scorecard, number: int, width: int) -> tuple[Part, ...]:
    tier, name = card.tiers[number], f" {fit(scores.tier_name(number), _name_width(width) + 2)}"
    if tier.points is None:
        why = one_line(scores.why_unscored(card, number), max(1, min(200, width - len(name) - 14)))
        return (name, "strong"), ("? unscored", "unscored"), (f" ({why})", "dim")
    bar = max(4, min(BAR, width - len(name) - 13))
    full = round(bar * tier.points / tier.maximum) if tier.maximum else 0
    score = f"{points(tier.points):>4} / {points(tier.maximum):<2}  "
    return (name, "strong"), (score, "strong"), ("█" * full, "bar"), ("░" * (bar - full), "bar-rest")


def _name_width(width: int) -> int:
    return max(12, min(24, width // 3))
