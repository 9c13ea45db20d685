"""Keys: their meanings on all screens (one key, one meaning), the bindings of a class, and the key of an action."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from textual.binding import Binding, BindingType

from workbench.base.bindings import KEYS, SECTIONS
from workbench.base.read_only import ReadOnly, is_read_only

_SIGNS = {"escape": "esc", "slash": "/", "minus": "-", "at": "@", "plus": "+", "shift+up": "⇧↑", "shift+down": "⇧↓"}
_ARROWS = frozenset({"left", "right", "up", "down"})
_keymap: dict[str, str] = {}


def use_keymap(keymap: Mapping[str, str]) -> None:
    _keymap.clear()
    _keymap.update(keymap)


def key_of(binding: str) -> str:
    """Return the current key of an action, specified by its binding id, in the form shown in texts."""
    keys = [one.strip() for one in (_keymap.get(binding) or KEYS[binding]).split(",")]
    return key_label(next((one for one in keys if one not in _ARROWS), keys[0]))


def key_label(name: str) -> str:
    if name in _SIGNS or len(name) == 1 or "+" in name:
        return _SIGNS.get(name, name)
    try:
        sign = unicodedata.lookup(name.replace("_than_", "-than ").replace("_", " "))
    except KeyError:
        return name
    return sign if sign.isprintable() and not sign.isspace() else name


def with_keys(text: str) -> str:
    """Replace each action in a text, written as ``{trials.mark}``, with its key."""
    return re.sub(r"\{([a-z-]+\.[a-z-]+)\}", lambda found: key_of(found[1]) if found[1] in KEYS else found[0], text)


class Meaning(NamedTuple):
    """The meaning that keys have on all screens that use them.

    ``names`` are the last words of their binding ids, such as ``sort`` in ``trials.sort``.
    """

    keys: tuple[str, ...]
    means: str
    names: frozenset[str]

    @property
    def shown(self) -> str:
        return " ".join(key_label(key).replace("ctrl+", "^") for key in self.keys if key not in {*_ARROWS, "delete"})


_ROWS = """
space | mark, choose | mark facet
C | compare what is marked | compare
slash | find in this list or text | search narrow find query
n N | next, previous hit or difference | next previous hit
o O | sort; the other way round | sort reverse
b minus | group; fold or unfold a group | group fold
f F | filter; clear the filter | filter clear-filter only-differences
asterisk t a | star, tag, remark | star tags remark
r | rerun | rerun rerun-task
u c | resume, cancel | resume cancel
d delete | delete, archive | delete archive
ctrl+z full_stop | bring back; show archived | bring-back all
f2 | name | name
f5 | fetch, read again | fetch reload
ctrl+n | new | new open
ctrl+e | open in $EDITOR | open
ctrl+f | search everything; all sessions | search all-sessions
x | export a report | export
y | copy | copy
s | scores, by which rubric, judge or measure | scores scale measure
v | next evaluator | evaluator
e | evidence of a score; steps of a reader agent | evidence steps
V | verify: test docs, check a README | test-docs check
at | measure the use of a page | measure-use
w | why: where it comes from, what went wrong | where-from went-wrong
greater_than_sign | more of a long text | more
left_square_bracket right_square_bracket | previous, next tab | tab pair
h l left right | previous, next in a row; close, open a folder | step sample matrix open close files
H L | previous, next trial, run or study | trial run study
J K | next, previous task or attempt, from any pane | task attempt
"""
KEY_TABLE = tuple(
    Meaning(tuple(keys.split()), means, frozenset(names.split()))
    for keys, means, names in (row.split(" | ") for row in _ROWS.strip().splitlines())
)
"""Keys that several screens share, in help order; movement keys, ``enter`` and ``escape`` work everywhere."""

WHY_NOT = {
    "resume": "There is nothing to resume here.",
    "cancel": "Nothing is running here that could be cancelled.",
    "rerun": "There is nothing to rerun here.",
    "rescore": "The trial has no README that could be scored.",
    "rerun_model": "There is nothing to rerun here.",
    "rerun_failed": "All samples here passed.",
    "fork": "There is no step to fork here.",
    "add_samples": "More samples cannot be requested here.",
    "resume_study": "This study is complete: there is nothing to resume.",
    "cancel_study": "Nothing in this study is running that could be cancelled.",
    "export": "There is nothing to export here yet.",
    "travel": "The history has no entry in this direction.",
    "check_readme": "There is no README to check here.",
    "steps": "This sample was not written by a reader agent.",
    "measure_use": "There is no README to measure here.",
    "check_block": "The cursor is not on a block of a checked README.",
    "hit": "There are no search hits here.",
    "trials": "There are no other trials in this session.",
    "run": "No regeneration run is shown.",
    "study": "There is no other study in this session.",
    "problem": "No self-check failed here.",
    "evaluator": "There is no other evaluator here.",
    "clear_filter": "No filter hides anything here.",
    "improvements": "No docstrings were improved for this run.",
    "scale": "The trials were scored by one rubric and judge only.",
    "measure": "This study has one measure only.",
    "weighting": "There are no rankings here to weigh differently.",
    "sort_next": "This list has a fixed order.",
    "reverse": "This list has a fixed order.",
    "group_next": "This list cannot be grouped.",
    "fold": "There is no group to fold here.",
    "narrow": "There are no rows to narrow here.",
    "next_pane": "There is no other pane here.",
    "pair": "There is no other pair here.",
    "pause": "This run is not in the queue.",
    "turn": "This run is not in the queue.",
    "bring_back": "Nothing was archived or deleted here.",
    "all": "Nothing was archived or deleted here.",
    "merge": "There is nothing to merge here.",
    "star": "The selection cannot be starred.",
    "tags": "The selection cannot be tagged.",
    "remark": "The selection cannot have a remark.",
    "copy": "There is nothing to copy here.",
    "open_outside": "There is nothing to open here.",
}
"""The reason why an action does not apply, by action."""
_WHERE = {mode: mode.capitalize() for mode in ("cases", "trajectory", "sessions", "regeneration", "study")} | {
    "trials": "the table of trials",
    "runs": "the list of runs",
    "search": "the search",
    "compare": "the side-by-side view",
    "went-wrong": "the failure analysis",
}


def why_not(pressed: str, refused: Sequence[tuple[str, str]]) -> str:
    """Return why a key has no effect.

    ``refused`` are the actions bound to the key on this screen, with their descriptions. If there are none, the text
    names the screens that use the key.
    """
    for action, does in refused:
        name = action.partition("(")[0].rpartition(".")[2]
        if name in WHY_NOT or does:
            return WHY_NOT.get(name, f"{does[:1].upper()}{does[1:]}: not possible here right now.")
    keys = {one: _keymap.get(one) or known for one, known in KEYS.items()}
    groups = dict.fromkeys(one.partition(".")[0] for one, known in keys.items() if pressed in known.split(","))
    places = [_WHERE[group] for group in groups if group in _WHERE]
    what = f"{key_label(pressed)} does nothing here"
    return (
        f"{what}; it is a key of {_listed(places)}."
        if places
        else f"{what}; {key_of('app.help')} lists the keys that do."
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# -- read-only mode: actions are refused when the key is pressed, before any dialog; code that writes also refuses

_START = "start, resume or cancel runs"
_LABEL = "add stars, tags or remarks"
_ARRANGE = "rename, delete, merge or bring back anything"
_STARTING = (
    "add_samples cancel cancel_study check_block check_readme fork improve measure_use new_study pause rerun rerun_failed rerun_model rescore resume "
    "resume_study test_docs turn use"
)
CHANGING = {
    **dict.fromkeys(_STARTING.split(), _START),
    **dict.fromkeys(("remark", "star", "tags"), _LABEL),
    **dict.fromkeys(("bring_back", "delete", "merge", "name", "archive"), _ARRANGE),
    "fetch": "fetch sources",
    "import_files": "import files",
    "new": "create anything new",
    "open_outside": "open another program",
    "open_repository": "fetch sources",
}
"""Actions that change something, each with a description that completes the sentence "it cannot …"."""
WRITING_FILES = frozenset({"export", "save_picture"})
"""Actions that write a file for the user; a browser downloads the file instead."""


def refusal(action: str, *, in_dialog: bool, in_browser: bool) -> str:
    """Return why a read-only app refuses an action (``screen.fetch``, ``turn(-1)``), or "" if it allows the action."""
    if in_dialog or not is_read_only():
        return ""
    name = action.partition("(")[0].rpartition(".")[2]
    if name in WRITING_FILES and not in_browser:
        return str(ReadOnly("write files"))
    return str(ReadOnly(CHANGING[name])) if name in CHANGING else ""


def bindings(section: str) -> list[BindingType]:
    """Return the bindings of a section, or a single binding specified by its id."""
    made: list[BindingType] = []
    for one in SECTIONS[section]:
        shown = key_label(one.keys) if one.keys.startswith("shift+") else None
        if one.opposite:
            keys = sorted((key_label(keys.split(",")[0]) for keys in (one.keys, one.opposite)), key=str.swapcase)
            shown = ("/" if keys[0].isalnum() else " ").join(keys)
        about = f"next {one.title}" if one.opposite else one.about
        made.append(Binding(one.keys, one.action, one.title, one.shown, shown, one.first, about, one.id))
    return made
