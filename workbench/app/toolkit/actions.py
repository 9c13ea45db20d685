"""Actions that several modes share: managing runs, copying and editing texts, and adding stars, tags and remarks."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.app.keys import key_of
from workbench.app.toolkit.workers import LatestWorker, sentence_of
from workbench.base.errors import WorkbenchError
from workbench.base.text import one_line
from workbench.orders.order import WorkOrder
from workbench.session.labels import STAR, check_remark, differences, parse_tags

if TYPE_CHECKING:
    from textual.widget import Widget

    from workbench.app.app import WorkbenchApp
    from workbench.app.location import Location
    from workbench.app.toolkit.document import PaneContent
    from workbench.app.toolkit.run_screen import RunScreen
    from workbench.orders.estimate import WorkEstimate
    from workbench.session import SessionWriter

SAFE_COPY_CHARS = 500_000
"""Maximum number of characters that every terminal can copy: tmux silently drops a megabyte of base64."""


def run_in_front(command: list[str]) -> int:
    """Run a program in the foreground and return its exit code; raises OSError if it cannot be started."""
    # ctrl+c reaches every process of the terminal. In a pager it ends a search, so it must not end the app that waits
    # for the pager. Unlike SIG_IGN, a handler is not inherited, so the pager still receives the signal.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def editor() -> str:
    return os.environ.get("EDITOR") or os.environ.get("VISUAL") or ""


class _CannotSuspend(Exception):
    """The terminal cannot be handed over to another program."""


def _outside(host: WorkbenchApp, program: str, text: str, name: str) -> tuple[int, str] | None:
    """Open a text in a program; returns the exit code and the edited text, or None if it cannot be started."""
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
    """Let the user edit a text in $EDITOR, or in the app if that is not set.

    Returns the edited text, or None if the user cancelled or the editor failed.

    Call from a worker.
    """
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
        host.notify(f"{program} exited with code {code}; nothing was changed.", severity="warning")
        return None
    # Editors add a final line break to a file that does not have one.
    return after.removesuffix("\n") if after.endswith("\n") and not text.endswith("\n") else after


def copy(host: WorkbenchApp, name: str, text: str, cut: str = "") -> None:
    host.copy_to_clipboard(text)
    message = f"Copied {name + ': ' if name else ''}{len(text):,} characters"
    if cut:
        message += f", not all of it: {cut.rstrip('.')}"
    elif len(text) > SAFE_COPY_CHARS:
        message += f"; if the terminal truncates it, {key_of('trajectory.open')} opens it in an editor"
    host.notify(f"{message}.", severity="warning" if cut else "information")


class RunActions:
    """Runs the actions of a screen that involve the engine, the disk or other programs, one at a time in threads."""

    def __init__(self, screen: RunScreen) -> None:
        self._host, self._jobs, self._subject = screen.workbench, screen.doing, screen.subject

    can: Callable[[str], bool]
    rerun: Callable[[], None]
    resume: Callable[[], None]
    cancel: Callable[[], None]

    def on_writable(
        self,
        work: Callable[[Path], Any],
        notice: Callable[[Any], str],
        elsewhere: Callable[[Path, Any], Location],
        here: Callable[[Any], object] = lambda value: None,
    ) -> None:
        """Run ``work`` on a writable session in a thread, then notify with ``notice(result)``.

        A bundled example is copied first, and the app then goes to the location that ``elsewhere`` returns. If the
        open session was changed itself, ``here`` shows the result in it.
        """
        host, session = self._host, self._host.session_path
        if session is None:
            host.notify("No session is open.")
            return

        def in_thread() -> tuple[Path, Any]:
            from workbench.app.runs import writable_copy

            own = writable_copy(session)
            return own, work(own)

        def finished(result: tuple[Path, Any]) -> None:
            own, value = result
            text = notice(value)
            if own == session:
                here(value)
            else:
                host.go_to(elsewhere(own, value))
                text += f" It is stored in a copy of the example: {own.stem}."
            host.notify(text)

        self._jobs.ask(in_thread, finished)

    def after_confirmation(self, order: Callable[[Path], WorkOrder], then: Callable[[], None]) -> None:
        """Call ``then``; if the order's estimate exceeds the limits in the settings, the user must confirm it first."""
        session = self._host.session_path

        def estimate() -> WorkEstimate | None:
            from workbench.orders.measured import measure

            return order(session).estimate(measure(session, session)) if session is not None else None

        async def ask(cost: WorkEstimate | None) -> None:
            from workbench.app.toolkit.order_form import confirm_cost

            if cost is None or await confirm_cost(self._host, cost):
                then()

        self._jobs.ask(estimate, lambda cost: self._host.run_worker(ask(cost)))

    def copy(self) -> None:
        subject = self._subject()
        self._with_all(subject, "copy", lambda text, cut: copy(self._host, subject.name, text, cut))

    def open_outside(self) -> None:
        subject = self._subject()
        self._with_all(subject, "open", lambda text, cut: self._open(subject, text, cut))

    def _with_all(self, subject: PaneContent, what: str, then: Callable[[str, str], None]) -> None:
        """Call ``then`` with the full text and a note on anything that is missing from it.

        If the pane shows only part of the text, the remaining text is read in a thread.
        """
        if not subject.text:
            self._host.notify(f"There is nothing to {what} here.")
        elif subject.whole is None:
            then(subject.text, "")
        else:
            self._jobs.ask(subject.whole, lambda document: then(document.text, document.cut or ""))

    def _open(self, subject: PaneContent, text: str, cut: str) -> None:
        program = editor() or os.environ.get("PAGER") or "less"
        if cut:
            self._host.notify(f"{subject.name} is incomplete: {cut}", severity="warning")
        try:
            _outside(self._host, program, text, f"content{subject.suffix}")
        except _CannotSuspend:
            message = (
                f"This terminal cannot be suspended for another program; {key_of('pane.copy')} copies the text instead."
            )
            self._host.notify(message, severity="warning")


