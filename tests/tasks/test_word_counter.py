"""A real case from end to end: environment, suite, tasks; the original passes and the stub fails on every task."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.base.typed_json import convert, encode
from workbench.regeneration.building import build_tasks
from workbench.regeneration.declarations import declarations
from workbench.regeneration.environment import EnvironmentFailed, build_environment
from workbench.regeneration.tasks import BuildProgress, TaskSet, stubs
from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice
from workbench.sandbox import Job, Limits, Route, Verdict, pool

pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.slow]

ROOT = Path(__file__).parents[2] / "test_cases" / "word_counter" / "repository"


@pytest.mark.nightly
@pytest.mark.timeout(600)
async def test_tasks_of_word_counter(bubblewrap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path))
    environment = await build_environment(ROOT)
    again = await build_environment(ROOT, on_progress=lambda line: pytest.fail(f"built twice: {line}"))
    assert (again.folder, again.installed) == (environment.folder, environment.installed)
    assert not list(environment.folder.rglob("word_counter*")), "the environment holds a copy of the project"
    steps: list[BuildProgress] = []
    tasks = await build_tasks(ROOT, environment, bubblewrap, on_progress=steps.append)
    functions = {
        function.id: function for function in find_functions((ROOT / "word_counter.py").read_bytes(), "word_counter.py")
    }
    assert {task.id for task in tasks.tasks} | {entry.id for entry in tasks.dropped} == set(functions)
    assert len(tasks.tasks) == tasks.stages["stub"] == len(functions) - len(tasks.dropped) >= 30
    assert [step.done for step in steps if step.task or step.dropped] == list(range(1, len(functions) + 1))
    assert convert(TaskSet, encode(tasks)) == tasks
    source = (ROOT / "word_counter.py").read_bytes()
    async with pool(bubblewrap, environment.workspace, workers=2) as workers:

        async def verdicts(task, route: Route) -> list[Verdict]:
            bodies = (task.body, stubs(functions[task.id])[0])
            job = Job(
                task.id,
                task.tests,
                task.path,
                b"",
                task.limits(Limits(seconds=60)),
                route,
                (task.qualified_name, task.occurrence),
            )
            contents = [splice(source, functions[task.id], body) for body in bodies]
            return [(await workers.run(replace(job, content=content))).verdict for content in contents]

        for route in (Route.AUTO, Route.COLD):
            chosen = tasks.tasks if route is Route.AUTO else tasks.tasks[::8]
            found = await asyncio.gather(*(verdicts(task, route) for task in chosen))
            assert all(pair == [Verdict.PASSED, Verdict.FAILED] for pair in found), found


async def test_what_cannot_be_installed_is_one_sentence(make, tmp_path: Path, monkeypatch) -> None:
    root = make({"sums.py": ""})
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(EnvironmentFailed, match="could not be installed") as caught:
        await build_environment(root, install=["pip install ./nowhere-to-be-found.whl"])
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "cache" / "environments").glob("*/complete.json"))
    with pytest.raises(EnvironmentFailed, match="not supported"):
        await build_environment(root, install=["apt install everything"])


def test_the_project_never_asks_for_itself(tmp_path: Path) -> None:
    from workbench.regeneration.environment import _without_self

    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "my.pkg"\nversion = "1"\ndependencies = ["click"]\n'
        '[project.optional-dependencies]\nsocks = ["pysocks>=1"]\ntest = ["my-pkg[socks]", "pytest-cov", "mock"]\n'
    )
    declared = declarations(tmp_path)
    assert _without_self((*declared.requirements, *declared.test_requirements), declared) == (
        "click",
        "pysocks>=1",
        "mock",
    )
