"""The header of every mode, and the key bar at the bottom.

If space is short, the header first shortens names in the middle, starting with the longest. Then it drops parts by
rank, but never the state, the score or the cost. Finally it cuts the reason for the state.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len, set_cell_size
from textual.app import RenderResult
from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

from workbench.app.keys import key_of
from workbench.app.toolkit.literal import literal
from workbench.app.toolkit.virtual_view import fit
from workbench.base.glyphs import STATES
from workbench.base.text import one_line

BETWEEN = " · "
_SHORTEST = 9  # minimum width in cells at which names can still be distinguished
_EASY = 20  # minimum width in cells of shortened names before a part is dropped
_READ = 40  # minimum width in cells for the first cut of a reason
_MINOR = 4  # parts of this rank and above are dropped before a reason is cut, because reasons often name a key to press


@dataclass(frozen=True, slots=True)
class HeaderPart:
    """A part of the header; parts with a higher rank are dropped first, and rank 0 is always shown.

    A ``name`` is shortened in the middle, a ``reason`` at the end. ``short`` replaces the text if space is short.
    """

    text: str
    rank: int = 0
    name: bool = False
    reason: bool = False
    short: str = ""


Header = tuple[HeaderPart, ...]


def header_of(sentence: str) -> Header:
    """Split a sentence into header parts; parts that contain a space are not shortened. The last part is the state."""
    *parts, state = one_line(sentence, len(sentence) + 1).split(BETWEEN)
    count = len(parts)
    # The panes already show the information in the first parts, so these are dropped first.
    return (
        *(HeaderPart(text, rank=count - place, name=" " not in text) for place, text in enumerate(parts)),
        HeaderPart(state, reason=True),
    )


def laid_out(header: Sequence[HeaderPart], width: int) -> str:
    """Return the header in at most ``width`` cells."""
    parts = _easy(header, width)
    while _excess(parts, width) > 0 and any(part.rank >= _MINOR for part in parts):
        parts.remove(max(parts, key=lambda part: part.rank))
    _cut_reason(parts, header, width, _READ)
    while _excess(parts, width) > 0 and any(part.rank for part in parts):
        parts.remove(max(parts, key=lambda part: part.rank))
        _shorten(parts, width, _EASY)
    _shorten(parts, width, _SHORTEST)
    _cut_reason(parts, header, width, _SHORTEST)
    return fit(BETWEEN.join(part.text for part in parts), width).rstrip()


def easily(header: Sequence[HeaderPart], width: int) -> str | None:
    """Return the header if it fits ``width`` cells without dropping a part or shortening names much, or None."""
    parts = _easy(header, width)
    return BETWEEN.join(part.text for part in parts) if _excess(parts, width) <= 0 else None


def _easy(header: Sequence[HeaderPart], width: int) -> list[HeaderPart]:
    parts = [replace(part, text=text) for part in header if (text := one_line(part.text, len(part.text) + 1))]
    if _excess(parts, width) > 0:
        parts = [replace(part, text=part.short or part.text) for part in parts]
    _shorten(parts, width, _EASY)
    return parts


def _excess(parts: Sequence[HeaderPart], width: int) -> int:
    return sum(cell_len(part.text) for part in parts) + len(BETWEEN) * max(0, len(parts) - 1) - width


def _shorten(parts: list[HeaderPart], width: int, least: int) -> None:
    while (excess := _excess(parts, width)) > 0:
        sizes = sorted(((cell_len(part.text), place) for place, part in enumerate(parts) if part.name), reverse=True)
        if not sizes or sizes[0][0] <= least:
            return
        size, place = sizes[0]
        # Stop at the next longest name, so that two long names end up equally short.
        next_longest = sizes[1][0] if len(sizes) > 1 and sizes[1][0] < size else least
        wanted = max(least, size - excess, min(next_longest, size - 1))
        parts[place] = replace(parts[place], text=middle_out(parts[place].text, wanted))


def middle_out(text: str, width: int) -> str:
    """Shorten a text to at most ``width`` cells by cutting its middle: both ends are needed to recognize a name."""
    if cell_len(text) <= width:
        return text
    end = max(0, (width - 1) // 2)
    tail = text
    while cell_len(tail) > end:
        tail = tail[1:]
    head = set_cell_size(text, max(0, width - 1 - cell_len(tail))).rstrip()
    return f"{head}…{tail}" if width > 0 else ""


def _cut_reason(parts: list[HeaderPart], header: Sequence[HeaderPart], width: int, least: int) -> None:
    """Cut the reason to the available space but at least ``least`` cells; this may undo an earlier cut."""
    whole = next((one_line(part.text, len(part.text) + 1) for part in header if part.reason), "")
    for place, part in enumerate(parts):
        if part.reason:
            parts[place] = replace(part, text=whole)
            room = cell_len(whole) - max(0, _excess(parts, width))
            parts[place] = replace(part, text=fit(whole, max(least, room)).rstrip())


_COLOURS = {
    STATES["running"]: "running",
    STATES["interrupted"]: "unscored",
    STATES["done"]: "passed",
    STATES["failed"]: "failed",
    STATES["cancelled"]: "waiting",
}
_STATE = re.compile(f"(?:^| · )([{''.join(_COLOURS)}]) ")
_APP = "Workbench"
_NARROW, _WIDE = 70, 110  # widths of the line in cells
_LEAST = 12  # minimum width in cells of a session name; below this it is hidden


class StatusLine(Widget):
    """``Workbench  demo.session`` on the left and the mode's header on the right, which has priority.

    The state, including its glyph, has the colour of the verdict.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    StatusLine { dock: top; height: 1; background: $panel; color: $foreground; padding: 0 1; }
    """

    session = reactive("")
    marked = reactive("")
    header: reactive[Header] = reactive(())

    def show(self, what: str | Header) -> None:
        self.header = header_of(what) if isinstance(what, str) else what

    def render(self) -> RenderResult:
        width = self.size.width
        marked = one_line(self.marked, 300)
        # Show the mark here, because no other place shows an item that was marked in another session.
        marked = f"  {middle_out(marked, width // (4 if width < _WIDE else 2))}" if marked else ""
        room = width - cell_len(marked) - (2 if marked else 0)
        size = cell_len(one_line(self.session, len(self.session) + 1))
        # Shorten long names to make room for the session name.
        easy = (easily(self.header, room - len(_APP) - 4 - wanted) for wanted in (size, min(size, _LEAST)))
        right = next((shown for shown in easy if shown is not None), None)
        if right is None:
            # The marked item must not displace the session name.
            taken = len(_APP) + 4 + min(_LEAST, size) if marked and width >= _NARROW else 0
            right = laid_out(self.header, room - taken)
        left = beside(self.session, width - cell_len(right) - cell_len(marked) - 2)
        name, session = left[: len(_APP)], left[len(_APP) :]
        content = Content.assemble((name, "bold $primary"), (session, "$text"), (marked, "bold $accent"))
        gap = width - content.cell_length - cell_len(right)
        hint = f" ({key_of('trials.mark')} there unmarks)" if marked else ""
        if hint and gap > len(hint) + 2:
            content, gap = content.append(Content.styled(hint, "$accent")), gap - len(hint)
        sentence, state = literal(right), _STATE.search(right)
        if state is not None:
            sentence = sentence.stylize(f"$verdict-{_COLOURS[state[1]]}", state.start(1))
        return Content.assemble(content, " " * max(0, gap), sentence)


def beside(session: str, room: int) -> str:
    """Return the left side of the header: the name of the app, and the session name if enough of it fits."""
    name = one_line(session, len(session) + 1)
    left = room - len(_APP) - 2
    if name and left >= min(_LEAST, cell_len(name)):
        return f"{_APP}  {middle_out(name, left)}"
    return _APP if room >= len(_APP) else ""


_SOME, _ROOMY = 100, 160  # minimum terminal widths to list the modes as digits, and by name


class KeyBar(Widget):
    """Shows the active bindings with ``show=True``, those of the focused widget first; clicking one presses its key.

    ``? help`` and ``^p all commands`` are always shown.
    """

    ALLOW_SELECT = False
    auto_links = False  # clickable keys are styled like all others
    DEFAULT_CSS = """
    KeyBar { dock: bottom; height: 1; background: $panel; color: $text-muted; padding: 0 1; }
    """

    keys: reactive[tuple[Binding, ...]] = reactive(())

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: Screen[object]) -> None:
        active = screen.active_bindings.values()
        keys = (one.binding for one in active if one.binding.show and one.enabled)
        # Enter comes first because it is the main action of a list.
        self.keys = tuple(sorted(keys, key=lambda one: one.key != "enter"))

    def render(self) -> RenderResult:
        bindings, width = [binding for _, binding in self.app._bindings], self.size.width
        always = {one.description: one for one in bindings if one.id in {"app.help", "app.palette"} and one.key != "f1"}
        tail = Content("").join(map(self._key, always.values()))
        modes = [one for one in bindings if one.action.startswith("mode(")]
        named = Content("").join(map(self._mode, modes))
        brief = Content.assemble((f"{self.app.get_key_display(modes[0])}-{len(modes)}", "bold $accent"), " modes")
        room = width - 2 - tail.cell_length
        if width >= _SOME:
            room -= (named if width >= _ROOMY else brief).cell_length
        pieces, seen = list[Content](), set(always)
        for binding in self.keys:
            piece = self._key(binding)
            # Skip a key that does not fit, because a later, shorter key may.
            if binding.description not in seen and piece.cell_length <= room:
                room -= piece.cell_length
                seen.add(binding.description)
                pieces.append(piece)
        left = Content("").join([*pieces, tail])
        for right in (named, brief):
            gap = width - left.cell_length - right.cell_length
            if gap >= 0:
                return Content.assemble(left, " " * gap, right)
        return left

    def _key(self, binding: Binding) -> Content:
        shown = Content.assemble((self.app.get_key_display(binding), "bold $accent"), f" {binding.description}  ")
        return shown.stylize(f"@click=app.simulate_key({binding.key!r})")

    def _mode(self, binding: Binding) -> Content:
        style = "bold underline $foreground" if f"'{self.app.current_mode}'" in binding.action else "$text-muted"
        key = (f" {self.app.get_key_display(binding)} ", "bold $accent")
        shown = Content.assemble(key, (binding.description, style), " ")
        return shown.stylize(f"@click=app.simulate_key({binding.key!r})")
