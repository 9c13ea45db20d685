"""Virtual lists for the steps of a trial and for the repository as the agent saw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from workbench.app.keys import key_of
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.plot import bar
from workbench.app.toolkit.row_list import HeadedList, RowList
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.app.trajectory.trial_state import LISTED, NEVER, READ, TreeEntry, TrialState, marks_of_steps
from workbench.base.text import one_line, shortened
from workbench.results.forks import SIGN

if TYPE_CHECKING:
    from workbench.session.rows import StepRow


_TAIL = 8  # number of trailing steps reloaded each time, because a retried trial replaces its error steps


class StepList(HeadedList):
    """The list of steps with number, action, target, tokens, seconds and cost.

    ``steps`` holds the loaded steps. While ``following`` is true, the newest step stays selected; selecting another
    one ends this.
    """

    ALLOW_SELECT = False
    narrows = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.steps: list[StepRow] = []
        self.following = False
        self._live = False
        self._marks: Mapping[int, str] = {}
        self._inherited = 0  # number of steps inherited from the parent trial
        self._is_working = False
        self._costs = False
        self._most = 0.0, 0.0, 0.0  # maximum tokens, seconds and dollars of any step, shown as a full bar

    @property
    def selected(self) -> StepRow | None:
        return self.steps[self.cursor - 1] if 0 < self.cursor <= len(self.steps) else None

    def titles(self, state: TrialState) -> tuple[str, str]:
        """Return the title and, for a live trial, a note on whether the list follows the newest step."""
        behind, last = len(self.steps) - self.cursor, key_of("list.last")
        live = "▸ following" if self.following else f"{f'{behind:,} newer · ' if behind > 0 else ''}{last} follows"
        return f"Steps {state.step_count:,}", live if state.live else ""

    def begin(self, *, following: bool) -> None:
        self.steps, self.cursor, self.following = [], -1, following
        self._resized()
        self.scroll_to(y=0, animate=False, immediate=True)

    def show(self, state: TrialState, fresh: list[StepRow], *, after: int) -> None:
        """Show a state and, while following, select the newest step.

        ``fresh`` replaces all steps after the first ``after``.
        """
        layout, changed = self._layout_state(), self.steps[after:] != fresh
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
        if layout != self._layout_state() or (changed and not below):
            self._resized()
        elif changed:
            self.grow_below(self.row_count())
        if self.following:
            super().set_cursor(len(self.steps))
            self.following = state.live or len(self.steps) < state.step_count

    def _layout_state(self) -> tuple[object, ...]:
        beside = self._marks, self._inherited, self._is_working
        return self.cursor, self._costs, self._most, self._number_width(), *beside

    def known_tail(self) -> tuple[int, int]:
        """Return how many steps need no reload, and the step number of the last of these (0 if there are none)."""
        keep = max(0, len(self.steps) - _TAIL)
        return keep, self.steps[keep - 1].number if keep else 0

    def set_cursor(self, index: int, step: int = 1) -> None:
        super().set_cursor(index, step)
        self.following = self._live and self.cursor == len(self.steps)

    def action_edge(self, last: bool) -> None:
        super().action_edge(last)
        self.following = last
        self.post_message(self.RowHighlighted(self, self.cursor))

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
            message = one_line(f"! {action} — {target}" if target else f"! {action}", 400)
            return [(self._columns(width, number, None, message, step), "invalid")]
        if step.kind == "error":
            message = one_line(f"✗ {step.problem or step.action}", 400)
            return [(self._columns(width, number, None, message, step), "bad")]
        text = self._columns(width, number, action, target, step)
        head = self._number_width() + 1
        style = "dim" if step.number <= self._inherited else {"respond": "ok", "plan": "dim"}.get(step.kind, "")
        return [(text[:head], "dim"), (text[head:], style)]

    def _number_width(self) -> int:
        return max(3, len(f"{len(self.steps):,}") + 1)

    def _columns(self, width: int, number: str, action: str | None, target: str, step: StepRow | None = None) -> str:
        # Bars beside the numbers make long and expensive steps visible at a glance.
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
        # Cut paths in the middle to keep the file name at the end.
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


class RepositoryPane(RowList):
    """The file tree with its marks; Enter goes to the step that read or listed a file."""

    ALLOW_SELECT = False
    narrows = False

    @dataclass
    class Opened(Message):
        """Posted when the user chooses a file; ``step`` is the step in which the agent read or listed it."""

        path: str
        step: int | None

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entries: list[TreeEntry] = []
        self.current_path = ""
        self._empty = ""
        self._places: dict[str, int] = {}

    def show(self, entries: list[TreeEntry], legend: str, empty: str) -> None:
        """Replace the rows and the legend below; ``empty`` is shown if there are no rows."""
        below = self.query_ancestor(Pane).query_one("#legend", Static)
        below.update(legend, layout=below.size.height != legend.count("\n") + 1)
        if entries == self.entries and empty == self._empty:
            return
        chosen = self.current.path if self.current is not None else ""
        top, height = self.scroll_offset.y, self.page_height()
        before = self.cursor, self.entries[top : top + height]
        self.entries, self._empty = entries, empty
        self._places = {entry.path: index for index, entry in enumerate(entries)}
        self.cursor = self._places.get(chosen, 0)
        if before == (self.cursor, entries[top : top + height]) and len(before[1]) == height:
            self.grow_below(self.row_count())
            return
        self.set_size(self.row_count())
        self.refresh()

    @property
    def current(self) -> TreeEntry | None:
        return self.entries[self.cursor] if 0 <= self.cursor < len(self.entries) else None

    def plain_text(self) -> str:
        return "".join(f"{entry.mark} {entry.path}\n" for entry in self.entries)

    def point_at(self, path: str) -> None:
        """Highlight the file of the selected step and scroll to it."""
        path = path.rstrip("/").removeprefix("./")
        if path == self.current_path:
            return
        before, at = self._places.get(self.current_path), self._places.get(path)
        self.current_path = path
        for place in (before, at, self.cursor):
            if place is not None:
                self.refresh_lines(place)
        if at is not None:
            self.cursor = at
            top, height = self.scroll_offset.y, self.page_height()
            if not top <= at < top + height:  # leave room below for the files of the next steps
                self.scroll_to(y=max(0, at - height // 3), animate=False, immediate=True)

    def row_count(self) -> int:
        return len(self.entries) or 1

    def selectable(self, index: int) -> bool:
        return bool(self.entries)

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        if not self.entries:
            return [(fit(self._empty, width), "dim")], ""
        entry = self.entries[y]
        indent = " " * min(entry.depth * 2, max(0, width - 12))
        mark = "▾" if entry.directory and entry.mark == NEVER else entry.mark
        fill = "cursor" if y == self.cursor and self.has_focus else ""
        if not fill and entry.path == self.current_path:
            fill = "cursor-blurred"
        style = {READ: "seen-read", LISTED: "seen-listed", NEVER: "seen-unopened"}[entry.mark]
        # Cut in the middle, since a name starts with its topic and ends with the file type.
        name = shortened(entry.name, max(4, width - 3 - len(indent) - entry.directory)) + "/" * entry.directory
        return [(f" {indent}", ""), (mark, style), (" ", ""), (name, "" if entry.mark == READ else "dim")], fill

    def action_choose(self) -> None:
        if self.current is not None:
            self.post_message(self.Opened(self.current.path, self.current.step))

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # a single click opens the file
        y = event.y + self.scroll_offset.y
        if y < len(self.entries):
            self.set_cursor(y)
            self.action_choose()

    def on_resize(self) -> None:
        self.set_size(self.row_count())
