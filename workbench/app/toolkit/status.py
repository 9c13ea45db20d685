"""The first line of every mode: where one is, and one sentence of state."""

from __future__ import annotations

import re

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench.app.toolkit.literal import literal
from workbench.glyphs import STATES
from workbench.text import clean, shortened

_COLOURS = {
    STATES["running"]: "running",
    STATES["interrupted"]: "unscored",
    STATES["done"]: "passed",
    STATES["failed"]: "failed",
    STATES["cancelled"]: "waiting",
}
_LEAST = 9  # characters by which a name is still told from others
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
    marked = reactive("")
    sentence: reactive[str] = reactive("")

    def render(self) -> RenderResult:
        """Return the line for the present width."""
        width = self.size.width
        marked = Content.styled(f"  {clean(self.marked)}", "bold $accent") if self.marked else Content("")
        left = Content.assemble(("Workbench", "bold $primary"), ("  ", ""), (clean(self.session), "$text"), marked)
        right = self._state_coloured(literal(self.sentence))
        if left.cell_length + right.cell_length + 2 > width:
            left = Content.styled("Workbench", "bold $primary") if not self.marked else marked[2:]
        if self.marked and left.cell_length + right.cell_length + 2 > width:
            # What is marked elsewhere is seen nowhere but here.
            left = left.truncate(max(0, width // 2), ellipsis=True)
            rest = width - left.cell_length - 2
            right = self._state_coloured(literal(fitted(self.sentence, rest))).truncate(rest, ellipsis=True)
        if left.cell_length + right.cell_length + 2 > width:
            return self._state_coloured(literal(fitted(self.sentence, width))).truncate(width, ellipsis=True)
        return Content.assemble(left, " " * (width - left.cell_length - right.cell_length), right)

    def _state_coloured(self, sentence: Content) -> Content:
        state = _STATE.search(sentence.plain)
        return sentence if state is None else sentence.stylize(f"$verdict-{_COLOURS[state[1]]}", state.start(1))


def fitted(sentence: str, width: int) -> str:
    """Return a sentence of parts with the longest of them shortened in the middle, so that its end, the state, is seen.

    Args:
        sentence: Parts between `` · ``; the last one says how it stands and is left as it is.
        width: Characters that there is room for.
    """
    *parts, state = clean(sentence).split(" · ")
    while parts and (excess := len(" · ".join([*parts, state])) - width) > 0:
        # Only names, which have no spaces: half of "trial 2 of 3" says nothing.
        longest = max(range(len(parts)), key=lambda at: 0 if " " in parts[at] else len(parts[at]))
        size = len(parts[longest])
        if size <= _LEAST or " " in parts[longest]:
            # What stands first is what the panes say as well.
            parts.pop(0)
        else:
            parts[longest] = shortened(parts[longest], max(_LEAST, size - excess))
    return " · ".join([*parts, state])
