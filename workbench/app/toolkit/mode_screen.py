"""The frame of every mode: header, footer, panes that fold or become tabs, and keys to move between panes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.geometry import Size
from textual.widget import Widget

from workbench.app.keys import bindings
from workbench.app.toolkit.actions import LabelActions, LabelTarget, copy
from workbench.app.toolkit.header import Header, KeyBar, StatusLine
from workbench.app.toolkit.lifecycle import BaseScreen, is_gone
from workbench.app.toolkit.literal import set_title, title_of
from workbench.app.toolkit.pane import PaneTabs, TooSmall, TourPanel
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.virtual_view import VirtualView
from workbench.app.toolkit.workers import LiveLoader
from workbench.base.text import shortened

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.location import Location
    from workbench.pages.page import ReportPage
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change


class ModeScreen(BaseScreen[None]):
    """The base class of modes; a subclass yields its panes from :meth:`compose_body`.

    A *pane* is any widget with the class ``pane`` and a border title. The pane with the focus has the class
    ``-current``, and each ``pane-group`` around it ``-has-current``. The first pane may be a ``pane-left``, which
    folds away below 100 columns while another pane has the focus. Below 80×24 (``-tabs``) only the current pane is
    shown, under a line of tabs; below 40×12 (``-tiny``) only a message is shown. ``mode_name`` is the title of
    notices.
    """

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-w-none"), (40, "-w-tabs"), (80, "-w-narrow"), (100, "-w-wide"), (160, "-w-huge")]
    VERTICAL_BREAKPOINTS = [(0, "-h-none"), (12, "-h-tabs"), (24, "-h-full"), (48, "-h-tall")]
    BINDINGS = bindings("pane")

    mode_name: ClassVar[str] = ""
    first_pane: str = ""  # id of the initial pane, by default the first one
    searches: ClassVar[bool] = False
    """Whether ``/`` searches all texts of the run instead of narrowing a list."""
    own_resume: ClassVar[bool] = False
    """Whether the resume key acts on the selected row instead of the open session."""
    _own_status = False

    @property
    def workbench(self) -> WorkbenchApp:
        return cast("WorkbenchApp", self.app)

    def __init__(self) -> None:
        super().__init__()
        self._is_ready = False
        # Loads the screen's data from the open session; screens that reload as a whole replace it.
        self.live: LiveLoader[Any] = LiveLoader(self, "session", lambda reader: None, lambda found: None)
        self._labels = LabelActions(self.workbench, self, self.labels_written)
        # Setting classes before mounting is cheap; later it would restyle every widget.
        self.set_classes(self._classes_for(self.app.size))
        # The styles have been parsed already; without this, Textual would parse them again.
        self._css_update_count = self.app._css_update_count

    def _classes_for(self, size: Size) -> set[str]:
        assert self.HORIZONTAL_BREAKPOINTS is not None
        assert self.VERTICAL_BREAKPOINTS is not None
        names = self._get_breakpoint_classes(size.width, self.HORIZONTAL_BREAKPOINTS)
        names = names | self._get_breakpoint_classes(size.height, self.VERTICAL_BREAKPOINTS)
        return names | _room(size)

    def on_resize(self, event: events.Resize) -> None:
        room = _room(event.size)
        self.update_classes({name: name in room for name in ("-tabs", "-tiny")})

    def compose(self) -> ComposeResult:
        yield StatusLine()
        yield PaneTabs()
        body = list(self.compose_body())
        inside = [widget for widget in body if widget.has_class("pane")]
        first = next((widget for widget in inside if widget.id == self.first_pane), inside[0] if inside else None)
        if first is not None:
            # Widgets are styled when they are mounted, so no update is needed yet.
            first.add_class("-current", update=False)
            self.set_class(first.has_class("pane-left"), "-left-open", update=False)
        yield Container(*body, id="body")
        yield TourPanel()
        yield TooSmall()
        yield KeyBar()

    def compose_body(self) -> Iterable[Widget]:
        return ()

    def set_status(self, header: str | Header) -> None:
        """Replace the session's facts on the right side of the header; the last part is the state."""
        self._own_status = True
        self.query_one(StatusLine).show(header)

    def on_facts_changed(self, sentence: str) -> None:
        if not self._own_status:
            self.query_one(StatusLine).show(sentence)

    # -- the session

    def on_mount(self) -> None:
        """Follow the open session. Textual calls ``on_mount`` of subclasses as well, so they do not use ``super``."""
        self.workbench.session_opened.subscribe(self, self._session_opened)
        self.workbench.session_changed.subscribe(self, self.on_session_changed)
        self.workbench.facts_changed.subscribe(self, self.on_facts_changed)
        self.workbench.after_first_paint(self._get_ready)

    @property
    def takes_keys(self) -> bool:
        return self._is_ready

    async def _get_ready(self) -> None:
        if is_gone(self):
            return
        current = self.current_pane or next(iter(self.panes), None)
        if current is not None:
            self._make_current(current)
        await self.after_first_paint()
        if is_gone(self):
            return
        if self.workbench.reader is not None:
            self._session_opened(self.workbench.reader)
            self.on_facts_changed(self.workbench.facts_sentence)
        else:
            self.marks_changed()
        self._is_ready = True
        self.keys_can_come()

    async def after_first_paint(self) -> None:
        """Focus the first pane; modes may override this to build widgets that the first paint does not need."""
        if self.focused is None and self.current_pane is not None:
            self._focus_inside(self.current_pane)

    def _session_opened(self, reader: SessionReader | None) -> None:
        self.marks_changed()
        self.on_session_opened(reader)

    def marks_changed(self) -> None:
        path = self.workbench.session_path
        line = self.query_one(StatusLine)
        line.session = path.name if path else "no session"
        line.marked = self.workbench.marks.sentence(path)

    def on_screen_resume(self) -> None:
        if self.query(StatusLine):
            self.marks_changed()

    def action_leave(self) -> None:
        self.dismiss()

    def on_session_opened(self, reader: SessionReader | None) -> None:
        """Show the opened session, or nothing if ``reader`` is None; also called once after mounting."""
        self.live.refresh()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        self.live.on_changes(changes)

    def location(self) -> Location | None:
        """Return the current location for the history, or None if this screen only leads to other screens."""
        return None

    def files(self) -> Iterable[str]:
        return ()

    @property
    def files_of(self) -> str:
        return ""

    def go_to_file(self, path: str) -> None:
        """Show one of the files that :meth:`files` lists."""

    # -- stars and tags

    def labelled(self) -> LabelTarget | None:
        return None

    def labels_written(self) -> None:
        """Called after stars or tags changed, including those in a session other than the open one."""

    def action_star(self) -> None:
        target = self.labelled()
        if target is not None:
            self._labels.star(target)

    @work
    async def action_tags(self) -> None:
        target = self.labelled()
        if target is not None:
            await self._labels.ask(target)

    def action_copy(self) -> None:
        shown, pane = self.focused, self.current_pane
        if isinstance(shown, VirtualView) and (text := shown.plain_text()).strip():
            copy(self.workbench, title_of(pane) if pane is not None else "", text, shown.missing_of(text))
        else:
            self.notify("There is nothing to copy here.")

    @work
    async def action_remark(self) -> None:
        target = self.labelled()
        if target is not None:
            await self._labels.remark(target)

    @work
    async def action_export(self) -> None:
        from workbench.app.toolkit.export_dialog import ask_and_export

        if self.workbench.session_path is not None:
            await ask_and_export(self.workbench, self.workbench.session_path, self.exported)

    @property
    def exported(self) -> dict[str, str | Callable[[], ReportPage]]:
        """The parts offered by the export dialog: the selected item, and the visible rows of the table."""
        item, table, reader = self.labelled(), next(iter(self.query(VirtualTable)), None), self.workbench.reader
        parts: dict[str, str | Callable[[], ReportPage]] = {}
        if item is not None and reader is not None and reader.run(item.item) is None:  # a run has no page
            parts[shortened(item.name, 40)] = item.item
        return parts if table is None or not table.shown else {**parts, "these rows": table.as_page}

    # -- panes

    @property
    def panes(self) -> list[Widget]:
        return [pane for pane in self.query(".pane") if not pane.has_class("-off")]

    @property
    def current_pane(self) -> Widget | None:
        return next((pane for pane in self.panes if pane.has_class("-current")), None)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        for node in event.widget.ancestors_with_self:
            if isinstance(node, Widget) and node.has_class("pane"):
                self._make_current(node)
                return

    def _make_current(self, current: Widget) -> None:
        for pane in self.query(".pane"):
            pane.set_class(pane is current, "-current")
        for group in self.query(".pane-group"):
            group.set_class(group in current.ancestors, "-has-current")
        self.set_class(current.has_class("pane-left"), "-left-open")
        self._refresh_tabs()

    def _refresh_tabs(self) -> None:
        names = ((getattr(pane, "short", "") or title_of(pane) or pane.id or "", pane) for pane in self.panes)
        self.query_one(PaneTabs).tabs = tuple((name, pane.has_class("-current")) for name, pane in names)

    def on_pane_tabs_pane_activated(self, message: PaneTabs.PaneActivated) -> None:
        if message.index < len(self.panes):
            self.focus_pane(self.panes[message.index])

    def retitle(self, selector: str, title: str, subtitle: str = "") -> None:
        set_title(self.query_one(selector), title, subtitle)
        self._refresh_tabs()

    def focus_pane(self, pane: Widget) -> None:
        """Make a pane visible and focus its first focusable widget."""
        self._make_current(pane)
        self.call_after_refresh(self._focus_inside, pane)

    def _focus_inside(self, pane: Widget) -> None:
        inside = [pane] if pane.focusable else [child for child in pane.query("*") if child.focusable and child.display]
        self.set_focus(inside[0] if inside else None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not (action == "next_pane" and self.is_mounted and len(self.panes) == 1)

    def action_next_pane(self, step: int) -> None:
        panes, current = self.panes, self.current_pane
        if panes:
            at = panes.index(current) if current in panes else 0
            self.focus_pane(panes[(at + step) % len(panes)])


def _room(size: Size) -> set[str]:
    if size.width < 40 or size.height < 12:
        return {"-tiny"}
    return {"-tabs"} if size.width < 80 or size.height < 24 else set()
