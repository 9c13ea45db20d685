"""The list from which the things of a field are chosen: space marks, a line below takes what the list does not offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult, RenderResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from workbench.app.key_table import key_of
from workbench.app.keys import bind
from workbench.app.toolkit.completion import suggester
from workbench.app.toolkit.form_dialog import Filled
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.line_input import LineInput
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.texts import Label, Static
from workbench.app.toolkit.virtual_view import Part
from workbench.text import one_line, shortened

_NAMES = 44
"""Cells of the names at most, where there is something to say beside them."""


class PickRows(RowList):
    """A row for each thing, marked or not.

    Args:
        offered: What the list offers.
        chosen: What is marked at first; what is not offered stands below it.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("pick.mark", "mark", "mark"),
        bind("pick.mark-all", "mark_all", "all or none"),
    ]

    def __init__(self, offered: Sequence[Option], chosen: Sequence[str]) -> None:
        super().__init__(id="pick-rows")
        known = {option.name for option in offered}
        self.options = [*offered, *(Option(name) for name in chosen if name not in known)]
        self.marked = list(chosen)
        self.rows_changed(cursor=next((at for at, one in enumerate(self.options) if one.name in chosen), 0))

    @property
    def chosen(self) -> tuple[str, ...]:
        return tuple(option.name for option in self.options if option.name in self.marked)

    def add(self, name: str) -> None:
        """Mark a thing, which is added where it is not offered."""
        if name not in {option.name for option in self.options}:
            self.options.append(Option(name))
        if name not in self.marked:
            self.marked.append(name)
        self.narrow("")
        self.rows_changed(cursor=next(at for at, option in enumerate(self.options) if option.name == name))
        self.post_message(self.Moved(self, self.cursor))

    def row_count(self) -> int:
        return len(self.options)

    def words_of(self, index: int) -> str:
        option = self.options[index]
        return f"{option.name} {option.about}"

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        option = self.options[index]
        longest = max(len(one.name) for one in self.options)
        names = min(longest, _NAMES if option.about else width - 3)
        mark = "■ " if option.name in self.marked else "· "
        name = fit(shortened(one_line(option.name, 400), names), names)
        return [(mark, "marked"), (name, ""), ("  ", ""), (one_line(option.about, 200), "dim")]

    def action_mark(self) -> None:
        if not 0 <= self.cursor < len(self.options):
            return
        name = self.options[self.cursor].name
        if name in self.marked:
            self.marked.remove(name)
        else:
            self.marked.append(name)
        self.action_move_cursor(1)
        self.refresh()
        self.post_message(self.Moved(self, self.cursor))

    def action_mark_all(self) -> None:
        shown = [self.options[self.shown_row(line)].name for line in range(self.lines_shown())]
        every = set(shown) <= set(self.marked)
        self.marked = [name for name in self.marked if name not in shown] + ([] if every else shown)
        self.refresh()
        self.post_message(self.Moved(self, self.cursor))


