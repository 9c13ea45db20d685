"""The screen of the Cases mode, which shows cases and their files and starts runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import work
from textual.containers import Container, Vertical
from textual.widget import Widget

from workbench.app.keys import bindings, key_of, with_keys
from workbench.app.location import Anchor, Location
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.workers import LatestWorker, LiveLoader
from workbench.base.text import plural

if TYPE_CHECKING:
    from workbench.app.cases.files import CaseEntry, CaseFiles, Fetcher, FileContent
    from workbench.app.cases.panes import CaseList, FileView, Outline, RepositoryTree
    from workbench.app.toolkit.row_list import RowList
    from workbench.repository.functions import OutlineItem
    from workbench.results.scores import AgentScore
    from workbench.session.reader import SessionReader


Scores = dict[str, tuple["AgentScore", ...]]


class CasesScreen(ModeScreen):
    """Shows cases on the left, the files of a case in the middle, and a file with its outline on the right."""

    mode_name = "Cases"
    BINDINGS = bindings("cases")

    case_list: CaseList
    file_tree: RepositoryTree
    file_view: FileView
    outline: Outline

    def __init__(self) -> None:
        super().__init__()
        self.entries: tuple[CaseEntry, ...] = ()
        # Per case: the progress of fetching it (False), or the reason why its files are not available (True).
        self._notes: dict[str, tuple[str, bool]] = {}
        self._fetcher: Fetcher | None = None
        # Errors in the session file are ignored here: they are reported on opening the session, and by the feed.
        self.live = LiveLoader(
            self, "case-scores", self._read_scores, self._show_scores, lambda _: None, kinds={"score", "trial"}
        )
        self._listing = LatestWorker(self, "case-listing")
        self._opening, self._reading = LatestWorker(self, "case-files"), LatestWorker(self, "case-file")
        self._adding = LatestWorker(self, "case-add", every=True)
        self._shown_key: str | None = None
        self._shown_path: str | None = None
        self._ready = False
        self._wanted_case = self._wanted_path = ""

    def location(self) -> Location | None:
        place = Anchor(item=self._shown_path) if self._shown_path else None
        return Location(self.workbench.session_path, "cases", self._shown_key or "", place)

    def files(self) -> Iterable[str]:
        repository = self.file_tree.repository if self._ready else None
        return [file.path for file in repository.snapshot.files] if repository is not None else ()

    @property
    def files_of(self) -> str:
        return self._shown.case.name if self._shown is not None else ""

    @property
    def _shown(self) -> CaseEntry | None:
        return next((entry for entry in self.entries if entry.key == self._shown_key), None)

    def go_to_file(self, path: str) -> None:
        self.workbench.leave_place()
        self._wanted_path = path
        self._show_wanted_file()

    def show_case(self, key: str, path: str = "") -> None:
        """Select a case and, once its files are loaded, the file with a path."""
        self._wanted_case, self._wanted_path = key, path
        if not self._ready or not self.entries:
            return
        self._wanted_case = ""
        self.case_list.go_to_key(key)
        entry, repository = self.case_list.entry, self.file_tree.repository
        if entry is not None and entry.key != self._shown_key:
            self._show_case(entry)
        if path and repository is not None and repository.key == key:
            self._show_wanted_file()
        elif not path:
            self.focus_pane(self.query_one("#cases"))

    def _show_wanted_file(self) -> None:
        path, self._wanted_path = self._wanted_path, ""
        if path and self.file_tree.reveal(path):
            self.focus_pane(self.query_one("#files"))

    def compose_body(self) -> Iterable[Widget]:
        yield set_title(Container(id="cases", classes="pane pane-left"), "Cases")
        yield set_title(Container(id="files", classes="pane"), "Files")
        yield Vertical(id="right", classes="pane-group")

    async def after_first_paint(self) -> None:
        from workbench.app.cases.panes import CaseList, FileView, Outline, RepositoryTree
        from workbench.app.toolkit.text_widgets import Static

        self.case_list, self.file_tree = CaseList(id="case-list"), RepositoryTree(id="file-tree")
        self.file_view, self.outline = FileView(id="file-text"), Outline(id="file-outline")
        state = Static("", id="files-state", classes="state")
        state.display = False
        text = set_title(Container(self.file_view, id="text", classes="pane"), "About")
        outline = set_title(Container(self.outline, id="outline", classes="pane -off"), "Functions")
        await self.query_one("#cases").mount(self.case_list)
        await self.query_one("#files").mount(self.file_tree, state)
        await self.query_one("#right").mount(text, outline)
        self._ready = True
        if self.is_current:
            self.case_list.focus()
        self._list_cases()

    def _read_scores(self, reader: SessionReader) -> Callable[[], Scores] | None:
        def work() -> Scores:
            from workbench.results.scores import last_scores

            return last_scores(reader)

        return work if self._ready else None

    def _show_scores(self, scores: Scores) -> None:
        from workbench.app.cases.panes import about

        self.case_list.scores = scores
        self.case_list.refresh()
        if self._shown is not None and self._shown_path is None:
            self.file_view.show(about(self._shown, scores.get(self._shown.key, ())), keep_place=True)

    # -- the list

    def _list_cases(self) -> None:
        def work() -> tuple[Sequence[CaseEntry], Sequence[str]]:
            from workbench.app.cases.files import list_cases

            return list_cases()

        def done(found: tuple[Sequence[CaseEntry], Sequence[str]]) -> None:
            listed, problems = found
            self._show_list((*listed, *self.entries))
            if problems:
                self.notify("\n".join(problems), title="Test cases", severity="warning", timeout=12)

        self._listing.ask(work, done)

    def _show_list(self, entries: Sequence[CaseEntry]) -> None:
        from workbench.app.toolkit.document import plain

        self.entries = tuple(entries)
        self.case_list.show(entries)
        self._title_list()
        if not entries:
            nothing = "There are no test cases here.\nPress {cases.open} to open any folder, git URL or NAME==VERSION."
            self.file_view.show(plain(with_keys(nothing)))
        elif self._wanted_case:
            self.show_case(self._wanted_case, self._wanted_path)
        elif self.case_list.entry is not None and self.case_list.entry.key != self._shown_key:
            self._show_case(self.case_list.entry)

    def _title_list(self) -> None:
        marked = len(self.case_list.marked)
        self.retitle("#cases", f"Cases {len(self.case_list.entries)}", f"{marked} marked" if marked else "")

    def _show_case(self, entry: CaseEntry) -> None:
        from workbench.app.cases.panes import about

        self._shown_key = entry.key
        self._shown_path = None
        self.file_tree.show(None)
        self._show_outline(())
        self.retitle("#text", "About")
        self.file_view.show(about(entry, self.case_list.scores.get(entry.key, ())))
        self.retitle("#files", entry.case.name)
        self._open(entry)

    def on_row_list_row_highlighted(self, message: RowList.RowHighlighted) -> None:
        if message.row_list is self.case_list:
            self._title_list()
            entry = self.case_list.entry
            if entry is not None and entry.key != self._shown_key:
                self._show_case(entry)
        elif message.row_list is self.file_tree:
            self._preview()
        elif message.row_list is self.outline:
            self._go_to_definition()

    def on_row_list_row_selected(self, message: RowList.RowSelected) -> None:
        if message.row_list is self.case_list:
            self.action_run()
        else:
            self.on_row_list_row_highlighted(message)
            self.focus_pane(self.query_one("#text"))

    # -- files

    def _show_files_note(self, text: str, failed: bool = False) -> None:
        from workbench.app.toolkit.text_widgets import Static

        self.file_tree.display = not text
        state = self.query_one("#files-state", Static)
        state.display = bool(text)
        state.update(text)
        state.set_class(failed, "-failed")

    def _open(self, entry: CaseEntry) -> None:
        """Load the files of a case, unless they are being fetched or are unavailable."""
        if entry.key in self._notes:
            self._show_files_note(*self._notes[entry.key])
            return
        self._show_files_note("Loading…")

        def work() -> CaseFiles | None:
            from workbench.app.cases.files import load_files

            return load_files(entry)

        self._opening.ask(work, partial(self._show_repository, entry), partial(self._note, entry, failed=True))

    def _note(self, entry: CaseEntry, text: str, *, failed: bool = False) -> None:
        self._notes[entry.key] = text, failed
        if entry.key == self._shown_key:
            self._show_files_note(text, failed)

    def _show_repository(self, entry: CaseEntry, repository: CaseFiles | None) -> None:
        if entry.key != self._shown_key:
            return
        if repository is None:
            todo = "Press {cases.fetch} to fetch it, or {cases.run} to run an agent, which also fetches it."
            self._show_files_note(f"Not fetched yet.\n\n{with_keys(todo)}")
        elif not repository.snapshot.files:
            self._show_files_note("This repository is empty.")
        else:
            self._show_files_note("")
            self.file_tree.show(repository)
            self._show_wanted_file()
            if self.focused is None and self.current_pane is self.query_one("#files"):
                self.file_tree.focus()
            hidden = f"{repository.hidden:,} hidden from agents · " if repository.hidden else ""
            title = f"{entry.case.name} · {plural(len(repository.snapshot.files), 'file')}"
            self.retitle("#files", title, f"{hidden}sizes in bytes")

    def action_fetch(self) -> None:
        entry = self.case_list.entry
        if entry is None:
            return
        _, failed = self._notes.get(entry.key, ("", None))
        if failed is None and entry.fetched:
            self.notify(f"The files of {entry.case.name} are already available.")
        elif failed is not False:  # not already being fetched
            self._fetch(entry)

    def _fetch(self, entry: CaseEntry) -> None:
        self._note(entry, f"Fetching {entry.case.name}…")
        fetching = LatestWorker(self, "case-fetch")  # one worker per case, since several may be fetched at once

        def work() -> CaseFiles | None:
            from workbench.app.cases.files import Fetcher, load_files

            if self._fetcher is None:
                self._fetcher = Fetcher()
            self._fetcher.fetch(entry, partial(fetching.report, partial(self._note, entry)))
            return load_files(entry)

        def done(repository: CaseFiles | None) -> None:
            del self._notes[entry.key]
            self._show_list([replace(one, fetched=True) if one.key == entry.key else one for one in self.entries])
            self._show_repository(entry, repository)

        def failed(text: str) -> None:
            self._note(entry, f"{text}\n\nPress {key_of('cases.fetch')} to try again.", failed=True)

        fetching.ask(work, done, failed)

    def on_unmount(self) -> None:
        if self._fetcher is not None:  # safe at any time: partial downloads never enter the cache
            self._fetcher.close()

    def _preview(self) -> None:
        node, repository = self.file_tree.node, self.file_tree.repository
        if node is None or repository is None or node.folder:
            return
        key, path, root = repository.key, node.path, repository.snapshot.root

        def work() -> FileContent:
            from workbench.app.cases.files import read_file

            return read_file(root, path)

        self._reading.ask(work, partial(self._show_file, key, path), partial(self._show_file, key, path, None))

    def _show_file(self, key: str, path: str, shown: FileContent | None, problem: str = "") -> None:
        from workbench.app.toolkit.document import plain

        node = self.file_tree.node
        if key != self._shown_key or node is None or node.path != path:
            return
        self._shown_path = path
        self.retitle("#text", path, "hidden from agents" if node.hidden else "")
        if shown is None:
            self.file_view.show(plain(problem, style="notice"))
            self._show_outline(())
        else:
            self.file_view.show(shown.document)
            self._show_outline(shown.outline)

    def _show_outline(self, items: tuple[OutlineItem, ...]) -> None:
        self.query_one("#outline").set_class(not items, "-off")
        self.outline.show(items)
        classes = sum(item.kind == "class" for item in items)
        functions = len(items) - classes
        self.retitle("#outline", f"Functions {functions}" + (f" · classes {classes}" if classes else ""))
        if self.current_pane is None:
            self.focus_pane(self.query_one("#text"))

    def _go_to_definition(self) -> None:
        if 0 <= self.outline.cursor < len(self.outline.items):
            line = self.outline.items[self.outline.cursor].start_line - 1
            self.file_view.scroll_to(y=0, animate=False, immediate=True)
            self.file_view.go_to(line)

    # -- actions

    def action_back(self) -> None:
        if self.current_pane is self.query_one("#cases"):
            self.case_list.marked.clear()
            self._title_list()
            self.case_list.refresh()
        else:
            self.focus_pane(self.query_one("#cases"))

    @work
    async def action_run(self) -> None:
        from workbench.app.cases.run_dialog import ask_and_run

        chosen = self.case_list.chosen
        if chosen:
            await ask_and_run(self.workbench, [(entry.key, entry.case.name) for entry in chosen])

    @work
    async def action_test_docs(self) -> None:
        if self.case_list.entry is not None:
            await self.workbench.ask_and_regenerate(self.case_list.entry.key)

    @work
    async def action_new_study(self) -> None:
        marked = self.case_list.marked
        await self.workbench.ask_for_study([entry.key for entry in self.case_list.entries if entry.key in marked])

    @work
    async def action_open_repository(self) -> None:
        from workbench.app.toolkit.form import AskText

        text = await self.app.push_screen_wait(
            AskText(
                "Open repository",
                "A folder, a git URL (git+https://…@revision), or a source distribution (NAME==VERSION). "
                "It is listed until you quit; `workbench cases --add SOURCE` adds it permanently.",
                placeholder="~/projects/thing",
                paths=True,
            )
        )
        if text:
            self._add(text)

    def _add(self, text: str) -> None:
        def work() -> CaseEntry:
            from workbench.app.cases.files import entry_of
            from workbench.catalog import case_from_source, check_there

            case = case_from_source(text)
            check_there(case)
            return entry_of(case, case.source)

        def done(entry: CaseEntry) -> None:
            self._show_list([*(other for other in self.entries if other.key != entry.key), entry])
            self.case_list.go_to_key(entry.key)
            if not entry.fetched:
                self.action_fetch()
            self.focus_pane(self.query_one("#files"))

        failed = partial(self.notify, title="Open repository", severity="error", timeout=12)
        self._adding.ask(work, done, failed)
