"""A name that means something to markup and to terminals, and what must be left of it on a screen."""

from __future__ import annotations

import re

MARKUP = "[/x][bold[@click=app.quit]x[/][[red]]"
NAME = f"{MARKUP}\x1b[31m\x9b7m\x07\x1b]0;title\x07\u202e{chr(0x85)}\u200b\u200f\ufeff\u2064end"
"""Everything at once: closing and open tags, a link that quits, colours as 7- and 8-bit sequences, a bell, a title, an override, what is not seen."""
SHOWN = f"{MARKUP}end"
SHORT = "[/x]\x1b[5m\x07\u202e\u2060"
"""For narrow columns."""
FILE = "[x][bold\x1b[31m\x07\u202e\u200bend"
"""A file's name has no slash."""
FILE_SHOWN = "[x][boldend"

_OBEYED = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def obeyed(text: str) -> list[str]:
    """Return the characters of a text that a terminal would obey or that nobody sees, line ends apart."""
    return _OBEYED.findall(text)
