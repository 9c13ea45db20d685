"""Comparisons as tables for a terminal; the figures are those of :mod:`workbench.comparison`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from workbench.commands.terminal import Terminal
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.comparison import (
        CandidateComparison,
        Comparison,
        GroupComparison,
        RunsComparison,
        Side,
        TaskComparison,
        TaskPair,
        TaskTest,
        TextPair,
    )
    from workbench.comparison.chance import Chance

_NONE = "–"


def show_trials(found: Comparison) -> None:
    """Print two trials: what each took and scored, then the criteria that differ, with the reasons."""
    terminal = Terminal(piped_width=160)
    for name, side in (("A", found.left), ("B", found.right)):
        terminal.print(f"{name}  {_trial(side)}")
    if found.left.judge != found.right.judge:
        terminal.print(f"They have no judge in common: A by {found.left.judge}, B by {found.right.judge}.")
    table = _table(("", "A", "B", "B − A"))
    for effort in found.efforts:
        digits = {"seconds": 1, "cost": 4, "score": 1}.get(effort.name, 0)
        table.add_row(
            effort.name,
            *(_number(value, digits) for value in (effort.left, effort.right)),
            _change(effort.difference, digits),
        )
    table.add_row("words", *(f"{count:,}" for count in (found.readme.left_words, found.readme.right_words)), "")
    terminal.print(table)
    differing = [one for tier in found.tiers for one in tier.criteria if one.differs]
    if differing:
        points = _table(("criterion", "A", "B", "B − A", "why"))
        for one in differing:
            less = one.right if (one.difference or 0) < 0 or one.left is None else one.left
            why = one_line(less.reason, 200) if less is not None else "not in its scorecard"
            shown = [_number(judged.points, 1) if judged else _NONE for judged in (one.left, one.right)]
            points.add_row(f"{one.tier} {one_line(one.title, 40)}", *shown, _change(one.difference, 1), why)
        terminal.print(points)
    common = sum(pair.same for pair in found.steps)
    terminal.print(f"steps: A {len(found.left.steps)}, B {len(found.right.steps)}, {common} in common")


def show_candidates(found: CandidateComparison) -> None:
    """Print two candidates: their verdicts, the tests that either fails, and how the bodies differ."""
    terminal = Terminal(piped_width=160)
    for name, side in (("A", found.left), ("B", found.right)):
        row, task = side.candidate, side.task
        terminal.print(
            f"{name}  {one_line(f'{row.evaluator} · {task.path}::{task.qualified_name} · sample {row.sample + 1}', 200)}: "
            f"{row.verdict or row.state} · {side.session}"
        )
    if found.tests:
        table = _table(("fails", "test", "A says", "B says"))
        for one in found.tests:
            said = [one_line(side.message, 120) if side else "passes" for side in (one.left, one.right)]
            table.add_row(
                "both" if one.left and one.right else "A" if one.left else "B", one_line(one.test, 120), *said
            )
        terminal.print(table)
    for title, texts in (("bodies", found.bodies), ("docstrings", found.docstrings), ("prompts", found.prompts)):
        _show_texts(terminal, title, texts)


def show_tasks(found: TaskComparison) -> None:
    """Print two tasks: the facts, evaluators and tests that differ, and how function, docstring and prompt do."""
    terminal = Terminal(piped_width=160)
    for name, side in (("A", found.left), ("B", found.right)):
        task = one_line(f"{side.task.path}::{side.name} · docs {side.task.docs_words} · run {side.run}", 200)
        terminal.print(f"{name}  {task} · {side.session}: {side.task.test_count:,} tests")
    facts = _table(("fact", "A says", "B says"))
    differing = [one for one in found.facts if one[1] != one[2]]
    for what, *values in differing:
        facts.add_row(what, *(one_line(value, 120) or _NONE for value in values))
    if differing:
        terminal.print(facts)
    if found.evaluators:
        table = _table(("evaluator", "A passed", "B passed", *(f"@{k} B − A" for k in found.ks)))
        for pair in found.evaluators:
            passed = [_NONE if one is None else f"{one.passed}/{one.counted}" for one in (pair.left, pair.right)]
            table.add_row(pair.name, *passed, *(_change(gap, 2) or _NONE for gap in pair.differences))
        terminal.print(table)
    apart = [one for one in found.tests if not one.same]
    if apart:
        tests = _table(("test", "A fails", "B fails"))
        for test in apart:
            tests.add_row(one_line(test.test, 120), _failed(test.left), _failed(test.right))
        terminal.print(tests)
    alike = len(found.tests) - len(apart)
    if alike:
        terminal.print(f"{alike:,} {'more ' if apart else ''}tests alike")
    for title, texts in (
        ("functions", found.functions),
        ("docstrings", found.docstrings),
        ("prompts", found.prompts),
    ):
        _show_texts(terminal, title, texts)


def _failed(test: TaskTest | None) -> str:
    return "no such test" if test is None else f"{test.failed:,} of {test.samples:,}"


def show_runs(found: RunsComparison) -> None:
    """Print two runs of trials: their means, then trial by trial, the largest differences first."""
    terminal = Terminal(piped_width=160)
    for name, side, mean in zip("AB", (found.left, found.right), found.means, strict=True):
        run = f"run {side.run.name or side.run.id} · {side.session} · {side.scale[0]}, judge {side.scale[1] or 'none'}"
        terminal.print(
            f"{name}  {one_line(run, 200)}: mean {_number(mean, 1)} over {len(found.compared):,} compared trials"
        )
    wins, ties, losses = found.tally
    terminal.print(
        f"B wins {wins:,}, ties {ties:,}, loses {losses:,}; {found.common:,} trials in both, only A {found.only_left:,}, "
        f"only B {found.only_right:,}"
    )
    table = _table(("task", "rep", "A", "B", "B − A"))
    for pair in found.pairs:
        row = pair.either.trial
        values = [_NONE if one is None else _number(one.points, 1) for one in (pair.left, pair.right)]
        name = one_line(f"{row.case_name or row.case_id} · {row.agent} · {row.model}", 120)
        table.add_row(name, f"{row.repeat}", *values, _change(pair.difference, 1))
    terminal.print(table)


def show_groups(found: GroupComparison, tests: Mapping[int, Chance]) -> None:
    """Print two groups: pass@k of each, how sure their difference is, then task by task, the largest first.

    Args:
        found: The comparison.
        tests: The permutation test for each k, none where there is no numpy.
    """
    terminal = Terminal(piped_width=160)
    for name, side in (("A", found.left), ("B", found.right)):
        group = f"{side.name} · docs {side.group.docs_words} · run {side.run.name or side.run.id} · {side.session}"
        values = ", ".join(f"pass@{one.k} {_number(one.value, 2)}" for one in side.outcome.figures.pass_at)
        terminal.print(f"{name}  {one_line(group, 200)}: {values} over {side.outcome.figures.tasks:,} tasks")
    terminal.print(
        f"{found.common:,} tasks in both, only A {found.only_left:,}, only B {found.only_right:,}"
        + ("; other snapshots: joined by file and function" if found.other_snapshot else "")
    )
    table = _table(("over the tasks of both", "A", "B", "B − A", "B wins", "ties", "B loses", "fewer samples"))
    for one in found.tallies:
        table.add_row(
            f"pass@{one.k} of {one.tasks:,}", _number(one.left.value, 2), _number(one.right.value, 2), _change(one.difference, 2),
            *(f"{count:,}" for count in (one.wins, one.ties, one.losses, one.undefined)),
        )  # fmt: skip
    terminal.print(table)
    for one in found.tallies:
        if one.tasks:
            bounds = (
                ""
                if one.interval.low is None
                else f"[{_change(one.interval.low, 2)}, {_change(one.interval.high, 2)}] "
            )
            terminal.print(f"pass@{one.k} B − A {bounds}{one.interval.words}")
            if one.k in tests:
                terminal.print(f"pass@{one.k} {tests[one.k].words}")
    shown = [pair for pair in found.pairs if not pair.both or any(pair.differences)]
    if shown:
        tasks = _table(("task", "A passed", "B passed", *(f"@{k} B − A" for k in found.ks)))
        for pair in shown:
            gaps = [_change(gap, 2) or _NONE for gap in pair.differences]
            tasks.add_row(one_line(f"{pair.path}::{pair.name}", 120), *_passed(pair), *gaps)
        terminal.print(tasks)
    same = len(found.pairs) - len(shown)
    if same:
        terminal.print(f"{same:,} more without a difference")


def _passed(pair: TaskPair) -> Sequence[str]:
    return [_NONE if one is None else f"{one[1].passed}/{one[1].counted}" for one in (pair.left, pair.right)]


def _trial(side: Side) -> str:
    trial = side.trial
    score = "unscored" if side.total is None else f"{side.total:.1f} of {side.out_of:.0f}"
    name = f"{trial.agent} · {trial.model} · {trial.case_name or trial.case_id} · rep {trial.repeat} · {side.session}"
    return f"{one_line(name, 200)}: {score}, {side.state}"


def _show_texts(terminal: Terminal, title: str, texts: TextPair) -> None:
    if texts.same:
        terminal.print(f"{title}: the same")
        return
    terminal.print(f"{title}:")
    for side, name in ((texts.left, "A"), (texts.right, "B")):
        if side.absent:
            terminal.print(f"  {name}: {one_line(side.absent, 300)}")
    for pair in texts.diff.pairs:
        if pair.same:
            continue
        for sign, pieces in (("-", pair.left), ("+", pair.right)):
            if pieces is not None:
                terminal.print(terminal.foreign(f"  {sign} {''.join(piece.text for piece in pieces)}"))


def _table(titles: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    words = {
        "",
        "fact",
        "evaluator",
        "criterion",
        "why",
        "test",
        "task",
        "fails",
        "A says",
        "B says",
        "over the tasks of both",
    }
    for title in titles:
        table.add_column(title, justify="left" if title in words else "right", overflow="fold")
    return table


def _number(value: float | None, digits: int) -> str:
    return _NONE if value is None else f"{value:,.{digits}f}"


def _change(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:+,.{digits}f}".replace("-", "−")
