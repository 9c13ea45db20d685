"""What each key means wherever it works (one key, one meaning), and which key an action has now."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench.base.bindings import KEYS
from workbench.base.read_only import ReadOnly, is_read_only

_SIGNS = {"escape": "esc", "slash": "/", "minus": "-", "at": "@", "plus": "+", "shift+up": "⇧↑", "shift+down": "⇧↓"}
_ARROWS = frozenset({"left", "right", "up", "down"})
_keymap: dict[str, str] = {}


def use_keymap(keymap: Mapping[str, str]) -> None:
    _keymap.clear()
    _keymap.update(keymap)


def key_of(binding: str) -> str:
    """Return the key that an action has now, by the id of its binding, as texts write it."""
    keys = [one.strip() for one in (_keymap.get(binding) or KEYS[binding]).split(",")]
    return written(next((one for one in keys if one not in _ARROWS), keys[0]))


def written(name: str) -> str:
    if name in _SIGNS or len(name) == 1 or "+" in name:
        return _SIGNS.get(name, name)
    try:
        sign = unicodedata.lookup(name.replace("_than_", "-than ").replace("_", " "))
    except KeyError:
        return name
    return sign if sign.isprintable() and not sign.isspace() else name


def with_keys(text: str) -> str:
    """Return one of our texts with the key of each action that it names as ``{trials.mark}``."""
    return re.sub(r"\{([a-z-]+\.[a-z-]+)\}", lambda found: key_of(found[1]) if found[1] in KEYS else found[0], text)


class Meaning(NamedTuple):
    """What keys mean on every screen that has them; ``names`` are words of the ids of their bindings: ``sort`` of ``trials.sort``."""

    keys: tuple[str, ...]
    means: str
    names: frozenset[str]

    @property
    def shown(self) -> str:
        return " ".join(written(key).replace("ctrl+", "^") for key in self.keys if key not in {*_ARROWS, "delete"})


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
V | verify: test docs, check a README | test-docs check
w | why: where it comes from, what went wrong | where-from went-wrong
greater_than_sign | more of a long text | more
left_square_bracket right_square_bracket | previous, next tab | tab pair
h l left right | previous, next beside it; close, open a folder | step sample matrix open close files
H L | previous, next trial, run or study | trial run study
J K | next, previous task or attempt, from any pane | task attempt
"""
KEY_TABLE = tuple(
    Meaning(tuple(keys.split()), means, frozenset(names.split()))
    for keys, means, names in (row.split(" | ") for row in _ROWS.strip().splitlines())
)
"""Keys that several screens have, in the order of the help; keys that move, ``enter`` and ``escape`` are everywhere."""

WHY_NOT = {
    "resume": "Nothing is missing here: there is nothing to resume.",
    "cancel": "Nothing runs here that could be cancelled.",
    "rerun": "There is nothing here to run again.",
    "rescore": "The trial has no README that could be scored.",
    "rerun_model": "There is nothing here to run again.",
    "rerun_failed": "There is no sample here that did not pass.",
    "fork": "There is no step here to go on from.",
    "add_samples": "More samples cannot be asked for here.",
    "resume_study": "Nothing is missing in this study: there is nothing to resume.",
    "cancel_study": "Nothing of this study runs that could be cancelled.",
    "export": "There is nothing here to export yet.",
    "travel": "There is no place to go to in this direction.",
    "check_readme": "There is no README here to check.",
    "check_block": "The cursor stands on no block of a checked README.",
    "hit": "Nothing was searched for here.",
    "trials": "There are no other trials in this session.",
    "run": "No regeneration run is shown.",
    "study": "There is no other study in this session.",
    "problem": "No self-check failed here.",
    "evaluator": "There is no other evaluator here.",
    "clear_filter": "No filter hides anything here.",
    "improvements": "No better docstrings were tried for this run.",
    "scale": "There is one way of scoring here, and it is shown.",
    "measure": "There is one measure here, and it is shown.",
    "weighting": "There are no rankings here to weigh in another way.",
    "sort_next": "This list has one order.",
    "reverse": "This list has one order.",
    "group_next": "The rows of this list cannot be put together.",
    "fold": "There is no group here to fold.",
    "narrow": "There are no rows here to narrow.",
    "next_pane": "There is no other pane here.",
    "pair": "There is no other pair here.",
    "pause": "This run does not wait in the queue.",
    "turn": "This run does not wait in the queue.",
    "bring_back": "Nothing was archived or deleted here that could be brought back.",
    "all": "Nothing was archived or deleted here.",
    "merge": "There is nothing here to merge.",
    "star": "Nothing is selected that could have a star.",
    "tags": "Nothing is selected that could have tags.",
    "remark": "Nothing is selected that could have a remark.",
    "copy": "There is nothing here to copy.",
    "open_outside": "There is nothing here to open.",
}
"""Why an action cannot be done now, where its screen does not offer it."""
_WHERE = {mode: mode.capitalize() for mode in ("cases", "trajectory", "sessions", "regeneration", "study")} | {
    "trials": "the table of trials",
    "runs": "the list of runs",
    "search": "the search",
    "compare": "side by side",
    "went-wrong": "what went wrong",
}


def why_not(pressed: str, refused: Sequence[tuple[str, str]]) -> str:
    """Return why a key does nothing: the reason of what it is for here (``refused``: actions, each with what it does), else where it is a key."""
    for action, does in refused:
        name = action.partition("(")[0].rpartition(".")[2]
        if name in WHY_NOT or does:
            return WHY_NOT.get(name, f"{does[:1].upper()}{does[1:]}: not possible here now.")
    keys = {one: _keymap.get(one) or known for one, known in KEYS.items()}
    groups = dict.fromkeys(one.partition(".")[0] for one, known in keys.items() if pressed in known.split(","))
    places = [_WHERE[group] for group in groups if group in _WHERE]
    what = f"{written(pressed)} does nothing here"
    return (
        f"{what}; it is a key of {_listed(places)}."
        if places
        else f"{what}; {key_of('app.help')} lists the keys that do."
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# -- what a read-only app refuses when its key is pressed, before any dialog; below it everything that writes refuses as well

_START = "start, resume or cancel runs"
_LABEL = "keep stars, tags or remarks"
_ARRANGE = "rename, delete, merge or bring back anything"
_STARTING = (
    "add_samples cancel cancel_study check_block check_readme fork improve new_study pause rerun rerun_failed rerun_model rescore resume "
    "resume_study test_docs turn use"
)
CHANGING = {
    **dict.fromkeys(_STARTING.split(), _START),
    **dict.fromkeys(("remark", "star", "tags"), _LABEL),
    **dict.fromkeys(("bring_back", "delete", "merge", "name", "archive"), _ARRANGE),
    "fetch": "fetch sources",
    "import_files": "import files",
    "new": "begin anything new",
    "open_outside": "open another program",
    "open_repository": "fetch sources",
}
"""Actions that change something -> what they do, as it follows "it cannot"."""
WRITING_FILES = frozenset({"export", "save_picture"})
"""Actions that write a file for a person; in a browser it is downloaded, and nothing is written here."""


def refusal(action: str, *, in_dialog: bool, in_browser: bool) -> str:
    """Return the sentence for an action (``screen.fetch``, ``turn(-1)``) that a read-only app does not do, "" for one that it does."""
    if in_dialog or not is_read_only():
        return ""
    name = action.partition("(")[0].rpartition(".")[2]
    if name in WRITING_FILES and not in_browser:
        return str(ReadOnly("write files"))
    return str(ReadOnly(CHANGING[name])) if name in CHANGING else ""
