"""The first line of every mode: where one is, and one sentence of state."""

from __future__ import annotations

import re

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.toolkit.header import Header, Part, easily, header_of, laid_out, middle_out
from workbench.app.toolkit.literal import literal
from workbench.glyphs import STATES
from workbench.text import one_line

_COLOURS = {
    STATES["running"]: "running",
    STATES["interrupted"]: "unscored",
    STATES["done"]: "passed",
    STATES["failed"]: "failed",
    STATES["cancelled"]: "waiting",
}
_STATE = re.compile(f"(?:^| · )([{''.join(_COLOURS)}]) ")
_APP = "Workbench"
_LEAST = 12  # cells of a session's name that are worth their room


class StatusLine(Widget):
    """``Workbench  demo.session`` on the left, the mode's header on the right; that one has the room first.

    From its glyph on the state has the colour of its verdict.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    StatusLine { dock: top; height: 1; background: $panel; color: $foreground; padding: 0 1; }
    """

    session = reactive("")
    marked = reactive("")
    header: reactive[Header] = reactive(())

    def say(self, what: str | Header) -> None:
        """Show a header, or a sentence whose last part is the state."""
        self.header = header_of(what) if isinstance(what, str) else what

    def render(self) -> RenderResult:
        """Return the line for the present width."""
        width = self.size.width
        marked = one_line(self.marked, 300)
        # What is marked elsewhere is seen nowhere but here.
        marked = f"  {middle_out(marked, width // 2)}" if marked else ""
        room = width - cell_len(marked) - (2 if marked else 0)
        right = self._beside_the_session(room) or laid_out(self.header, room)
        left = beside(self.session, width - cell_len(right) - cell_len(marked) - 2)
        content = Content.assemble(
            (left[: len(_APP)], "bold $primary"), (left[len(_APP) :], "$text"), (marked, "bold $accent")
        )
        gap = width - content.cell_length - cell_len(right)
        return Content.assemble(content, " " * max(0, gap), self._state_coloured(literal(right)))

    def _beside_the_session(self, room: int) -> str | None:
        """Return the header where long names in it can be shortened so far that the session's name stays beside it, else None."""
        name = cell_len(one_line(self.session, len(self.session) + 1))
        fits = (easily(self.header, room - len(_APP) - 4 - wanted) for wanted in (name, min(name, _LEAST)))
        return next((shown for shown in fits if shown is not None), None)

    def _state_coloured(self, sentence: Content) -> Content:
        state = _STATE.search(sentence.plain)
        return sentence if state is None else sentence.stylize(f"$verdict-{_COLOURS[state[1]]}", state.start(1))


def beside(session: str, room: int) -> str:
    """Return what stands on the left in so many cells: the app, and the session where its name can still be told."""
    name = one_line(session, len(session) + 1)
    left = room - len(_APP) - 2
    if name and left >= min(_LEAST, cell_len(name)):
        return f"{_APP}  {middle_out(name, left)}"
    return _APP if room >= len(_APP) else ""


def fitted(sentence: str, width: int) -> str:
    """Return a sentence of parts in so many cells, so that its end, the state, is seen; see :func:`laid_out`."""
    return laid_out(header_of(sentence), width)


__all__ = ["Header", "Part", "StatusLine", "beside", "fitted"]
