"""What the modes share that follow a run: a line of remarks, a line that asks, actions, and keys for panes that paint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import work
from textual.app import ComposeResult

from workbench.app.key_table import WHY_NOT
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.typed_line import PromptLine
from workbench.app.toolkit.virtual_view import VirtualView

if TYPE_CHECKING:
    from workbench.app.toolkit.actions import RunActions


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
