"""The Sessions mode: every session file, what is in it, how it stands, and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.history import Visit
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen

if TYPE_CHECKING:
    from workbench.app.sessions.listing import SessionEntry
    from workbench.app.sessions.table import SessionTable
    from workbench.app.toolkit.row_list import RowList
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change


class SessionsScreen(ModeScreen):
    """One table and, below it, all that is to be said of the row under the cursor."""

    mode_name = "Sessions"
    CSS_PATH = "../styles/sessions.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "reload", "read again", id="sessions.reload", show=False),
        Binding("escape", "app.mode('cases')", "back", id="sessions.back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._listing = Latest(self, "session-listing")
        self._deleting = Latest(self, "session-delete", every=True)

    def visit(self) -> Visit:
        """Return this mode."""
        return Visit(self.workbench.session_path, "sessions")

    def compose_body(self) -> Iterable[Widget]:
        """Yield the table's pane and the one with the details."""
        from textual.containers import Vertical

        from workbench.app.sessions.table import SessionTable
        from workbench.app.toolkit.texts import Static

        pane = Container(SessionTable(id="session-table"), id="sessions", classes="pane")
        set_title(pane, "Sessions")
        details = Static("", id="session-details")
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
        if self.is_current and any(change.kind in {"run", "trial"} for change in changes):
            self.action_reload()

    # -- the list

    def action_reload(self) -> None:
        """Read the folder again."""
        also, known = self.workbench.session_path, {entry.path: entry for entry in self.table.entries}
        listing = self._listing

        def work() -> tuple[SessionEntry, ...]:
            from dataclasses import replace

            from workbench.app.sessions.listing import found_sessions, looked_into, newest_first

            # What was known stays on the screen until it is known better.
            shown = newest_first(
                replace(known[entry.path], example=entry.example, size=entry.size) if entry.path in known else entry
                for entry in found_sessions(also)
            )
            listing.report(self._show, tuple(shown))
            for index, entry in enumerate(shown):
                shown[index] = looked_into(entry)
                listing.report(self._show, tuple(shown))
            return tuple(newest_first(shown))

        listing.ask(work, self._show)

    def _show(self, entries: tuple[SessionEntry, ...]) -> None:
        self.table.show(entries)
        self.retitle("#sessions", f"Sessions {len(entries)}")
        self._show_details()

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Say more of the row under the cursor."""
        self._show_details()

    def _show_details(self) -> None:
        from workbench.app.toolkit.texts import Static

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
                "unscored": "A judge failed, so tiers are unscored: u asks it again; enter shows why.",
                "failed": "Something in it failed: press enter to see why, u to try that again."
                if entry.facts.mendable
                else "What was asked for cannot be done: press enter to see why, then n to ask for something else.",
                "cancelled": "It was cancelled: u takes up what is missing.",
            }.get(entry.facts.state, "")
            models = ", ".join(entry.facts.models) or "no model yet"
            alarm = entry.facts.alarm and f"✗ {entry.facts.alarm} Press enter, then 4 and !."
            text = "\n".join(part for part in (alarm, str(entry.path), models, more, *entry.warnings) if part)
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
        from workbench.app.toolkit.ask import Confirm

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
            self._delete(entry.path)

    def _delete(self, path: Path) -> None:
        def work() -> None:
            from workbench.app.sessions.listing import side_files

            for file in side_files(path):
                file.unlink(missing_ok=True)

        def failed(sentence: str) -> None:
            self.notify(f"{path} could not be deleted: {sentence}", severity="error", timeout=12)
            self.action_reload()

        self._deleting.ask(work, lambda _: self.action_reload(), failed)

    @work
    async def action_export(self) -> None:
        """Write a report of the session under the cursor."""
        from workbench.app.toolkit.report_question import ask_and_export

        entry = self.table.entry
        if entry is not None and not entry.problem:
            await ask_and_export(self.workbench, entry.path)
