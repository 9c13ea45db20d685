"""The table of tasks, with a row per task and a cell per sample."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from textual import events

from workbench.app.keys import bindings, key_of
from workbench.app.regeneration.evaluator_results import OtherSamples
from workbench.app.regeneration.wording import REGENERATE, USE, cell_of, test_name
from workbench.app.toolkit.columns import ColumnLayout, TableColumn, fit_end
from workbench.app.toolkit.filters import Filter, FilterFacet, FilterOption
from workbench.app.toolkit.table import Grouping, TableGroup, VirtualTable
from workbench.app.toolkit.virtual_view import Part
from workbench.base.glyphs import CANCELLED, DOUBTFUL, OUR_ERROR, VERDICTS
from workbench.base.text import NOTHING, clean, one_line, percent, plural, share
from workbench.results.regeneration_runs import RunView
from workbench.results.samples import SampleState
from workbench.results.tasks import DocstringQuality, TaskLine

LEAK, DISAGREES, FLAKY = "≈", "≠", "~"
"""Marks shown before a function's name: its docstring contains its code, re-checks disagree, or flaky tests execute it."""
NO_TAG = "(no tag)"
_FORMER = "former-"
_KIND_STYLES = {DocstringQuality.BADLY: "bad", DocstringQuality.UNTESTABLE: "dim"}


def _class(line: TaskLine) -> str:
    from workbench.regeneration.outcome import class_of

    return class_of(line.name)


def _verdict(line: TaskLine) -> str:
    from workbench.regeneration.outcome import verdict_of

    return "excluded" if line.excluded else verdict_of(line.result)


GROUPINGS: tuple[Grouping[TaskLine], ...] = (
    Grouping("file", lambda line: line.path),
    Grouping("class", _class),
    Grouping("verdict", _verdict),
    Grouping("tag", lambda line: line.labels or NO_TAG),
)


def _name(line: TaskLine) -> Part:
    marks = (DISAGREES if line.disagreeing else "") + (DOUBTFUL if line.doubtful else "")
    marks += (FLAKY if line.unstable else "") + (LEAK if line.leaking else "")
    return f"{marks}{' ' if marks else ''}{one_line(line.name, 200)}", "bad" if DISAGREES in marks else "strong"


def _documented(line: TaskLine) -> Part:
    kind = line.documented_as
    return (kind.value, _KIND_STYLES.get(kind, "")) if kind is not None and not line.usage else ("", "")


def _failing(line: TaskLine) -> Part:
    if line.excluded:
        return f"excluded: {one_line(line.reason or 'a control does not hold', 300)}", "failed"
    # The spaces of a call count.
    failing = clean(line.failing)[:300] if line.usage else test_name(one_line(line.failing, 300))
    return failing + (f" ({line.failing_count})" if line.failing_count > 1 else ""), "dim"


def route_of(line: TaskLine) -> str:
    """Return the routes of a task's verdicts, fastest first: ``hot``, or initials such as ``h+w`` for several."""
    taken = line.routes
    return taken[0] if len(taken) == 1 else "+".join(route[0] for route in taken)


def _passed_of(samples: Sequence[SampleState]) -> Part:
    passed = sum(one.verdict == "passed" for one in samples)
    style = "passed" if passed else "failed"
    again = any(one.retesting for one in samples)
    return f"{passed}/{len(samples)} {VERDICTS['passed']}", _FORMER + style if again else style


def _other(one: OtherSamples) -> TableColumn[TaskLine]:
    def cells(line: TaskLine) -> list[Part]:
        # A dash means that the evaluator was not used or the run lacks the task.
        return [cell_of(sample) for sample in one.samples.get(line.id, ())] or [(NOTHING, "dim")]

    return TableColumn(title=one.name, cell=cells, width=max(7, len(one.name)), widest=20, text=True,
                  brief=lambda line: _passed_of(one.samples[line.id]))  # fmt: skip


