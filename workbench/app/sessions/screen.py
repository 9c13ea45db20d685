"""The screen of the Sessions mode: all session files with their contents and state, and actions on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import getters, work
from textual.containers import Container, Vertical
from textual.widget import Widget

from workbench.app import runs
from workbench.app.keys import bindings, key_of, with_keys
from workbench.app.location import Location
from workbench.app.sessions.file_actions import ImportDialog, import_result, rename
from workbench.app.sessions.session_files import SessionCache, SessionEntry, deleted_entries, found_sessions, with_facts
from workbench.app.sessions.table import SessionTable, about, sentence
from workbench.app.toolkit.actions import LabelTarget
from workbench.app.toolkit.export_dialog import ask_and_export
from workbench.app.toolkit.form import AskText
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.workers import LatestWorker, sentence_of
from workbench.base import paths
from workbench.base.errors import UsageError
from workbench.base.text import one_line
from workbench.session import create
from workbench.session.labels import SESSION
from workbench.session.session_folder import Deleted, delete, deleted_sessions, restore
from workbench.session.session_names import named, plain_name

if TYPE_CHECKING:
    from workbench.engine.merging import Merged
    from workbench.orders.import_files import ImportOrder
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change


REPORT_SECONDS = 0.1
"""Interval in seconds at which intermediate results are shown while the list is loading."""


class SessionsScreen(ModeScreen):
    """A table of sessions and, below it, the details of the selected session."""

    mode_name = "Sessions"
    own_resume = True
    CSS_PATH = "../styles/sessions.tcss"
    OFFERED = (("Import files of other programs", "trajectories, samples, verdicts", "import_files"),)
    """Commands in the palette that have no key."""
    BINDINGS = bindings("sessions")

    def __init__(self) -> None:
        super().__init__()
        self._listing = LatestWorker(self, "session-listing")
        self._keeping = LatestWorker(self, "session-files", every=True)
        self._cache = SessionCache()
        self._with_deleted = False
        self._wanted: Path | None = None

    def location(self) -> Location:
        return Location(self.workbench.session_path, "sessions")

    def compose_body(self) -> Iterable[Widget]:
        pane = set_title(Container(SessionTable(id="session-table"), id="sessions", classes="pane"), "Sessions")
        yield Vertical(pane, Static("", id="session-details"), id="session-column")

    async def after_first_paint(self) -> None:
        self.table.focus()
        self.action_reload()

    def on_screen_resume(self) -> None:
        if self.is_mounted and self.query("#session-table"):
            self.action_reload()

    table = getters.query_one("#session-table", SessionTable)

    def on_session_opened(self, reader: SessionReader | None) -> None:
        self.table.open_path = reader.path if reader is not None else None
        self.action_reload()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        if self.is_current and any(change.kind in {"run", "trial"} for change in changes):
            self.action_reload()

    # -- the list

    def action_reload(self) -> None:
        also, known = self.workbench.session_path, {entry.path: entry for entry in self.table.rows}
        listing, cache, with_deleted = self._listing, self._cache, self._with_deleted

        def work() -> tuple[tuple[SessionEntry, ...], Path | None]:
            found = found_sessions(also)
            recalled = [cache.get(entry) for entry in found]
            deleted = deleted_entries() if with_deleted else []
            # Show the previous contents until they are reloaded.
            shown = [
                now or replace(known.get(entry.path, entry), example=entry.example, size=entry.size, deleted=None)
                for entry, now in zip(found, recalled, strict=True)
            ]
            chosen = runs.chosen_session()
            listing.report(self._show, ((*shown, *deleted), chosen))
            reported = time.monotonic()
            for place, entry in enumerate(found):
                if recalled[place] is not None:
                    continue
                if listing.outdated:
                    break  # make way for a newer request; the results so far are cached
                shown[place] = with_facts(entry)
                cache.put(shown[place])
                if time.monotonic() - reported > REPORT_SECONDS:
                    listing.report(self._show, ((*shown, *deleted), chosen))
                    reported = time.monotonic()
            else:
                cache.save(found)
            return (*shown, *deleted), chosen

        listing.ask(work, self._show)

    def _show(self, found: tuple[tuple[SessionEntry, ...], Path | None]) -> None:
        entries, self.table.next_path = found
        self.table.put(entries)
        if self._wanted is not None:
            self.table.go_to(self._wanted)
            self._wanted = None if any(entry.path == self._wanted for entry in entries) else self._wanted
        self._show_summary()

    def _show_summary(self) -> None:
        table = self.table
        deleted = sum(entry.deleted is not None for entry in table.rows)
        shown, total = table.narrow_counts()
        count = f"{shown:,} of {total:,}" if table.narrowed else f"{total - deleted:,}"
        parts = [f"Sessions {count}", f"{deleted:,} deleted" if deleted else ""]
        parts += table.arranged_by()
        parts.append(f"{len(table.marked):,} marked" if table.marked else "")
        self.retitle("#sessions", " · ".join(filter(None, parts)))
        self.set_status(sentence(table.rows))
        self._show_details()
        self.refresh_bindings()

    def on_row_list_row_highlighted(self) -> None:
        self._show_summary()

    on_row_list_narrowed = on_virtual_table_arranged = on_row_list_row_highlighted

    def _show_details(self) -> None:
        entry, narrowed = self.table.selected, self.table.narrowed
        text = about(entry, is_chosen=entry is not None and entry.path == self.table.next_path)
        if entry is None and narrowed:
            text = f"No session matches “{narrowed}”: {key_of('list.all')} shows all."
        self.query_one("#session-details", Static).update(text)

    def action_all(self) -> None:
        self._with_deleted = not self._with_deleted
        self.action_reload()

    # -- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.is_mounted and self.query("#session-table"):
            if action in {"star", "tags", "remark"}:
                return self.labelled() is not None
            if action == "resume":
                entry = self.table.selected
                mine = entry is not None and not entry.example and entry.deleted is None
                return mine and entry is not None and entry.facts is not None and entry.facts.resumable
            if action == "merge":
                return len(self.table.marked) > 1
        return super().check_action(action, parameters)

    def labelled(self) -> LabelTarget | None:
        entry = self.table.selected
        if entry is None or entry.problem or entry.deleted is not None:
            return None
        return LabelTarget(entry.path.stem, SESSION, session=entry.path)

    def labels_written(self) -> None:
        self.action_reload()

    def on_row_list_row_selected(self) -> None:
        entry = self.table.selected
        if entry is not None and entry.deleted is not None:
            self._bring_back(entry.deleted)
        elif entry is not None:
            self.workbench.open_session(entry.path, show=True)

    def action_use(self) -> None:
        entry = self.table.selected
        if entry is None or not self._allowed(entry) or entry.problem:
            return
        chosen = None if self.table.next_path == entry.path else entry.path

        def done(_: None) -> None:
            name = one_line(entry.path.stem, 60)
            goes = f"→ The next run goes into {name}." if chosen else f"{name} is no longer chosen for the next run."
            self.notify(goes, timeout=4)
            self.action_reload()

        self._keeping.ask(lambda: runs.choose_session(chosen), done)

    def action_resume(self) -> None:
        entry = self.table.selected
        if entry is not None and self._allowed(entry):
            self.workbench.resume_session(entry.path)

    def action_cancel(self) -> None:
        entry = self.table.selected
        if entry is not None and self._allowed(entry):
            self.workbench.cancel_session(entry.path)

    def _allowed(self, entry: SessionEntry) -> bool:
        if entry.example:
            self.notify("The bundled example is read-only.", severity="warning")
        elif entry.deleted is not None:
            text = with_keys("It was deleted: {sessions.delete} or {sessions.bring-back} brings it back.")
            self.notify(text, severity="warning")
        return not entry.example and entry.deleted is None

    # -- files

    def _do_with_files(
        self, what: Callable[[], Any], done: Callable[[Any], None], undo: Callable[[], None] = lambda: None
    ) -> None:
        """Change files in a thread, then call ``done``, or ``undo`` on failure, and reload the list."""

        def after(value: Any) -> None:
            done(value)
            self.action_reload()

        def failed(text: str) -> None:
            self.notify(text, title="Sessions", severity="error", timeout=12)
            undo()
            self.action_reload()

        self._keeping.ask(what, after, failed)

    async def _ask_name(self, title: str, note: str, value: str, folder: Path | None = None) -> Path | None:
        def place(name: str) -> Path:
            return (folder or paths.sessions_dir()) / named(Path(plain_name(name)))

        def check(name: str) -> None:
            try:
                taken = name != value and place(name).exists()
            except OSError as error:
                raise UsageError(sentence_of(error)) from None
            if taken:
                raise UsageError(f"{place(name).stem} exists already; choose another name.")

        needed = f"Enter a name, or press {key_of('dialog.cancel')} to cancel."
        answer = await self.app.push_screen_wait(AskText(title, note, value, needed=needed, check=check))
        return None if answer is None or (answer == value and folder is not None) else place(answer)

    @work
    async def action_new(self) -> None:
        place = await self._ask_name("New session", "The next run goes into it.", "")
        if place is None:
            return

        def work() -> Path:
            create(place)
            runs.choose_session(place)
            return place

        self._do_with_files(
            work, lambda made: self._arrived(made, f"→ Created {made.stem}; the next run goes into it.")
        )

    def _arrived(self, path: Path, text: str) -> None:
        self._wanted = path
        self.notify(text, timeout=8)

    @work
    async def action_name(self) -> None:
        entry = self.table.selected
        if entry is None or not self._allowed(entry) or self._is_written(entry):
            return
        path = entry.path
        was_open, was_chosen = path == self.workbench.session_path, path == self.table.next_path
        place = await self._ask_name("Rename session", f"Its file stays in {path.parent}.", path.stem, path.parent)
        if place is None:
            return
        if was_open:
            self.workbench.close_session()

        def work() -> Path:
            rename(path, place)
            if was_chosen:
                runs.choose_session(place)
            return place

        def done(now: Path) -> None:
            self._arrived(now, f"Renamed {one_line(path.stem, 60)} to {one_line(now.stem, 60)}.")
            if was_open:
                self.workbench.open_session(now)

        self._do_with_files(work, done, lambda: self.workbench.open_session(path) if was_open else None)

    def _is_written(self, entry: SessionEntry) -> bool:
        running = entry.facts is not None and entry.facts.state in {"running", "queued"}
        if running:
            text = f"{entry.path.name} has an active run; cancel it first ({key_of('sessions.cancel')})."
            self.notify(text, severity="warning")
        return running

    def action_delete(self) -> None:
        entry = self.table.selected
        if entry is None:
            return
        if entry.deleted is not None:
            self._bring_back(entry.deleted)
            return
        if not self._allowed(entry) or self._is_written(entry):
            return
        path = entry.path
        if path == self.workbench.session_path:
            self.workbench.close_session()
        name = one_line(path.stem, 60)
        text = f"{name} was deleted: {key_of('sessions.bring-back')} brings it back, {key_of('sessions.all')} shows all deleted ones."
        self._do_with_files(lambda: delete(path, paths.sessions_dir()), lambda _: self.notify(text, timeout=8))

    def action_bring_back(self) -> None:
        self._bring_back(None)

    def _bring_back(self, deleted: Deleted | None) -> None:

        def work() -> Path | None:
            newest = deleted or next(iter(deleted_sessions(paths.sessions_dir())), None)
            return restore(newest) if newest is not None else None

        def done(path: Path | None) -> None:
            if path is None:
                self.notify("The trash is empty.", timeout=4)
            else:
                self._arrived(path, f"Restored {one_line(path.stem, 60)}.")

        self._do_with_files(work, done)

    @work
    async def action_merge(self) -> None:
        sources = list(self.table.marked)
        if len(sources) < 2:
            self.notify(
                with_keys("Mark two or more sessions with {sessions.mark}, then press {sessions.merge}."), timeout=6
            )
            return
        names = ", ".join(one_line(path.stem, 40) for path in sources[:4]) + (", …" if len(sources) > 4 else "")
        note = f"The name of the new session; {names} are not changed."
        place = await self._ask_name(f"Merge {len(sources)} sessions", note, "")
        if place is None:
            return
        self.notify(f"Merging {len(sources)} sessions…", timeout=3)

        def work() -> Merged:
            from workbench.engine.merging import merge

            return merge(sources, place)

        def done(result: Merged) -> None:
            self.table.marked = []
            self._arrived(result.path, result.sentence())

        self._do_with_files(work, done)

    @work
    async def action_import_files(self) -> None:
        entry = self.table.selected
        sound = entry is not None and not entry.example and not entry.problem and entry.deleted is None
        into = entry.path if entry is not None and sound else None
        named = one_line(into.stem, 40) if into else "a new session"
        await self.app.push_screen_wait(ImportDialog(self.workbench, f"{Path.cwd()}/", into, named, self._show_import))

    def _show_import(self, order: ImportOrder) -> None:
        self.notify("Importing…", timeout=3)
        self._do_with_files(lambda: import_result(order), lambda result: self._arrived(*result))

    @work
    async def action_export(self) -> None:
        entry = self.table.selected
        if entry is not None and not entry.problem and entry.deleted is None:
            await ask_and_export(self.workbench, entry.path, {})
