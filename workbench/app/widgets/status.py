"""The first line of every mode: where one is, and one sentence of state."""

from __future__ import annotations

import re

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

_COLOURS = {"▸": "running", "‖": "unscored", "✓": "passed", "✗": "failed", "⊘": "waiting"}
_STATE = re.compile(f"(?:^| · )([{''.join(_COLOURS)}]) ")


class StatusLine(Widget):
    """``Workbench  demo.session`` on the left, the mode's sentence on the right; the sentence is cut last.

    From its glyph on the state has the colour of its verdict.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    StatusLine { dock: top; height: 1; background: $panel; color: $foreground; padding: 0 1; }
    """

    session = reactive("")
    sentence: reactive[str] = reactive("")

    def render(self) -> RenderResult:
        """Return the line for the present width."""
        width = self.size.width
        left = Content.assemble(("Workbench", "bold $primary"), ("  ", ""), (self.session, "$text"))
        right = Content(self.sentence)
        state = _STATE.search(self.sentence)
        if state is not None:
            right = right.stylize(f"$verdict-{_COLOURS[state[1]]}", state.start(1))
        if left.cell_length + right.cell_length + 2 > width:
            left = Content.styled("Workbench", "bold $primary")
        if left.cell_length + right.cell_length + 2 > width:
            return right.truncate(width, ellipsis=True)
        return Content.assemble(left, " " * (width - left.cell_length - right.cell_length), right)