def _pass_at(name: str, place: int, k: int) -> TableColumn[TaskLine]:
    def value(line: TaskLine) -> float | None:
        return line.at[place] if place < len(line.at) else None

    def figure(rows: Sequence[TaskLine]) -> str:
        from workbench.regeneration.outcome import pass_by

        counted = [("", line.result) for line in rows if not line.excluded and line.samples]
        return share(pass_by(counted, (k,))[0].pass_at[0].value) if counted else NOTHING

    return TableColumn(title=f"{name}@{k}", cell=lambda line: (share(value(line)), "" if line.decided else "dim"), width=6,
                  sort=value, figure=figure)  # fmt: skip


# -- filters

Rule = Callable[[TaskLine], bool]
TaskFilter = Filter[TaskLine]
_NOT_PASSED = frozenset({"failed", "timeout", "crashed", "invalid", "bypassed"})


def _holds(word: str) -> Rule:
    return lambda line: any(sample.word == word for sample in line.samples)


def _is(kind: DocstringQuality) -> Rule:
    return lambda line: line.documented_as is kind


def _covered_below(share: float) -> Rule:
    return lambda line: line.coverage is not None and line.coverage < share


QUESTIONS: tuple[FilterFacet[TaskLine], ...] = (
    FilterFacet("verdict", "verdict", (
        FilterOption("failed", "✗ a sample did not pass", "✗ not passed", lambda line: any(sample.verdict in _NOT_PASSED for sample in line.samples)),
        FilterOption("passed", "✓ all samples passed", "✓ all passed", lambda line: line.decided and line.passed == line.counted > 0),
        FilterOption("undecided", "· samples still to come", "· undecided", lambda line: not line.excluded and not line.decided),
        *(
            FilterOption(key, f"{glyph} {said}", f"{glyph} {said}", _holds(key))
            for key, glyph in (*VERDICTS.items(), ("cancelled", CANCELLED))
            for said in (OUR_ERROR if key == "error" else key,)
            if key not in {"passed", "failed"}
        ),
        FilterOption("again", "being tested again", "tested again", lambda line: line.retesting),
        FilterOption("out", "excluded by a control", "excluded", lambda line: line.excluded),
    )),
    FilterFacet("coverage", "coverage", (
        *(
            FilterOption(f"<{percent}", f"statements < {percent} %", f"cover < {percent} %", _covered_below(percent / 100))
            for percent in (25, 50, 75, 90, 100)
        ),
        FilterOption("100", "all statements", "cover 100 %", lambda line: line.coverage is not None and line.coverage >= 1),
        FilterOption("branches", "branches < 100 %", "branch < 100 %", lambda line: (line.branch_coverage or 1) < 1 or line.branch_coverage == 0),
        FilterOption("unknown", "not measured", "cover not measured", lambda line: line.coverage is None),
    )),
    FilterFacet("documented", "documented", (
        FilterOption("well", "well: at least half of the samples passed", "documented well", _is(DocstringQuality.WELL)),
        FilterOption("badly", "badly: fewer passed, though the original does", "documented badly", _is(DocstringQuality.BADLY)),
        FilterOption("untestable", "untestable: the original body does not pass", "untestable", _is(DocstringQuality.UNTESTABLE)),
    )),
    FilterFacet("gap", "gap", tuple(
        FilterOption(kind, kind, f"gap: {kind}", lambda line, kind=kind: line.gap == kind)  # type: ignore[misc]
        for kind in ("unnamed", "no example", "wrong example", "stumbled")
    )),
    FilterFacet("leak", "docstring", (
        FilterOption("leaking", "≈ contains the code", "≈ leaking", lambda line: line.leaking),
        FilterOption("clean", "does not contain the code", "not leaking", lambda line: not line.leaking),
    )),
    FilterFacet("flaky", "tests", (
        FilterOption("flaky", "~ some are unstable", "~ flaky", lambda line: line.unstable > 0),
        FilterOption("stable", "all stable", "not flaky", lambda line: not line.unstable),
    )),
    FilterFacet("route", "route", (
        FilterOption("hot", "only hot", "hot only", lambda line: line.routes == ("hot",)),
        FilterOption("warm", "a verdict was warm", "warm", lambda line: "warm" in line.routes),
        FilterOption("cold", "a verdict was cold", "cold", lambda line: "cold" in line.routes),
    )),
    FilterFacet("recheck", "re-check", (
        FilterOption("disagrees", "≠ cold gave another verdict", "≠ re-check disagrees", lambda line: line.disagreeing > 0),
        FilterOption("done", "checked again cold", "re-checked", lambda line: line.rechecked > 0),
    )),
)  # fmt: skip
EVERYTHING: TaskFilter = Filter(QUESTIONS, lambda line: f"{line.path}::{line.name}")


