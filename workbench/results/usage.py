"""The use of pages: use@k of every page of a usage run, compared with no page and the sources; and its worth."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.base import typed_json
from workbench.base.text import NOTHING, plural, share
from workbench.regeneration.outcome import GroupOutcome, TaskResult, group_outcomes, ks_of
from workbench.results.page_scores import PageKey, page_digests, page_key
from workbench.session.groups import SOURCES, WITHOUT, Group
from workbench.session.rows import CandidateRow
from workbench.session.sample_counts import counts_of, sample_counts
from workbench.statistics.rankings import kendall_tau
from workbench.usage.gaps import Gap
from workbench.usage.page_reader import read_page
from workbench.usage.tasks import UsageTask

if TYPE_CHECKING:
    from workbench.regeneration.passk import PassEstimate
    from workbench.results.contents import Contents
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow, TaskRow

_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Worth:
    """The share of a reader's possible gain that a page achieves: (use(page) − use(none)) / (use(source) − use(none)).

    The interval contains 95% of 2,000 resamples of the tasks. ``value`` is None if use(source) is not significantly
    above use(none); ``undefined`` says why.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    tasks: int = 0
    undefined: str = ""

    @property
    def short(self) -> str:
        """``0.62 [0.31, 0.88]``, or ``–`` if it is not defined."""
        return NOTHING if self.value is None else f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"

    @property
    def words(self) -> str:
        """``0.62 [0.31, 0.88] (bootstrap over 17 tasks)``, or why it is not defined."""
        if self.value is None:
            return f"Worth is not defined: {self.undefined}."
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}] (bootstrap over {self.tasks:,} tasks)"


def worth_of(page: Mapping[str, float], none: Mapping[str, float], source: Mapping[str, float]) -> Worth:
    """Return the worth of a page from the use@1 of the tasks that have all three results."""
    tasks = sorted(page.keys() & none.keys() & source.keys())
    if len(tasks) < 2:
        return Worth(None, tasks=len(tasks), undefined="fewer than two tasks have all three results")
    gains = [(page[task] - none[task], source[task] - none[task]) for task in tasks]
    drawn = random.Random(0)
    sums = []
    for _ in range(_RESAMPLES):
        picked = drawn.choices(gains, k=len(gains))
        sums.append((math.fsum(one for one, _ in picked), math.fsum(most for _, most in picked)))
    if sorted(most for _, most in sums)[round(0.025 * _RESAMPLES)] <= 0:
        return Worth(None, tasks=len(tasks), undefined="it is not certain that the sources help more than no page")
    ratios = sorted(gain / most for gain, most in sums if most > 0)
    cut = round(0.025 * len(ratios))
    value = math.fsum(one for one, _ in gains) / math.fsum(most for _, most in gains)
    return Worth(value, ratios[cut], ratios[-1 - cut], len(tasks))


@dataclass(frozen=True)
class PageUse:
    """The use of one page for one reader."""

    outcome: GroupOutcome
    page: str | None  # digest of the page's text; None for no page, the sources, and a page that was not stored
    text: str | None = None
    named: int | None = None  # tasks with a callable or program that the page mentions; None if the page is unknown
    names: frozenset[str] | None = None  # names on this page, out of those that a page should have
    worth: Worth | None = None  # None for the arms ``none`` and ``source``

    @property
    def context(self) -> str:
        return self.outcome.group.context

    @property
    def bypassed(self) -> int:
        """The number of answers that are right without calling the package."""
        return self.outcome.totals.verdicts.get("bypassed", 0)

    @property
    def use_at(self) -> tuple[PassEstimate, ...]:
        return self.outcome.figures.pass_at

    def use_json(self) -> dict[str, float | None]:
        return {str(one.k): one.value for one in self.use_at}


@dataclass(frozen=True, slots=True)
class ReaderUse:
    """The use of all pages of a run for one reader, including the two arms with which every page is compared."""

    reader: str
    pages: tuple[PageUse, ...]
    none: PageUse | None
    source: PageUse | None

    def beside(self, page: PageUse) -> list[tuple[str, str]]:
        """Return labelled figures to show beside use@k of a page; none for the arms ``none`` and ``source``."""
        if page.worth is None:
            return []
        named = (
            [] if page.named is None else [("names", f"{page.named:,} of {plural(page.outcome.figures.tasks, 'task')}")]
        )
        arms = (("no page", self.none), ("sources", self.source))
        shares = [(label, share(arm.use_at[0].value)) for label, arm in arms if arm is not None and arm.use_at]
        return [*named, *shares, ("worth", page.worth.short)]


@dataclass(frozen=True, slots=True)
class TaskUse:
    """A task under one reader and page."""

    row: TaskRow
    task: UsageTask
    candidates: tuple[CandidateRow, ...]
    result: TaskResult
    named: bool | None  # whether the page mentions the callable or program; None if the page is unknown
    gap: Gap | None  # reason why the first sample did not pass; None if it passed or has no verdict

    @property
    def line(self) -> int | None:
        """The line of the page on which a passing answer is based or, if none passes, the first answer."""
        ranked = sorted(self.candidates, key=lambda one: one.verdict != "passed")
        return next((one.page_line for one in ranked if one.page_line is not None), None)


