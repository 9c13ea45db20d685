"""The steps of a trial as a virtual list: only what is on the screen is ever formatted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.plot import bar
from workbench.app.toolkit.row_list import HeadedList
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.app.trajectory.loading import TrialState, marks_of_steps
from workbench.base.text import one_line, shortened
from workbench.results.forks import SIGN

if TYPE_CHECKING:
    from workbench.session.rows import StepRow

_TAIL = 8  # steps at the end that are read again at each look: a retried trial replaces its error steps


class StepList(HeadedList):
    """Number, action, target, tokens, seconds and cost of each step; one step is selected.

    Attributes:
        steps: Those that have been read.
        following: Whether the newest step is selected as it comes; ends at once when a person selects another one.
    """

    ALLOW_SELECT = False
    narrows = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.steps: list[StepRow] = []
        self.following = False
        self._live = False
        self._marks: Mapping[int, str] = {}
        self._inherited = 0  # so many of the first steps a fork took over from its parent
        self._is_working = False
        self._costs = False
        self._most = 0.0, 0.0, 0.0  # tokens, seconds and dollars of the step that took most: a full bar

    @property
    def selected(self) -> StepRow | None:
        return self.steps[self.cursor - 1] if 0 < self.cursor <= len(self.steps) else None

    def titles(self, state: TrialState) -> tuple[str, str]:
        """Return what stands above: how many steps there are and, while live, whether the newest is followed."""
        behind, last = len(self.steps) - self.cursor, key_of("list.last")
        live = "▸ following" if self.following else f"{f'{behind:,} newer · ' if behind > 0 else ''}{last} follows"
        return f"Steps {state.step_count:,}", live if state.live else ""

    def begin(self, *, following: bool) -> None:
        """Another trial comes."""
        self.steps, self.cursor, self.following = [], -1, following
        self._resized()
        self.scroll_to(y=0, animate=False, immediate=True)

    def show(self, state: TrialState, fresh: list[StepRow], *, after: int) -> None:
        """Show how a trial stands, all behind the first ``after`` steps anew; the newest is selected where that is followed."""
        looks, changed = self._looks(), self.steps[after:] != fresh
        below = self.scroll_offset.y + self.page_height() <= min(after, len(self.steps)) + 1
        self._live, self._marks = state.live, marks_of_steps(state)
        self._inherited = state.trial.fork_step or 0 if state.trial.parent else 0
        self._is_working = state.trial.state == "running" == state.run_state
        if changed:
            self.steps[after:] = fresh
            self._costs = self._costs or any(step.cost_usd for step in fresh)
            most = self._most if after else (0.0, 0.0, 0.0)
            tokens, seconds, dollars = zip(most, *map(_took, fresh), strict=True)
            self._most = max(tokens), max(seconds), max(dollars)
            self.cursor = max(min(1, len(self.steps)), min(self.cursor, len(self.steps)))
        if looks != self._looks() or (changed and not below):
            self._resized()
        elif changed:
            self.grow_below(self.row_count())
        if self.following:
            super().set_cursor(len(self.steps))
            self.following = state.live or len(self.steps) < state.step_count

    def _looks(self) -> tuple[object, ...]:
        beside = self._marks, self._inherited, self._is_working
        return self.cursor, self._costs, self._most, self._number_width(), *beside

    def known_tail(self) -> tuple[int, int]:
        """Return how many steps need no re-check and the number of the last of them."""
        keep = max(0, len(self.steps) - _TAIL)
        return keep, self.steps[keep - 1].number if keep else 0

    def set_cursor(self, index: int, step: int = 1) -> None:
        super().set_cursor(index, step)
        self.following = self._live and self.cursor == len(self.steps)

    def action_edge(self, last: bool) -> None:
        super().action_edge(last)
        self.following = last
        self.post_message(self.Moved(self, self.cursor))

    def select_number(self, number: int) -> None:
        at = number if 0 < number <= len(self.steps) and self.steps[number - 1].number == number else None
        if at is None:
            at = next((index for index, step in enumerate(self.steps, 1) if step.number == number), None)
        if at is not None:
            self.set_cursor(at)

    # -- painting

    def row_count(self) -> int:
        return 1 + len(self.steps) + bool(self.steps and self._is_working)

    def selectable(self, index: int) -> bool:
        return 0 < index <= len(self.steps)

    def heading_parts(self, width: int) -> Sequence[Part]:
        return [(self._columns(width, "#", "action", "target"), "dim")]

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        if index > len(self.steps):
            return [(fit("  ▸ the model is at work…", width), "running")]
        step = self.steps[index - 1]
        sign = SIGN if step.number == self._inherited else ""
        number = f"{sign}{step.number:,}{self._marks.get(step.number, '')}"
        action, target = one_line(step.action, 60), one_line(step.target, 400)
        if step.kind == "invalid":
            said = one_line(f"! {action} — {target}" if target else f"! {action}", 400)
            return [(self._columns(width, number, None, said, step), "invalid")]
        if step.kind == "error":
            said = one_line(f"✗ {step.problem or step.action}", 400)
            return [(self._columns(width, number, None, said, step), "bad")]
        text = self._columns(width, number, action, target, step)
        head = self._number_width() + 1
        style = "dim" if step.number <= self._inherited else {"respond": "ok", "plan": "dim"}.get(step.kind, "")
        return [(text[:head], "dim"), (text[head:], style)]

    def _number_width(self) -> int:
        return max(3, len(f"{len(self.steps):,}") + 1)

    def _columns(self, width: int, number: str, action: str | None, target: str, step: StepRow | None = None) -> str:
        # A bar beside each number shows at a glance which step was long or dear.
        size = 0 if width < 42 else 1 if width < (76 if self._costs else 68) else 8
        took = _took(step) if step is not None else (0.0, 0.0, 0.0)
        bars = [bar(value, most, size) for value, most in zip(took, self._most, strict=True)]
        tokens, seconds, cost = "tok", "s", "$"
        if step is not None:
            tokens = f"{took[0]:,.0f}" if took[0] else "–"
            seconds = f"{step.seconds:.1f}" if step.seconds is not None else "–"
            cost = f"{step.cost_usd:.4f}" if step.cost_usd else "–"
        tail = " " + fit(tokens, 7 if width >= 46 else 6, right=True) + bars[0]
        if width >= 42:
            tail += fit(seconds, 6, right=True) + bars[1]
        if self._costs and width >= 58:
            tail += fit(cost, 8, right=True) + bars[2]
        first = fit(number, self._number_width(), right=True)
        room = width - len(first) - 1 - len(tail)
        if action is None:
            return f"{first} {fit(target, room)}{tail}"
        named = min(14, max(6, room - 12))
        # Of a path both ends tell; its end is the file.
        shown = shortened(target, max(1, room - named - 1)) if "/" in target else target
        return f"{first} {fit(action, named)} {fit(shown, room - named - 1)}{tail}"

    def on_resize(self) -> None:
        self._resized()
        if self.steps:
            self.keep_in_sight(self.cursor, margin=1)

    def _resized(self) -> None:
        self.set_size(self.row_count())
        self.refresh()


def _took(step: StepRow) -> tuple[float, float, float]:
    return (step.prompt_tokens or 0) + (step.completion_tokens or 0), step.seconds or 0.0, step.cost_usd or 0.0