# -- stars, tags and remarks

_MOST_KNOWN = 8  # maximum number of existing tags listed in the dialog, most frequent first


@dataclass(frozen=True, slots=True)
class LabelTarget:
    """The item of a session that a label belongs to, or a ``part`` of the item (a step or criterion of a trial).

    ``name`` is used in notices; ``session`` is None for the open session.
    """

    name: str
    item: str
    part: str = ""
    session: Path | None = None


class LabelActions:
    """Reads and writes labels in threads; screens are updated by the session feed."""

    def __init__(self, host: WorkbenchApp, node: Widget, changed: Callable[[], None]) -> None:
        self._host, self._changed = host, changed
        self._jobs = LatestWorker(node, "labels", every=True)

    def star(self, target: LabelTarget) -> None:
        session = self._session(target)
        if session is None:
            return

        def change(writer: SessionWriter) -> str:
            starred, name = STAR in _labels(session, target)[0], one_line(target.name, 60)
            writer.set_labels(target.item, target.part, **{"remove" if starred else "add": (STAR,)})
            return f"{name} is no longer starred." if starred else f"{STAR} {name} is starred."

        self._write(session, change)

    async def ask(self, target: LabelTarget) -> None:
        session = self._session(target)
        if session is None:
            return
        try:
            own, known = await asyncio.to_thread(_labels, session, target)
        except WorkbenchError as error:
            self._host.notify(sentence_of(error), severity="error")
            return
        before, note = [label for label in own if label != STAR], "Separate tags with commas."
        if known:
            note += f" Used so far: {', '.join(f'{tag} ({count:,})' for tag, count in known.most_common(_MOST_KNOWN))}."
        answer = await self._answer("Tags of", target, note, parse_tags, ", ".join(before))
        if answer is not None:
            # Typing the star as a tag adds it, but leaving it out does not remove it: the star has its own key.
            came, went = differences(before, parse_tags(answer))
            if came or went:
                self._write(session, lambda writer: writer.set_labels(target.item, target.part, add=came, remove=went))

    async def remark(self, target: LabelTarget) -> None:
        session = self._session(target)
        if session is None:
            return
        note = f"It is stored in the session; {key_of('app.marked')} lists all remarks."
        text = check_remark(await self._answer("Remark on", target, note, check_remark) or "")

        def change(writer: SessionWriter) -> str:
            step = int(target.part) if target.part.isdecimal() else None
            writer.annotate(target.item, text, step, criterion="" if step is not None else target.part)
            return "Remark saved in the session."

        if text:
            self._write(session, change)

    def _write(self, session: Path, change: Callable[[SessionWriter], str | None]) -> None:
        """Apply a change to the labels in a thread, then show the notice that ``change`` returns."""
        from workbench.session import SessionWriter

        def work() -> str | None:
            with SessionWriter(session) as writer:
                return change(writer)

        def done(text: str | None) -> None:
            if text:
                self._host.notify(text)
            self._changed()

        self._jobs.ask(work, done)

    async def _answer(
        self, title: str, target: LabelTarget, note: str, check: Callable[[str], object], typed: str = ""
    ) -> str | None:
        from workbench.app.toolkit.form import AskText

        question = AskText(f"{title} {one_line(target.name, 50)}", note, typed, check=check)
        return await self._host.push_screen_wait(question)

    def _session(self, target: LabelTarget) -> Path | None:
        from workbench.app.runs import is_example

        session = target.session or self._host.session_path
        if session is None:
            self._host.notify("No session is open.")
        elif is_example(session):
            text = "The bundled example is read-only; label the results of your own runs."
            self._host.notify(text, severity="warning")
            return None
        return session


def _labels(session: Path, target: LabelTarget) -> tuple[list[str], Counter[str]]:
    """Return the labels of an item, and all tags of the session with their counts."""
    from workbench.session import SessionReader

    with SessionReader(session, surveyed=False) as reader:
        rows = reader.labels()
    own = [row.label for row in rows if (row.item, row.part) == (target.item, target.part)]
    return own, Counter(row.label for row in rows if row.label != STAR)
