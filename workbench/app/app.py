"""The app itself: modes, the open session, and what every mode may ask for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.signal import Signal

from workbench.app.looks.themes import FALLBACK, fallback_variables, first_theme
from workbench.app.messages import FactsGathered, RunBegun, SessionChanged, SessionFailed, SessionOpened

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.command import Provider
    from textual.dom import DOMNode

    from workbench.app.facts import SessionFacts
    from workbench.app.feed import SessionFeed
    from workbench.app.looks.watch import ThemesRead, ThemeWatch
    from workbench.engine.client import WarmEngine
    from workbench.engine.plan import DocumentPlan
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change
    from workbench.settings import Settings


def _cases() -> Screen[None]:
    from workbench.app.screens.cases import CasesScreen

    return CasesScreen()


def _trajectory() -> Screen[None]:
    from workbench.app.screens.trajectory import TrajectoryScreen

    return TrajectoryScreen()


def _sessions() -> Screen[None]:
    from workbench.app.screens.sessions import SessionsScreen

    return SessionsScreen()


def _regeneration() -> Screen[None]:
    from workbench.app.screens.regeneration import RegenerationScreen

    return RegenerationScreen()


def _commands() -> type[Provider]:
    from workbench.app.commands import WorkbenchCommands

    return WorkbenchCommands


class WorkbenchApp(App[int]):
    """The terminal program.

    Attributes:
        settings: The settings in force.
        session_path: The session that is open or being opened, None for none.
        reader: Its reader once it is open; use it in threads only where a query may take long.
        facts: What is in it, None until that was counted.
        selected_trial: The trial that the Trajectory mode shows, also before that mode was mounted.
        warm: The idle engine, None until it was started.
        session_opened: Published with the reader when a session was opened (or None closed). Modes get it as
            ``on_session_opened``.
        session_changed: Published with a batch of changes. Modes get it as ``on_session_changed``.

    Args:
        session: A session to open; None opens the one that was changed last, or the example.
        settings: The settings in force.
        warm_engine: Whether to keep an idle engine at hand.
    """

    TITLE = "Workbench"
    CSS_PATH = "styles/shell.tcss"
    DEFAULT_MODE = "cases"
    MODES = {"cases": _cases, "trajectory": _trajectory, "sessions": _sessions, "regeneration": _regeneration}
    COMMANDS = {_commands}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "mode('cases')", "Cases", id="app.cases", show=False),
        Binding("2", "mode('trajectory')", "Trajectory", id="app.trajectory", show=False),
        Binding("3", "mode('sessions')", "Sessions", id="app.sessions", show=False),
        Binding("4", "mode('regeneration')", "Regeneration", id="app.regeneration", show=False),
        Binding("u", "resume", "resume", id="app.resume"),
        Binding("ctrl+p", "command_palette", "all commands", id="app.palette", show=False, priority=True),
        Binding("question_mark,f1", "help", "help", id="app.help", show=False),
        Binding("ctrl+t", "next_theme", "Next theme", id="app.theme", show=False),
        Binding("q", "quit", "Quit", id="app.quit", show=False),
        Binding("ctrl+c", "quit", "Quit at once", id="app.interrupt", show=False, priority=True),
    ]

    def __init__(self, session: Path | None, settings: Settings, *, warm_engine: bool = True) -> None:
        if session is not None:
            self.DEFAULT_MODE = "trajectory"  # type: ignore[misc]
        self._first_painted = False
        self._after_paint: list[Callable[[], Any]] = []
        super().__init__()
        self.settings = settings
        self.session_path = session
        self.reader: SessionReader | None = None
        self.facts: SessionFacts | None = None
        self.selected_trial: str | None = None
        self.warm: WarmEngine | None = None
        self.session_opened: Signal[SessionReader | None] = Signal(self, "session-opened")
        self.session_changed: Signal[tuple[Change, ...]] = Signal(self, "session-changed")
        self.facts_changed: Signal[str] = Signal(self, "facts-changed")
        self._feed: SessionFeed | None = None
        self._themes: ThemeWatch | None = None
        self._wants_warm = warm_engine
        self._then: Callable[[], Any] | None = None
        self._ended = False
        theme, self._theme_problem = first_theme(settings.theme)
        self.register_theme(theme)
        # Set without its watchers: they would parse all styles a second time before the first paint.
        self.set_reactive(App.theme, theme.name)
        self.stylesheet.set_variables(self.get_css_variables())
        if settings.keymap:
            self.set_keymap(dict(settings.keymap))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give every theme colours for verdicts."""
        return fallback_variables(self.current_theme or FALLBACK)

    # -- from first paint to the end

    def on_mount(self) -> None:
        """Leave all that can wait until something has been painted."""
        # Threads read and lay out while keys come in: the loop must not wait 5 ms each time that one of them is at work.
        sys.setswitchinterval(0.001)
        self.after_first_paint(self._painted)

    def after_first_paint(self, what: Callable[[], Any]) -> None:
        """Call something once the terminal shows the first screen (later ones: once they are laid out).

        ``call_after_refresh`` comes too early for that: before the first frame is written.
        """
        if self._first_painted:
            self.call_after_refresh(what)
        else:
            self._after_paint.append(what)

    def post_display_hook(self) -> None:
        """Textual wrote a frame."""
        if not self._first_painted and self._running and not self._batch_count:
            self._first_painted = True
            for what in self._after_paint:
                self.call_later(what)
            self._after_paint.clear()

    def _painted(self) -> None:
        from workbench.app.looks.watch import ThemeWatch

        if self.session_path is not None:
            self.open_session(self.session_path)
        else:
            self._open_latest()
        self._themes = ThemeWatch(self)
        self._themes.start()
        if self._theme_problem:
            self.notify(self._theme_problem, title="Theme", severity="warning", timeout=12)
        unknown = set(self.settings.keymap) - self._binding_ids()
        if unknown:
            self.notify(
                f"The keymap names {', '.join(sorted(unknown))}, which no key has; ? lists the names.",
                severity="warning",
                timeout=12,
            )
        if self._wants_warm:
            self._start_warm()

    def _binding_ids(self) -> set[str]:
        # The ids of modes that were not visited yet are known by their beginning only.
        known = {binding.id for _, binding in self._bindings if binding.id}
        return known | {name for name in self.settings.keymap if not name.startswith("app.")}

    @work(thread=True, group="warm", exit_on_error=False)
    def _start_warm(self) -> None:
        from workbench.engine.client import WarmEngine

        warm = WarmEngine()
        try:
            warm.start()
        except OSError as error:
            self.call_from_thread(
                self.notify, f"No engine could be kept ready ({error.strerror}); runs start slower.", severity="warning"
            )
            return
        self.warm = warm
        if self._ended:
            warm.close()

    def on_unmount(self) -> None:
        """Stop the threads, let the idle engine go and close the session."""
        self._ended = True
        if self._feed is not None:
            self._feed.stop()
        if self._themes is not None:
            self._themes.stop()
        if self.warm is not None:
            self.warm.close()
        if self.reader is not None:
            self.reader.close()

    # -- the open session

    @work(thread=True, exclusive=True, group="open-session", exit_on_error=False)
    def _open_latest(self) -> None:
        from workbench.app.sessions.listing import latest_session

        latest = latest_session()
        if latest is None:
            self.post_message(FactsGathered(None, None))
        else:
            self.call_from_thread(self.open_session, latest)

    def open_session(self, path: Path, *, show: bool = False, then: Callable[[], Any] | None = None) -> None:
        """Open a session file; ``show`` goes to its newest trial, ``then`` is called once it is open."""
        self._then = then or (self._show_newest if show else None)
        if self.reader is not None and self.reader.path == path:
            self._after_opening()
        else:
            self._open_worker(path)

    @work(thread=True, exclusive=True, group="open-session", exit_on_error=False)
    def _open_worker(self, path: Path) -> None:
        from workbench.errors import WorkbenchError
        from workbench.session.reader import SessionReader

        try:
            reader = SessionReader(path)
            last_change = reader.last_change()
        except WorkbenchError as error:
            self.post_message(SessionFailed(str(error)))
            return
        self.post_message(SessionOpened(reader, last_change))

    def on_session_opened(self, message: SessionOpened) -> None:
        """Put the new session in the place of the old one."""
        from workbench.app.feed import SessionFeed

        if not self.screen_stack:  # the user left while the file was being opened
            message.reader.close()
            return
        before, self.reader = self.reader, message.reader
        self.session_path = message.reader.path
        self.selected_trial = None
        self.facts = None
        if self._feed is None:
            self._feed = SessionFeed(self)
            self._feed.start()
        self._feed.watch(message.reader, message.last_change)
        self._let_go(before)
        self.session_opened.publish(self.reader)
        self._gather(message.reader)
        self._after_opening()

    def _after_opening(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            self.call_later(then)

    def close_session(self) -> None:
        """Let go of the open session."""
        before, self.reader, self.session_path, self.facts = self.reader, None, None, None
        if self._feed is not None:
            self._feed.watch(None)
        self._let_go(before)
        self.session_opened.publish(None)

    @work(thread=True, group="close-session", exit_on_error=False)
    def _let_go(self, reader: SessionReader | None) -> None:
        if reader is not None:
            reader.close()

    def on_session_changed(self, message: SessionChanged) -> None:
        """Hand a batch of changes to the modes."""
        if message.reader is self.reader and self.screen_stack:
            self.session_changed.publish(message.changes)
            if any(change.kind in {"run", "trial", "candidate", "task"} for change in message.changes):
                self._gather(message.reader)

    def on_session_failed(self, message: SessionFailed) -> None:
        """Say why a session cannot be shown."""
        self._then = None
        self.session_path = self.reader.path if self.reader is not None else None
        self.notify(message.sentence, title="Session", severity="error", timeout=12)
        self.session_opened.publish(self.reader)

    @work(thread=True, exclusive=True, group="facts", exit_on_error=False)
    def _gather(self, reader: SessionReader) -> None:
        from workbench.app.facts import gather
        from workbench.errors import WorkbenchError

        try:
            self.post_message(FactsGathered(reader, gather(reader)))
        except WorkbenchError:
            return  # the feed tells what is wrong with the file

    def on_facts_gathered(self, message: FactsGathered) -> None:
        """Tell the headers how the session stands."""
        if message.reader is self.reader and self.is_running and self.screen_stack:
            self.facts = message.facts
            self.facts_changed.publish(self.facts_sentence)
            self.refresh_bindings()

    @property
    def facts_sentence(self) -> str:
        """How the open session stands, in one sentence."""
        return self.facts.sentence() if self.facts is not None else ""

    # -- runs

    async def ask_and_run(self, cases: list[tuple[str, str]]) -> None:
        """Show the dialog for (key, name) of cases and start the run; call it from a worker."""
        from workbench.app.screens.run_dialog import RunDialog
        from workbench.engine.plan import DocumentPlan
        from workbench.models.defaults import available_models, default_model

        model = self.settings.agent_model or default_model("agent", base_url=self.settings.base_url)
        judge = self.settings.judge or default_model("judge", base_url=self.settings.base_url)
        judge = "offline" if judge.startswith("local") and not self.settings.judge else judge
        title = cases[0][1] if len(cases) == 1 else f"{len(cases)} cases"
        choice = await self.push_screen_wait(RunDialog(title, model, judge, available_models()))
        if choice is not None:
            plan = DocumentPlan(
                tuple(key for key, _ in cases),
                agent=choice.agent,
                model=choice.model,
                judge=choice.judge,
                repeats=choice.repeats,
                spend_limit=self.settings.spend_limit,
                max_steps=self.settings.max_steps,
            )
            self.start_run(plan, cases[0][1] if len(cases) == 1 else f"{len(cases)}-cases")

    def start_run(self, plan: DocumentPlan, name: str) -> None:
        """Start a run in the open session, or in a new one called ``name`` where that is only read."""
        self.notify(f"Starting {name}…", timeout=2)
        self._begin_worker(self.session_path if self.reader is not None else None, name, plan)

    @work(thread=True, group="engine", exit_on_error=False)
    def _begin_worker(self, session: Path | None, name: str, plan: DocumentPlan) -> None:
        from workbench.app import runs

        self._asked(lambda: self.post_message(RunBegun(runs.begin(session, name, plan, self.warm))))

    def on_run_begun(self, message: RunBegun) -> None:
        """Show the first trial of the run as it goes."""
        begun = message.begun
        if not self.screen_stack:
            return  # the run goes on without us
        if begun.trial is None:
            self.notify("The run has no trials.", severity="warning")
            return
        trial = begun.trial
        self.open_session(begun.session, then=lambda: self.show_trial(trial))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer resuming only where something was interrupted."""
        if action == "resume":
            return self.facts is not None and self.facts.state in {"interrupted", "failed", "cancelled"}
        return super().check_action(action, parameters)

    def action_resume(self) -> None:
        """Take up what is missing in the open session."""
        if self.session_path is not None:
            self.resume_session(self.session_path)

    @work(thread=True, group="engine", exit_on_error=False)
    def resume_session(self, path: Path) -> None:
        """Take up what is missing in a session."""
        from workbench.app import runs

        def resume() -> None:
            own, count = runs.resume_all(path, self.warm)
            said = "Nothing is missing in it." if not count else f"Resuming {count} run{'s' if count != 1 else ''}."
            self.call_from_thread(self.notify, said, title=own.stem)
            if count:
                self.call_from_thread(self.open_session, own)

        self._asked(resume)

    @work(thread=True, group="engine", exit_on_error=False)
    def cancel_session(self, path: Path) -> None:
        """Cancel the runs of a session."""
        from workbench.app import runs

        def cancel() -> None:
            count = runs.cancel_all(path)
            said = "Nothing runs in it." if not count else "Cancelling; what is finished stays."
            self.call_from_thread(self.notify, said, title=path.stem)

        self._asked(cancel)

    @work(thread=True, group="export", exit_on_error=False)
    def export_report(self, session: Path, place: str) -> None:
        """Write a report of a session; the ending of ``place`` is its format."""
        out = Path(place).expanduser()

        def export() -> None:
            from workbench.reports import write_report

            write_report(session, out.suffix.removeprefix(".") or "html", out)
            self.call_from_thread(self.notify, f"The report is in {out}.", title="Export", timeout=8)

        self._asked(export)

    def _asked(self, what: Callable[[], object]) -> None:
        """Do something in this thread; what goes wrong becomes a notice."""
        from workbench.errors import WorkbenchError

        try:
            what()
        except (WorkbenchError, OSError) as error:
            self.call_from_thread(self.notify, str(error), severity="error", timeout=12)

    # -- modes and looks

    async def action_mode(self, mode: str) -> None:
        """Go to a mode."""
        await self.switch_mode(mode)

    async def _show_newest(self) -> None:
        trials = self.reader.trials() if self.reader is not None else []
        if trials:
            await self.show_trial(trials[-1].id)
        else:
            regenerated = self.reader is not None and any(run.kind == "regenerate" for run in self.reader.runs())
            await self.switch_mode("regeneration" if regenerated else "cases")

    async def show_trial(self, trial_id: str) -> None:
        """Show a trial of the open session in the Trajectory mode."""
        from workbench.app.screens.trajectory import TrajectoryScreen

        self.selected_trial = trial_id
        await self.switch_mode("trajectory")
        screen = self.screen
        if isinstance(screen, TrajectoryScreen):
            screen.show_trial(trial_id)

    def action_help(self) -> None:
        """Show all keys."""
        from workbench.app.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def on_themes_read(self, message: ThemesRead) -> None:
        """Take over themes that are new or changed; the present one is repainted if it changed."""
        for theme in message.themes:
            self.register_theme(theme)
        for name in message.gone:
            if name != self.theme and name != FALLBACK.name:
                self.unregister_theme(name)
        if any(theme.name == self.theme for theme in message.themes):
            self._watch_theme(self.theme)
        if message.problems:
            self.notify("\n".join(message.problems), title="Themes", severity="warning", timeout=12)

    def action_next_theme(self) -> None:
        """Change to the next theme."""
        names = sorted(self.available_themes)
        self.theme = names[(names.index(self.theme) + 1) % len(names)]

    def save_picture(self) -> None:
        """Save an SVG picture of the screen."""
        self.notify(f"Saved {self.save_screenshot(path='.')}.", timeout=8)

    def handle_bindings_clash(self, clashed_bindings: set[Binding], node: DOMNode) -> None:
        """Say once that the keymap gives one key to two things."""
        names = ", ".join(sorted(binding.id or binding.action for binding in clashed_bindings))
        self.notify(f"The keymap gives one key to two things; off now: {names}.", severity="warning")


def run_app(session: Path | None, settings: Settings) -> int:
    """Run the app until the user leaves it; returns the exit code."""
    app = WorkbenchApp(session, settings)
    app.run()
    return app.return_code or 0
