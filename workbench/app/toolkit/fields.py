"""The fields of a form: a text input with completion, a choice of one option, or a choice of several list entries."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual import events, work
from textual.app import ComposeResult, RenderResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input

from workbench.app.keys import bindings, key_of
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.text_widgets import Label, Static
from workbench.app.toolkit.typed_line import LineInput
from workbench.app.toolkit.virtual_view import Part
from workbench.base.text import clean, one_line, shortened

Values = Mapping[str, Any]  # field values by field name: a text, or the names chosen from a list
Help = str | Callable[[Values], str]


class FieldChanged(Message):
    """The value of a field changed."""


@dataclass(frozen=True, slots=True)
class PickOption:
    """A name in a pick list, with its description."""

    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form.

    It is a text input, a choice of ``options`` (value, title, description), or a pick list of ``offered`` names.

    Example: ``Field("model", "local", "Any LiteLLM name.", known=models, needed="Name a model.")``.

    Attributes:
      name: Label, and id of the widget.
      help: Text shown while the field has the focus.
      known: Completions; ``paths`` adds those from the file system.
      most: Largest number that may be entered, or 0 for a text. With a ``placeholder`` the field may be empty.
      others: Description of the names that may be typed in addition to those ``offered``.
      needed: Error message for an empty field.
      check: Function that raises WorkbenchError for an invalid value.
      shown: Function that returns whether the field is visible, given the values of the form.
    """

    name: str
    value: str | tuple[str, ...] = ""
    help: Help = ""
    known: Sequence[str] = ()
    paths: bool = False
    most: int = 0
    placeholder: str = ""
    options: tuple[tuple[str, str, str], ...] = ()
    offered: Sequence[PickOption] | None = None
    others: str = ""
    needed: str = ""
    check: Callable[[str], object] | None = None
    shown: Callable[[Values], bool] | None = None

    def widget(self) -> Any:
        if self.options:
            return CycleField(self.options, str(self.value), id=self.name)
        if self.offered is not None:
            return MultiPick(self)
        return LineInput(
            str(self.value),
            id=self.name,
            type="integer" if self.most else "text",
            max_length=len(str(self.most)) if self.most else 0,
            placeholder=self.placeholder,
            suggester=Completion(self.known, paths=self.paths) if self.known or self.paths else None,
            compact=True,
        )


# -- a text


class Completion(Suggester):
    """Completes an input from ``known`` names and, with ``paths``, from the file system."""

    def __init__(self, known: Sequence[str] = (), *, paths: bool = False) -> None:
        super().__init__(use_cache=False, case_sensitive=True)  # files may change while the form is open
        self._known, self._paths = tuple(known), paths

    async def get_suggestion(self, value: str) -> str | None:
        known = next((name for name in self._known if name.startswith(value) and name != value), None)
        return await asyncio.to_thread(completed_path, value) if known is None and self._paths else known


_MOST_ENTRIES = 2_000  # maximum number of folder entries considered, so that completion stays fast
_PREFIXES = ("folder:", "source:", "samples:", "replay:")


def completed_path(text: str) -> str | None:
    """Return ``text`` completed to the first matching path, or None if nothing matches.

    Folders end in ``/``. Hidden entries match only if a dot was typed. A text without a slash or tilde is not a path.
    """
    lead = next((prefix for prefix in _PREFIXES if text.startswith(prefix)), "")
    path = text[len(lead) :]
    if "://" in path or (not path.startswith(("/", "~", ".")) and not (lead and path) and "/" not in path):
        return None
    folder, slash, prefix = path.rpartition("/")
    if path.startswith("~") and not slash:
        return f"{lead}~/" if path == "~" else None
    try:
        base = Path(f"{folder}/").expanduser() if slash else Path()
        first = min(_entries(base, prefix), default="")
    except (OSError, ValueError, RuntimeError):
        return None
    found = f"{lead}{folder}{slash}{first}{'/' if first and (base / first).is_dir() else ''}"
    return found if first and found != text else None


def _entries(folder: Path, prefix: str) -> list[str]:
    with os.scandir(folder) as entries:
        names = [entry.name for _, entry in zip(range(_MOST_ENTRIES), entries, strict=False)]
    hidden = prefix.startswith(".")
    return [one for one in names if one.startswith(prefix) and one.isprintable() and (hidden or one[0] != ".")]


# -- choice of one option


