"""The steps of a trial as a virtual list: only what is on the screen is ever formatted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from workbench.app.toolkit.plot import bar
from workbench.app.toolkit.virtual_view import Part, VirtualView, fit
from workbench.app.trajectory.loading import tail_start
from workbench.session.forks import SIGN
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.session.rows import StepRow


class StepList(VirtualView):
    """Number, action, target, tokens, seconds and cost of each step, under a heading; one step is selected."""

    ALLOW_SELECT = False

    class Selected(Message):
        """Another step was selected; ``by_user`` tells whether by a person."""

        def __init__(self, step: StepRow | None, by_user: bool) -> None:
            super().__init__()
            self.step = step
            self.by_user = by_user

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.steps: list[StepRow] = []
        self.cursor = 0
        self.marked: Mapping[int, str] = {}
        """A sign per step that has a star, a remark or a tag."""
        self.inherited = 0
        """So many of the first steps a fork took over from its parent."""
        self.live = False
        """Whether steps may still come."""
        self.following = False
        """Whether the newest step is selected as it comes; ends at once when a person selects another one."""
        self.working = ""
        self._costs = False
        self._most = 0.0, 0.0, 0.0  # tokens, seconds and dollars of the step that took most: a full bar

    @property
    def selected(self) -> StepRow | None:
        return self.steps[self.cursor] if self.cursor < len(self.steps) else None

    def clear(self) -> None:
        self.steps = []
        self.cursor = 0
        self._resized()
        self.scroll_to(y=0, animate=False, immediate=True)

    def mark(self, marks: Mapping[int, str]) -> None:
        """Show a sign at each of these steps."""
        if marks != self.marked:
            self.marked = marks
            self.refresh()

    def put(self, fresh: list[StepRow], *, after: int) -> bool:
        """Replace everything behind the first ``after`` steps; returns whether the selected step is another row now."""
        if self.steps[after:] == fresh:
            return False
        before, looks = self.selected, self._looks()
        below = self.scroll_offset.y + self.page_height() <= min(after, len(self.steps))
        self.steps[after:] = fresh
        self._costs = self._costs or any(step.cost_usd for step in fresh)
        most = self._most if after else (0.0, 0.0, 0.0)
        tokens, seconds, dollars = zip(most, *map(_took, fresh), strict=True)
        self._most = max(tokens), max(seconds), max(dollars)
        self.cursor = max(0, min(self.cursor, len(self.steps) - 1))
        if below and looks == self._looks():
            self.grow_below(self.row_count())
        else:
            self._resized()
        return self.selected != before

    def _looks(self) -> tuple[object, ...]:
        return self.cursor, self._costs, self._most, self._number_width()

    def known_tail(self) -> tuple[int, int]:
        """Return how many steps need no re-check and the number of the last of them."""
        keep = tail_start(self.steps)
        return keep, self.steps[keep - 1].number if keep else 0

    def select(self, index: int, *, by_user: bool = True) -> None:
        """Select a step by its place in the list and bring it into sight."""
        if not self.steps:
            return
        index = max(0, min(index, len(self.steps) - 1))
        changed = index != self.cursor
        old, self.cursor = self.cursor, index
        if by_user and changed:
            self.following = self.live and index == len(self.steps) - 1
        self.keep_in_sight(index)
        self.refresh_lines(old)
        self.refresh_lines(index)
        if changed or not by_user:
            self.post_message(self.Selected(self.selected, by_user))

    def select_number(self, number: int, *, by_user: bool = True) -> None:
        guess = number - 1
        if not (0 <= guess < len(self.steps) and self.steps[guess].number == number):
            guess = next((index for index, step in enumerate(self.steps) if step.number == number), -1)
        if guess >= 0:
            self.select(guess, by_user=by_user)

    def set_working(self, sentence: str) -> None:
        """Show one more row below the steps: what is going on, "" for nothing."""
        if sentence != self.working:
            self.working = sentence
            self._resized()

    def heading(self) -> str:
        """Return the heading of the columns for the present width."""
        return self._columns(self.text_width, "#", "action", "target", "tok", "s", "$")

    # -- painting

    def row_count(self) -> int:
        return len(self.steps) + bool(self.working)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        if y >= len(self.steps):
            return [(fit(f"  {self.working}", width), "running")], ""
        step = self.steps[y]
        fill = ("cursor" if self.has_focus else "cursor-blurred") if y == self.cursor else ""
        sign = SIGN if step.number == self.inherited else ""
        number = f"{sign}{step.number:,}{self.marked.get(step.number, '')}"
        tokens = _tokens(step)
        tok = f"{tokens:,.0f}" if tokens else "–"
        seconds = f"{step.seconds:.1f}" if step.seconds is not None else "–"
        cost = f"{step.cost_usd:.4f}" if step.cost_usd else "–"
        target = one_line(step.target, 400)
        if step.kind in {"invalid", "error"}:
            glyph = "!" if step.kind == "invalid" else "✗"
            again = f" — {target}" if target else ""
            said = one_line(f"{step.action}{again}" if step.kind == "invalid" else step.problem or step.action, 400)
            text = self._columns(width, number, None, f"{glyph} {said}", tok, seconds, cost, step)
            return [(text, "invalid" if step.kind == "invalid" else "bad")], fill
        text = self._columns(width, number, one_line(step.action, 60), target, tok, seconds, cost, step)
        head = self._number_width() + 1
        style = "dim" if step.number <= self.inherited else {"respond": "ok", "plan": "dim"}.get(step.kind, "")
        return [(text[:head], "dim"), (text[head:], style)], fill

    def _number_width(self) -> int:
        return max(3, len(f"{len(self.steps):,}") + 1)

    def _columns(
        self,
        width: int,
        number: str,
        action: str | None,
        target: str,
        tokens: str,
        seconds: str,
        cost: str,
        step: StepRow | None = None,
    ) -> str:
        first = self._number_width()
        # A bar beside each number shows at a glance which step was long or dear.
        size = 0 if width < 42 else 1 if width < (76 if self._costs else 68) else 8
        took = _took(step) if step is not None else (0.0, 0.0, 0.0)
        bars = [bar(value, most, size) for value, most in zip(took, self._most, strict=True)]
        tail = " " + fit(tokens, 7 if width >= 46 else 6, right=True) + bars[0]
        if width >= 42:
            tail += fit(seconds, 6, right=True) + bars[1]
        if self._costs and width >= 58:
            tail += fit(cost, 8, right=True) + bars[2]
        room = width - first - 1 - len(tail)
        if action is None:
            return f"{fit(number, first, right=True)} {fit(target, room)}{tail}"
        named = min(14, max(6, room - 12))
        # Of a path both ends tell; its end is the file.
        shown = shortened(target, max(1, room - named - 1)) if "/" in target else target
        return f"{fit(number, first, right=True)} {fit(action, named)} {fit(shown, room - named - 1)}{tail}"

    # -- moving

    def move(self, rows: int) -> None:
        self.select(self.cursor + rows)

    def go_to_end(self, last: bool) -> None:
        self.select(len(self.steps) - 1 if last else 0)

    def on_click(self, event: events.Click) -> None:
        y = event.y + self.scroll_offset.y
        if y < len(self.steps):
            self.select(y)

    def on_resize(self) -> None:
        self._resized()
        if self.steps:
            self.keep_in_sight(self.cursor)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _resized(self) -> None:
        self.set_size(self.row_count())
        self.refresh()


def _tokens(step: StepRow) -> float:
    return (step.prompt_tokens or 0) + (step.completion_tokens or 0)


def _took(step: StepRow) -> tuple[float, float, float]:
    return _tokens(step), step.seconds or 0.0, step.cost_usd or 0.0