@dataclass(frozen=True)
class UsageResults:
    """The results of a usage run."""

    run: RunRow
    session: str
    state: str
    rows: Mapping[str, TaskRow]
    tasks: Mapping[str, UsageTask]
    candidates: tuple[CandidateRow, ...]
    outcomes: tuple[GroupOutcome, ...]
    pages: Mapping[str, str] = field(repr=False)  # text by context
    digests: Mapping[str, str]
    should_be_named: tuple[str, ...]
    dropped: Mapping[str, int]

    @classmethod
    def read(cls, reader: SessionReader, run: RunRow, only: Collection[str] | None = None) -> UsageResults:
        """Read the results of a run; with ``only``, those of these contexts, of no page and of the sources."""
        rows = {row.id: row for row in reader.tasks(run.id)}
        digests = page_digests(run)
        if only is None:
            candidates, counts = reader.candidates(run.id), sample_counts(reader, run.id, by_task=True)
        else:
            shown = [*only, WITHOUT, SOURCES]
            digests = {context: digest for context, digest in digests.items() if context in shown}
            where = (
                "WHERE run_id = ? AND context IN (SELECT value FROM json_each(?)) ORDER BY task_id, evaluator, sample"
            )
            candidates = reader.rows(CandidateRow, "candidates", where, (run.id, json.dumps(shown)))
            counts = counts_of(reader, candidates)
        texts = {context: reader.text_or_none(digest, f"the page {context}") for context, digest in digests.items()}
        names = run.plan.get("should_be_named")
        return cls(
            run,
            str(reader.path),
            reader.run_state(run),
            rows,
            usage_tasks(reader, rows.values()),
            tuple(candidates),
            group_outcomes(counts, rows.values(), ks_of(run.plan)),
            {context: text for context, text in texts.items() if text is not None},
            digests,
            tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else (),
            dict(Counter(entry.stage for entry in reader.dropped(run.id))),
        )

    @property
    def ks(self) -> tuple[int, ...]:
        return ks_of(self.run.plan)

    @property
    def ready(self) -> int:
        """The number of tasks that are not excluded."""
        return sum(row.state != "excluded" for row in self.rows.values())

    @property
    def excluded(self) -> int:
        return len(self.rows) - self.ready

    @property
    def unfinished(self) -> int:
        return sum(one.totals.unfinished for one in self.outcomes)

    @property
    def controls(self) -> dict[str, float | None]:
        """The share of tasks on which each control passes, by control."""
        return {one.group.evaluator: one.figures.pass_at[0].value for one in self.outcomes if one.control}

    @cached_property
    def readers(self) -> tuple[ReaderUse, ...]:
        by_reader: dict[tuple[str, str, str], dict[str, GroupOutcome]] = {}
        for one in self.outcomes:
            if not one.control:
                group = one.group
                by_reader.setdefault((group.evaluator, group.prompt, group.settings), {})[group.context] = one
        return tuple(self._reader(name, arms) for (name, _, _), arms in by_reader.items())

    @cached_property
    def _ordered(self) -> dict[str, int]:
        """The position of each page in the orders of the run, which is the order in which pages are shown."""
        asks: Any = self.run.plan.get("asks")
        contexts = (str(ask.get("context")) for ask in asks if isinstance(ask, dict)) if isinstance(asks, list) else ()
        return {context: place for place, context in enumerate(dict.fromkeys(contexts))}

    def _reader(self, name: str, arms: Mapping[str, GroupOutcome]) -> ReaderUse:
        arms = dict(sorted(arms.items(), key=lambda arm: self._ordered.get(arm[0], len(self._ordered))))
        first = {context: _first(outcome.results) for context, outcome in arms.items()}
        pages = {}
        for context, outcome in arms.items():
            text = self.pages.get(context)
            is_page = context not in (WITHOUT, SOURCES)
            pages[context] = PageUse(
                outcome,
                self.digests.get(context),
                text,
                sum(read_page(text).names(task) for task in self._ready_tasks()) if text is not None else None,
                frozenset(one for one in self.should_be_named if read_page(text).has(one))
                if text is not None
                else None,
                worth_of(first[context], first.get(WITHOUT, {}), first.get(SOURCES, {})) if is_page else None,
            )
        shown = tuple(one for context, one in pages.items() if context not in (WITHOUT, SOURCES))
        return ReaderUse(name, shown, pages.get(WITHOUT), pages.get(SOURCES))

    def of(self, group: Group) -> tuple[PageUse, ReaderUse] | None:
        """Return the use of the page of a group, and that of all pages for the same reader."""
        for used in self.readers:
            for page in (*used.pages, used.none, used.source):
                if page is not None and page.outcome.group == group:
                    return page, used
        return None

    def _ready_tasks(self) -> list[UsageTask]:
        return [task for key, task in self.tasks.items() if self.rows[key].state != "excluded"]

    def lines(self, page: PageUse) -> list[TaskUse]:
        """Return a line for each ready task of a page, in the order of the tasks."""
        of_task: dict[str, list[CandidateRow]] = {}
        for row in self.candidates:
            if (
                row.evaluator,
                row.prompt,
                row.context,
                row.settings,
            ) == page.outcome.group.arguments and not row.control:
                of_task.setdefault(row.task_id, []).append(row)
        results = {one.task: one for one in page.outcome.results}
        return [
            TaskUse(
                self.rows[key],
                task,
                tuple(sorted(of_task.get(key, ()), key=lambda row: row.sample)),
                results[key],
                read_page(page.text).names(task) if page.text is not None else None,
                next((gap_of(row) for row in of_task.get(key, ()) if row.verdict != "passed"), None),
            )
            for key, task in self.tasks.items()
            if key in results
        ]


