"""What a person can do with a run besides looking, as far as it is the same in every mode that follows one."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.app.key_table import key_of

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.toolkit.document import Subject
    from workbench.app.toolkit.run_screen import RunScreen
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

    def __init__(self, screen: RunScreen) -> None:
        self._host, self._jobs, self._subject = screen.workbench, screen.doing, screen.subject

    def can(self, action: str) -> bool:
        raise NotImplementedError

    def rerun(self) -> None:
        raise NotImplementedError

    def resume(self) -> None:
        raise NotImplementedError

    def cancel(self) -> None:
        raise NotImplementedError

    def on_own(
        self,
        work: Callable[[Path], Any],
        say: Callable[[Any], str],
        elsewhere: Callable[[Any], object],
        here: Callable[[Any], object] = lambda value: None,
    ) -> None:
        """Do something that writes into the session, or into a copy of an example, which is only read.

        ``work`` is called with that in a thread, ``say`` with the result. ``here`` shows the result in the session, ``elsewhere``
        in the copy, once that is open.
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
            said = say(value)
            if own == session:
                here(value)
            else:
                host.open_session(own, then=lambda: elsewhere(value))
                said += f" In a copy of the example: {own.stem}."
            host.notify(said)

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
        subject = self._subject()
        self._with_all(subject, "copy", lambda text, cut: copy(self._host, subject.name, text, cut))

    def open_outside(self) -> None:
        """Show all of the text of the current pane in $EDITOR or $PAGER."""
        subject = self._subject()
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
