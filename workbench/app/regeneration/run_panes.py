"""The panes of the Regeneration mode, with search, selection, copying, labels and marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from textual import getters
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget

from workbench.app.keys import bindings, key_of, with_keys
from workbench.app.location import SEVERAL, Anchor, Location, MarkedItem, MarkedPair
from workbench.app.regeneration.building_panes import BuildingPanes
from workbench.app.regeneration.figures_line import EvaluatorLine, FiguresLine
from workbench.app.regeneration.run_watcher import RunWatcher
from workbench.app.regeneration.sample_pane import SampleDetail, SamplePane
from workbench.app.regeneration.task_table import TaskResultTable
from workbench.app.regeneration.wording import REGENERATE, USE, docs_of, short_name
from workbench.app.toolkit.actions import LabelTarget
from workbench.app.toolkit.document import PaneContent
from workbench.app.toolkit.pane import Pane, ScrollTarget
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.run_screen import RunScreen
from workbench.app.toolkit.text_widgets import Static
from workbench.base.text import one_line
from workbench.results.regeneration_runs import RunView
from workbench.results.samples import failing_tests, samples_of
from workbench.results.tasks import TaskLine

if TYPE_CHECKING:
    from workbench.app.toolkit.run_screen import SearchText
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CandidateRow


_HOW_TO_COMPARE = "Mark a task or (in its panes) a sample with {regeneration.mark}, or an evaluator with {regeneration.mark-evaluator}; then press {regeneration.compare} on another one."
_ON_TASKS = frozenset(
    {"filter", "docs", "improve", "sample", "tab", "arrange", "what_went_wrong", "mark", "mark_group", "compare"}
)


# -- search in a run, over task names, candidates, docstrings and failing tests


@dataclass(frozen=True, slots=True)
class SampleHit:
    """A search hit in a tab of a sample, or in the row of a task if the tab is "".

    ``ordinal`` is the index of the hit in its tab; ``reach`` is the number of characters to load to include it.
    """

    task: str
    sample: int | None
    tab: str
    ordinal: int = 0
    reach: int = 0


def hits_of(
    reader: SessionReader, lines: Sequence[TaskLine], group: Group, needle: SearchText, stopped: Callable[[], bool]
) -> Iterator[SampleHit]:
    for line in lines:
        if stopped():
            return
        if needle.in_text(f"{line.path}::{line.name}"):
            yield SampleHit(line.id, None, "")
        task, words = reader.task(line.id), USE if line.usage else REGENERATE
        for n, at in enumerate(needle.in_blob(task.docstring_blob if task is not None else None)):
            yield SampleHit(line.id, None, "Statement" if line.usage else "Docstring", n, at)
        failing: dict[str, list[str]] = {}
        for failed in failing_tests(reader, line.id, group):
            failing.setdefault(failed.candidate_id, []).append(f"{failed.test_id}\n{failed.message}")
        for number, row in enumerate(samples_of(reader, line.id, group)):
            for n, at in enumerate(needle.in_blob(row.body_blob)):
                yield SampleHit(line.id, number, words.body, n, at)
            if needle.in_text("\n".join(failing.get(row.id, ()))):
                yield SampleHit(line.id, number, "Failing")


class RunPanes(RunScreen):
    """The base of the mode's screen, with the widgets of a run."""

    mode_name = "Regeneration"
    CSS_PATH = "../styles/regeneration.tcss"
    BINDINGS = bindings("regeneration")
    first_pane = "tasks"
    view: RunView | None = None  # None until a run has been loaded
    improvements = ""  # status of the last improvement order
    following: RunWatcher

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Vertical(FiguresLine(), EvaluatorLine(), Static("", id="trouble"), id="head")

    def compose_body(self) -> Iterable[Widget]:
        yield Pane(TaskResultTable(id="table"), short="Tasks", id="tasks", classes="pane")
        yield BuildingPanes(id="building", classes="pane-group -off")
        yield SampleDetail()
        yield Static("", id="nothing", classes="state")

    @property
    def selected_task(self) -> TaskLine | None:
        return self.table.selected

    @property
    def shows_building(self) -> bool:
        return self.has_class("-building")

    table = getters.query_one(TaskResultTable)
    building = getters.query_one(BuildingPanes)
    detail = getters.query_one(SampleDetail)

    @property
    def sample(self) -> SamplePane:
        return self.detail.sample

    def _make_current(self, current: Widget) -> None:
        super()._make_current(current)
        self.set_class(current is self.detail.failing, "-at-failing")
        self.refresh_bindings()

    def uncover(self, pane: Widget) -> None:
        """Bring a pane to the front if not all panes fit."""
        if not pane.display or self.has_class("-tabs", "-zoomed") or self.has_class("-w-narrow"):
            self.focus_pane(pane)

    # -- the selected task and sample

    def show_sample(self) -> None:
        """Show the selected sample, or the reason why there is none."""
        reader, view = self.workbench.reader, self.view
        if reader is None or view is None:
            return
        line = self.table.selected
        if line is not None:
            self.detail.show(reader, view, line, self.table.sample)
        elif self.table.selected_group is not None:
            self.detail.show_nothing(f"A group of tasks: {key_of('regeneration.open-task')} shows or hides them.")
        else:
            keys = f"{key_of('regeneration.clear-filter')} clears it, {key_of('regeneration.filter')} changes it"
            self.detail.show_nothing(f"No task passes this filter; {keys}." if view.tasks else "")

    def on_row_list_row_highlighted(self, message: RowList.RowHighlighted) -> None:
        if message.row_list is self.table:
            self.table.move_sample(0)
            self.show_sample()

    def on_row_list_row_selected(self, message: RowList.RowSelected) -> None:
        if message.row_list is self.table:
            self.focus_pane(self.sample)

    def go_to(self, task: str, sample: int | None) -> None:
        if self.table.go_to_task(task, sample):
            self.title_tasks()
            self.show_sample()

    def search_for(self, text: str) -> None:
        """Search and go to the first hit at or below the selected task."""
        if self.shows_building:
            self.building.find(text)
            return
        reader, view, lines, selected = self.reader, self.view, tuple(self.table.rows), self.selected_task
        if reader is None or view is None:
            return
        places = {line.id: place for place, line in enumerate(lines)}
        here = places.get(selected.id, 0) if selected is not None else 0
        self.finder.begin(
            text,
            lambda needle, stopped: hits_of(reader, lines, view.group, needle, stopped),
            lambda hits: next((n for n, hit in enumerate(hits) if places.get(hit.task, 0) >= here), 0),
        )

    def mark_hits(self, needle: str) -> None:
        self.detail.mark(needle)

    def remark_on(self, hit: SampleHit) -> str:
        keys = f"{key_of('regeneration.next-hit')} {key_of('regeneration.previous-hit')} go on"
        return f" · {hit.tab.lower() or 'name'} · {keys}, {key_of('regeneration.escape')} ends"

    def go_to_hit(self, hit: SampleHit) -> None:
        self.go_to(hit.task, hit.sample)
        if hit.tab == "Failing":
            self.uncover(self.detail.failing)
        elif hit.tab:
            self.sample.go(hit.tab, ScrollTarget(hit=hit.ordinal, reach=hit.reach))
            self.uncover(self.sample)

    def labels_written(self) -> None:
        self.detail.reload()

    def title_tasks(self) -> None:
        if self.view is not None:
            self.query_one("#tasks", Pane).titled(*self.table.titles(self.view))

    def marks_changed(self) -> None:
        super().marks_changed()
        reader = self.reader
        self.table.show_leads(self.workbench.marks.letters(reader.path, "task") if reader is not None else {})

    # -- bindings and selection

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self.view
        if action in {"copy", "open_outside"}:
            return self.offers(action)
        match action:
            case "improvements":
                return bool(self.improvements)
            case "problem":
                return view is not None and bool(view.check.problems)
            case "evaluator":
                return view is not None and len(view.groups) > 1
            case "clear_filter":
                # Bindings are checked before the table is mounted.
                return not self.shows_building and any(table.filter.active for table in self.query(TaskResultTable))
            case "steps":
                return view is not None and view.has_steps and not self.shows_building
            case "improve" if view is not None and view.usage:
                return False
            case "dropped":
                return view is not None and not view.building and bool(view.tasks)
            case "run" | "search":
                return view is not None
            case _ if action in _ON_TASKS:
                return view is not None and not self.shows_building
            case _:
                return super().check_action(action, parameters)

    def location(self) -> Location | None:
        if self.view is None:
            return None
        line = self.table.selected
        place = Anchor(self.table.sample, item=line.id) if line is not None else None
        return Location(self.workbench.session_path, "regeneration", self.view.run.id, place, self.following.evaluator)

    def labelled(self) -> LabelTarget | None:
        line = self.table.selected
        if line is None or self.shows_building:
            return None
        if self.detail.has_class("-has-current") and self.detail.candidate:
            return LabelTarget(f"{line.name} · sample {self.table.sample + 1}", self.detail.candidate)
        return LabelTarget(line.name, line.id)

    def subject(self) -> PaneContent:
        """Return the content of the focused pane: the dropped functions, the failing tests or the sample."""
        if self.shows_building:
            listed = self.building.listed.rows
            return PaneContent("what was dropped", "\n".join("\t".join(entry) for entry in listed), ".tsv")
        return self.detail.subject()

    # -- marks

    def action_mark(self) -> None:
        """Mark or unmark the selected task or, if the focus is on the sample panes, the selected sample."""
        if self.detail.has_class("-has-current"):
            self._with_sample(self._toggle_mark)
        else:
            self._toggle_mark(self._task_to_mark())

    def action_mark_group(self) -> None:
        self._toggle_mark(self._group_to_mark())

    def action_compare(self) -> None:
        """Compare the marked items, or one marked item with the selection; without marks, compare two evaluators."""
        marks = self.workbench.marks
        tasks, (a, b) = marks.of("task"), (self._group_to_mark(further) for further in (0, 1))
        if len(tasks) > 2:
            text = f"{key_of('regeneration.compare')} compares two tasks, but {len(tasks):,} are marked: unmark some with {key_of('regeneration.mark')}."
            self.workbench.notify(text, timeout=6)
        elif tasks:
            self._show_pair(marks.pair("task", self._task_to_mark()))
        elif marks.of("candidate"):
            self._with_sample(lambda one: self._show_pair(marks.pair("candidate", one)))
        elif marks.of("group"):
            self._show_pair(marks.pair("group", a))
        else:
            self._show_pair(MarkedPair(a, b) if a is not None and b is not None and not a.same(b) else None)

    def _toggle_mark(self, one: MarkedItem | None) -> None:
        if one is None:
            return
        marks = self.workbench.marks
        gone = len(marks.of("task")) if one.kind != "task" else 0
        marks.toggle(one)
        self.marks_changed()
        letter = marks.letter(one)
        text = f"{letter} is marked: {one.title}; " if letter else "No longer marked."
        if letter == SEVERAL:
            text = f"{marks.sentence(one.session)}: {{regeneration.improve}} improves their docstrings in this run."
        elif letter == "B":
            text += "{regeneration.compare} shows both side by side."
        elif letter:
            text += "go to another one, in any session, and press {regeneration.compare}."
        if gone > 2:
            text += f" {gone:,} tasks are no longer marked."
        self.workbench.notify(with_keys(text), timeout=4)

    def _show_pair(self, pair: MarkedPair | None) -> None:
        if pair is not None:
            # Start with the text that is in front, such as the docstring.
            self.workbench.show_pair(replace(pair, about=self.detail.in_front))
        else:
            self.workbench.notify(with_keys(_HOW_TO_COMPARE), timeout=6)

    def _marked(self, kind: str, key: str | tuple[str, ...], title: str) -> MarkedItem | None:
        reader, view = self.reader, self.view
        if reader is None or view is None:
            return None
        return MarkedItem(reader.path, kind, key, one_line(title, 100), view.run.id)

    def _task_to_mark(self) -> MarkedItem | None:
        view, line = self.view, self.selected_task
        if view is None or line is None:
            return None
        return self._marked("task", line.id, f"{line.name} · {docs_of(view.group)}")

    def _group_to_mark(self, further: int = 0) -> MarkedItem | None:
        if (view := self.view) is None:
            return None
        groups = view.groups
        group = groups[(groups.index(view.group) + further) % len(groups)] if view.group in groups else view.group
        title = f"{short_name(group.evaluator, view.name_of(group))} · {docs_of(group)}"
        return self._marked("group", (group.docs, *group.arguments, group.docs_scope), title)

    def _with_sample(self, then: Callable[[MarkedItem | None], None]) -> None:
        view, reader, line, number = self.view, self.reader, self.selected_task, self.table.sample
        if view is None or reader is None or line is None:
            return
        title = f"{line.name} · {short_name(view.evaluator, view.evaluator)} · sample {number + 1}"

        def done(samples: Sequence[CandidateRow]) -> None:
            if number < len(samples):
                then(self._marked("candidate", samples[number].id, title))
            else:
                self.workbench.notify("This sample was not requested yet.", timeout=4)

        self.doing.ask(partial(samples_of, reader, line.id, view.group), done)
