"""What two things have in common and what not, in sentences, tables and differences: the same on a terminal and in Markdown.

The figures are those of :mod:`workbench.comparison`; here they only get their words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.comparison import (
    CandidateComparison,
    Comparison,
    GroupComparison,
    PairedPoints,
    Side,
    TaskComparison,
    TaskPair,
    TaskTest,
    TextPair,
    TrialsComparison,
)
from workbench.reports.page import Shown
from workbench.reports.page_markdown import fence, inline, table
from workbench.text import one_line

_NONE = "–"


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts under a title, of which the lines are shown that differ."""

    title: str
    texts: TextPair

    @property
    def absent(self) -> list[tuple[str, str]]:
        """Side and reason where a text is missing."""
        sides = (("A", self.texts.left), ("B", self.texts.right))
        return [(name, one_line(side.absent, 300)) for name, side in sides if side.absent]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Sign and text of each line that only one side has, or that both have in other words; ``-`` is A's."""
        return [
            (sign, "".join(piece.text for piece in pieces))
            for pair in self.texts.diff.pairs
            if not pair.same
            for sign, pieces in (("-", pair.left), ("+", pair.right))
            if pieces is not None
        ]


Block = str | Shown | Difference
"""A sentence, a table or a difference."""
Compared = Comparison | CandidateComparison | TaskComparison | TrialsComparison | GroupComparison


def blocks_of(found: Compared, tests: Mapping[int, str] | None = None) -> Iterator[Block]:
    """Yield what there is to say of a comparison.

    Args:
        found: The comparison.
        tests: Of two groups the sentence about the test of pass@k for each k.
    """
    match found:
        case Comparison():
            yield from _trials(found)
        case CandidateComparison():
            yield from _candidates(found)
        case TaskComparison():
            yield from _tasks(found)
        case TrialsComparison():
            yield from _runs(found)
        case _:
            yield from _groups(found, tests or {})


def markdown(blocks: Iterable[Block]) -> str:
    """Return a comparison as Markdown."""
    parts = ["# Side by side\n"]
    for block in blocks:
        if isinstance(block, Shown):
            parts.append(table(block.headings, block.rows, block.right))
        elif isinstance(block, Difference):
            parts.append(f"## {inline(block.title)}\n")
            if block.texts.same:
                parts.append("The same.\n")
                continue
            parts += [f"{name}: {inline(why)}\n" for name, why in block.absent]
            parts.append(fence("\n".join(f"{sign} {text}" for sign, text in block.lines), "diff"))
        else:
            parts.append(f"{inline(block)}\n")
    return "\n".join(parts)


def _trials(found: Comparison) -> Iterator[Block]:
    """Say what each trial took and scored, then which criteria differ, with the reasons."""
    for name, side in (("A", found.left), ("B", found.right)):
        yield f"{name}  {_trial(side)}"
    if found.left.judge != found.right.judge:
        yield f"They have no judge in common: A by {found.left.judge}, B by {found.right.judge}."
    rows = []
    for effort in found.efforts:
        digits = {"seconds": 1, "cost": 4, "score": 1}.get(effort.name, 0)
        values = [_number(value, digits) for value in (effort.left, effort.right)]
        rows.append((effort.name, *values, _change(effort.difference, digits)))
    rows.append(("words", *(f"{count:,}" for count in (found.readme.left_words, found.readme.right_words)), ""))
    yield _shown(("", "A", "B", "B − A"), rows, words=1)
    differing = [one for tier in found.tiers for one in tier.criteria if one.differs]
    if differing:
        points = []
        for one in differing:
            less = one.right if (one.difference or 0) < 0 or one.left is None else one.left
            why = one_line(less.reason, 200) if less is not None else "not in its scorecard"
            judged = [_number(side.points, 1) if side else _NONE for side in (one.left, one.right)]
            points.append((f"{one.tier} {one_line(one.title, 40)}", *judged, _change(one.difference, 1), why))
        yield Shown(("criterion", "A", "B", "B − A", "why"), tuple(points), frozenset({1, 2, 3}))
    common = sum(pair.same for pair in found.steps)
    yield f"steps: A {len(found.left.steps)}, B {len(found.right.steps)}, {common} in common"


