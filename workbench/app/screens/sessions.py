"""The Sessions mode: every session file, what is in it, how it stands, and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from workbench.app.screens.base import ModeScreen

if TYPE_CHECKING:
    from workbench.app.sessions.listing import SessionEntry
    from workbench.app.sessions.table import SessionTable
    from workbench.app.widgets.row_list import RowList
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

FORMATS = ("html", "md", "json", "csv")


class SessionsListed(Message):
    """Session files were found, or looked into; the latest list takes the place of an earlier one."""

    def __init__(self, entries: tuple[SessionEntry, ...]) -> None:
        super().__init__()
        self.entries = entries

    def can_replace(self, message: Message) -> bool:
        """A later list says all that this one does."""
        return isinstance(message, SessionsListed)


class SessionsScreen(ModeScreen):
    """One table and, below it, all that is to be said of the row under the cursor."""

    CSS_PATH = "../styles/sessions.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "reload", "read again", id="sessions.reload", show=False),
        Binding("escape", "app.mode('cases')", "back", id="sessions.back", show=False),
    ]

    def compose_body(self) -> Iterable[Widget]:
        """Yield the table's pane and the one with the details."""
        from textual.containers import Vertical
        from textual.widgets import Static

        from workbench.app.sessions.table import SessionTable

        pane = Container(SessionTable(id="session-table"), id="sessions", classes="pane")
        pane.border_title = "Sessions"
        details = Static("", id="session-details", markup=False)
        yield Vertical(pane, details, id="session-column")

    def on_mount(self) -> None:
        """Read the folder once the frame is on the screen."""
        self.workbench.after_first_paint(self._start)

    def _start(self) -> None:
        self.table.focus()
        self.action_reload()

    def on_screen_resume(self) -> None:
        """Read the folder again whenever one comes back."""
        if self.is_mounted and self.query("#session-table"):
            self.action_reload()

    @property
    def table(self) -> SessionTable:
        """The table."""
        from workbench.app.sessions.table import SessionTable

        return self.query_one("#session-table", SessionTable)

    def on_session_opened(self, reader: SessionReader | None) -> None:
        """Mark the session that is open."""
        self.table.open_path = reader.path if reader is not None else None
        self.action_reload()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        """Look again when runs or trials changed."""
        if self.workbench.screen is self and any(change.kind in {"run", "trial"} for change in changes):
            self.action_reload()

    # -- the list

    def action_reload(self) -> None:
        """Read the folder again."""
        self._list_worker(self.workbench.session_path, {entry.path: entry for entry in self.table.entries})

    @work(thread=True, exclusive=True, group="session-listing", exit_on_error=False)
    def _list_worker(self, also: Path | None, known: dict[Path, SessionEntry]) -> None:
        from dataclasses import replace

        from workbench.app.sessions.listing import found_sessions, looked_into, newest_first

        worker = get_current_worker()
        # What was known stays on the screen until it is known better.
        shown = newest_first(
            replace(known[entry.path], example=entry.example, size=entry.size) if entry.path in known else entry
            for entry in found_sessions(also)
        )
        self.post_message(SessionsListed(tuple(shown)))
        for index, entry in enumerate(shown):
            if worker.is_cancelled:
                return
            shown[index] = looked_into(entry)
            self.post_message(SessionsListed(tuple(shown)))
        self.post_message(SessionsListed(tuple(newest_first(shown))))

    def on_sessions_listed(self, message: SessionsListed) -> None:
        """Show the list."""
        self.table.show(message.entries)
        count = len(message.entries)
        self.retitle("#sessions", f"Sessions {count}")
        self._tell()

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Say more of the row under the cursor."""
        self._tell()

    def _tell(self) -> None:
        from textual.widgets import Static

        entry = self.table.entry
        if entry is None:
            text = "There are no sessions yet. Press 1, choose a case and press enter twice: a session begins with the first run."
        elif entry.problem:
            text = entry.problem
        elif entry.facts is None:
            text = f"Reading {entry.path}…"
        else:
            more = {
                "interrupted": "Its engine is gone: press u to resume; what is finished is kept.",
                "running": "An engine is at work; press c to cancel. It goes on when you leave.",
                "failed": "Something in it failed: press enter to see why, u to try that again.",
                "cancelled": "It was cancelled: u takes up what is missing.",
            }.get(entry.facts.state, "")
            models = ", ".join(entry.facts.models) or "no model yet"
            alarm = entry.facts.alarm and f"✗ {entry.facts.alarm} Press enter, then 4 and !."
            text = "\n".join(part for part in (alarm, str(entry.path), models, more) if part)
            if entry.example:
                text += "\nIt came with the program and is only read; a run starts a new session."
        self.query_one("#session-details", Static).update(text)

    # -- what one can do

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Open the session and go to its newest trial."""
        entry = self.table.entry
        if entry is not None:
            self.workbench.open_session(entry.path, show=True)

    def action_resume(self) -> None:
        """Take up what is missing in the session under the cursor."""
        entry = self.table.entry
        if entry is not None and self._allowed(entry):
            self.workbench.resume_session(entry.path)

    def action_cancel(self) -> None:
        """Cancel the runs of the session under the cursor."""
        entry = self.table.entry
        if entry is not None and self._allowed(entry):
            self.workbench.cancel_session(entry.path)

    def _allowed(self, entry: SessionEntry) -> bool:
        if entry.example:
            self.notify("The example that came with the program is only read.", severity="warning")
        return not entry.example

    @work
    async def action_delete(self) -> None:
        """Delete the session file under the cursor, after a question."""
        from workbench.app.screens.ask import Confirm

        entry = self.table.entry
        if entry is None or not self._allowed(entry):
            return
        if entry.facts is not None and entry.facts.state == "running":
            self.notify(f"{entry.path.name} is being written; cancel its run first (c).", severity="warning")
            return
        question = f"Delete {entry.path}? It cannot be brought back."
        if await self.app.push_screen_wait(Confirm("Delete session", question, "Delete")):
            if entry.path == self.workbench.session_path:
                self.workbench.close_session()
            self._delete_worker(entry.path)

    @work(thread=True, group="session-delete", exit_on_error=False)
    def _delete_worker(self, path: Path) -> None:
        from workbench.app.sessions.listing import side_files

        try:
            for file in side_files(path):
                file.unlink(missing_ok=True)
        except OSError as error:
            self.app.call_from_thread(
                self.notify, f"{path} could not be deleted: {error.strerror}.", severity="error", timeout=12
            )
        self.app.call_from_thread(self.action_reload)

    @work
    async def action_export(self) -> None:
        """Write a report of the session under the cursor."""
        from workbench.app.screens.ask import AskText

        entry = self.table.entry
        if entry is None or entry.problem:
            return
        suggested = Path.cwd() / f"{entry.path.stem}.html"
        answer = await self.app.push_screen_wait(
            AskText(
                "Export report",
                f"The ending decides on the format: {', '.join('.' + ending for ending in FORMATS)}.",
                str(suggested),
            )
        )
        if answer:
            self.workbench.export_report(entry.path, answer)
