"""The table of tasks: a row per task, a cell per sample."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from textual import events

from workbench.app.key_table import key_of
from workbench.app.keys import bindings
from workbench.app.regeneration.standings import OtherSamples
from workbench.app.regeneration.wording import cell_of, test_name
from workbench.app.toolkit.columns import Column, Columns, fit_end
from workbench.app.toolkit.filters import Filter, Option, Question
from workbench.app.toolkit.table import Group, Grouping, Table
from workbench.app.toolkit.virtual_view import Part
from workbench.base.glyphs import CANCELLED, DOUBTFUL, OUR_ERROR, VERDICTS
from workbench.base.text import NOTHING, one_line, percent, plural, share
from workbench.results.regeneration_runs import RunView
from workbench.results.samples import SampleState
from workbench.results.tasks import DocstringQuality, TaskLine

LEAK, DISAGREES, FLAKY = "≈", "≠", "~"
"""Marks before the name of a function: its docstring carries the code, re-checks disagree, unstable tests execute it."""
NO_TAG = "(no tag)"
_FORMER = "former-"
_KIND_STYLES = {DocstringQuality.BADLY: "bad", DocstringQuality.UNTESTABLE: "dim"}


def _class(line: TaskLine) -> str:
    from workbench.regeneration.outcome import class_of

    return class_of(line.name)


def _verdict(line: TaskLine) -> str:
    from workbench.regeneration.outcome import verdict_of

    return "taken out" if line.excluded else verdict_of(line.result)


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
    return (kind.value, _KIND_STYLES.get(kind, "")) if kind is not None else ("", "")


def _failing(line: TaskLine) -> Part:
    if line.excluded:
        return f"taken out: {one_line(line.reason or 'a control does not hold', 300)}", "failed"
    failing = test_name(one_line(line.failing, 300))
    return failing + (f" ({line.failing_count})" if line.failing_count > 1 else ""), "dim"


def route_of(line: TaskLine) -> str:
    """Return the paths that gave the verdicts of a task, fastest first: ``hot``, or ``h+w`` where there were several."""
    taken = line.routes
    return taken[0] if len(taken) == 1 else "+".join(route[0] for route in taken)


def _passed_of(samples: Sequence[SampleState]) -> Part:
    passed = sum(one.verdict == "passed" for one in samples)
    style = "passed" if passed else "failed"
    again = any(one.retesting for one in samples)
    return f"{passed}/{len(samples)} {VERDICTS['passed']}", _FORMER + style if again else style


def _other(one: OtherSamples) -> Column[TaskLine]:
    def cells(line: TaskLine) -> list[Part]:
        # "–" where that evaluator was never asked, or that run has no such task.
        return [cell_of(sample) for sample in one.samples.get(line.id, ())] or [(NOTHING, "dim")]

    return Column(title=one.name, cell=cells, width=max(7, len(one.name)), widest=20, text=True,
                  brief=lambda line: _passed_of(one.samples[line.id]))  # fmt: skip


def _pass_at(place: int, k: int) -> Column[TaskLine]:
    def value(line: TaskLine) -> float | None:
        return line.at[place] if place < len(line.at) else None

    def figure(rows: Sequence[TaskLine]) -> str:
        from workbench.regeneration.outcome import pass_by

        counted = [("", line.result) for line in rows if not line.excluded and line.samples]
        return share(pass_by(counted, (k,))[0].pass_at[0].value) if counted else NOTHING

    return Column(title=f"pass@{k}", cell=lambda line: (share(value(line)), "" if line.decided else "dim"), width=6,
                  sort=value, figure=figure)  # fmt: skip


# -- what a filter may ask

Rule = Callable[[TaskLine], bool]
TaskFilter = Filter[TaskLine]
_NOT_PASSED = frozenset({"failed", "timeout", "crashed", "invalid"})


def _holds(word: str) -> Rule:
    return lambda line: any(sample.word == word for sample in line.samples)


def _is(kind: DocstringQuality) -> Rule:
    return lambda line: line.documented_as is kind


def _covered_below(share: float) -> Rule:
    return lambda line: line.coverage is not None and line.coverage < share


QUESTIONS: tuple[Question[TaskLine], ...] = (
    Question("verdict", "verdict", (
        Option("failed", "✗ a sample did not pass", "✗ not passed", lambda line: any(sample.verdict in _NOT_PASSED for sample in line.samples)),
        Option("passed", "✓ all samples passed", "✓ all passed", lambda line: line.decided and line.passed == line.counted > 0),
        Option("undecided", "· samples still to come", "· undecided", lambda line: not line.excluded and not line.decided),
        *(
            Option(key, f"{glyph} {said}", f"{glyph} {said}", _holds(key))
            for key, glyph in (*VERDICTS.items(), ("cancelled", CANCELLED))
            for said in (OUR_ERROR if key == "error" else key,)
            if key not in {"passed", "failed"}
        ),
        Option("again", "being tested again", "tested again", lambda line: line.retesting),
        Option("out", "taken out by a control", "taken out", lambda line: line.excluded),
    )),
    Question("coverage", "coverage", (
        *(
            Option(f"<{percent}", f"statements < {percent} %", f"cover < {percent} %", _covered_below(percent / 100))
            for percent in (25, 50, 75, 90, 100)
        ),
        Option("100", "all statements", "cover 100 %", lambda line: line.coverage is not None and line.coverage >= 1),
        Option("branches", "branches < 100 %", "branch < 100 %", lambda line: (line.branch_coverage or 1) < 1 or line.branch_coverage == 0),
        Option("unknown", "not measured", "cover not measured", lambda line: line.coverage is None),
    )),
    Question("documented", "documented", (
        Option("well", "well: half of the samples or more passed", "documented well", _is(DocstringQuality.WELL)),
        Option("badly", "badly: fewer passed, though the tests can be passed", "documented badly", _is(DocstringQuality.BADLY)),
        Option("untestable", "untestable: its own body does not pass", "untestable", _is(DocstringQuality.UNTESTABLE)),
    )),
    Question("leak", "docstring", (
        Option("leaking", "≈ carries the code", "≈ leaking", lambda line: line.leaking),
        Option("clean", "does not carry the code", "not leaking", lambda line: not line.leaking),
    )),
    Question("flaky", "tests", (
        Option("flaky", "~ unstable ones execute it", "~ flaky", lambda line: line.unstable > 0),
        Option("stable", "stable ones only", "not flaky", lambda line: not line.unstable),
    )),
    Question("route", "route", (
        Option("hot", "only hot", "hot only", lambda line: line.routes == ("hot",)),
        Option("warm", "a verdict was warm", "warm", lambda line: "warm" in line.routes),
        Option("cold", "a verdict was cold", "cold", lambda line: "cold" in line.routes),
    )),
    Question("recheck", "re-check", (
        Option("disagrees", "≠ cold gave another verdict", "≠ re-check disagrees", lambda line: line.disagreeing > 0),
        Option("done", "checked again cold", "re-checked", lambda line: line.rechecked > 0),
    )),
)  # fmt: skip
EVERYTHING: TaskFilter = Filter(QUESTIONS, lambda line: f"{line.path}::{line.name}")


class TaskTable(Table[TaskLine]):
    """The tasks of a run; ``revision`` counts up whenever rows change."""

    DEFAULT_CSS = """
    TaskTable {
        & > .row--timeout { color: $verdict-timeout; }
        & > .row--crashed { color: $verdict-crashed; }
        & > .row--invalid { color: $verdict-invalid; }
        & > .row--former { text-style: underline; }
        & > .row--former-passed { color: $verdict-passed 70%; text-style: underline; }
        & > .row--former-failed { color: $verdict-failed 70%; text-style: underline; }
        & > .row--former-timeout { color: $verdict-timeout 70%; text-style: underline; }
        & > .row--former-crashed { color: $verdict-crashed 70%; text-style: underline; }
        & > .row--former-invalid { color: $verdict-invalid 70%; text-style: underline; }
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
        self.sample = 0  # of the selected task
        self.ks: tuple[int, ...] = ()
        self.others: tuple[OtherSamples, ...] = ()  # where there is room for those of evaluators and docs not in front
        self.only_path = ""  # the file of all tasks, where it needs no column
        self.revision = 0
        self._shown_name = ""
        self._kept = True  # the task under the cursor stays though it passes the filter no more

    # -- what is in it

    def put_tasks(self, lines: Sequence[TaskLine], ks: tuple[int, ...]) -> None:
        """Show these tasks in place of all others; cursor, filter and arrangement stay."""
        self.ks, self._next_order = ks, f"pass@{ks[0]}" if ks else ""
        self.revision += 1
        paths = {line.path for line in lines}
        self.only_path = next(iter(paths)) if len(paths) == 1 else ""
        self.columns = Columns(self._columns(lines))
        self.put(lines)
        self.move_sample(0)

    def _columns(self, rows: Sequence[TaskLine]) -> list[Column[TaskLine]]:
        """Return the columns that say something of some tasks; a new one is an entry here (docs/extending/column.md)."""
        files = len({line.path for line in rows}) > 1
        several = len({name for line in rows for name in line.sandboxes}) > 1
        return [
            Column(title="file", cell=lambda line: (one_line(line.path, 300) if files else "", "dim"), width=12, widest=26, text=True,
                   priority=70, shorten=fit_end, sort=lambda line: (line.path.lower(), line.name.lower())),
            Column(title="function", cell=_name, width=18, widest=34, text=True, sort=lambda line: line.name.lower()),
            Column(title="tests", cell=lambda line: f"{line.tests:,}", width=5, priority=15, sort=lambda line: line.tests,
                   descending=True),
            Column(title="cover", cell=lambda line: percent(line.coverage), width=5, priority=10, sort=lambda line: line.coverage),
            Column(title="branch", cell=lambda line: percent(line.branch_coverage) if line.branches is not None else "", width=6,
                   widest=6, priority=60, sort=lambda line: line.branch_coverage),
            Column(title="flaky", cell=lambda line: (f"{FLAKY}{line.unstable:,}" if line.unstable else "", "paused"), width=5,
                   widest=5, priority=40, sort=lambda line: line.unstable or None, descending=True),
            Column(title=self._shown_name if self.others else "samples", cell=self._samples, width=10, widest=50, text=True,
                   sort=lambda line: line.passed / line.counted if line.counted else None,
                   brief=lambda line: _passed_of(line.samples)),
            *map(_other, self.others),
            *(_pass_at(place, k) for place, k in enumerate(self.ks)),
            Column(title="documented", cell=_documented, width=10, widest=10, text=True, priority=71),
            Column(title="route", cell=lambda line: (route_of(line), "dim"), width=5, widest=9, text=True, priority=50),
            Column(title="sandbox", cell=lambda line: ("+".join(line.sandboxes) if several else "", "dim"), width=10, widest=24,
                   text=True, priority=80),
            Column(title="tags", cell=lambda line: (line.labels, "marked"), width=4, widest=30, text=True, priority=90,
                   sort=lambda line: line.labels or None),
            Column(title="failing", cell=_failing, width=12, widest=200, text=True, priority=30, sort=lambda line: line.failing or None),
        ]  # fmt: skip

    def _samples(self, line: TaskLine) -> list[Part]:
        """A former verdict, whose sample is being tested again, has a style of its own; so has the selected sample."""
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
        """Show the samples of other evaluators and doc variants beside those in front, called ``shown``; () shows none."""
        if (shown, tuple(others)) != (self._shown_name, self.others):
            self._shown_name, self.others = shown, tuple(others)
            self.put_tasks(self.rows, self.ks)

    def set_filter(self, wanted: TaskFilter) -> None:
        """Show only the tasks that a filter lets through."""
        self.filter, self._kept = wanted, False
        self.rearrange()
        self._kept = True
        self.move_sample(0)

    def filtered(self, rows: Sequence[TaskLine]) -> list[TaskLine]:
        passing = self.filter.passing(rows)
        here = self._places.get(self.selected.id) if self._kept and self.selected is not None else None
        if here is not None and here not in passing:  # what a person reads must not jump away
            insort(passing, here)
        return [rows[place] for place in passing]

    def rank_of_group(self, group: Group[TaskLine]) -> Any:
        from workbench.regeneration.outcome import VERDICTS_OF_TASKS

        if self.arrangement.grouping == "verdict":
            return VERDICTS_OF_TASKS.index(group.name)
        return super().rank_of_group(group)

    def title_of_group(self, group: Group[TaskLine]) -> str:
        of = next(one.group_of for one in self.groupings if one.title == self.arrangement.grouping)
        there = sum(of(line) == group.name for line in self.rows) if self.filter.active else len(group.rows)
        shown = f"{len(group.rows):,} of " if there != len(group.rows) else ""
        return f"{one_line(group.name, 200)}  {shown}{plural(there, 'task')}"

    def move_sample(self, step: int) -> None:
        """Select the next or previous sample of the task; at the ends it stays."""
        last = len(self.selected.samples) - 1 if self.selected is not None else 0
        self.sample = max(0, min(self.sample + step, last))
        self.refresh()

    def move_task(self, step: int) -> None:
        """Go to the next or previous task, past the headings of groups; where none is shown, to the next heading."""
        after = range(self.cursor + step, self.row_count() if step > 0 else 0, step)
        self.set_cursor(next((at for at in after if self._is_task(at)), self.cursor + step), step)

    def _is_task(self, index: int) -> bool:
        return self.selectable(index) and not isinstance(self._line(index), Group)

    def go_to_task(self, task_id: str, sample: int | None = None) -> bool:
        """Select a task, through the filter if need be; False if it is not in the table."""
        if not self.knows(task_id):
            return False
        if all(line.id != task_id for line in self.shown):
            self.set_filter(EVERYTHING)
        self.go_to(task_id)
        self.sample = sample if sample is not None else self.sample
        self.move_sample(0)
        return True

    def titles(self, view: RunView) -> tuple[str, str]:
        """Return what stands over the table, and below: how many tasks there are and are shown, and what became of the others."""
        shown, known = len(self.shown), max(view.tasks, len(self.rows))
        title, parts = f"Tasks {known:,}", []
        if self.filter.active:
            title = f"Tasks {shown:,} of {known:,} · {self.filter.sentence()} · {key_of('regeneration.clear-filter')} clears"
        if self.filter.active and self.ks:
            at = [line.at[0] for line in self.shown if line.at and line.at[0] is not None and not line.excluded]
            mean = share(sum(at) / len(at) if at else None)
            parts = [
                f"{known - shown:,} filtered away",
                f"pass@{self.ks[0]} {mean} of {len(at):,} · m = {view.samples}",
            ]
        if not self.filter.active and (counts := Counter(line.documented_as for line in self.rows)).keys() - {None}:
            parts = [", ".join(f"{counts[kind]:,} {kind}" for kind in DocstringQuality if counts[kind]) + " documented"]
        only = [one_line(self.only_path, 60)] if self.only_path else []
        parts += [f"{view.excluded:,} taken out"] if view.excluded else []
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
        if event.y == 0 or line is None or isinstance(line, Group):
            return
        x = self.LEAD
        for column, size, gap in self.columns.layout(self.text_width - self.LEAD):
            number = event.x - x - len(gap)
            if column.cell == self._samples and 0 <= number < len(line.samples) <= size:
                self.sample = number
                self.refresh()
                self.post_message(self.Moved(self, self.cursor))
            x += len(gap) + size
