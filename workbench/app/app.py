"""The app: its modes, the actions available everywhere, and startup and shutdown."""

from __future__ import annotations

import contextlib
import sys
import time
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.binding import Binding

from workbench.app.keys import bindings, key_of, refusal, use_keymap, why_not
from workbench.app.navigation import NavigatingApp
from workbench.app.toolkit.literal import ControlCharFilter
from workbench.app.toolkit.workers import LatestWorker
from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.garbage_collection import collect_rarely
from workbench.base.read_only import is_read_only
from workbench.base.text import clean, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.actions import ActionParseResult
    from textual.dom import DOMNode
    from textual.notifications import SeverityLevel
    from textual.widget import Widget
    from textual.widgets._toast import ToastRack

    from workbench.app.help import Tour
    from workbench.base.settings import Settings
    from workbench.pages.page import ReportPage


INTERRUPT_SECONDS = 3.0
"""Time in seconds within which a second ctrl+c quits."""
_TOAST_CELLS = 30
"""Minimum width of a notice in cells."""

_QUIET = frozenset({"widen", "leave_tour"})
"""Actions that share their key with another action; no notice is shown when they do not apply."""


class WorkbenchApp(NavigatingApp):
    """The app; if no session is specified, it opens the most recently changed one, or a bundled example."""

    TITLE = "Workbench"
    MODES = {
        "cases": lambda: _named("cases.screen", "CasesScreen")(),
        "trajectory": lambda: _named("trajectory.screen", "TrajectoryScreen")(),
        "sessions": lambda: _named("sessions.screen", "SessionsScreen")(),
        "regeneration": lambda: _named("regeneration.screen", "RegenerationScreen")(),
        "study": lambda: _named("study.screen", "StudyScreen")(),
    }
    COMMANDS = {lambda: _named("palette", "WorkbenchCommands"), lambda: _named("palette", "LocationCommands")}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS = bindings("app")

    def __init__(self, session: Path | None, settings: Settings, *, warm_engine: bool = True) -> None:
        self.opens_default_view = self.starts_tour = False
        super().__init__(session, settings, "cases" if session is None else "trajectory")
        self._doing = LatestWorker(self, "engine", every=True)
        self._exporting = LatestWorker(self, "export", every=True)
        self._warming = LatestWorker(self, "warm")
        self._wants_warm = warm_engine and not is_read_only()
        self._ended = False
        self._explained = ""  # text of the last notice about a key without effect
        self._interrupted_at = -INTERRUPT_SECONDS
        self._net = ControlCharFilter()
        self._filters.append(self._net)
        use_keymap(settings.keymap)
        if settings.keymap:
            self.set_keymap(dict(settings.keymap))

    # Imported on first use: every import before the first paint delays it.

    @cached_property
    def tour(self) -> Tour:
        from workbench.app.help import Tour

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
        """Show a notice; every widget's ``notify`` calls this. The text is literal, even if ``markup`` is true."""
        from textual.widgets._toast import ToastRack

        for rack in self.screen.query(ToastRack) if self.screen_stack else ():
            self._make_room(rack, self.screen.focused)
        super().notify(clean(message), title=one_line(title, 60), severity=severity, timeout=timeout, markup=False)

    def _make_room(self, rack: ToastRack, focused: Widget | None) -> None:
        """Place notices beside the focused pane if there is room, or else in the right half of the screen."""
        width = self.size.width
        left, right = (focused.region.x, width - focused.region.right) if focused is not None else (0, 0)
        room = max(left, right) if max(left, right) >= _TOAST_CELLS else width // 2
        on_the_left = room == left > right
        rack.styles.align_horizontal = "left" if on_the_left else "right"
        rack.styles.padding = (0, width - room, 0, 0) if on_the_left else (0, 0, 0, width - room)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text to the clipboard; characters that cannot be encoded are replaced with question marks."""
        super().copy_to_clipboard(text.encode("utf-8", "replace").decode("utf-8"))

    def get_key_display(self, binding: Binding) -> str:
        """Return the label of a key, spelled out if the terminal cannot show its symbol."""
        shown = super().get_key_display(binding)
        return shown.replace("⏎", "enter") if self._net.plain else shown

    # -- start and end

    def on_mount(self) -> None:
        """Make threads yield to the event loop sooner (Textual also calls the ``on_mount`` of base classes)."""
        # By default the event loop may wait up to 5 ms for a busy thread.
        sys.setswitchinterval(0.001)

    def start(self) -> None:
        if self.session_path is not None:
            self.open_session(self.session_path, show=self.opens_default_view)
        else:
            self.open_latest()
        self.start_themes()
        if self._wants_warm:
            self._start_warm()
        if self.starts_tour:
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
                raise WorkbenchError(
                    f"Could not start an engine in advance ({error.strerror}); runs start more slowly."
                ) from None
            # Set this here, because nothing else would close the engine if the event loop has ended.
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
        """Resume all runs of a session, or one of them; a bundled example is copied first."""
        from workbench.app import runs

        def done(resumed: tuple[Path, int]) -> None:
            own, count = resumed
            text = "Nothing to resume." if not count else f"Resuming {plural(count, 'run')}."
            self.notify(text, title=own.stem)
            if count:
                self.open_session(own)

        self._doing.ask(lambda: runs.resume(path, run, self.warm), done)

    def cancel_session(self, path: Path, run: str | None = None) -> None:
        from workbench.app import runs

        def done(count: int) -> None:
            text = "Nothing is running." if not count else "Cancelling; finished results are kept."
            self.notify(text, title=path.stem)

        self._doing.ask(lambda: runs.cancel(path, run), done)

    def export_report(
        self, session: Path, place: str, format: str, of: str | Callable[[], ReportPage] | None = None
    ) -> None:
        """Export a session, an item of it, or a page; ``format`` is a format name or the dotted path of a plug-in.

        ``of`` is the id of the item, or a callable that returns the page.
        """
        from workbench.app.toolkit.export_dialog import deliver_file, destination

        def work() -> Path:
            from workbench.pages import FORMATS, write_report
            from workbench.pages.writing import write_plugin_in_subprocess

            out = destination(self, place)
            if callable(of):
                from workbench.pages.writing import write_page

                write_page(of(), out, format)
            elif format in FORMATS:
                write_report(session, format, out, of)
            else:
                write_plugin_in_subprocess(session, format, out)
            return out

        self._exporting.ask(work, lambda out: deliver_file(self, out, "report"))

    def confirm(self, title: str, question: str, yes: str, then: Callable[[], Any]) -> None:
        from workbench.app.toolkit.form import Confirm

        self.push_screen(Confirm(title, question, yes), lambda agreed: then() if agreed else None)

    async def ask_and_regenerate(self, source: str = "", docs: str = "") -> None:
        from workbench.app.regeneration.new_run_dialog import ask_and_start

        await ask_and_start(self, source, docs)

    async def ask_and_measure(self, source: str = "", trial: str = "") -> None:
        """Measure the use of a page of a source, or of the README of a trial."""
        from workbench.app.regeneration.new_run_dialog import ask_and_measure

        await ask_and_measure(self, source, trial)

    async def ask_for_study(self, rows: Sequence[str] = (), like: str = "") -> None:
        from workbench.app.study.new_study_dialog import ask_and_start

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

    # -- downloads in a browser, and read-only mode

    @property
    def in_browser(self) -> bool:
        return self.is_web

    def download(self, path: Path) -> None:
        """Let the browser download a file. It is open when this returns, so the caller may delete it."""
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
        """Show a notice on why a key has no effect here, replacing the previous such notice."""
        chain = self.screen._modal_binding_chain
        refused = [one for _, bindings in chain for one in bindings.key_to_bindings.get(pressed, ())]
        text = why_not(pressed, [(one.action, one.description) for one in refused if one.action not in _QUIET])
        if pressed == "escape":
            text = "There is nothing to leave here."
        for notice in [one for one in self._notifications if one.message == self._explained]:
            if notice.message == text:
                return
            self._unnotify(notice)
        self._explained = text
        self.notify(text, timeout=4)

    # -- modes, keys and themes

    async def action_interrupt(self) -> None:
        """Copy the selection; if there is none, quit on the second press."""
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
            text = f"Nothing is selected. Press {key_of('app.interrupt')} again to quit."
            self.notify(text, timeout=INTERRUPT_SECONDS)

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
        self.notify(f"The keymap binds a key twice; disabled: {names}.", severity="warning")


def _named(module: str, name: str) -> Any:
    """Import a class lazily: every import before the first paint delays it."""
    return getattr(import_module(f"workbench.app.{module}"), name)


def tour_file() -> Path:
    return paths.state_dir() / "tour-was-shown"


def _tour_was_shown() -> bool:
    try:
        return tour_file().exists()
    except OSError:
        return True


def run_app(session: Path | None, settings: Settings) -> int:
    app = WorkbenchApp(session, settings)
    app.opens_default_view = session is not None
    # This is set only when a user opens the app: tests and snapshots must not start the tour.
    app.starts_tour = session is None and not _tour_was_shown() and not is_read_only()
    app.after_first_paint(collect_rarely)
    app.run()
    return app.return_code or 0
