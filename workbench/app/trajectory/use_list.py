"""The usage result of the displayed README: a list of tasks with the lines that answers are based on, and gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.app.toolkit.columns import TableColumn, fit_end
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.virtual_view import Part
from workbench.base.glyphs import VERDICTS, WAITING
from workbench.base.text import one_line, plural, share

if TYPE_CHECKING:
    from workbench.results.usage import ReadmeUse, TaskUse


def _line(one: TaskUse) -> int:
    """Return the README line of a task's gap or, without a gap, of the mention that the answer is based on; else 0."""
    return one.gap.line if one.gap is not None else one.line or 0


def _verdict(one: TaskUse) -> Part:
    verdicts = [row.verdict for row in one.candidates]
    if one.result.passed and one.gap is None:
        return VERDICTS["passed"], "ok"
    decided = next((verdict for verdict in verdicts if verdict not in (None, "passed")), None)
    return (VERDICTS.get(decided, "?"), "bad") if decided else (WAITING, "waiting")


def _gap(one: TaskUse) -> Part:
    return (one_line(one.gap.words, 300), "warn") if one.gap is not None else ("", "")


COLUMNS: tuple[TableColumn[TaskUse], ...] = (
    TableColumn(title="", cell=_verdict, width=1, text=True),
    TableColumn(title="line", cell=lambda one: (f"{_line(one):,}" if _line(one) else "", "dim"), width=5, sort=_line),
    TableColumn(title="call", cell=lambda one: one_line(one.task.target.name, 200), width=16, widest=40, text=True,
           shorten=fit_end, sort=lambda one: one.task.target.name),
    TableColumn(title="use@1", cell=lambda one: share(one.result.at(1)), width=5, priority=2, sort=lambda one: one.result.at(1)),
    TableColumn(title="gap", cell=_gap, width=13, widest=300, text=True, sort=lambda one: one.gap.kind if one.gap else None,
           brief=lambda one: (one.gap.kind if one.gap else "", "warn")),
    TableColumn(title="section", cell=lambda one: (one_line(one.gap.section, 60) if one.gap else "", "dim"), width=8, widest=30,
           text=True, priority=1),
)  # fmt: skip


class UseList(VirtualTable["TaskUse"]):
    """A row per task, those with gaps first, in the order of the README."""

    LEAD = 1

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda one: one.row.id, id=id)

    def show(self, use: ReadmeUse) -> None:
        self.put(tuple(sorted(use.lines, key=lambda one: (one.gap is None, _line(one), one.task.target.name))))

    @property
    def line(self) -> int:
        """The line of the README that matters for the selected task, or 0 if there is none."""
        return _line(self.selected) if self.selected is not None else 0


def headline(use: ReadmeUse) -> str:
    return f"use@{use.page.use_at[0].k} {share(use.value)}" if use.page.use_at else ""


def sentence(use: ReadmeUse) -> str:
    """Return the figures of a README in words."""
    from workbench.pages.wording import estimate_words

    parts = [f"use@{one.k} {estimate_words(one)}" for one in use.page.use_at]
    parts += [f"{label} {value}" for label, value in use.used.beside(use.page)]
    parts += use.page.outcome.marks
    return " · ".join([*parts, f"by {one_line(use.used.reader, 40)}"])


def brief(use: ReadmeUse) -> str:
    """Return the figures for the title of a pane: use@1, the tasks that the README names, and its gaps."""
    gaps = sum(one.gap is not None for one in use.lines)
    named = f"names {use.page.named} of {len(use.lines)}" if use.page.named is not None else ""
    return " · ".join(filter(None, (headline(use), named, plural(gaps, "gap"))))
