"""What each key means wherever it works (one key, one meaning), and which key an action has now."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.key_ids import KEYS

_SIGNS = {"escape": "esc", "slash": "/", "minus": "-", "at": "@", "shift+up": "⇧↑", "shift+down": "⇧↓"}
_keymap: dict[str, str] = {}


def use_keymap(keymap: Mapping[str, str]) -> None:
    """Let texts name the keys of a ``[keymap]``."""
    _keymap.clear()
    _keymap.update(keymap)


def key_of(binding: str) -> str:
    """Return the key that an action has now, by the id of its binding, as texts write it."""
    name = (_keymap.get(binding) or KEYS[binding]).partition(",")[0].strip()
    if name in _SIGNS or len(name) == 1 or "+" in name:
        return _SIGNS.get(name, name)
    try:
        return unicodedata.lookup(name.replace("_than_", "-than ").replace("_", " "))
    except KeyError:
        return name


def with_keys(text: str) -> str:
    """Return one of our texts with the key of each action that it names as ``{trials.mark}``."""
    return re.sub(r"\{([a-z-]+\.[a-z-]+)\}", lambda found: key_of(found[1]) if found[1] in KEYS else found[0], text)


@dataclass(frozen=True, slots=True)
class Meaning:
    """Keys and what they mean on every screen that has them; a dialog has its own few keys.

    Attributes:
        keys: Keys as Textual names them.
        shown: The keys as the help writes them.
        means: What they do.
        names: Last parts of the ids of the bindings that may have them: ``sort`` of ``trials.sort``.
    """

    keys: tuple[str, ...]
    shown: str
    means: str
    names: frozenset[str]


def _row(keys: str, shown: str, means: str, names: str) -> Meaning:
    return Meaning(tuple(keys.split()), shown, means, frozenset(names.split()))


KEY_TABLE = (
    _row("space", "space", "mark, choose", "mark facet"),
    _row("C", "C", "compare what is marked", "compare"),
    _row("slash", "/", "find in this list or text", "search narrow find query"),
    _row("n N", "n N", "next, previous hit or difference", "next previous next-hit previous-hit"),
    _row("o O", "o O", "sort; the other way round", "sort reverse"),
    _row("b minus", "b -", "group; fold or unfold a group", "group fold"),
    _row("f F", "f F", "filter; clear the filter", "filter clear-filter only-differences"),
    _row("asterisk t a", "* t a", "star, tag, remark", "star tags annotate remark"),
    _row("r", "r", "rerun", "rerun rerun-task"),
    _row("u c", "u c", "resume, cancel", "resume cancel"),
    _row("d delete", "d", "delete, put away", "delete put-away"),
    _row("ctrl+z full_stop", "^z .", "bring back; show what was put away", "bring-back all"),
    _row("f2", "f2", "name", "name"),
    _row("f5", "f5", "fetch, read again", "fetch reload"),
    _row("ctrl+n", "^n", "new", "new open"),
    _row("ctrl+e", "^e", "open in $EDITOR", "open"),
    _row("ctrl+f", "^f", "search everything; all sessions", "search all-sessions"),
    _row("x", "x", "export a report", "export"),
    _row("y", "y", "copy", "copy"),
    _row("s", "s", "scores, by which rubric, judge or measure", "scores scale measure"),
    _row("v", "v", "next evaluator", "evaluator"),
    _row("V", "V", "verify: test docs, check a README", "test-docs check"),
    _row("w", "w", "why: where it comes from, what went wrong", "where-from went-wrong"),
    _row("greater_than_sign", ">", "more of a long text", "more"),
    _row("left_square_bracket right_square_bracket", "[ ]", "previous, next tab", "next-tab previous-tab next-pair previous-pair"),
    _row("h l left right", "h l", "previous, next beside it; close, open a folder",
         "next-step previous-step next-sample previous-sample matrix-left matrix-right open close files open-group close-group"),
    _row("H L", "H L", "previous, next trial, run or study",
         "next-trial previous-trial next-run previous-run next-study previous-study"),
    _row("J K", "J K", "next, previous task or attempt, from any pane",
         "next-task previous-task next-attempt previous-attempt"),
)  # fmt: skip
"""Keys that several screens have, in the order of the help; keys that move, ``enter`` and ``escape`` are everywhere."""

EVERYWHERE = frozenset(
    [
        "enter",
        "escape",
        "j",
        "k",
        "g",
        "G",
        "up",
        "down",
        "home",
        "end",
        "pageup",
        "pagedown",
        "ctrl+d",
        "ctrl+u",
        "tab",
        "shift+tab",
    ]
)
"""Keys that move the cursor or the focus, do the next thing, or lead back."""