def _candidates(found: CandidateComparison) -> Iterator[Block]:
    """Say how both came out, which tests either fails, and how bodies, docstrings and prompts differ."""
    for name, side in (("A", found.left), ("B", found.right)):
        row, task = side.candidate, side.task
        said = one_line(f"{row.evaluator} · {task.path}::{task.qualified_name} · sample {row.sample + 1}", 200)
        yield f"{name}  {said}: {row.verdict or row.state} · {side.session}"
    if found.tests:
        rows = []
        for one in found.tests:
            said_of = [one_line(side.message, 120) if side else "passes" for side in (one.left, one.right)]
            fails = "both" if one.left and one.right else "A" if one.left else "B"
            rows.append((fails, one_line(one.test, 120), *said_of))
        yield _shown(("fails", "test", "A says", "B says"), rows, words=4)
    yield Difference("bodies", found.bodies)
    yield Difference("docstrings", found.docstrings)
    yield Difference("prompts", found.prompts)


def _tasks(found: TaskComparison) -> Iterator[Block]:
    """Say which facts, evaluators and tests differ, and how functions, docstrings and prompts do."""
    for name, side in (("A", found.left), ("B", found.right)):
        task = one_line(f"{side.task.path}::{side.name} · docs {side.task.docs_words} · run {side.run}", 200)
        yield f"{name}  {task} · {side.session}: {side.task.test_count:,} tests"
    differing = [one for one in found.facts if one[1] != one[2]]
    if differing:
        facts = [(what, *(one_line(value, 120) or _NONE for value in values)) for what, *values in differing]
        yield _shown(("fact", "A says", "B says"), facts, words=3)
    if found.evaluators:
        rows = []
        for pair in found.evaluators:
            passed = [_NONE if one is None else f"{one.passed}/{one.counted}" for one in (pair.left, pair.right)]
            rows.append((pair.name, *passed, *(_change(gap, 2) or _NONE for gap in pair.differences)))
        yield _shown(("evaluator", "A passed", "B passed", *(f"@{k} B − A" for k in found.ks)), rows, words=1)
    apart = [one for one in found.tests if not one.same]
    if apart:
        tests = [(one_line(one.test, 120), _failed(one.left), _failed(one.right)) for one in apart]
        yield _shown(("test", "A fails", "B fails"), tests, words=1)
    alike = len(found.tests) - len(apart)
    if alike:
        yield f"{alike:,} {'more ' if apart else ''}tests alike"
    yield Difference("functions", found.functions)
    yield Difference("docstrings", found.docstrings)
    yield Difference("prompts", found.prompts)


def _runs(found: TrialsComparison) -> Iterator[Block]:
    """Say the means of both sides, which parts of the points differ, then trial by trial, the largest differences first."""
    for name, side, mean in zip("AB", (found.left, found.right), found.means, strict=True):
        runs = f"run {side.runs[0]}" if len(side.runs) == 1 else f"{len(side.runs):,} runs"
        said = f"{side.title} · {runs} · {side.session} · {side.scale[0]}, judge {side.scale[1] or 'none'}"
        yield f"{name}  {one_line(said, 200)}: mean {_number(mean, 1)} over {len(found.compared):,} compared trials"
    if found.left.scale != found.right.scale:
        yield (
            "Their points are not comparable, for other rubrics or judges gave them; workbench rescore scores both by one"
        )
    if found.conditions:
        yield f"They differ in {'; '.join(f'{what} {a} | {b}' for what, a, b in found.conditions)}"
    wins, ties, losses = found.tally
    yield (
        f"B wins {wins:,}, ties {ties:,}, loses {losses:,} by the means of repeats; {found.common:,} trials in both, only A {found.only_left:,}, "
        f"only B {found.only_right:,}"
    )
    yield from _points(found.points)
    rows = []
    for pair in found.pairs:
        row = pair.either.trial
        values = [_NONE if one is None else _number(one.points, 1) for one in (pair.left, pair.right)]
        name = one_line(f"{row.case_name or row.case_id} · {row.agent} · {row.model}", 120)
        counts = " | ".join("–" if one is None else one.count for one in (pair.left, pair.right))
        rows.append((name, counts, *values, _change(pair.difference, 1)))
    yield _shown(("task", "repeats", "A", "B", "B − A"), rows, words=1)


