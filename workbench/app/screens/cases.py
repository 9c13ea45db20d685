"""The Cases mode: what can be worked on, file by file, and the two keys that start a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from workbench.app.screens.base import ModeScreen

if TYPE_CHECKING:
    from workbench.app.cases.case_list import CaseList
    from workbench.app.cases.file_view import FileView
    from workbench.app.cases.files import Fetcher, FileShown, Repository
    from workbench.app.cases.listing import AgentScore, CaseEntry
    from workbench.app.cases.trees import Outline, RepositoryTree
    from workbench.app.widgets.row_list import RowList
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change


class CasesListed(Message):
    """The catalog was read."""

    def __init__(self, entries: tuple[CaseEntry, ...], problems: tuple[str, ...]) -> None:
        super().__init__()
        self.entries = entries
        self.problems = problems


class RepositoryOpened(Message):
    """A case's files are known; None: they must be fetched first; a text: why they cannot be had."""

    def __init__(self, key: str, repository: Repository | None, problem: str = "", fetched: bool = False) -> None:
        super().__init__()
        self.key = key
        self.repository = repository
        self.problem = problem
        self.fetched = fetched


class FetchTold(Message):
    """A fetch made progress."""

    def __init__(self, key: str, sentence: str) -> None:
        super().__init__()
        self.key = key
        self.sentence = sentence


class FileRead(Message):
    """A file can be shown, or why not."""

    def __init__(self, key: str, path: str, shown: FileShown | None, problem: str = "") -> None:
        super().__init__()
        self.key = key
        self.path = path
        self.shown = shown
        self.problem = problem


class ScoresRead(Message):
    """The last scores of each agent by case."""

    def __init__(self, scores: dict[str, tuple[AgentScore, ...]]) -> None:
        super().__init__()
        self.scores = scores