class TaskResultTable(VirtualTable[TaskLine]):
    """The tasks of a run; ``revision`` increases whenever rows change."""

    DEFAULT_CSS = """
    TaskResultTable {
        & > .row--timeout { color: $verdict-timeout; }
        & > .row--crashed { color: $verdict-crashed; }
        & > .row--invalid { color: $verdict-invalid; }
        & > .row--bypassed { color: $verdict-bypassed; }
        & > .row--former { text-style: underline; }
        & > .row--former-passed { color: $verdict-passed 70%; text-style: underline; }
        & > .row--former-failed { color: $verdict-failed 70%; text-style: underline; }
        & > .row--former-timeout { color: $verdict-timeout 70%; text-style: underline; }
        & > .row--former-crashed { color: $verdict-crashed 70%; text-style: underline; }
        & > .row--former-invalid { color: $verdict-invalid 70%; text-style: underline; }
        & > .row--former-bypassed { color: $verdict-bypassed 70%; text-style: underline; }
        & > .row--former-unscored { color: $verdict-unscored 70%; text-style: underline; }
        & > .row--chosen { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
        & > .row--chosen-blurred { background: $panel; text-style: bold; }
        & > .row--picked { background: $foreground; color: $background; text-style: bold; }
    }
    """
    BINDINGS = bindings("regeneration.open-task")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__((), key=lambda line: line.id, groupings=GROUPINGS, id=id)
        self.filter = EVERYTHING
        self.sample = 0  # index of the selected sample in the selected task
        self.ks: tuple[int, ...] = ()
        self.others: tuple[OtherSamples, ...] = ()  # samples of other evaluators and docs, shown on wide terminals
        self.only_path = ""  # the file that all tasks are in, if there is only one
        self.revision = 0
        self.words = REGENERATE
        self._shown_name = ""
        self._kept = True  # whether to keep the selected task even if it no longer matches the filter

    # -- content

    def put_tasks(self, lines: Sequence[TaskLine], ks: tuple[int, ...]) -> None:
        """Replace all tasks, keeping the cursor, filter and arrangement."""
        self.words = USE if any(line.usage for line in lines) else REGENERATE
        self.ks, self._next_order = ks, f"{self.words.figure}@{ks[0]}" if ks else ""
        self.revision += 1
        paths = {line.path for line in lines}
        self.only_path = next(iter(paths)) if len(paths) == 1 and self.words is REGENERATE else ""
        self.columns = ColumnLayout(self._columns(lines))
        self.put(lines)
        self.move_sample(0)

    def _columns(self, rows: Sequence[TaskLine]) -> list[TableColumn[TaskLine]]:
        """Return the columns that apply to these tasks; docs/extending/column.md explains how to add one."""
        usage, named = self.words is USE, self.words.figure
        files = len({line.path for line in rows}) > 1 and not usage
        several = len({name for line in rows for name in line.sandboxes}) > 1
        return [
            TableColumn(title="file", cell=lambda line: (one_line(line.path, 300) if files else "", "dim"), width=12, widest=26, text=True,
                   priority=70, shorten=fit_end, sort=lambda line: (line.path.lower(), line.name.lower())),
            TableColumn(title=self.words.task, cell=_name, width=18, widest=60 if usage else 34, text=True, sort=lambda line: line.name.lower()),
            TableColumn(title="calls" if usage else "tests", cell=lambda line: f"{line.tests:,}", width=5, priority=15, sort=lambda line: line.tests,
                   descending=True),
            TableColumn(title="cover", cell=lambda line: "" if usage else percent(line.coverage), width=5, widest=5, priority=10, sort=lambda line: line.coverage),
            TableColumn(title="branch", cell=lambda line: percent(line.branch_coverage) if line.branches is not None else "", width=6,
                   widest=6, priority=60, sort=lambda line: line.branch_coverage),
            TableColumn(title="flaky", cell=lambda line: (f"{FLAKY}{line.unstable:,}" if line.unstable else "", "paused"), width=5,
                   widest=5, priority=40, sort=lambda line: line.unstable or None, descending=True),
            TableColumn(title=self._shown_name if self.others else "samples", cell=self._samples, width=10, widest=50, text=True,
                   sort=lambda line: line.passed / line.counted if line.counted else None,
                   brief=lambda line: _passed_of(line.samples)),
            *map(_other, self.others),
            *(_pass_at(named, place, k) for place, k in enumerate(self.ks)),
            TableColumn(title="documented", cell=_documented, width=10, widest=10, text=True, priority=71),
            TableColumn(title="gap", cell=lambda line: (one_line(line.gap, 20), "warn"), width=7, widest=13, text=True, priority=20,
                   sort=lambda line: line.gap or None),
            TableColumn(title="route", cell=lambda line: (route_of(line), "dim"), width=5, widest=9, text=True, priority=50),
            TableColumn(title="sandbox", cell=lambda line: ("+".join(line.sandboxes) if several else "", "dim"), width=10, widest=24,
                   text=True, priority=80),
            TableColumn(title="tags", cell=lambda line: (line.labels, "marked"), width=4, widest=30, text=True, priority=90,
                   sort=lambda line: line.labels or None),
            TableColumn(title="failing", cell=_failing, width=12, widest=200, text=True, priority=30, sort=lambda line: line.failing or None),
        ]  # fmt: skip

    def _samples(self, line: TaskLine) -> list[Part]:
        """Return a cell per sample; former verdicts and the selected sample have distinct styles."""
        picked = self.sample if self.selected is line else -1
        cells = []
        for at, sample in enumerate(line.samples):
            sign, style = cell_of(sample)
            cells.append((sign, "picked" if at == picked else _FORMER + style if sample.retesting else style))
        return cells or [("·", "waiting")]

    def update_rows(self, fresh: Sequence[TaskLine]) -> bool:
        self.revision += 1
        return super().update_rows(fresh)

    def show_beside(self, shown: str, others: Sequence[OtherSamples]) -> None:
        """Show the samples of other evaluators and doc variants as columns beside the column titled ``shown``."""
        if (shown, tuple(others)) != (self._shown_name, self.others):
            self._shown_name, self.others = shown, tuple(others)
            self.put_tasks(self.rows, self.ks)

    def set_filter(self, wanted: TaskFilter) -> None:
        self.filter, self._kept = wanted, False
        self.rearrange()
        self._kept = True
        self.move_sample(0)

    def filtered(self, rows: Sequence[TaskLine]) -> list[TaskLine]:
        passing = self.filter.passing(rows)
        here = self._places.get(self.selected.id) if self._kept and self.selected is not None else None
        if here is not None and here not in passing:  # the task that the user is reading must not disappear
            insort(passing, here)
        return [rows[place] for place in passing]

    def rank_of_group(self, group: TableGroup[TaskLine]) -> Any:
        from workbench.regeneration.outcome import VERDICTS_OF_TASKS

        if self.arrangement.grouping == "verdict":
            return VERDICTS_OF_TASKS.index(group.name)
        return super().rank_of_group(group)

    def title_of_group(self, group: TableGroup[TaskLine]) -> str:
        of = next(one.group_of for one in self.groupings if one.title == self.arrangement.grouping)
        there = sum(of(line) == group.name for line in self.rows) if self.filter.active else len(group.rows)
        shown = f"{len(group.rows):,} of " if there != len(group.rows) else ""
        return f"{one_line(group.name, 200)}  {shown}{plural(there, 'task')}"

    def move_sample(self, step: int) -> None:
        """Select the next (1) or previous (-1) sample of the task, stopping at the ends."""
        last = len(self.selected.samples) - 1 if self.selected is not None else 0
        self.sample = max(0, min(self.sample + step, last))
        self.refresh()

    def move_task(self, step: int) -> None:
        """Go to the next (1) or previous (-1) task; group headings are skipped unless no task follows."""
        after = range(self.cursor + step, self.row_count() if step > 0 else 0, step)
        self.set_cursor(next((at for at in after if self._is_task(at)), self.cursor + step), step)

    def _is_task(self, index: int) -> bool:
        return self.selectable(index) and not isinstance(self._line(index), TableGroup)

    def go_to_task(self, task_id: str, sample: int | None = None) -> bool:
        """Select a task, clearing the filter if necessary. Returns False if the task is not in the table."""
        if not self.knows(task_id):
            return False
        if all(line.id != task_id for line in self.shown):
            self.set_filter(EVERYTHING)
        self.go_to(task_id)
        self.sample = sample if sample is not None else self.sample
        self.move_sample(0)
        return True

    def titles(self, view: RunView) -> tuple[str, str]:
        """Return the title and subtitle, with the numbers of tasks that are known, displayed, dropped and excluded."""
        shown, known = len(self.shown), max(view.tasks, len(self.rows))
        title, parts = f"Tasks {known:,}", []
        if self.filter.active:
            title = f"Tasks {shown:,} of {known:,} · {self.filter.sentence()} · {key_of('regeneration.clear-filter')} clears"
        if self.filter.active and self.ks:
            at = [line.at[0] for line in self.shown if line.at and line.at[0] is not None and not line.excluded]
            mean = share(sum(at) / len(at) if at else None)
            parts = [
                f"{known - shown:,} filtered away",
                f"{self.words.figure}@{self.ks[0]} {mean} of {len(at):,} · m = {view.samples}",
            ]
        if view.usage:
            gaps = Counter(line.gap for line in self.rows if line.gap)
            parts += [", ".join(f"{count:,} {one_line(gap, 20)}" for gap, count in gaps.most_common())] if gaps else []
        elif not self.filter.active and (counts := Counter(line.documented_as for line in self.rows)).keys() - {None}:
            parts = [", ".join(f"{counts[kind]:,} {kind}" for kind in DocstringQuality if counts[kind]) + " documented"]
        only = [one_line(self.only_path, 60)] if self.only_path else []
        parts += [f"{view.excluded:,} excluded"] if view.excluded else []
        parts += [f"{view.dropped:,} dropped · {key_of('regeneration.dropped')}"] if view.dropped else []
        return " · ".join([title, *only, *self.arranged_by()]), " · ".join(parts)

    # -- painting

    def row_parts(self, y: int, width: int) -> tuple[list[Part], str]:
        parts, fill = super().row_parts(y, width)
        if fill and self.selected is not None:
            parts = [
                (text, style if style == "picked" else "former" if style.startswith(_FORMER) else "")
                for text, style in parts
            ]
            fill = fill.replace("cursor", "chosen")
        return parts, fill

    def on_click(self, event: events.Click) -> None:
        line = self._line(self.shown_row(event.y + self.scroll_offset.y))
        if event.y == 0 or line is None or isinstance(line, TableGroup):
            return
        x = self.LEAD
        for column, size, gap in self.columns.layout(self.text_width - self.LEAD):
            number = event.x - x - len(gap)
            if column.cell == self._samples and 0 <= number < len(line.samples) <= size:
                self.sample = number
                self.refresh()
                self.post_message(self.RowHighlighted(self, self.cursor))
            x += len(gap) + size