class PickList(Dialog[tuple[str, ...] | None]):
    """Ends with what is marked, or with None.

    Args:
        field: What is chosen.
        chosen: What is marked at first.
    """

    AUTO_FOCUS = "PickRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("pick.done", "done", "done"),
        bind("pick.cancel", "dismiss(None)", "as before"),
        bind("pick.type", "other", "Type another one", show=False),
    ]
    DEFAULT_CSS = """
    PickList { align: center middle; }
    PickList #frame {
        width: 96; max-width: 96%; height: auto; max-height: 92%; background: $surface; border: round $primary; padding: 0 1;
        border-title-color: $foreground; border-title-style: bold;
    }
    PickList PickRows { height: auto; max-height: 70vh; background: $surface; }
    PickList #another { height: 1; margin-top: 1; }
    PickList #another Label { width: 9; color: $text-muted; }
    PickList Input { border: none; height: 1; padding: 0 1; background: $panel; width: 1fr; }
    PickList Input:focus { background: $primary-muted; border: none; }
    PickList #note { height: auto; color: $text-muted; }
    """

    def __init__(self, field: ListField, chosen: Sequence[str]) -> None:
        super().__init__()
        self._field = field
        self.rows = PickRows(field.offered, chosen)

    def compose(self) -> ComposeResult:
        with Vertical(id="frame"):
            yield self.rows
            if self._field.others:
                with Horizontal(id="another"):
                    yield Label("another")
                    known = [option.name for option in self._field.offered]
                    yield LineInput(
                        placeholder=self._field.others, suggester=suggester(known, paths=True), compact=True
                    )
            more = f" · {key_of('pick.type')} types another" if self._field.others else ""
            yield Static(
                f"{key_of('pick.mark')} marks · {key_of('pick.mark-all')} all or none · {key_of('list.narrow')} finds{more} · {key_of('pick.done')} done · {key_of('pick.cancel')} as before",
                id="note",
            )

    def on_mount(self) -> None:
        self._count()

    def _count(self) -> None:
        # A list has no height of its own: it is as high as its rows, or as there is room.
        self.rows.styles.height = max(1, self.rows.row_count())
        marked, of = len(self.rows.chosen), self.rows.row_count()
        set_title(self.query_one("#frame"), f"{self._field.name}: {marked:,} of {of:,}")

    def on_row_list_moved(self) -> None:
        self._count()

    def action_done(self) -> None:
        self.dismiss(self.rows.chosen)

    def action_other(self) -> None:
        fields = self.query(LineInput)
        if fields and self.rows.has_focus:
            fields.first().focus()
        else:
            self.rows.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if name := event.value.strip():
            self.rows.add(name)
            event.input.value = ""
        else:
            self.rows.focus()


_LONGEST = 40
"""Characters of one of them."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of what is offered: its name, and what it is."""

    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class ListField:
    """A line of a form that holds several names.

    Attributes:
        name: What stands before it.
        chosen: What is chosen, in order.
        offered: What the list offers.
        others: What else may be typed in the list, as its placeholder says; "" for nothing.
    """

    name: str
    chosen: tuple[str, ...]
    offered: tuple[Option, ...]
    others: str = ""

    def widget(self) -> Widget:
        return Several(self)


class Several(Widget, can_focus=True):
    """Shows ``white, planner-2 and 2 more``.

    Attributes:
        chosen: What is chosen, in order.
    """

    DEFAULT_CSS = """
    Several { height: 1; width: 1fr; background: $panel; }
    Several:focus { background: $primary-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [bind("several.pick", "pick", "choose", show=False)]

    def __init__(self, field: ListField) -> None:
        super().__init__(id=field.name)
        self._field = field
        self.chosen = field.chosen

    def put(self, chosen: Sequence[str]) -> None:
        """Choose these."""
        if tuple(chosen) != self.chosen:
            self.chosen = tuple(chosen)
            self.refresh()
            self.post_message(Filled())

    @work
    async def action_pick(self) -> None:
        answer = await self.app.push_screen_wait(PickList(self._field, self.chosen))
        if answer is not None:
            self.put(answer)

    async def on_click(self, event: events.Click) -> None:
        self.focus()
        self.action_pick()

    def render(self) -> RenderResult:
        if not self.chosen:
            return Content.styled(f"none chosen: {key_of('several.pick')} opens the list", "$text-muted")
        return Content(named(self.chosen, max(1, self.size.width)))


def named(names: Sequence[str], width: int) -> str:
    """Return as many of some names as have room in so many cells, with how many more there are: ``a, b and 3 more``."""
    from workbench.studies.declaration import row_titles

    titles = [one_line(title, _LONGEST) for title in row_titles(names)]
    best = ""
    for count in range(1, len(titles) + 1):
        listed, left = ", ".join(titles[:count]), len(titles) - count
        if count > 1 and len(listed) > width:
            break
        text = listed + (f" and {left:,} more" if left else "")
        if count == 1 or len(text) <= width:
            best = one_line(text, width)
    return best
