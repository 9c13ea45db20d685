"""The app itself: modes, the open session, and what every mode may ask for."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.signal import Signal

from workbench.app import modes
from workbench.app.interrupting import Interrupting
from workbench.app.keys import KEYS
from workbench.app.looking_only import refusal
from workbench.app.open_session import OpenSession
from workbench.app.opening import OpeningApp
from workbench.app.toolkit.latest import Latest, sentence_of
from workbench.app.toolkit.literal import LastNet
from workbench.app.tour_shown import was_shown
from workbench.collecting import collect_rarely
from workbench.errors import WorkbenchError
from workbench.key_ids import KEY_IDS
from workbench.read_only import is_read_only
from workbench.text import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.actions import ActionParseResult
    from textual.dom import DOMNode
    from textual.notifications import SeverityLevel

    from workbench.app.going import Going
    from workbench.app.marks import Marks, Pair
    from workbench.app.messages import SessionChanged, SessionFailed, SessionMigrated
    from workbench.app.place import Place
    from workbench.app.run_control import RunControl
    from workbench.app.search.places import Searched
    from workbench.app.tour import Tour
    from workbench.app.trail import Trail
    from workbench.app.travel import Travel
    from workbench.app.trials.table import TableState
    from workbench.engine.launching import WarmEngine
    from workbench.engine.plan import DocumentPlan
    from workbench.results.sessions import SessionFacts
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change
    from workbench.settings import Settings


class WorkbenchApp(OpeningApp):
    """The terminal program.

    Attributes:
        settings: The settings in force.
        opened: The open session.
        selected_trial: The trial that the Trajectory mode shows, also before that mode was mounted.
        selected_run: The run that the Regeneration mode shows, likewise.
        warm: The idle engine, None until it was started.
        begins_with_tour: Whether it begins when the app does.
        begins_with_overview: Whether a session that was named at the start is shown by what its state is about.
        trials_seen: How the table of all trials was left.
        session_opened: Published with the reader when a session was opened (or None closed). Modes get it as
            ``on_session_opened``.
        session_changed: Published with a batch of changes. Modes get it as ``on_session_changed``.

    Args:
        session: A session to open; None opens the one that was changed last, or the example.
        settings: The settings in force.
        warm_engine: Whether to keep an idle engine at hand.
    """

    TITLE = "Workbench"
    MODES = {
        "cases": modes.cases,
        "trajectory": modes.trajectory,
        "sessions": modes.sessions,
        "regeneration": modes.regeneration,
        "study": modes.study,
    }
    COMMANDS = {modes.commands, modes.places}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, session: Path | None, settings: Settings, *, warm_engine: bool = True) -> None:
        self.begins_with_overview = self.begins_with_tour = False
        super().__init__(settings.theme, "cases" if session is None else "trajectory")
        self.settings = settings
        self.opened = OpenSession(self, session)
        self.selected_trial: str | None = None
        self.selected_run: str | None = None
        self.warm: WarmEngine | None = None
        self.session_opened: Signal[SessionReader | None] = Signal(self, "session-opened")
        self.session_changed: Signal[tuple[Change, ...]] = Signal(self, "session-changed")
        self.facts_changed: Signal[str] = Signal(self, "facts-changed")
        self.trials_seen: TableState | None = None
        self._warming = Latest(self, "warm")
        self._wants_warm = warm_engine and not is_read_only()
        self._ended = False
        self._interrupting = Interrupting(self)
        self._net = LastNet()
        self._filters.append(self._net)
        if settings.keymap:
            self.set_keymap(dict(settings.keymap))

    # Imported when first needed, because what is imported before the first paint is waited for.

    @cached_property
    def searched(self) -> Searched:
        """What was searched for last, and where in its hits the cursor stands."""
        from workbench.app.search.places import Searched

        return Searched()

    @cached_property
    def marks(self) -> Marks:
        """What is marked to be compared."""
        from workbench.app.marks import Marks

        return Marks()

    @cached_property
    def trail(self) -> Trail:
        """Which list led to the place that is shown."""
        from workbench.app.trail import Trail

        return Trail(self)

    @cached_property
    def tour(self) -> Tour:
        """The tour."""
        from workbench.app.tour import Tour

        return Tour(self)

    @cached_property
    def _run_control(self) -> RunControl:
        from workbench.app.run_control import RunControl

        return RunControl(self, self)

    @cached_property
    def _going(self) -> Going:
        from workbench.app.going import Going

        return Going(self, self)

    @cached_property
    def _travel(self) -> Travel:
        from workbench.app.travel import Travel

        return Travel(self)

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
        super().notify(clean(message), title=one_line(title, 60), severity=severity, timeout=timeout, markup=False)

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
        """Open the session and start what waited for the first mode."""
        if self.session_path is not None:
            self.open_session(self.session_path, show=self.begins_with_overview)
        else:
            self.opened.open_latest()
        self.start_themes()
        unknown = set(self.settings.keymap) - KEY_IDS
        if unknown:
            self.notify(
                f"The keymap names {', '.join(sorted(unknown))}, which no key has; ? lists the names.",
                severity="warning",
                timeout=12,
            )
        if self._wants_warm:
            self._start_warm()
        if self.begins_with_tour:
            self.tour.begin()

    def _start_warm(self) -> None:
        def work() -> None:
            from workbench.engine.launching import WarmEngine

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
        """Stop the threads, let the idle engine go and close the session."""
        self._ended = True
        self.opened.end()
        self.stop_themes()
        if self.warm is not None:
            self.warm.close()

    # -- the open session

    @property
    def reader(self) -> SessionReader | None:
        """The reader of the open session, None while none is open."""
        return self.opened.reader

    @property
    def session_path(self) -> Path | None:
        """The session that is open or being opened, None for none."""
        return self.opened.path

    @property
    def facts(self) -> SessionFacts | None:
        """What is in the open session, None until that was counted."""
        return self.opened.facts

    @property
    def facts_sentence(self) -> str:
        """How the open session stands, in one sentence."""
        from workbench.app.sessions.wording import open_sentence

        return open_sentence(self.facts) if self.facts is not None else ""

    def open_session(self, path: Path, *, show: bool = False, then: Callable[[], Any] | None = None) -> None:
        """Open a session file; ``show`` goes to what its state is about, ``then`` is called once it is open."""
        then = then or (self._going.to_what_matters if show else None)
        if then is not None and path != self.session_path:
            self._travel.leave()
            then = self._travel.arriving(then)
        self.opened.open(path, then)

    def close_session(self) -> None:
        """Let go of the open session."""
        self.opened.close()

    def on_session_changed(self, message: SessionChanged) -> None:
        """Hand a batch of changes to the modes."""
        self.opened.take(message)

    def on_session_migrated(self, message: SessionMigrated) -> None:
        """Follow the file that took the place of one of a former version."""
        self.opened.renew(message.reader)

    def on_session_failed(self, message: SessionFailed) -> None:
        """Say why a session is no longer followed."""
        self.opened.failed(message.sentence)

    def on_latest_finished(self, message: Latest.Finished) -> None:
        """Bring a result of a thread to who asked for it, and a failure to the person."""
        error = message.loader.settle(message)
        if error is not None and self.screen_stack:
            self.notify(sentence_of(error), severity="error", timeout=12)

    # -- runs

    def start_run(self, plan: DocumentPlan, name: str, session: Path | None = None, *, queue: bool = False) -> None:
        """Start a run in a session, by default the open one, or in a new one called ``name`` where that is only read."""
        self._run_control.start(plan, name, session, queue=queue)

    def call_elsewhere(self, text: str) -> None:
        """Tell a person who may look elsewhere: by bell, or by a notification of the desktop, as the settings say."""
        if self.settings.notify == "bell":
            self.bell()
        elif self._driver is not None:
            from workbench.app.toolkit.ending import notification

            self._driver.write(notification(text, os.environ))

    def confirm(self, title: str, question: str, yes: str, then: Callable[[], Any]) -> None:
        """Ask yes or no, and do something after a yes."""
        from workbench.app.toolkit.ask import Confirm

        self.push_screen(Confirm(title, question, yes), lambda agreed: then() if agreed else None)

    async def ask_and_regenerate(self, source: str = "", docs: str = "") -> None:
        """Ask what to regenerate and start it; call it from a worker."""
        from workbench.app.regeneration.starting import ask_and_start

        await ask_and_start(self, source, docs)

    async def ask_for_study(self, rows: Sequence[str] = (), like: str = "") -> None:
        """Ask what a new study is to compare and start it; call it from a worker."""
        from workbench.app.new_study.starting import ask_and_start

        await ask_and_start(self, rows, like)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer resuming only where something was interrupted, and ways only where they lead somewhere."""
        if action == "travel":
            history = self._travel.history
            return history.has_behind if parameters == (-1,) else history.has_ahead
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
        """Take up what is missing in the open session."""
        if self.session_path is not None:
            self.resume_session(self.session_path)

    def resume_session(self, path: Path, run: str | None = None) -> None:
        """Take up what is missing in a session, or in one of its runs."""
        self._run_control.resume(path, run)

    def cancel_session(self, path: Path, run: str | None = None) -> None:
        """Cancel the runs of a session, or one of them."""
        self._run_control.cancel(path, run)

    def export_report(self, session: Path, place: str, format: str) -> None:
        """Write a report of a session in a format, a name or the dotted path of one of another package."""
        self._run_control.export(session, place, format)

    # -- a browser, and a person who may only look

    @property
    def in_browser(self) -> bool:
        """Whether the app is shown in a browser, whose person has no files here."""
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
        """Do what a key or a command asks for, or say why a read-only app does not."""
        from textual.screen import ModalScreen

        name = action if isinstance(action, str) else ".".join(action[:2])
        refused = refusal(name, in_dialog=isinstance(self.screen, ModalScreen), in_browser=self.in_browser)
        if refused:
            self.notify(refused, severity="warning")
            return True
        return await super().run_action(action, default_namespace, namespaces)

    # -- modes, keys and themes

    async def action_interrupt(self) -> None:
        """Copy what is selected; else leave, but only when asked twice: elsewhere this key copies."""
        if self._interrupting.wants_to_leave():
            await self.action_quit()

    async def action_mode(self, mode: str) -> None:
        """Go to a mode."""
        if mode != self.current_mode:
            self.leave_place()
        await self.switch_mode(mode)

    async def action_travel(self, step: int) -> None:
        """Go back (-1) or forward (1) through the places that were visited."""
        await self._travel.go(step)

    def leave_place(self) -> None:
        """Note where a person is, for the way back, before something else is shown."""
        self._travel.leave()
        self.trail.forget()

    async def show_mode(self, mode: str) -> None:
        """Show a mode, without what stands over it."""
        await self._going.to_mode(mode)

    def show_pair(self, pair: Pair) -> None:
        """Show two things side by side, over the mode."""
        self._going.to_pair(pair)

    async def show_case(self, key: str, place: Place | None = None) -> None:
        """Show a case, or a file of it (``place.item``), in the Cases mode."""
        await self._going.to_case(key, place)

    def action_runs(self) -> None:
        """Show all runs of the open session."""
        self._going.to_runs()

    def action_marked(self) -> None:
        """Show all stars, tags and remarks of the open session."""
        self._going.to_marked()

    async def show_run(self, run_id: str, evaluator: str = "", place: Place | None = None) -> None:
        """Show a regeneration run of the open session, with the samples of ``evaluator`` once there are some."""
        await self._going.to_run(run_id, evaluator, place)

    async def show_study(self, name: str) -> None:
        """Show a study of the open session in the Study mode."""
        await self._going.to_study(name)

    async def show_trial(self, trial_id: str, place: Place | None = None) -> None:
        """Show a trial of the open session, or a place in it, in the Trajectory mode."""
        await self._going.to_trial(trial_id, place)

    def action_search(self) -> None:
        """Search everything that sessions hold; the last search is still there."""
        self._going.to_search(self.searched)

    def action_command_palette(self) -> None:
        """Offer every command, and everything that one can go to by its name."""
        from workbench.app.commands import Palette

        if not isinstance(self.screen, Palette):
            known = "a command, or the name of a session, case, run, trial, task or file"
            self.push_screen(Palette(id="--command-palette", placeholder=known))

    async def action_tour(self) -> None:
        """Begin the tour, in Cases."""
        await self.show_mode("cases")
        self.tour.begin()

    def action_leave_tour(self) -> None:
        """End the tour."""
        self.tour.leave()

    def on_tour_panel_clicked(self) -> None:
        """Go on in the tour."""
        self.tour.go_on()

    def action_help(self) -> None:
        """Show all keys."""
        from workbench.app.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def action_save_picture(self) -> None:
        """Save an SVG picture of the screen; in a browser, download it."""
        if self.in_browser:
            self.deliver_screenshot()
            return
        self.notify(f"Saved {self.save_screenshot(path='.')}.", timeout=8)

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        """Say once that the keymap gives one key to two things."""
        names = ", ".join(sorted(binding.id or binding.action for binding in clashed_bindings))
        self.notify(f"The keymap gives one key to two things; off now: {names}.", severity="warning")


def run_app(session: Path | None, settings: Settings) -> int:
    """Run the app until the user leaves it; returns the exit code."""
    app = WorkbenchApp(session, settings)
    app.begins_with_overview = session is not None
    # Only here, where a person opens the app: nothing else that runs it shall meet the tour.
    app.begins_with_tour = session is None and not was_shown() and not is_read_only()
    app.after_first_paint(collect_rarely)
    app.run()
    return app.return_code or 0
