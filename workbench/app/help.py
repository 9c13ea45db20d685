"""The help screen, and the tour: five steps through the app, each of which ends once the user has done its task.

The tour starts the first time that the workbench is opened without a session, as recorded by a file in the state
folder. It can also be started from the command palette.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from workbench.app.keys import KEY_TABLE, bindings, with_keys
from workbench.app.toolkit.lifecycle import Dialog
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import TourPanel
from workbench.app.toolkit.row_list import Part, RowList
from workbench.base import glyphs
from workbench.results.forks import SIGN

if TYPE_CHECKING:
    from textual.app import App
    from textual.timer import Timer


_SIGNS = (
    *((sign, name, name) for name, sign in glyphs.VERDICTS.items() if name != "error"),
    (glyphs.WAITING, "waiting", "waiting"),
    (glyphs.RUNNING, "running", "running"),
    (glyphs.UNSCORED, "unscored", "unscored"),
    (glyphs.VERDICTS["error"], glyphs.OUR_ERROR, "unscored"),
    (glyphs.CANCELLED, "cancelled", "waiting"),
    (glyphs.VERDICTS["passed"], "former verdict, being tested again", "passed-before"),
    (SIGN, "fork: last inherited step", ""),
    ("≈", "docstring contains the code", ""),
    ("~", "unstable tests", "unscored"),
    ("≠", "a re-check disagrees", "removed"),
    ("–", "none: not requested, or no such task", "dim"),
)
_NOTE = (
    "{list.narrow} finds a key. “Tour of the app” in {app.palette} shows the app in five steps.",
    "The right column has the id of a binding for [keymap] in the settings file;",
    "`workbench locate config` prints its path.",
)


def keys_of(screen: Screen[object]) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Return the keys of a screen by section, as (heading, [(keys, description, binding id)])."""
    groups: dict[str, dict[str, tuple[list[str], str]]] = {}
    for node, bound in screen._modal_binding_chain:
        for _, binding in bound:
            if not binding.description or binding.system or not binding.id:
                continue
            if binding.action == "leave_tour" and not screen.app.check_action(binding.action, ()):
                continue  # no active tour to leave
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
    """The keys by section, with the binding ids that a keymap uses."""

    DEFAULT_CSS = """
    KeyList { background: $surface; }
    KeyList > .row--passed-before { color: $verdict-passed; text-style: underline; }
    KeyList > .row--timeout { color: $verdict-timeout; }
    KeyList > .row--crashed { color: $verdict-crashed; }
    KeyList > .row--bypassed { color: $verdict-bypassed; }
    """

    def __init__(self, about: Screen[object]) -> None:
        super().__init__(id="keys")
        groups = keys_of(about)
        rows = [row for _, keys in groups for row in keys]
        # Columns are as wide as their longest entries; an id that would wrap moves to the left.
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
        self.scroll_to(
            y=self.line_of(self.cursor), animate=False, immediate=True
        )  # page up and down scroll a page, as in a document

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
    """The help for the screen below this one."""

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


POLL_SECONDS = 0.15


@dataclass(frozen=True, slots=True)
class TourStep:
    """A step of the tour: its text, and a function that returns whether the user has done it."""

    title: str
    text: str
    done: Callable[[App[Any]], bool]


def _on_stack(app: App[Any], name: str) -> bool:
    return any(type(screen).__name__ == name for screen in app.screen_stack)


def _at_scores(app: App[Any]) -> bool:
    pane = app.screen.current_pane if isinstance(app.screen, ModeScreen) else None
    return app.current_mode == "trajectory" and pane is not None and pane.id == "score"


STEPS = (
    TourStep(
        "Cases",
        "These are repositories to document: {list.down} and {list.up} move, {pane.next} goes to the files. "
        "Press {cases.run} on a case to choose an agent and a model.",
        lambda app: _on_stack(app, "RunDialog"),
    ),
    TourStep(
        "Run",
        "In the dialog, enter starts the run and {dialog.cancel} cancels; {app.runs} lists all runs. Press {app.trajectory} to see what an agent did.",
        lambda app: not _on_stack(app, "RunDialog") and app.current_mode == "trajectory",
    ),
    TourStep(
        "Trajectory",
        "{trajectory.previous-step} and {trajectory.next-step} go from step to step, {trajectory.previous-trial} and {trajectory.next-trial} from trial to trial; the panes show what the agent thought, did and saw. "
        "Press {trajectory.scores} to go to the scores of its README.",
        _at_scores,
    ),
    TourStep(
        "Scores",
        "{list.down} and {list.up} go from criterion to criterion; {trajectory.evidence} shows the evidence for one. Press {app.regeneration} for Regeneration.",
        lambda app: app.current_mode == "regeneration",
    ),
    TourStep(
        "Regeneration and search",
        "{regeneration.new} lets a model rewrite functions from their docstrings and tests the results. "
        "Press {app.search} to search everything; {app.palette} lists all commands and {app.help} all keys.",
        lambda app: _on_stack(app, "SearchScreen"),
    ),
)


class Tour:
    """Guides the user through the steps; ``at`` is the index of the step, or None if no tour is active."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._timer: Timer | None = None
        self.at: int | None = None

    def begin(self) -> None:
        self.at = 0
        if self._timer is None:
            self._timer = self._app.set_interval(POLL_SECONDS, self._poll)
        self._show()

    def leave(self) -> None:
        self.at = None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._show()
        self._app.refresh_bindings()

    def go_on(self) -> None:
        if self.at is not None:
            self.at += 1
            if self.at >= len(STEPS):
                self.leave()
            else:
                self._show()

    @property
    def in_sight(self) -> bool:
        """Whether a step is visible and escape ends the tour; in a dialog, escape closes the dialog."""
        return self.at is not None and isinstance(self._app.screen, ModeScreen)

    def _poll(self) -> None:
        if self.at is not None and STEPS[self.at].done(self._app):
            self.go_on()
        else:
            self._show()

    def _show(self) -> None:
        for screen in self._app.screen_stack:
            for panel in screen.query(TourPanel):
                if self.at is None:
                    panel.show_step("", "")
                else:
                    panel.show_step(
                        f"Tour {self.at + 1} of {len(STEPS)} · {STEPS[self.at].title}", with_keys(STEPS[self.at].text)
                    )