class CasesScreen(ModeScreen):
    """Left the cases, in the middle the files of one, right the text of one of these with its outline."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open_repository", "open repository", id="cases.open"),
        Binding("t", "test_docs", "test docs", id="cases.test-docs"),
        Binding("escape", "back", "back", id="cases.back"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[CaseEntry, ...] = ()
        self._opened: list[CaseEntry] = []
        self._problems: tuple[str, ...] = ()
        self._fetching: dict[str, str] = {}
        self._failed: dict[str, str] = {}
        self._shown_key: str | None = None
        self._shown_path: str | None = None
        self._fetcher: Fetcher | None = None
        self._ready = False

    def compose_body(self) -> Iterable[Widget]:
        """Yield three panes, empty: what is in them is built after the first paint."""
        for name, title, classes in (
            ("cases", "Cases", "pane pane-left"),
            ("files", "Files", "pane"),
        ):
            pane = Container(id=name, classes=classes)
            pane.border_title = title
            yield pane
        right = Vertical(id="right", classes="pane-group")
        yield right

    def on_mount(self) -> None:
        """Build the rest once something is on the screen."""
        self.workbench.after_first_paint(self._build)

    async def _build(self) -> None:
        from workbench.app.cases.case_list import CaseList
        from workbench.app.cases.file_view import FileView
        from workbench.app.cases.trees import Outline, RepositoryTree

        text = Container(FileView(id="file-text"), id="text", classes="pane")
        text.border_title = "About"
        outline = Container(Outline(id="file-outline"), id="outline", classes="pane -off")
        outline.border_title = "Functions"
        case_list = CaseList(id="case-list")
        await self.query_one("#cases").mount(case_list)
        await self.query_one("#files").mount(RepositoryTree(id="file-tree"))
        await self.query_one("#right").mount(text, outline)
        self._ready = True
        if self.workbench.screen is self:
            case_list.focus()
        self._list_cases()
        self._read_scores()

    # -- the parts

    @property
    def case_list(self) -> CaseList:
        """The list of cases."""
        from workbench.app.cases.case_list import CaseList

        return self.query_one("#case-list", CaseList)

    @property
    def file_tree(self) -> RepositoryTree:
        """The repository tree."""
        from workbench.app.cases.trees import RepositoryTree

        return self.query_one("#file-tree", RepositoryTree)

    @property
    def file_view(self) -> FileView:
        """The text on the right."""
        from workbench.app.cases.file_view import FileView

        return self.query_one("#file-text", FileView)

    @property
    def outline(self) -> Outline:
        """The outline under it."""
        from workbench.app.cases.trees import Outline

        return self.query_one("#file-outline", Outline)

    # -- the session

    def on_session_opened(self, reader: SessionReader | None) -> None:
        """Read the scores of the session that is open now."""
        self._read_scores()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        """Read the scores again when some may have changed."""
        if any(change.kind in {"score", "trial"} for change in changes):
            self._read_scores()

    def _read_scores(self) -> None:
        reader = self.workbench.reader
        if self._ready and reader is not None:
            self._scores_worker(reader)

    @work(thread=True, exclusive=True, group="case-scores", exit_on_error=False)
    def _scores_worker(self, reader: SessionReader) -> None:
        from workbench.app.cases.listing import last_scores
        from workbench.errors import WorkbenchError

        try:
            scores = last_scores(reader)
        except WorkbenchError:
            return  # the feed tells what is wrong with the file
        self.post_message(ScoresRead(scores))

    def on_scores_read(self, message: ScoresRead) -> None:
        """Show the bars."""
        from workbench.app.cases.file_view import about

        self.case_list.scores = message.scores
        self.case_list.refresh()
        entry = self._entry(self._shown_key) if self._shown_key is not None else None
        if entry is not None and self._shown_path is None:
            self.file_view.show(about(entry, message.scores.get(entry.key, ())), keep_place=True)

    # -- the list

    @work(thread=True, exclusive=True, group="case-listing", exit_on_error=False)
    def _list_cases(self) -> None:
        from workbench.app.cases.listing import list_cases

        self.post_message(CasesListed(*list_cases()))

    def on_cases_listed(self, message: CasesListed) -> None:
        """Show the catalog and open the first case."""
        self._entries, self._problems = message.entries, message.problems
        self._show_list()
        if message.problems:
            self.notify("\n".join(message.problems), title="Test cases", severity="warning", timeout=12)

    def _show_list(self) -> None:
        from workbench.app.cases.file_view import sentence

        entries = (*self._entries, *self._opened)
        self.case_list.show(entries)
        self._title_list()
        if not entries:
            self.file_view.show(
                sentence("There are no test cases here.\nPress o to open any folder, git URL or NAME==VERSION.", "")
            )
        elif self.case_list.entry is not None and self.case_list.entry.key != self._shown_key:
            self._show_case(self.case_list.entry)

    def _title_list(self) -> None:
        marked = len(self.case_list.marked)
        self.retitle("#cases", f"Cases {len(self.case_list.entries)}", f"{marked} marked" if marked else "")

    def _entry(self, key: str) -> CaseEntry | None:
        return next((entry for entry in (*self._entries, *self._opened) if entry.key == key), None)

    def _show_case(self, entry: CaseEntry) -> None:
        from workbench.app.cases.file_view import about

        self._shown_key = entry.key
        self._shown_path = None
        self.file_tree.show(None)
        self._show_outline(())
        self.retitle("#text", "About")
        self.file_view.show(about(entry, self.case_list.scores.get(entry.key, ())))
        self.retitle("#files", entry.case.name)
        if entry.key in self._fetching:
            self._tell_files(self._fetching[entry.key])
        elif entry.key in self._failed:
            self._tell_files(self._failed[entry.key], failed=True)
        else:
            self._tell_files("Reading…")
            self._open_worker(entry)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Follow the cursor of the three lists."""
        if message.row_list is self.case_list:
            self._title_list()
            entry = self.case_list.entry
            if entry is not None and entry.key != self._shown_key:
                self._show_case(entry)
        elif message.row_list is self.file_tree:
            self._preview()
        elif message.row_list is self.outline:
            self._go_to_definition()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Start a run, go to the text of a file, go to a definition."""
        if message.row_list is self.case_list:
            self.action_run()
        elif message.row_list is self.file_tree:
            self._preview()
            self.focus_pane(self.query_one("#text"))
        else:
            self._go_to_definition()
            self.focus_pane(self.query_one("#text"))

    # -- files

    def _tell_files(self, text: str, *, failed: bool = False) -> None:
        """Say in the files pane why there is no tree (empty: there is one)."""
        from textual.widgets import Static

        pane = self.query_one("#files")
        state = pane.query(".state")
        self.file_tree.display = not text
        if not text:
            state.remove()
            return
        if state:
            state.first(Static).update(text)
        else:
            pane.mount(Static(text, classes="state", markup=False))
        for widget in pane.query(".state"):
            widget.set_class(failed, "-failed")

    @work(thread=True, exclusive=True, group="case-files", exit_on_error=False)
    def _open_worker(self, entry: CaseEntry) -> None:
        from workbench.app.cases.files import open_repository
        from workbench.errors import WorkbenchError

        worker = get_current_worker()
        try:
            message = RepositoryOpened(entry.key, open_repository(entry))
        except WorkbenchError as error:
            message = RepositoryOpened(entry.key, None, str(error))
        if not worker.is_cancelled:
            self.post_message(message)

    def on_repository_opened(self, message: RepositoryOpened) -> None:
        """Show the tree, or why there is none."""
        self._fetching.pop(message.key, None)
        if message.problem:
            self._failed[message.key] = message.problem
        if message.fetched:
            from dataclasses import replace

            self._entries = tuple(replace(e, fetched=True) if e.key == message.key else e for e in self._entries)
            self._opened = [replace(e, fetched=True) if e.key == message.key else e for e in self._opened]
            self.case_list.show((*self._entries, *self._opened))
        if message.key != self._shown_key:
            return
        repository = message.repository
        if message.problem:
            self._tell_files(message.problem, failed=True)
        elif repository is None:
            self._tell_files("Not fetched yet.\n\nPress f to fetch it, or enter to run an agent, which fetches it too.")
        elif not repository.snapshot.files:
            self._tell_files("This repository is empty.")
        else:
            self._tell_files("")
            self.file_tree.show(repository)
            if self.focused is None and self.current_pane is self.query_one("#files"):
                self.file_tree.focus()
            count, hidden = len(repository.snapshot.files), repository.hidden
            entry = self._entry(message.key)
            name = entry.case.name if entry is not None else ""
            self.retitle(
                "#files",
                f"{name} · {count:,} file{'s' if count != 1 else ''}",
                (f"{hidden:,} hidden from agents · " if hidden else "") + "sizes in bytes",
            )

    def action_fetch(self) -> None:
        """Fetch the files of the case under the cursor."""
        entry = self.case_list.entry
        if entry is None or entry.key in self._fetching:
            return
        if entry.fetched and entry.key not in self._failed:
            self.notify(f"The files of {entry.case.name} are here already.")
            return
        self._failed.pop(entry.key, None)
        self._fetching[entry.key] = f"Fetching {entry.case.name}…"
        self._tell_files(self._fetching[entry.key])
        self._fetch_worker(entry)

    @work(thread=True, group="case-fetch", exit_on_error=False)
    def _fetch_worker(self, entry: CaseEntry) -> None:
        from workbench.app.cases.files import Fetcher, open_repository
        from workbench.errors import WorkbenchError

        if self._fetcher is None:
            self._fetcher = Fetcher()
        try:
            self._fetcher.fetch(entry.case, lambda sentence: _post(self, FetchTold(entry.key, sentence)))
            message = RepositoryOpened(entry.key, open_repository(entry), fetched=True)
        except WorkbenchError as error:
            message = RepositoryOpened(entry.key, None, f"{error}\n\nPress f to try again.")
        self.post_message(message)

    def on_fetch_told(self, message: FetchTold) -> None:
        """Show how far a fetch is."""
        if message.key in self._fetching:
            self._fetching[message.key] = message.sentence
            if message.key == self._shown_key:
                self._tell_files(message.sentence)

    def on_unmount(self) -> None:
        """End fetches under way: what arrived so far is not in the cache, so nothing half is left."""
        if self._fetcher is not None:
            self._fetcher.close()

    def _preview(self) -> None:
        node, repository = self.file_tree.node, self.file_tree.repository
        if node is not None and repository is not None and not node.folder:
            self._read_worker(repository, node.path)

    @work(thread=True, exclusive=True, group="case-file", exit_on_error=False)
    def _read_worker(self, repository: Repository, path: str) -> None:
        from workbench.app.cases.files import read_file
        from workbench.errors import WorkbenchError

        worker = get_current_worker()
        try:
            message = FileRead(repository.key, path, read_file(repository.snapshot.root, path))
        except WorkbenchError as error:
            message = FileRead(repository.key, path, None, str(error))
        if not worker.is_cancelled:
            self.post_message(message)

    def on_file_read(self, message: FileRead) -> None:
        """Show a file and its outline."""
        from workbench.app.cases.file_view import sentence

        node = self.file_tree.node
        if message.key != self._shown_key or node is None or node.path != message.path:
            return
        self._shown_path = message.path
        self.retitle("#text", message.path, "hidden from agents" if node.hidden else "")
        if message.shown is None:
            self.file_view.show(sentence(message.problem, "notice"))
            self._show_outline(())
        else:
            self.file_view.show(message.shown.document)
            self._show_outline(message.shown.outline)

    def _show_outline(self, items: tuple[object, ...]) -> None:
        pane = self.query_one("#outline")
        pane.set_class(not items, "-off")
        self.outline.show(items)  # type: ignore[arg-type]
        functions = sum(1 for item in self.outline.items if item.kind != "class")
        classes = len(items) - functions
        self.retitle("#outline", f"Functions {functions}" + (f" · classes {classes}" if classes else ""))
        if self.current_pane is None:
            self.focus_pane(self.query_one("#text"))

    def _go_to_definition(self) -> None:
        if 0 <= self.outline.cursor < len(self.outline.items):
            line = self.outline.items[self.outline.cursor].start_line - 1
            self.file_view.scroll_to(y=0, animate=False, immediate=True)
            self.file_view.go_to(line)

    # -- what one can do

    def action_back(self) -> None:
        """Go to the pane on the left; from the first one forget the marks."""
        if self.current_pane is self.query_one("#cases"):
            self.case_list.marked.clear()
            self._title_list()
            self.case_list.refresh()
        else:
            self.focus_pane(self.query_one("#cases"))

    @work
    async def action_run(self) -> None:
        """Ask what to run the chosen cases with, and start."""
        chosen = self.case_list.chosen
        if chosen:
            await self.workbench.ask_and_run([(entry.key, entry.case.name) for entry in chosen])

    @work
    async def action_test_docs(self) -> None:
        """Ask how to regenerate the case under the cursor from its documentation, and start."""
        from workbench.app.regeneration.starting import ask_and_start

        if self.case_list.entry is not None:
            await ask_and_start(self.workbench, self.case_list.entry.key)

    @work
    async def action_open_repository(self) -> None:
        """Browse any folder, git URL or source distribution."""
        from workbench.app.screens.ask import AskText

        text = await self.app.push_screen_wait(
            AskText(
                "Open repository",
                "A folder, a git URL (git+https://…@revision), or a source distribution (NAME==VERSION). "
                "It stays in this list until you leave; `workbench cases add` keeps it.",
                placeholder="~/projects/thing",
            )
        )
        if text:
            self._add_worker(text)

    @work(thread=True, group="case-add", exit_on_error=False)
    def _add_worker(self, text: str) -> None:
        from workbench.app.cases.listing import entry_of
        from workbench.catalog import case_from_source
        from workbench.errors import WorkbenchError

        try:
            case = case_from_source(text)
            entry = entry_of(case, case.source)
        except WorkbenchError as error:
            self.app.call_from_thread(self.notify, str(error), title="Open repository", severity="error", timeout=12)
            return
        self.app.call_from_thread(self._added, entry)

    def _added(self, entry: CaseEntry) -> None:
        self._opened = [other for other in self._opened if other.key != entry.key] + [entry]
        self._show_list()
        self.case_list.go_to_key(entry.key)
        if not entry.fetched:
            self.action_fetch()
        self.focus_pane(self.query_one("#files"))


def _post(screen: CasesScreen, message: Message) -> None:
    if screen.is_running:
        screen.post_message(message)