def _points(found: Iterable[PairedPoints]) -> Iterator[Block]:
    """Tabulate total and tiers, then the criteria that differ, the largest difference first, each with its test."""
    found = list(found)
    parts = [one for one in found if not one.title]
    criteria = sorted((one for one in found if one.title and one.differs), key=lambda one: -abs(one.gap))
    rows = []
    for one in parts + criteria:
        low, high = one.difference.interval.low, one.difference.interval.high
        name = f"{one.tier} {one_line(one.title, 40)}" if one.title else f"tier {one.tier}" if one.tier else "total"
        trials = f"{one.trials:,} of {one.trials + one.missing:,}" if one.missing else f"{one.trials:,}"
        bounds = _NONE if low is None or high is None else f"{_change(low, 1)} to {_change(high, 1)}"
        chance = _NONE if one.adjusted is None else f"{one.adjusted:.2g}"
        rows.append((name, trials, _number(one.left, 1), _number(one.right, 1), _change(one.gap, 1), bounds, chance))
    if not rows:
        return
    yield Shown(
        ("points", "trials", "A", "B", "B − A", "95 % interval", "p"), tuple(rows), frozenset({1, 2, 3, 4, 5, 6})
    )
    same = sum(bool(one.title) and not one.differs for one in found)
    test = parts[0].test if parts else criteria[0].test
    yield (
        f"p by a {test.rule}; of tiers and of criteria adjusted for their number (Holm)."
        + (f" {same:,} criteria have the same points in every case." if same else "")
    )


def _groups(found: GroupComparison, tests: Mapping[int, str]) -> Iterator[Block]:
    """Say pass@k of each group, how sure their difference is, then task by task, the largest first."""
    for name, side in (("A", found.left), ("B", found.right)):
        group = f"{side.name} · docs {side.group.docs_words} · run {side.run.name or side.run.id} · {side.session}"
        values = ", ".join(f"pass@{one.k} {_number(one.value, 2)}" for one in side.outcome.figures.pass_at)
        marks = "".join(f", {mark}" for mark in side.outcome.marks)
        yield f"{name}  {one_line(group, 200)}: {values} over {side.outcome.figures.tasks:,} tasks{marks}"
    unlike = [f"{what} {one_line(a, 60)} | {one_line(b, 60)}" for what, a, b in found.conditions]
    if unlike:
        yield f"They differ in {'; '.join(unlike)}"
    other = "; other snapshots: joined by file and function" if found.other_snapshot else ""
    yield f"{found.common:,} tasks in both, only A {found.only_left:,}, only B {found.only_right:,}{other}"
    yield _shown(
        ("over the tasks of both", "A", "B", "B − A", "B wins", "ties", "B loses", "fewer samples"),
        [
            (
                f"pass@{one.k} of {one.tasks:,}", _number(one.left.value, 2), _number(one.right.value, 2),
                _change(one.difference, 2), *(f"{count:,}" for count in (one.wins, one.ties, one.losses, one.undefined)),
            )
            for one in found.tallies
        ],
        words=1,
    )  # fmt: skip
    for one in found.tallies:
        if one.tasks:
            low, high = one.interval.low, one.interval.high
            bounds = "" if low is None else f"[{_change(low, 2)}, {_change(high, 2)}] "
            yield f"pass@{one.k} B − A {bounds}{one.interval.words}"
            if one.k in tests:
                yield f"pass@{one.k} {tests[one.k]}"
    apart = [pair for pair in found.pairs if not pair.both or any(pair.differences)]
    if apart:
        rows = [
            (
                one_line(f"{pair.path}::{pair.name}", 120),
                *_passed(pair),
                *(_change(gap, 2) or _NONE for gap in pair.differences),
            )
            for pair in apart
        ]
        yield _shown(("task", "A passed", "B passed", *(f"@{k} B − A" for k in found.ks)), rows, words=1)
    same = len(found.pairs) - len(apart)
    if same:
        yield f"{same:,} more without a difference"


def _shown(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, words: int) -> Shown:
    """Return a table of which the columns behind the first ``words`` hold numbers."""
    return Shown(headings, tuple(rows), frozenset(range(words, len(headings))))


def _passed(pair: TaskPair) -> list[str]:
    return [_NONE if one is None else f"{one[1].passed}/{one[1].counted}" for one in (pair.left, pair.right)]


def _failed(test: TaskTest | None) -> str:
    return "no such test" if test is None else f"{test.failed:,} of {test.samples:,}"


def _trial(side: Side) -> str:
    trial = side.trial
    score = "unscored" if side.total is None else f"{side.total:.1f} of {side.out_of:.0f}"
    name = f"{trial.agent} · {trial.model} · {trial.case_name or trial.case_id} · rep {trial.repeat} · {side.session}"
    return f"{one_line(name, 200)}: {score}, {side.state}"


def _number(value: float | None, digits: int) -> str:
    return _NONE if value is None else f"{value:,.{digits}f}"


def _change(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:+,.{digits}f}".replace("-", "−")
