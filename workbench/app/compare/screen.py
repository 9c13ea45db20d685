"""Two trials side by side: what they took and scored, then steps, points, files and READMEs, and what differs in each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.difference_list import DifferenceList
from workbench.app.compare.file_rows import FileRows
from workbench.app.compare.point_rows import PointRows, reasons
from workbench.app.compare.readme_rows import ReadmeRows
from workbench.app.compare.step_rows import StepRows
from workbench.app.compare.summary import Summary
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane_tabs import PaneTabs
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.texts import Static
from workbench.comparison import Comparison, compare, read_side
from workbench.session.judges import in_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

REFRESH_SECONDS = 0.5
"""Time between two readings of a trial that is at work."""
_REASON_LINES = 2
_PANES = {"steps-diff": "Steps", "points-diff": "Points", "files-diff": "Files", "readme-diff": "README"}


class CompareScreen(ModeScreen):
    """Two trials of the open session.

    Args:
        left: The trial that is A.
        right: The trial that is B; differences are B minus A.
        rubric: By which rubric their points are compared, "" where the session has no points.
        judge: By which judge.
    """

    mode_name = "Side by side"
    CSS_PATH = "../styles/compare.tcss"
    # Between 24 and 34 lines there is room for one pane at a time, as there is under 100 columns.
    VERTICAL_BREAKPOINTS = [(0, "-h-none"), (12, "-h-tabs"), (24, "-h-low"), (34, "-h-full"), (48, "-h-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "difference(1)", "difference", key_display="n/N", id="compare.next"),
        Binding("N", "difference(-1)", "Previous difference", id="compare.previous", show=False),
        Binding("v", "only_differences", "hide same", id="compare.only-differences"),
        Binding("s", "swap", "swap", id="compare.swap"),
        Binding("escape", "leave", "back", id="compare.back"),
    ]

    def __init__(self, left: str, right: str, rubric: str = "", judge: str = "") -> None:
        super().__init__()
        self.trials = left, right
        self.loading_trials = Latest(self, "compare")
        self.only_differences = False
        self._scale = rubric, judge
        self._refresh_due = False
        self._first = True

    def compose_body(self) -> Iterable[Widget]:
        """Yield the summary and the panes."""
        lists = (StepRows, PointRows, FileRows, ReadmeRows)
        panes = []
        for (name, title), kind in zip(_PANES.items(), lists, strict=True):
            inside: list[Widget] = [kind(id=f"{name}-list")]
            if kind is PointRows:
                inside.append(Static("", id="point-reasons"))
            panes.append(Container(*inside, id=name, classes="pane"))
            set_title(panes[-1], title)
        panes[0].add_class("-current")
        yield Summary(id="summary")
        yield Container(*panes, id="compare-panes")

    def on_mount(self) -> None:
        """Begin in the steps."""
        self.set_status(" · ".join(filter(None, ["side by side", self._scale[0], self._judge()])))
        self.query_one(Summary).show(None, "Reading both trials…")
        self.workbench.after_first_paint(self.query_one(StepRows).focus)

    def _judge(self) -> str:
        return one_line(in_words(self._scale[1]), 60) if self._scale[1] else ""

    @property
    def lists(self) -> list[DifferenceList]:
        """The list of each pane."""
        return list(self.query(DifferenceList))

    # -- what is shown

    def on_session_opened(self, reader: SessionReader | None) -> None:
        """Read both trials; another session than the one that was open has neither."""
        if reader is None:
            self._show("The session was closed.")
        else:
            self._load()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        """Read again soon where one of the trials changed."""
        if not self._refresh_due and any(change.item in self.trials or change.kind == "run" for change in changes):
            self._refresh_due = True
            self.set_timer(REFRESH_SECONDS, self._refresh_now)

    def _refresh_now(self) -> None:
        self._refresh_due = False
        self._load()

    def _load(self) -> None:
        reader, (left, right), (rubric, judge) = self.workbench.reader, self.trials, self._scale
        if reader is not None:
            self.loading_trials.ask(lambda: _compared(reader, left, right, rubric, judge), self._show, self._show)

    def _show(self, found: Comparison | str) -> None:
        comparison = found if isinstance(found, Comparison) else None
        self.query_one(Summary).show(comparison, found if isinstance(found, str) else "")
        for one in self.lists:
            one.put(comparison)
            if self._first and comparison is not None:
                one.go_to_first_difference()
        self._first = self._first and comparison is None
        self._retitle(comparison)
        self._show_reasons()

    def _retitle(self, comparison: Comparison | None) -> None:
        for name, title in _PANES.items():
            said = _count(name, comparison) if comparison is not None else ""
            folded = "only what differs" if self.only_differences else ""
            set_title(self.query_one(f"#{name}"), f"{title} · {said}" if said else title, folded)

    def _refresh_tabs(self) -> None:
        # Where only one pane has room there is none for counts either.
        self.query_one(PaneTabs).show([(_PANES[pane.id or ""], pane.has_class("-current")) for pane in self.panes])

    def _show_reasons(self) -> None:
        points = self.query_one(PointRows)
        lines = _REASON_LINES * (2 if self.has_class("-h-tall") else 1)
        text = reasons(points.selected, points.text_width - 1, lines)
        self.query_one("#point-reasons", Static).update(text)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Say why the criterion under the cursor has its points."""
        if isinstance(message.row_list, PointRows):
            self._show_reasons()

    # -- what one can do

    def action_difference(self, step: int) -> None:
        """Go to the next or previous difference in the current pane."""
        current = self.focused
        if isinstance(current, DifferenceList) and not current.go_to_difference(step):
            self.notify("Nothing differs here.", timeout=3)

    def action_only_differences(self) -> None:
        """Leave out what is the same, or show it again."""
        self.only_differences = not self.only_differences
        for one in self.lists:
            one.show_only_differences(self.only_differences)
        self._retitle(self.query_one(Summary).comparison)
        self._show_reasons()

    def action_swap(self) -> None:
        """Let A be B and B be A."""
        self.trials = self.trials[::-1]
        self._load()

    def action_leave(self) -> None:
        """Go back to the table of trials."""
        self.dismiss()


