"""The app itself: modes, the open session, and what every mode may ask for."""

from __future__ import annotations

import contextlib
import sys
import time
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.binding import Binding

from workbench.app.key_table import key_of, refusal, use_keymap, why_not
from workbench.app.keys import bindings
from workbench.app.navigation import NavigatingApp
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import LastNet
from workbench.base import paths
from workbench.base.collecting import collect_rarely
from workbench.base.errors import WorkbenchError
from workbench.base.read_only import is_read_only
from workbench.base.text import clean, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.actions import ActionParseResult
    from textual.dom import DOMNode
    from textual.notifications import SeverityLevel
    from textual.widget import Widget
    from textual.widgets._toast import ToastRack

    from workbench.app.tour import Tour
    from workbench.base.settings import Settings
    from workbench.pages.page import ReportPage


INTERRUPT_SECONDS = 3.0
"""Within this time a second ctrl+c leaves the app."""
_TOAST_CELLS = 30
"""Cells that a notice needs at least."""

_QUIET = frozenset({"widen", "leave_tour"})
"""Actions of a key that has another meaning, where they make no sense."""


class WorkbenchApp(NavigatingApp):
    """The terminal program; without a session it opens the one that was changed last, or the example."""

    TITLE = "Workbench"
    MODES = {
        "cases": lambda: _named("cases.screen", "CasesScreen")(),
        "trajectory": lambda: _named("trajectory.screen", "TrajectoryScreen")(),
        "sessions": lambda: _named("sessions.screen", "SessionsScreen")(),
        "regeneration": lambda: _named("regeneration.screen", "RegenerationScreen")(),
        "study": lambda: _named("study.screen", "StudyScreen")(),
    }
    COMMANDS = {lambda: _named("palette", "WorkbenchCommands"), lambda: _named("palette", "PlaceCommands")}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS = bindings("app")

    def __init__(self, session: Path | None, settings: Settings, *, warm_engine: bool = True) -> None:
        self.begins_with_overview = self.begins_with_tour = False
        super().__init__(session, settings, "cases" if session is None else "trajectory")
        self._doing = Latest(self, "engine", every=True)
        self._exporting = Latest(self, "export", every=True)
        self._warming = Latest(self, "warm")
        self._wants_warm = warm_engine and not is_read_only()
        self._ended = False
        self._explained = ""  # what was said last of a key that does nothing
        self._interrupted_at = -INTERRUPT_SECONDS
        self._net = LastNet()
        self._filters.append(self._net)
        use_keymap(settings.keymap)
        if settings.keymap:
            self.set_keymap(dict(settings.keymap))

    # Imported when first needed, because what is imported before the first paint is waited for.

    @cached_property
    def tour(self) -> Tour:
        from workbench.app.tour import Tour

        return Tour(self)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notice; every widget's ``notify`` ends here. It is literal, whatever ``markup`` says."""
        from textual.widgets._toast import ToastRack

        for rack in self.screen.query(ToastRack) if self.screen_stack else ():
            self._make_room(rack, self.screen.focused)
        super().notify(clean(message), title=one_line(title, 60), severity=severity, timeout=timeout, markup=False)

    def _make_room(self, rack: ToastRack, focused: Widget | None) -> None:
        """Put notices beside the pane that has the focus, where there is room for them, else into the right half."""
        width = self.size.width
        left, right = (focused.region.x, width - focused.region.right) if focused is not None else (0, 0)
        room = max(left, right) if max(left, right) >= _TOAST_CELLS else width // 2
        on_the_left = room == left > right
        rack.styles.align_horizontal = "left" if on_the_left else "right"
        rack.styles.padding = (0, width - room, 0, 0) if on_the_left else (0, 0, 0, width - room)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text; what no encoding has becomes a question mark."""
        super().copy_to_clipboard(text.encode("utf-8", "replace").decode("utf-8"))

    def get_key_display(self, binding: Binding) -> str:
        """Return how a key is written, by its name where the terminal cannot show the sign."""
        shown = super().get_key_display(binding)
        return shown.replace("⏎", "enter") if self._net.plain else shown

    # -- from first paint to the end

    def on_mount(self) -> None:
        """Make threads and the loop take turns (Textual calls the ``on_mount`` of base classes as well)."""
        # Threads read and lay out while keys come in: the loop must not wait 5 ms each time that one of them is at work.
        sys.setswitchinterval(0.001)

    def start(self) -> None:
        if self.session_path is not None:
            self.open_session(self.session_path, show=self.begins_with_overview)
        else:
            self.open_latest()
        self.start_themes()
        if self._wants_warm:
            self._start_warm()
        if self.begins_with_tour:
            self._begin_tour()

    def _begin_tour(self) -> None:
        with contextlib.suppress(OSError):
            tour_file().parent.mkdir(parents=True, exist_ok=True)
            tour_file().touch()
        self.tour.begin()

    def _start_warm(self) -> None:
        def work() -> None:
            from workbench.orders.launching import WarmEngine

            warm = WarmEngine()
            try:
                warm.start()
            except OSError as error:
                raise WorkbenchError(f"No engine could be kept ready ({error.strerror}); runs start slower.") from None
            # Here and not on the app's loop, which may have ended: nobody would let the engine go.
            self.warm = warm
            if self._ended:
                warm.close()

        self._warming.ask(work, lambda _: None, lambda sentence: self.notify(sentence, severity="warning"))

    def on_unmount(self) -> None:
        self._ended = True
        self.end_session()
        if self.warm is not None:
            self.warm.close()

    # -- runs

    def resume_session(self, path: Path, run: str | None = None) -> None:
        """Take up what is missing in a session, or in one of its runs; of an example, in a copy."""
        from workbench.app import runs

        def done(taken_up: tuple[Path, int]) -> None:
            own, count = taken_up
            said = "Nothing is missing in it." if not count else f"Resuming {plural(count, 'run')}."
            self.notify(said, title=own.stem)
            if count:
                self.open_session(own)

        self._doing.ask(lambda: runs.resume(path, run, self.warm), done)

    def cancel_session(self, path: Path, run: str | None = None) -> None:
        from workbench.app import runs

        def done(count: int) -> None:
            said = "Nothing runs in it." if not count else "Cancelling; what is finished stays."
            self.notify(said, title=path.stem)

        self._doing.ask(lambda: runs.cancel(path, run), done)

    def export_report(
        self, session: Path, place: str, format: str, of: str | Callable[[], ReportPage] | None = None
    ) -> None:
        """Write a report of a session, of an item ``of`` it, or a page, in a format: a name or the dotted path of one of another package."""
        from workbench.app.toolkit.report_dialog import hand_over, place_of

        def work() -> Path:
            from workbench.pages import FORMATS, write_report
            from workbench.pages.writing import write_plugin_in_subprocess

            out = place_of(self, place)
            if callable(of):
                from workbench.pages.writing import write_page

                write_page(of(), out, format)
            elif format in FORMATS:
                write_report(session, format, out, of)
            else:
                write_plugin_in_subprocess(session, format, out)
            return out

        self._exporting.ask(work, lambda out: hand_over(self, out, "report"))

    def confirm(self, title: str, question: str, yes: str, then: Callable[[], Any]) -> None:
        from workbench.app.toolkit.form import Confirm

        self.push_screen(Confirm(title, question, yes), lambda agreed: then() if agreed else None)

    async def ask_and_regenerate(self, source: str = "", docs: str = "") -> None:
        from workbench.app.regeneration.starting import ask_and_start

        await ask_and_start(self, source, docs)

    async def ask_for_study(self, rows: Sequence[str] = (), like: str = "") -> None:
        from workbench.app.new_study.starting import ask_and_start

        await ask_and_start(self, rows, like)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "travel":
            return bool(self.history.behind if parameters == (-1,) else self.history.ahead)
        if action == "leave_tour":
            return not self.is_opening and self.tour.in_sight
        if action == "command_palette":
            return not self.is_opening
        if action == "resume":
            from workbench.app.toolkit.mode_screen import ModeScreen

            own = isinstance(self.screen, ModeScreen) and self.screen.own_resume
            return not own and self.facts is not None and self.facts.resumable
        return super().check_action(action, parameters)

    def action_resume(self) -> None:
        if self.session_path is not None:
            self.resume_session(self.session_path)

    # -- a browser, and a person who may only look

    @property
    def in_browser(self) -> bool:
        return self.is_web

    def download(self, path: Path) -> None:
        """Have the browser download a file; it is open when this returns, so that it may be deleted."""
        self.deliver_binary(path)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        from textual.screen import ModalScreen

        name = action if isinstance(action, str) else ".".join(action[:2])
        refused = refusal(name, in_dialog=isinstance(self.screen, ModalScreen), in_browser=self.in_browser)
        if refused:
            self.notify(refused, severity="warning")
            return True
        return await super().run_action(action, default_namespace, namespaces)

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        handled = await super()._check_bindings(key, priority)
        if not handled and not priority:
            self._explain(key)
        return handled

    def _explain(self, pressed: str) -> None:
        """Say why a key does nothing here, in the place of what was said of the one before."""
        chain = self.screen._modal_binding_chain
        refused = [one for _, bindings in chain for one in bindings.key_to_bindings.get(pressed, ())]
        text = why_not(pressed, [(one.action, one.description) for one in refused if one.action not in _QUIET])
        if pressed == "escape":
            text = "There is nothing here to leave."
        for notice in [one for one in self._notifications if one.message == self._explained]:
            if notice.message == text:
                return
            self._unnotify(notice)
        self._explained = text
        self.notify(text, timeout=4)

    # -- modes, keys and themes

    async def action_interrupt(self) -> None:
        """Copy what is selected; where nothing is, leave when asked twice."""
        from textual.widgets import Input

        field = self.focused.selected_text if isinstance(self.focused, Input) else ""
        now = time.monotonic()
        if selected := field or self.screen.get_selected_text():
            self.copy_to_clipboard(selected)
            self.notify(f"Copied {len(selected):,} characters.", timeout=2)
        elif now - self._interrupted_at < INTERRUPT_SECONDS:
            await self.action_quit()
        else:
            self._interrupted_at = now
            said = f"Nothing is selected. Press {key_of('app.interrupt')} again to leave."
            self.notify(said, timeout=INTERRUPT_SECONDS)

    async def action_mode(self, mode: str) -> None:
        if mode != self.current_mode:
            self.leave_place()
        await self.switch_mode(mode)

    def action_command_palette(self) -> None:
        from workbench.app.palette import Palette

        if not isinstance(self.screen, Palette):
            known = "a command, or the name of a session, case, run, trial, task or file"
            self.push_screen(Palette(id="--command-palette", placeholder=known))

    def action_costs(self) -> None:
        from workbench.app.sessions.costs import CostsScreen

        self.push_screen(CostsScreen())

    async def action_tour(self) -> None:
        await self.show_mode("cases")
        self._begin_tour()

    def action_leave_tour(self) -> None:
        self.tour.leave()

    def on_tour_panel_clicked(self) -> None:
        self.tour.go_on()

    def action_help(self) -> None:
        from workbench.app.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def action_save_picture(self) -> None:
        if self.in_browser:
            self.deliver_screenshot()
            return
        self.notify(f"Saved {self.save_screenshot(path='.')}.", timeout=8)

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        names = ", ".join(sorted(binding.id or binding.action for binding in clashed_bindings))
        self.notify(f"The keymap gives one key to two things; off now: {names}.", severity="warning")


def _named(module: str, name: str) -> Any:
    """Import a class only now: what is imported before the first paint is waited for."""
    return getattr(import_module(f"workbench.app.{module}"), name)


def tour_file() -> Path:
    return paths.state_dir() / "tour-was-shown"


def _knows_tour() -> bool:
    try:
        return tour_file().exists()
    except OSError:
        return True


def run_app(session: Path | None, settings: Settings) -> int:
    app = WorkbenchApp(session, settings)
    app.begins_with_overview = session is not None
    # Only here, where a person opens the app: nothing else that runs it shall meet the tour.
    app.begins_with_tour = session is None and not _knows_tour() and not is_read_only()
    app.after_first_paint(collect_rarely)
    app.run()
    return app.return_code or 0