class CycleField(Widget, can_focus=True):
    """Shows ``‹ title ›  description`` on one line; left and right cycle through the options."""

    DEFAULT_CSS = """
    CycleField { height: 1; width: 1fr; background: $panel; }
    CycleField:focus { background: $primary-muted; }
    """
    BINDINGS = bindings("choice")
    at = reactive(0)

    def __init__(self, options: Sequence[tuple[str, str, str]], value: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._options = tuple(options)
        self.set_reactive(CycleField.at, next((i for i, option in enumerate(options) if option[0] == value), 0))

    @property
    def value(self) -> str:
        return self._options[self.at][0]

    def action_step(self, step: int) -> None:
        self.at = (self.at + step) % len(self._options)

    def watch_at(self) -> None:
        self.post_message(FieldChanged())

    def on_click(self, event: events.Click) -> None:
        self.action_step(1)

    def render(self) -> RenderResult:
        _, title, description = self._options[self.at]
        quiet = "" if self.has_focus else "$text-muted"
        text = Content.assemble(("‹ ", quiet), (clean(title), "bold"), (" › ", quiet), (clean(description), quiet))
        return text.truncate(max(1, self.size.width), ellipsis=True)


# -- choice of several list entries


class MultiPick(Widget, can_focus=True):
    """Shows the chosen names as ``white, planner-2 and 2 more``; enter opens the list."""

    DEFAULT_CSS = """
    MultiPick { height: 1; width: 1fr; background: $panel; }
    MultiPick:focus { background: $primary-muted; }
    """
    BINDINGS = bindings("several")

    def __init__(self, field: Field) -> None:
        super().__init__(id=field.name)
        self._field = field
        self.value = tuple(field.value)

    @work
    async def action_pick(self) -> None:
        answer = await self.app.push_screen_wait(PickList(self._field, self.value))
        if answer is not None and answer != self.value:
            self.value = answer
            self.refresh()
            self.post_message(FieldChanged())

    async def on_click(self, event: events.Click) -> None:
        self.focus()
        self.action_pick()

    def render(self) -> RenderResult:
        if not self.value:
            return Content.styled(f"none chosen: {key_of('several.pick')} opens the list", "$text-muted")
        return Content(named(self.value, max(1, self.size.width)))


_LONGEST = 40  # maximum number of characters in a name


def named(names: Sequence[str], width: int) -> str:
    """Return as many names as fit in ``width`` cells, then how many are left: ``a, b and 3 more``."""
    from workbench.studies.declaration import row_titles

    titles = [one_line(title, _LONGEST) for title in row_titles(names)]
    for count in range(min(len(titles), 1 + width // 3), 0, -1):
        left = len(titles) - count
        text = ", ".join(titles[:count]) + (f" and {left:,} more" if left else "")
        if count == 1 or len(text) <= width:
            return one_line(text, width)
    return ""


_NAMES = 44  # width of the name column in cells if there are descriptions


class PickRows(RowList):
    """One row per name, with a mark if it is chosen; chosen names that were not offered come last."""

    ALLOW_SELECT = False
    BINDINGS = bindings("pick/rows")

    def __init__(self, offered: Sequence[PickOption], chosen: Sequence[str]) -> None:
        super().__init__(id="pick-rows")
        known = {option.name for option in offered}
        self.options = [*offered, *(PickOption(name) for name in chosen if name not in known)]
        self.marked = set(chosen)
        self.rows_changed(cursor=next((at for at, one in enumerate(self.options) if one.name in chosen), 0))

    @property
    def chosen(self) -> tuple[str, ...]:
        return tuple(option.name for option in self.options if option.name in self.marked)

    def add(self, name: str) -> None:
        if (names := [*(option.name for option in self.options), name]).index(name) == len(self.options):
            self.options.append(PickOption(name))
        self.marked.add(name)
        self.narrow("")
        self.rows_changed(cursor=names.index(name))
        self._show_marks()

    def row_count(self) -> int:
        return len(self.options)

    def words_of(self, index: int) -> str:
        return f"{self.options[index].name} {self.options[index].about}"

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        option = self.options[index]
        longest = max(len(one.name) for one in self.options)
        names = min(longest, _NAMES if option.about else width - 3)
        mark = "■ " if option.name in self.marked else "· "
        name = fit(shortened(one_line(option.name, 400), names), names)
        return [(mark, "marked"), (name, ""), ("  ", ""), (one_line(option.about, 200), "dim")]

    def action_mark(self) -> None:
        if 0 <= self.cursor < len(self.options):
            self.marked ^= {self.options[self.cursor].name}
            self.action_move(1)
            self._show_marks()

    def action_mark_all(self) -> None:
        shown = {self.options[self.shown_row(line)].name for line in range(self.lines_shown())}
        self.marked = self.marked - shown if shown <= self.marked else self.marked | shown
        self._show_marks()

    def _show_marks(self) -> None:
        self.refresh()
        self.post_message(self.RowHighlighted(self, self.cursor))


class PickList(Dialog[tuple[str, ...] | None]):
    """A dialog that dismisses with the marked names, or None if cancelled; an input adds names not in the list."""

    AUTO_FOCUS = "PickRows"
    BINDINGS = bindings("pick")
    DEFAULT_CSS = """
    PickList #frame { width: 96; max-height: 92%; padding: 0 1; }
    PickList PickRows { height: auto; max-height: 70vh; background: $surface; }
    PickList #another { height: 1; margin-top: 1; }
    PickList #another Label { width: 9; color: $text-muted; }
    """

    def __init__(self, field: Field, chosen: Sequence[str]) -> None:
        super().__init__()
        self._field = field
        self.rows = PickRows(field.offered or (), chosen)

    def compose(self) -> ComposeResult:
        others = self._field.others
        with Vertical(id="frame"):
            yield self.rows
            if others:
                with Horizontal(id="another"):
                    yield Label("another")
                    known = Completion([option.name for option in self._field.offered or ()], paths=True)
                    yield LineInput(placeholder=others, suggester=known, compact=True)
            more = f" · {key_of('pick.type')} types another" if others else ""
            yield Static(
                f"{key_of('pick.mark')} marks · {key_of('pick.mark-all')} all or none · {key_of('list.narrow')} finds{more} · "
                f"{key_of('pick.done')} done · {key_of('pick.cancel')} as before",
                id="note",
            )

    def on_mount(self) -> None:
        self.on_row_list_row_highlighted()

    def on_row_list_row_highlighted(self) -> None:
        # A virtual list has no content height, so make it as high as its rows, up to the maximum set in CSS.
        self.rows.styles.height = max(1, self.rows.row_count())
        marked, of = len(self.rows.chosen), self.rows.row_count()
        set_title(self.query_one("#frame"), f"{self._field.name}: {marked:,} of {of:,}")

    def action_done(self) -> None:
        self.dismiss(self.rows.chosen)

    def action_other(self) -> None:
        fields = self.query(LineInput)
        (fields.first() if fields and self.rows.has_focus else self.rows).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if name := event.value.strip():
            self.rows.add(name)
            event.input.value = ""
        else:
            self.rows.focus()
