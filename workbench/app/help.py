"""All keys that work now, what keys mean everywhere, and signs."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from workbench.app.key_table import KEY_TABLE, with_keys
from workbench.app.keys import bindings
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.row_list import Part, RowList
from workbench.base import glyphs
from workbench.results.forks import SIGN

_SIGNS = (
    *((sign, name, name) for name, sign in glyphs.VERDICTS.items() if name != "error"),
    (glyphs.WAITING, "waiting", "waiting"),
    (glyphs.RUNNING, "running", "running"),
    (glyphs.UNSCORED, "unscored", "unscored"),
    (glyphs.VERDICTS["error"], glyphs.OUR_ERROR, "unscored"),
    (glyphs.CANCELLED, "cancelled", "waiting"),
    (glyphs.VERDICTS["passed"], "former verdict, tested again", "passed-before"),
    (SIGN, "fork, last step taken over", ""),
    ("≈", "docstring carries the code", ""),
    ("~", "unstable tests", "unscored"),
    ("≠", "a re-check disagrees", "removed"),
    ("–", "nothing there: not asked, no such task", "dim"),
)
_NOTE = (
    "{list.narrow} finds a key. {app.palette} and “Tour of the app” shows the app in five steps.",
    "The right column names a key for [keymap] in the settings file;",
    "`workbench locate config` tells where.",
)


def keys_of(screen: Screen[object]) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Return the keys that work on a screen by where they belong: (heading, [(key, what it does, binding id)])."""
    groups: dict[str, dict[str, tuple[list[str], str]]] = {}
    for node, bound in screen._modal_binding_chain:
        for _, binding in bound:
            if not binding.description or binding.system or not binding.id:
                continue
            if binding.action == "leave_tour" and not screen.app.check_action(binding.action, ()):
                continue  # a key of something that is not there
            title = "Everywhere" if node is screen.app else "This mode" if node is screen else "Here"
            keys, _ = groups.setdefault(title, {}).setdefault(binding.description, ([], binding.id))
            shown = screen.app.get_key_display(binding)
            if shown not in keys:
                keys.append(shown)
    return [
        (title, [(" ".join(keys), what, name) for what, (keys, name) in entries.items()])
        for title, entries in groups.items()
    ]


class KeyList(RowList):
    """Keys by where they belong, with their ids for the keymap in the settings."""

    DEFAULT_CSS = """
    KeyList { background: $surface; }
    KeyList > .row--passed-before { color: $verdict-passed; text-style: underline; }
    KeyList > .row--timeout { color: $verdict-timeout; }
    KeyList > .row--crashed { color: $verdict-crashed; }
    """

    def __init__(self, about: Screen[object]) -> None:
        super().__init__(id="keys")
        groups = keys_of(about)
        rows = [row for _, keys in groups for row in keys]
        # As narrow as the longest entries allow; where an id would wrap, it moves to the left.
        self._wide = max((len(key) for key, _, _ in rows), default=0) + 2
        self._wider = max((len(what) for _, what, _ in rows), default=0) + 2
        self._lines: list[Sequence[Part] | tuple[str, str, str]] = []
        for title, keys in groups:
            self._lines += [[(title, "group")], *keys, []]
        self._lines += [[("The same on every screen", "group")], *((one.shown, one.means, "") for one in KEY_TABLE), []]
        self._lines += [
            [("Signs", "group")],
            *([(f"  {sign} ", style), (word, "")] for sign, word, style in _SIGNS),
            [],
        ]
        self._lines += [[(with_keys(line), "dim")] for line in _NOTE]

    def row_count(self) -> int:
        return len(self._lines)

    def action_page(self, step: int) -> None:
        super().action_page(step)
        self.scroll_to(y=self.line_of(self.cursor), animate=False, immediate=True)  # a page of text, not one row more

    def words_of(self, index: int) -> str:
        line = self._lines[index]
        return " ".join(line) if isinstance(line, tuple) else ""

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        line = self._lines[index]
        if not isinstance(line, tuple):
            return line
        key, what, name = line
        room = max(len(what) + 2, min(self._wider, width - self._wide - 2 - len(name)))
        return [(f"  {key:<{self._wide}}", "marked"), (f"{what[:1].lower()}{what[1:]:<{room - 1}}", ""), (name, "dim")]


class HelpScreen(Dialog[None]):
    """What every key does now."""

    AUTO_FOCUS = "KeyList"
    DEFAULT_CSS = "HelpScreen #frame { width: 84; max-width: 100%; height: 96%; padding: 1 2; }"
    BINDINGS = bindings("help")

    def __init__(self, about: Screen[object]) -> None:
        super().__init__()
        self._keys = KeyList(about)

    def compose(self) -> ComposeResult:
        yield set_title(Vertical(self._keys, id="frame"), "Help")

    def on_mount(self) -> None:
        self._keys.rows_changed(cursor=0)

    def action_page(self, step: int) -> None:
        self._keys.action_page(step)

    def action_close(self) -> None:
        self.dismiss(None)
