"""A name that means something to markup and to terminals, and what must be left of it on a screen."""

from __future__ import annotations

import re

MARKUP = "[/x][bold[@click=app.quit]x[/][[red]]"
NAME = f"{MARKUP}\x1b[31m\x9b7m\x07\x1b]0;title\x07\u202e{chr(0x85)}end"
"""Everything at once: closing and open tags, a link that quits, colours as 7- and 8-bit sequences, a bell, a title, an override."""
SHOWN = f"{MARKUP}end"
SHORT = "[/x]\x1b[5m\x07\u202e"
"""For narrow columns."""
FILE = "[x][bold\x1b[31m\x07\u202eend"
"""A file's name has no slash."""
FILE_SHOWN = "[x][boldend"

_OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def obeyed(text: str) -> list[str]:
    """Return the characters of a text that a terminal would obey, line ends apart."""
    return _OBEYED.findall(text)
