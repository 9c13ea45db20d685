"""What the modes share that follow a run: what can be done with it besides looking, a line of remarks, a line that asks, and keys."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import work
from textual.app import ComposeResult

from workbench.app.key_table import WHY_NOT, key_of
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.typed_line import PromptLine
from workbench.app.toolkit.virtual_view import VirtualView

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.toolkit.document import Subject
    from workbench.engine.estimate import Estimate


SURELY_TAKEN = 500_000
"""Characters of a copied text that terminals take: tmux drops a megabyte in base64 without a word."""


def run_in_front(command: list[str]) -> int:
    """Run a program that has the terminal to itself, wait for it, and return its exit code.

    Ctrl+c reaches every program of the terminal: in a pager it ends a search, so it must not end the app that waits for
    the pager. A handler, unlike ``SIG_IGN``, is not inherited: the program itself gets the signal as usual.

    Raises:
        OSError: It cannot be started.
    """
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def editor() -> str:
    return os.environ.get("EDITOR") or os.environ.get("VISUAL") or ""


class _CannotSuspend(Exception):
    """The terminal cannot be handed over."""


def _outside(host: WorkbenchApp, program: str, text: str, name: str) -> tuple[int, str] | None:
    """Let a program have a text in a file of some name; returns its exit code and what stands there afterwards, None where it cannot be started."""
    from textual.app import SuspendNotSupported

    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            with host.suspend():
                code = run_in_front([*shlex.split(program), str(path)])
            return code, path.read_text(encoding="utf-8", errors="replace")
        except SuspendNotSupported:
            raise _CannotSuspend from None
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            host.notify(f"{program} cannot be used: {why}. Set $EDITOR.", severity="error")
            return None


async def edited_text(host: WorkbenchApp, title: str, text: str, suffix: str = ".txt") -> str | None:
    """Let a person edit a text, in $EDITOR or else within the app, from a worker; None where it was given up or the editor failed."""
    from workbench.app.toolkit.edit_screen import EditScreen

    program = editor()
    try:
        if not program:
            raise _CannotSuspend
        ended = _outside(host, program, text, f"edit{suffix}")
    except _CannotSuspend:
        answer: str | None = await host.push_screen_wait(EditScreen(title, text))
        return answer
    if ended is None:
        return None
    code, after = ended
    if code:
        host.notify(f"{program} ended with code {code}, so nothing was changed.", severity="warning")
        return None
    # Editors end a file with a line break, also one that had none.
    return after.removesuffix("\n") if after.endswith("\n") and not text.endswith("\n") else after


def copy(host: WorkbenchApp, name: str, text: str, cut: str = "") -> None:
    host.copy_to_clipboard(text)
    said = f"Copied {name + ': ' if name else ''}{len(text):,} characters"
    if cut:
        said += f", not all of it: {cut.rstrip('.')}"
    elif len(text) > SURELY_TAKEN:
        said += f"; where the terminal takes less, {key_of('trajectory.open')} opens it in an editor"
    host.notify(f"{said}.", severity="warning" if cut else "information")


class RunActions:
    """Carries out keys that touch the engine, the disk or another program; all of it in a thread, in its order, but the editor."""

    def __init__(self, host: WorkbenchApp, jobs: Latest) -> None:
        self._host = host
        self._jobs = jobs

    def can(self, action: str) -> bool:
        raise NotImplementedError

    def subject(self) -> Subject:
        raise NotImplementedError

    def rerun(self) -> None:
        raise NotImplementedError

    def resume(self) -> None:
        raise NotImplementedError

    def cancel(self) -> None:
        raise NotImplementedError

    def on_own(self, work: Callable[[Path], Any], done: Callable[[Path, Any], str]) -> None:
        """Do something that writes into the session, or into a copy of an example, which is only read.

        ``work`` is called with the session in a thread, ``done`` with it and the result; that returns what to tell.
        """
        host = self._host
        session = host.session_path
        if session is None:
            host.notify("No session is open.")
            return

        def in_thread() -> tuple[Path, Any]:
            from workbench.app.runs import writable_copy

            own = writable_copy(session)
            return own, work(own)

        def finished(begun: tuple[Path, Any]) -> None:
            own, value = begun
            said = done(own, value)
            host.notify(said if own == session else f"{said} In a copy of the example: {own.stem}.")

        self._jobs.ask(in_thread, finished)

    def when_agreed(self, estimate: Callable[[], Estimate], then: Callable[[], None]) -> None:
        """Do something that costs, after a question where its estimate, made in a thread, is more than the settings allow unasked."""

        async def ask(told: Estimate) -> None:
            from workbench.app.toolkit.ordering import agreed

            if await agreed(self._host, told):
                then()

        def known(told: Estimate) -> None:
            self._host.run_worker(ask(told))

        self._jobs.ask(estimate, known)

    def copy(self) -> None:
        subject = self.subject()
        self._with_all(subject, "copy", lambda text, cut: copy(self._host, subject.name, text, cut))

    def open_outside(self) -> None:
        """Show all of the text of the current pane in $EDITOR or $PAGER."""
        subject = self.subject()
        self._with_all(subject, "open", lambda text, cut: self._open(subject, text, cut))

    def _with_all(self, subject: Subject, what: str, then: Callable[[str, str], None]) -> None:
        """Call ``then`` with all of a text, read in a thread where only a part is shown, and what is missing even so."""
        if not subject.text:
            self._host.notify(f"There is nothing to {what} here.")
        elif subject.whole is None:
            then(subject.text, "")
        else:
            self._jobs.ask(subject.whole, lambda document: then(document.text, document.cut or ""))

    def _open(self, subject: Subject, text: str, cut: str) -> None:
        program = editor() or os.environ.get("PAGER") or "less"
        if cut:
            self._host.notify(f"This is not all of {subject.name}: {cut}", severity="warning")
        try:
            _outside(self._host, program, text, f"content{subject.suffix}")
        except _CannotSuspend:
            said = f"This terminal cannot hand over to another program; {key_of('pane.copy')} copies instead."
            self._host.notify(said, severity="warning")


_WHILE_READING = frozenset({"resume", "cancel", "rerun", "rerun_model", "fork", "rerun_failed", "add_samples"})
"""What can be asked for while the run is being read."""

_OTHER = "It was not done: something else is shown now."


class RunScreen(ModeScreen):
    """A mode that follows a run.

    A subclass says which list takes keys while no painted pane has the focus (:meth:`main_list`) and sets
    ``actions`` and ``finder``, which keeps the last search.
    """

    searches = True
    actions: RunActions
    finder: Any

    def __init__(self) -> None:
        super().__init__()
        self.searching = Latest(self, "search")
        self.doing = Latest(self, "actions", every=True)
        self._remark = ""
        self.reading = True  # what is to be shown has not been read yet
        self._once_read: dict[str, tuple[Path | None, Callable[[], None]]] = {}  # by action, with the session it is for

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Static("", id="remark")
        yield PromptLine()

    def main_list(self) -> VirtualView:
        """Return the pane that keys move in while no other painted one has the focus."""
        raise NotImplementedError

    def offers(self, action: str) -> bool:
        """Return whether an action on the run makes sense now, or may once the run has been read."""
        return (self.reading and action in _WHILE_READING) or self.actions.can(action)

    def do(self, action: str, what: Callable[[], None]) -> None:
        """Do something with the run that is shown, or that is being read: then as soon as it is."""
        if self.reading:
            self._once_read[action] = self.workbench.session_path, what
            self.notify("It is done as soon as the run has been read.", timeout=4)
        else:
            what()

    def has_read(self) -> None:
        """What is to be shown was read: do what was asked for meanwhile, or say why not."""
        self.reading = False
        waiting, self._once_read = self._once_read, {}
        for action, (session, what) in waiting.items():
            if session not in {None, self.workbench.session_path}:
                self.notify(_OTHER, severity="warning")
            elif self.actions.can(action):
                what()
            else:
                self.notify(WHY_NOT[action], severity="warning")
        self.refresh_bindings()

    def leave_run(self) -> None:
        """Something else is asked for: what waits for the one before is not done, and that is said."""
        if self._once_read:
            self._once_read.clear()
            self.notify(_OTHER, severity="warning")

    def set_remark(self, text: str) -> None:
        """Show a line above the keys, such as which hit of how many, "" for none."""
        self._remark = text
        self.show_remark()

    def show_remark(self) -> None:
        """Show that line, with where a person is in the hits that led here."""
        text = " · ".join(filter(None, (self._remark, self.workbench.where_in_list)))
        remark = self.query_one("#remark", Static)
        remark.update(text)
        remark.set_class(bool(text), "-open")
        self.refresh_bindings()

    # -- keys

    def current_view(self) -> VirtualView:
        return self.focused if isinstance(self.focused, VirtualView) else self.main_list()

    def action_move(self, rows: int) -> None:
        self.current_view().move(rows)

    def action_page(self, step: int) -> None:
        pane = self.current_view()
        pane.move(step * max(1, pane.page_height() - 1))

    def action_edge(self, last: bool) -> None:
        self.current_view().go_to_end(last)

    def action_search(self) -> None:
        self.workbench.forget_hits()
        self.query_one(PromptLine).ask("search", "/")

    def action_hit(self, step: int) -> None:
        if not (self.workbench.goes_through_hits and self.workbench.go_on(step)):
            self.finder.go(step)

    def action_rerun(self) -> None:
        self.do("rerun", self.actions.rerun)

    def action_resume(self) -> None:
        self.do("resume", self.actions.resume)

    def action_cancel(self) -> None:
        self.do("cancel", self.actions.cancel)

    @work
    async def action_export(self) -> None:
        from workbench.app.toolkit.report_dialog import ask_and_export

        if self.workbench.session_path is not None:
            await ask_and_export(self.workbench, self.workbench.session_path)

    def action_copy(self) -> None:
        self.actions.copy()

    def action_open_outside(self) -> None:
        self.actions.open_outside()