def usage_tasks(reader: SessionReader, rows: Sequence[TaskRow] | Any) -> dict[str, UsageTask]:
    """Return the usage tasks of rows by id, without those that cannot be read."""
    found = {}
    for row in rows:
        text = reader.text_or_none(row.usage_blob, f"the task {row.qualified_name}")
        if text is not None:
            try:
                found[row.id] = typed_json.decode(UsageTask, text)
            except typed_json.WrongForm:
                continue
    return found


def gap_of(row: CandidateRow) -> Gap | None:
    """Return why a reader's answer did not pass, as recorded with it."""
    if not row.gap:
        return None
    try:
        return typed_json.decode(Gap, row.gap)
    except typed_json.WrongForm:
        return None


def _first(results: Sequence[TaskResult]) -> dict[str, float]:
    return {one.task: value for one in results if (value := one.at(1)) is not None}


def line_marks(candidates: Iterable[CandidateRow]) -> dict[int, bool]:
    """Return the lines of a page, from 1, on which passing answers are based (True) or that are gaps (False)."""
    rows = list(candidates)
    used = {row.page_line: True for row in rows if row.page_line and row.verdict == "passed"}
    gaps = [gap_of(row) for row in rows if row.verdict != "passed"]
    return used | {gap.line: False for gap in gaps if gap is not None and gap.line > 0}


# -- pages of trials


@dataclass(frozen=True)
class ReadmeUse:
    """The newest usage result of a README; ``version`` changes with its verdicts."""

    version: tuple[object, ...]
    live: bool
    page: PageUse = field(compare=False, repr=False)
    used: ReaderUse = field(compare=False, repr=False)
    lines: tuple[TaskUse, ...] = field(compare=False, repr=False)

    @property
    def value(self) -> float | None:
        return self.page.use_at[0].value if self.page.use_at else None

    @property
    def marks(self) -> dict[int, bool]:
        return line_marks(row for line in self.lines for row in line.candidates)


_DECIDED = """
SELECT total(samples - waiting), total(passed) FROM tasks JOIN verdict_counts ON task_id = tasks.id WHERE run_id = ?
"""


def readme_use(reader: SessionReader, key: PageKey, before: ReadmeUse | None = None) -> ReadmeUse | None:
    """Return the newest usage result of a page, or ``before`` if that is still the newest."""
    for run in reversed(reader.runs()):
        if run.kind != "usage":
            continue
        digest = key[1]
        if page_key(str(run.plan.get("source")), digest) != key:
            continue
        contexts = [name for name, one in page_digests(run).items() if one == digest]
        if not contexts:
            continue
        state = reader.run_state(run)
        version = (run.id, *key, state, *reader.query(_DECIDED, (run.id,))[0])
        if before is not None and before.version == version:
            return before
        results = UsageResults.read(reader, run, contexts)
        for used in reversed(results.readers):
            for page in used.pages:
                if page.context in contexts:
                    return ReadmeUse(version, state in ("queued", "running"), page, used, tuple(results.lines(page)))
    return None


@dataclass(frozen=True, slots=True)
class ScoredUse:
    """A trial with a score and a measured README."""

    agent: str
    page: str
    points: float  # out of 100, by the session's preferred rubric and judge
    use: float  # use@1


@dataclass(frozen=True, slots=True)
class UseAndScores:
    """Trials with both a score by one rubric and judge and a use@1, and Kendall's tau-b, or None if undefined."""

    judged: str
    trials: tuple[ScoredUse, ...]
    tau: float | None


def use_and_scores(contents: Contents, run: RunRow, used: ReaderUse) -> UseAndScores | None:
    """Return the scored trials whose READMEs a reader used in a run; trials without a complete score or use@1 are left out."""
    if not contents.judged:
        return None
    source = str(run.plan.get("source"))
    uses = {
        page_key(source, page.page): (page.context, page.use_at[0].value)
        for page in used.pages
        if page.use_at and page.page
    }
    found = []
    for trial in contents.trials:
        score = trial.score(contents.judged[0])
        context, value = uses.get(page_key(trial.row.case_id, trial.row.readme_blob), ("", None))
        if score is not None and score.points is not None and value is not None:
            found.append(ScoredUse(trial.row.agent, context, score.points, value))
    if not found:
        return None
    rubric, judge = contents.judged[0]
    tau = kendall_tau([one.points for one in found], [one.use for one in found]) if len(found) > 1 else None
    return UseAndScores(f"{rubric} ({judge})", tuple(found), tau)
