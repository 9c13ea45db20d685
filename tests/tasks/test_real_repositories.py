"""Published source distributions and the cases that come with the program: their tasks, their rows, both controls."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from workbench.engine.dataset_building import build_dataset
from workbench.regeneration.dataset import read_dataset
from workbench.regeneration.suite import Rules
from workbench.regeneration.tasks import stubs
from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice
from workbench.sandbox import Job, Limits, Route, Verdict, pool

pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.nightly, pytest.mark.timeout(600)]


class Quiet:
    def update(self, name: str, state: str = "running", *, done=None, total=None, note: str = "") -> None:
        pass


async def test_schema_gives_the_tasks_that_it_is_known_for(bubblewrap, home: Path, tmp_path: Path) -> None:
    outcomes = await build_dataset(
        ["schema==0.7.8"], bubblewrap, lambda source: Quiet(), tmp_path, ("jsonl", "parquet")
    )
    outcome = outcomes[0]
    assert outcome.error == ""
    assert outcome.built is not None
    assert outcome.prepared is not None
    counts = outcome.built.counts
    assert (counts["n_candidates"], counts["n_in_time"], counts["n_stable"]) == (58, 58, 118)
    assert 50 <= counts["n_tasks"] < 58
    # The paper's Table 2 says 178: functions of test_schema.py are among them, no docstring and no failing stub is asked for.
    rules = Rules(selection="published")
    (published,) = await build_dataset(
        ["schema==0.7.8"], bubblewrap, lambda source: Quiet(), tmp_path / "published", ("jsonl",), rules=rules
    )
    assert published.built is not None
    assert published.built.counts["n_traced"] == 178
    assert sum(task.path == "test_schema.py" for task in published.built.tasks) == 124
    rows = read_dataset(tmp_path).rows
    assert read_dataset(tmp_path / "tasks.parquet").rows == rows
    root = outcome.prepared.snapshot.root
    for row in rows:
        assert row.file == (root / row.fn).read_bytes()
        assert 0 < row.statements_covered <= row.statements
        assert 0 <= row.branches_covered <= row.branches
    # Branches say more than statements: functions that are executed whole, yet not in every way.
    assert any(row.coverage == 1.0 and row.branch_coverage is not None and row.branch_coverage < 1 for row in rows)
    functions = {function.id: function for row in rows[:1] for function in find_functions(row.file, row.fn)}
    async with pool(bubblewrap, outcome.prepared.environment.workspace, workers=2) as workers:

        async def verdict(row, body: str) -> Verdict:
            content = splice(row.file, functions[row.task_id], body)
            job = Job(row.task_id, row.PASS_TO_PASS, row.fn, content, Limits(seconds=60), Route.COLD)
            return (await workers.run(job)).verdict

        for row in rows[::12]:
            bodies = (row.body, *stubs(functions[row.task_id]))
            found = await asyncio.gather(*(verdict(row, body) for body in bodies))
            assert found[0] is Verdict.PASSED, row.task_id
            assert all(each is not Verdict.PASSED for each in found[1:]), row.task_id