def _compared(reader: SessionReader, left: str, right: str, rubric: str, judge: str) -> Comparison | str:
    sides = []
    for name, trial in (("A", left), ("B", right)):
        side = read_side(reader, trial, rubric, judge)
        if side is None:
            return f"Trial {name} is not in the open session."
        sides.append(side)
    return compare(*sides)


def _count(name: str, comparison: Comparison) -> str:
    """Return the figures of a pane for its title."""
    a, b = comparison.left, comparison.right
    if name == "steps-diff":
        common = sum(pair.same for pair in comparison.steps)
        same = len(comparison.steps) == common
        return f"{common:,}, the same" if same else f"A {len(a.steps):,} · B {len(b.steps):,} · {common:,} in common"
    if name == "files-diff":
        return f"A {sum(bool(one.left) for one in comparison.files):,} · B {sum(bool(one.right) for one in comparison.files):,}"
    if name == "readme-diff":
        if a.readme is None or b.readme is None:
            return ""
        diff = comparison.readme
        if diff.same:
            return f"{diff.left_words:,} words, the same"
        return f"words: A {diff.left_words:,} · B {diff.right_words:,} · {diff.common_words:,} in common"
    return _points(comparison)


def _points(comparison: Comparison) -> str:
    """Return how many criteria B wins and loses, and how many cannot be compared."""
    differing = [one for tier in comparison.tiers for one in tier.criteria if one.differs]
    gaps = [one.difference for one in differing if one.difference is not None]
    single = len(differing) - len(gaps)
    parts = [f"B wins {sum(gap > 0 for gap in gaps)}, loses {sum(gap < 0 for gap in gaps)}"] if gaps else []
    parts += [f"{single} scored in one only"] if single else []
    return " · ".join(parts) or ("all the same" if comparison.tiers else "")
