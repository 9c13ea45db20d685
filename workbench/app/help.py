"""All keys that work now, generated from the bindings."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input

from workbench import glyphs
from workbench.app.key_table import KEY_TABLE, key_of
from workbench.app.keys import bindings
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.typed_line import LONGEST_SOUGHT, LineInput
from workbench.session.forks import SIGN

_GLYPHS = (
    *((glyph, name, f"verdict-{name}") for name, glyph in glyphs.VERDICTS.items() if name != "error"),
    (glyphs.WAITING, "waiting", "verdict-waiting"),
    (glyphs.RUNNING, "running", "verdict-running"),
    (glyphs.UNSCORED, "unscored", "verdict-unscored"),
    (glyphs.VERDICTS["error"], glyphs.OUR_ERROR, "verdict-unscored"),
    (glyphs.CANCELLED, "cancelled", "verdict-waiting"),
    (glyphs.VERDICTS["passed"], "former verdict, tested again", "verdict-passed underline"),
    (SIGN, "fork, last step taken over", "foreground"),
    ("≈", "docstring carries the code", "foreground"),
    ("~", "unstable tests", "verdict-unscored"),
    ("≠", "a re-check disagrees", "error"),
    ("–", "nothing there: not asked, no such task", "text-muted"),
)

_WIDEST, _AROUND = 84, 8
"""Cells of the frame, and of its border, padding and scroll bar."""


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


class HelpScreen(Dialog[None]):
    """Keys by where they belong, the ids for the keymap in the settings, and what the glyphs mean."""

    AUTO_FOCUS = ""

    DEFAULT_CSS = """
    HelpScreen #frame { width: 84; max-width: 100%; padding: 1 2; }
    HelpScreen Static { height: auto; }
    HelpScreen Input { display: none; }
    HelpScreen Input.-open { display: block; }
    HelpScreen Input:focus { background: $panel; }
    """
    BINDINGS = bindings("help")

    def __init__(self, about: Screen[object]) -> None:
        super().__init__()
        self._keys = keys_of(about)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="frame") as frame:
            set_title(frame, "Help")
            yield LineInput(
                compact=True, max_length=LONGEST_SOUGHT, placeholder="only keys with…", select_on_focus=False
            )
            yield Static()

    def on_mount(self) -> None:
        self._show("")

    def on_resize(self, event: events.Resize) -> None:
        if self.is_mounted:
            self._show(self.query_one(LineInput).value)

    def _show(self, text: str) -> None:
        self.query_one(Static).update(self._content(text, min(_WIDEST, self.app.size.width) - _AROUND))

    def _content(self, text: str, width: int) -> Content:
        """Return the keys whose line holds every word of a text, in lines of ``width`` cells; signs only where all are shown."""
        words = text.casefold().split()
        groups = [
            (title, [key for key in keys if all(word in " ".join(key).casefold() for word in words)])
            for title, keys in self._keys
        ]
        parts: list[Content | str | tuple[str, str]] = []
        rows = [row for _, keys in self._keys for row in keys]
        # As narrow as the longest entries allow; where an id would wrap, it moves to the left.
        wide = max((len(key) for key, _, _ in rows), default=0) + 2
        wider = max((len(what) for _, what, _ in rows), default=0) + 2
        for title, keys in groups:
            if not keys:
                continue
            parts.append((f"{title}\n", "bold $primary"))
            for key, what, name in keys:
                lowered = what if what[1:2].isupper() else what[:1].lower() + what[1:]
                room = max(len(lowered) + 2, min(wider, width - wide - 2 - len(name)))
                parts += [(f"  {key:<{wide}}", "bold $accent"), f"{lowered:<{room}}", (f"{name}\n", "$text-muted")]
            parts.append("\n")
        count = sum(len(keys) for _, keys in groups)
        if words:
            return Content.assemble(
                *parts, (f"{count:,} of {len(rows):,} keys; {key_of('help.close')} shows all.", "$text-muted")
            )
        parts.append(("The same on every screen\n", "bold $primary"))
        for meaning in KEY_TABLE:
            parts += [(f"  {meaning.shown:<{wide}}", "bold $accent"), f"{meaning.means}\n"]
        parts.append(("\nSigns\n  ", "bold $primary"))
        for glyph, word, variable in _GLYPHS:
            parts += [(f"{glyph} ", f"bold ${variable}"), f"{word}  "]
        parts.append(
            (
                f"\n\n{key_of('help.narrow')} finds a key. {key_of('app.palette')} and “Tour of the app” shows the app in five steps. The right column names a key for [keymap] in "
                "the settings file; `workbench locate config` tells where.",
                "$text-muted",
            )
        )
        return Content.assemble(*parts)

    def action_narrow(self) -> None:
        field = self.query_one(LineInput)
        field.add_class("-open")
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._show(event.value)

    def on_input_submitted(self) -> None:
        self.set_focus(None)

    def action_close(self) -> None:
        field = self.query_one(LineInput)
        if field.has_class("-open"):
            field.value = ""
            field.remove_class("-open")
            self.set_focus(None)
        else:
            self.dismiss(None)

    def action_scroll(self, rows: int) -> None:
        self.query_one("#frame").scroll_relative(y=rows, animate=False)

    def action_page(self, step: int) -> None:
        self.action_scroll(step * max(1, self.query_one("#frame").scrollable_content_region.height - 1))

    def action_edge(self, step: int) -> None:
        self.action_scroll(step * self.query_one("#frame").virtual_size.height)
