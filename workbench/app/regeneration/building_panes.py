"""Task building as it goes and as it went: stages, counts at every stage, and what was excluded with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container, Horizontal

from workbench.app.key_table import key_of
from workbench.app.regeneration import funnel
from workbench.app.regeneration.building import TESTS, CountList, ExcludedList, StageList, excluded
from workbench.app.regeneration.loading import Excluded, RunView
from workbench.app.regeneration.wording import plural
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.texts import Static
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.regeneration.funnel import Quarantined

_NOTHING: Excluded = Excluded((), ())


class StagesPane(Pane):
    """How far each stage is."""

    short = "Stages"

    def compose(self) -> ComposeResult:
        """Compose the list."""
        yield StageList(id="stage-list")


class CountsPane(Pane):
    """How many functions were left after each stage."""

    short = "Counts"

    def compose(self) -> ComposeResult:
        """Compose the heading and the list."""
        yield Static("", id="counts-heading")
        yield CountList(id="count-list")

    def on_resize(self) -> None:
        """Fit the heading to the columns."""
        self.call_after_refresh(self._show_heading)

    def _show_heading(self) -> None:
        counts = self.query_one(CountList)
        self.query_one("#counts-heading", Static).update(counts.heading(counts.text_width))


class ExcludedPane(Pane):
    """What was excluded, and below the list all of the reason of the row under the cursor."""

    short = "Dropped"

    def compose(self) -> ComposeResult:
        """Compose the list and the reason."""
        yield ExcludedList(id="excluded-list")
        yield Static("", id="excluded-reason")


class Building(Container):
    """The three panes; the count under the cursor says what is listed below."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._view: RunView | None = None
        self._excluded = _NOTHING
        self._tests: tuple[Quarantined, ...] = ()
        self.needle = ""

    def compose(self) -> ComposeResult:
        """Compose stages beside counts, over what was excluded."""
        yield Horizontal(
            StagesPane(id="stages", classes="pane"),
            CountsPane(id="counts", classes="pane"),
            id="building-top",
            classes="pane-group",
        )
        yield ExcludedPane(id="excluded", classes="pane")

    def show_run(self, view: RunView, found: Excluded) -> None:
        """Show how the run's tasks are, or were, built."""
        self._view, self._excluded = view, found
        self._tests = funnel.quarantined(found.unused)
        self.query_one(StageList).show(view.stages, live=view.live)
        counts = funnel.counts(view.stages, funnel.by_stage(found.dropped), view.tasks, view.excluded, live=view.live)
        self.query_one(CountList).show(counts, view.stages, self._tests)
        self._title_stages()
        self.query_one(CountsPane).titled(plural(view.tasks, "task") if view.tasks else "Counts")
        self._show_excluded()

    def _title_stages(self) -> None:
        """Say all of what the stage under the cursor says; while tasks are built, of the running one."""
        view, listed = self._view, self.query_one(StageList)
        if view is None:
            return
        at = listed.cursor if listed.has_focus else -1
        if at < 0:
            at = next((n for n, stage in enumerate(listed.stages) if stage.state == "running"), -1)
        note = listed.stages[at].note or "" if 0 <= at < len(listed.stages) else ""
        title = "Building tasks" if view.building else "How the tasks were built"
        self.query_one(StagesPane).titled(title, one_line(note.partition("\n")[0], 100))

    def find(self, needle: str) -> None:
        """List only what contains a text, "" for all."""
        self.needle = needle.strip()
        self._show_excluded()

    def forget(self) -> bool:
        """Take away the text or the stage by which the list is narrowed; False if it is not."""
        counts = self.query_one(CountList)
        if self.needle:
            self.find("")
        elif counts.cursor > 0:
            counts.set_cursor(0)
        else:
            return False
        return True

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """List what was excluded at the count under the cursor, or tell the whole reason."""
        if message.row_list is self.query_one(CountList):
            self._show_excluded(from_top=True)
        elif message.row_list is self.query_one(ExcludedList):
            self._show_reason()
        else:
            self._title_stages()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Go from a count to what was excluded there."""
        if message.row_list is self.query_one(CountList):
            self.query_one(ExcludedList).focus()

    def _show_excluded(self, *, from_top: bool = False) -> None:
        view, found = self._view, self._excluded
        if view is None:
            return
        counts, listed = self.query_one(CountList), self.query_one(ExcludedList)
        key = counts.key
        entries = excluded(key, found.dropped, found.taken_out, self._tests, self.needle)
        if from_top:
            listed.cursor = -1
        listed.show(entries, self._empty(view, key))
        everything = len(self._tests) if key.startswith(TESTS) else len(found.dropped) + len(found.taken_out)
        what = "test" if key.startswith(TESTS) else "function"
        if key.startswith(TESTS):
            title = f"Quarantined {plural(len(entries), what)}"
        else:
            title = f"Dropped {plural(len(entries), what)}"
        title += f" of {everything:,}" if len(entries) != everything else ""
        narrowed = [f"stage: {funnel.REASONS[key]}"] if key in funnel.REASONS else []
        narrowed += [f"with “{one_line(self.needle, 30)}”"] if self.needle else []
        said = " · ".join([*narrowed, f"{key_of('regeneration.escape')} shows all"]) if narrowed else ""
        self.query_one(ExcludedPane).titled(
            f"{title} · {said}" if said else title,
            "" if view.building else f"{key_of('regeneration.dropped')} goes back",
        )
        self._show_reason()

    def _empty(self, view: RunView, key: str) -> str:
        if self.needle:
            return f"Nothing here contains that; {key_of('regeneration.escape')} shows all."
        if key.startswith(TESTS):
            return "The session does not name such tests."
        if view.state == "queued":
            return "Waiting for the engine…"
        if view.live and not view.tasks:
            return "Nothing was dropped so far."
        ended = view.tasks or any(stage.name == "filter" and stage.state == "done" for stage in view.stages)
        return "Nothing was dropped." if ended else "The run ended before any function was looked at."

    def _show_reason(self) -> None:
        current = self.query_one(ExcludedList).current
        text = f"{current[1]}\n{current[2]}" if current is not None else ""
        self.query_one("#excluded-reason", Static).update(text)
