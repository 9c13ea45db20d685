"""What the benchmarks of testing share: four repositories, a mix of candidates, and the cold ways to test one."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from engine.mutants import mutants

from workbench.base import paths
from workbench.catalog import resolve_case, snapshot_of
from workbench.engine.task_building import Prepared, prepare
from workbench.regeneration.tasks import located, stubs
from workbench.repository.splicing import SpliceError, splice
from workbench.sandbox import Job, Limits, Workspace, choose_backend

#: Without the tests whose servers sleep: they wait for seconds, whoever runs them.
REQUESTS = "psf/requests, no server"
_WITH_SERVERS = ("test_requests.py", "test_lowlevel.py", "test_testserver.py")

SOURCES = ("keleshev/schema", REQUESTS, "explosion/confection", "python-dotenv==1.1.1")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A job and what kind of body it has: ``original``, ``stub``, ``wrong`` or ``mutant``."""

    kind: str
    job: Job
    pristine: bool


class Silent:
    """Nobody is told how far the building is."""

    def update(self, *_: object, **__: object) -> None: ...


def prepared(source: str) -> Prepared:
    """Return a repository with its tasks, from the cache if they are there."""
    if source == REQUESTS:
        source = str(_without_servers())
    return asyncio.run(prepare(source, choose_backend("bubblewrap"), Silent()))


def _without_servers() -> Path:
    tree = snapshot_of(resolve_case("psf/requests")).root
    folder = paths.cache_dir() / "benchmarks" / "requests"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(tree, folder, ignore=shutil.ignore_patterns(*_WITH_SERVERS))
    return folder


def mix(made: Prepared, limit: int, *, near_misses: int = 2, seconds: float = 5.0) -> list[Candidate]:
    """Return ``limit`` candidates: of every task the original, a stub, a wrong return and some near misses; shuffled."""
    found: list[Candidate] = []
    chance = random.Random(7)
    for task, function, source in located(made.snapshot.root, made.built.tasks):
        stub = stubs(function)[0]
        near = mutants(task.body)
        chance.shuffle(near)
        bodies = [("original", task.body), ("stub", stub), ("wrong", "return 'no such value'")]
        bodies += [("mutant", body) for body in near[:near_misses]]
        for number, (kind, body) in enumerate(bodies):
            try:
                content = splice(source, function, body)
            except SpliceError:
                continue
            job = Job(
                id=f"{task.id} {kind} {number}",
                tests=task.tests,
                path=task.path,
                content=content,
                limits=task.limits(Limits(seconds=seconds)),
                function=None if task.import_time else (task.qualified_name, task.occurrence),
            )
            found.append(Candidate(kind, job, kind == "original"))
    chance.shuffle(found)
    return found[:limit]


class Cold:
    """Cold pytest in a fresh copy of the tree, as harnesses do it.

    Args:
        workspace: The repository and its environment.
        fair: With the bytecode of everything but the changed file, and short tracebacks.
    """

    def __init__(self, workspace: Workspace, *, fair: bool) -> None:
        self.workspace = workspace
        self._fair = fair
        self._folder = Path(tempfile.mkdtemp(prefix="cold-"))
        self._template = self._folder / "template"
        shutil.copytree(workspace.root, self._template, ignore=shutil.ignore_patterns("__pycache__", ".git"))
        for path, text in workspace.metadata:
            place = self._folder / "metadata" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        if fair:
            self._pytest(self._template, ())

    def run(self, job: Job, *, everything: bool) -> bool:
        """Return whether the tests pass: the whole suite or the required ones."""
        with self._copy() as tree:
            target = tree / job.path
            target.unlink()
            target.write_bytes(job.content)
            for stale in target.parent.glob(f"__pycache__/{target.stem}.*"):
                stale.unlink()
            return self._pytest(tree, () if everything else job.tests) == 0

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        tree = Path(tempfile.mkdtemp(dir=self._folder)) / "tree"
        shutil.copytree(self._template, tree, symlinks=True)
        try:
            yield tree
        finally:
            shutil.rmtree(tree.parent)

    def _pytest(self, tree: Path, tests: Sequence[str]) -> int:
        workspace = self.workspace
        roots = [str((tree / entry).resolve()) for entry in workspace.import_roots]
        variables = {
            **dict(workspace.variables),
            "PATH": f"{workspace.python.parent}:/usr/bin:/bin",
            "HOME": str(tree.parent),
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join([*roots, str(self._folder / "metadata")]),
        }
        options = ["--tb=native"] if self._fair else []
        if not self._fair:
            variables["PYTHONDONTWRITEBYTECODE"] = "1"
        command = [str(workspace.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        try:
            return subprocess.run(
                [*command, *workspace.pytest_args, *(tests or workspace.test_paths)],
                cwd=tree,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=120,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return -1

    def close(self) -> None:
        """Remove the folders."""
        shutil.rmtree(self._folder, ignore_errors=True)
