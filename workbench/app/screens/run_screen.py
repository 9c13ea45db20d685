"""What the modes share that follow a run: a line of remarks, a line that asks, deeds, and keys for panes that paint."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from textual.app import ComposeResult
from textual.widgets import Static

from workbench.app.screens.base import ModeScreen
from workbench.app.trajectory.latest import Latest
from workbench.app.trajectory.prompt_line import PromptLine
from workbench.app.trajectory.virtual import Painted
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.deeds import RunDeeds


class Finds(Protocol):
    """What keeps the last search of a mode."""

    def go(self, step: int) -> None:
        """Go to the next (1) or previous (-1) hit."""
        ...


class RunScreen(ModeScreen):
    """A mode that follows a run.

    A subclass says which list takes keys while no painted pane has the focus (:meth:`main_list`), what can be done
    (:meth:`doer`) and who searches (:meth:`seeker`).

    Attributes:
        mode_name: Title of its notices.
        searching: Does the searches.
        doing: Does the deeds.
    """

    mode_name: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self.searching = Latest(self, "search")
        self.doing = Latest(self, "deeds")

    def compose(self) -> ComposeResult:
        """Compose the frame, the remark and the line that asks."""
        yield from super().compose()
        yield Static("", id="remark", markup=False)
        yield PromptLine()

    def main_list(self) -> Painted:
        """Return the pane that keys move in while no other painted one has the focus."""
        raise NotImplementedError

    def doer(self) -> RunDeeds:
        """Return who carries out deeds."""
        raise NotImplementedError

    def seeker(self) -> Finds:
        """Return who searches."""
        raise NotImplementedError

    def set_remark(self, text: str) -> None:
        """Show a line above the keys, such as which hit of how many, "" for none."""
        remark = self.query_one("#remark", Static)
        remark.update(text)
        remark.set_class(bool(text), "-open")
        self.refresh_bindings()

    def on_latest_finished(self, message: Latest.Finished) -> None:
        """Bring a result of a thread to who asked for it."""
        error = message.loader.settle(message)
        if error is not None and "closed database" not in str(error):
            sentence = one_line(str(error) or type(error).__name__, 400)
            self.notify(sentence, title=self.mode_name, severity="error", timeout=10)

    # -- keys

    def painted(self) -> Painted:
        """Return the pane that keys move in."""
        return self.focused if isinstance(self.focused, Painted) else self.main_list()

    def action_move(self, rows: int) -> None:
        """Go down or up in the current pane."""
        self.painted().move(rows)

    def action_page(self, step: int) -> None:
        """Go a page down or up in the current pane."""
        pane = self.painted()
        pane.move(step * max(1, pane.page_height() - 1))

    def action_edge(self, last: bool) -> None:
        """Go to the first or last row of the current pane."""
        self.painted().go_to_end(last)

    def action_search(self) -> None:
        """Ask what to search for."""
        self.query_one(PromptLine).ask("search", "/")

    def action_hit(self, step: int) -> None:
        """Go to the next or previous hit."""
        self.seeker().go(step)

    def action_rerun(self) -> None:
        """Do the selected work once more."""
        self.doer().rerun()

    def action_resume(self) -> None:
        """Have an engine take up what is missing."""
        self.doer().resume()

    def action_cancel(self) -> None:
        """Stop the run."""
        self.doer().cancel()

    def action_export(self) -> None:
        """Write a report."""
        self.doer().export()

    def action_copy(self) -> None:
        """Copy the text of the current pane."""
        self.doer().copy()

    def action_open_outside(self) -> None:
        """Open the text of the current pane in another program."""
        self.doer().open_outside()
