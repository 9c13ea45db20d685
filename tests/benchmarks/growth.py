"""How the time for one item grows with the size of a session: lists, search, studies, comparisons and statistics.

Each row compares the processor time for an item of the large size with that of the small one; 1 is linear growth.
"""

from __future__ import annotations

import itertools
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.many_trials import many_trials
from app.regenerated import EVALUATOR, RUN, Recorder
from figures import Figure, publish
from studies.declared_studies import put_matrix

from workbench.app.palette import NamedLocation, find
from workbench.app.regeneration.went_wrong import load_findings
from workbench.comparison.groups import compare_groups, groups_of
from workbench.pages.study_report import write_study_report
from workbench.regeneration.passk import TaskCount, summarise
from workbench.results.trials import load_trials, matrix_of
from workbench.search import SearchIndex, parse
from workbench.session import SessionReader
from workbench.session.groups import Group
from workbench.statistics.intervals import Value
from workbench.statistics.paired import paired_difference, permutation_test
from workbench.statistics.rankings import RankedTask, pair_orders
from workbench.statistics.resampling import drawn_orders
from workbench.studies.comparing import rankings
from workbench.studies.study_reader import StudyReader

TARGET = 2.0
OTHER = "openai/other"

#: What is measured, and the processor seconds that it takes.
Times = Iterator[tuple[str, float]]


def seconds(work: Callable[[], object]) -> float:
    """Return the fewest processor seconds of three calls."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def trials(path: Path, count: int) -> Times:
    """Time the table of trials, its matrix and the search over so many trials."""
    many_trials(path, count)
    with SessionReader(path) as reader:
        yield "trials: read the table", seconds(lambda: load_trials(reader))
        lines = load_trials(reader).lines
        yield "trials: cases × agents", seconds(lambda: matrix_of(lines))
        index = SearchIndex(path.with_suffix(".search"))
        began = time.process_time()
        index.update(reader)
        yield "trials: fill the search index", time.process_time() - began
        yield "trials: search", seconds(lambda: index.search(parse("agent:white score:<60")))
        index.close()


def names(_path: Path, count: int) -> Times:
    """Time finding the task that a few letters mean among so many."""
    places = [NamedLocation("task", f"pkg_{n % 97}.Class{n % 1009}.fn_{n}", "task") for n in range(count)]
    yield "palette: find a task by its name", seconds(lambda: find("cnttst", places))


def study(path: Path, candidates: int) -> Times:
    """Time the matrix, the rankings and the report of a study of 30 rows and 12 columns."""
    put_matrix(path, 30, 4, 3, 5, max(1, round(candidates / 1800)), random.Random(1))
    with SessionReader(path) as reader:
        yield "study: read the matrix", seconds(lambda: StudyReader(reader, "matrix").look())
        outcome = StudyReader(reader, "matrix").look()
        yield "study: rankings", seconds(lambda: rankings(outcome))
    yield "study: HTML report", seconds(lambda: write_study_report(path, "matrix", "html", None))


def candidates(path: Path, count: int) -> Times:
    """Time groups of alike failures, and the comparison of two evaluators, over so many candidates."""
    recorder = Recorder(path)
    recorder.run(samples=10)
    with recorder.writer.transaction():
        for number, evaluator in itertools.product(range(count // 20), (EVALUATOR, OTHER)):
            if evaluator == EVALUATOR:
                task = recorder.task(f"function_{number}", number, path=f"package/module_{number % 200}.py")
            for sample in range(10):
                candidate = f"{task}/{evaluator}/{sample}"
                passed = (number * 7 + sample * (3 if evaluator == OTHER else 5)) % 4 == 0
                recorder.writer.insert("candidates", {
                    "id": candidate, "run_id": RUN, "task_id": task, "evaluator": evaluator, "sample": sample, "state": "done",
                    "verdict": "passed" if passed else "failed", "route": "hot", "at": 100.0 + number,
                })  # fmt: skip
                if not passed:
                    recorder.writer.insert("failing_tests", {
                        "candidate_id": candidate, "test_id": f"tests/test_a.py::test_{number % 100}", "outcome": "failed",
                        "message": f"assert {sample} == {number % 20}",
                    })  # fmt: skip
    recorder.close()
    with SessionReader(path) as reader:
        groups = [Group("original", EVALUATOR), Group("original", OTHER)]
        yield "candidates: group alike failures", seconds(lambda: load_findings(reader, RUN, groups[0]))
        yield (
            "candidates: compare two evaluators",
            seconds(lambda: compare_groups([tuple(groups_of(reader, RUN, groups))])),
        )


def statistics(_path: Path, count: int) -> Times:
    """Time intervals, permutation tests and rankings of five systems, ten samples a task, with 10,000 resamples."""
    rng, systems = random.Random(1), "abcde"
    counts: dict[str, list[TaskCount]] = {name: [] for name in systems}
    for number in range(count // 50):
        easy = rng.random()
        for place, name in enumerate(systems):
            passed = sum(rng.random() < min(1, easy + place / 50) for _ in range(10))
            counts[name].append(TaskCount(str(number), f"r{number % 28}", f"f{number // 5 % 200}", 10, passed))

    def work() -> None:
        for rows in counts.values():
            summarise(rows, [1, 3], interval=0.95)
        tasks = [
            RankedTask(
                rows[0].repository,
                rows[0].file,
                {name: row.passed / 10 for name, row in zip(systems, rows, strict=True)},
                3,
            )
            for rows in zip(*counts.values(), strict=True)
        ]
        for left, right in itertools.combinations(counts, 2):
            values = [Value(one.repository, one.file, one.values[right] - one.values[left]) for one in tasks]
            paired_difference(values)
            permutation_test(values, resamples=10_000)
        pair_orders(tasks, drawn=drawn_orders(tasks, resamples=10_000))

    yield "statistics of a study", seconds(work)


def main() -> int:
    """Measure every subject at both sizes."""
    figures = []
    for subject, small, large in (
        (trials, 500, 5_000),
        (names, 10_000, 100_000),
        (study, 10_000, 100_000),
        (candidates, 10_000, 100_000),
        (statistics, 10_000, 100_000),
    ):
        with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
            few, many = (list(subject(Path(folder) / f"{count}.session", count)) for count in (small, large))
        for (what, first), (_, last) in zip(few, many, strict=True):
            growth = (last / large) / (first / small)
            figures.append(Figure(f"{what}, {large:,}", f"{last * 1000:,.0f} ms", f"{small:,} of them", growth, TARGET))
    return publish(figures)


if __name__ == "__main__":
    sys.exit(main())
