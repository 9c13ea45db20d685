"""Run the steps of a page in order in one sandbox while other sandboxes run independent chains.

After a short delay, the other sandboxes start running chains, beginning with the last one on the page. When the page
reaches a chain, its results are reused if all its steps worked and left nothing behind, and no earlier step on the page
left anything behind. Otherwise the chain is run in place.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.task_groups import task_group
from workbench.base.text import one_line
from workbench.checking.chains import Chain, chains_of, imports_of
from workbench.checking.environment import RUNNER, CheckEnvironment, copy_tree, run_in_sandbox
from workbench.checking.steps import PagePlan
from workbench.claims.page import Page
from workbench.claims.project import ProjectIndex
from workbench.sandbox import NoIsolation
from workbench.sandbox.program import Ended

_LOOK_SECONDS = 0.25
#: Polling interval of the sandboxes, and the delay before more of them start, in seconds.
_REPORT_SECONDS, _WAIT_SECONDS = 0.02, 0.25
#: Maximum number of sandboxes in addition to the page's own.
_MOST_APART = 3
#: Trees with more files than this are not scanned after each step, so their pages only run in order.
_MOST_FILES = 5_000

Results = Mapping[int, Mapping[str, Any]]


class NotSandboxed(WorkbenchError):
    """The sandbox provides no isolation, so nothing was run."""


@dataclass(slots=True)
class Execution:
    """A run of a page, and of the chains that run apart from it.

    ``seconds`` limits each step. ``room`` limits the number of further sandboxes; None runs everything in order.
    ``worked`` judges the results of a chain. ``report`` is called with results a few times a second. ``waiting`` holds
    unfinished chains and ``settled`` those that worked. ``passed`` is the last step that ended on the page. ``over``
    means that a step left something behind, so no more results can be reused. ``file`` lists the chains that the page
    may skip.
    """

    page: Page
    plan: PagePlan
    project: ProjectIndex
    environment: CheckEnvironment
    seconds: float
    seed: str
    room: asyncio.Semaphore | None
    worked: Callable[[Results], bool]
    report: Callable[[Results], None]
    waiting: list[Chain] = field(default_factory=list)
    orders: list[dict[str, Any]] = field(default_factory=list)
    file: Path = Path()
    passed: int = -1
    over: bool = False
    settled: dict[int, Chain] = field(default_factory=dict)
    results: dict[int, Mapping[str, Any]] = field(default_factory=dict)

    async def run(self) -> tuple[dict[int, Mapping[str, Any]], bool]:
        """Run the page; return how each step ended, and whether any step ran apart from the page."""
        alone = self.room is None or len(self.project.files) > _MOST_FILES
        chains = () if alone else chains_of(self.plan)
        if sum(len(chain.steps) for chain in chains) < 2:
            chains = ()
        self.waiting, self.orders = list(chains), self._orders(chains)
        with _folder() as folder:
            await _prepare(folder, self.project, {"steps": self.orders})
            self.file = folder / "apart.json"
            running = self.start(folder, *(["/checked/apart.json"] if chains else []))
            count = max(1, min(_MOST_APART, (os.cpu_count() or 1) - 1)) if chains else 0
            helpers = [self.run_apart((at, count)) for at in range(count)]
            ended = await _with_others(running, [self.follow(folder / "results.jsonl"), *helpers])
            found, left_out = self._merged(_results(folder / "results.jsonl"))
        proof = found.pop(-1, None)
        if proof is None or proof.get("problem"):
            why = str(proof["problem"]) if proof else one_line(ended.output, 200) or f"status {ended.status}"
            raise NotSandboxed(
                f"Nothing of {self.page.path} was run, because its sandbox provides no isolation: {why}."
            )
        return found, left_out

    def _orders(self, chains: Sequence[Chain]) -> list[dict[str, Any]]:
        chain_of = {at: chain for chain in chains for at in chain.steps}
        found = []
        for index, step in enumerate(self.plan.steps):
            if step.kind == "settled":
                continue
            order: dict[str, Any] = {"id": index, "kind": step.kind, "code": step.code, "line": step.line}
            order |= {"page": self.page.path, "files": list(step.files), "modules": sorted(self.project.modules)}
            if step.seconds is not None:
                order["seconds"] = min(step.seconds, self.seconds)
            if chains and step.kind != "shell":
                order["imports"] = imports_of(step)
            if index in chain_of:
                order |= {"chain": chain_of[index].steps[0], "uses": chain_of[index].imports}
            found.append(order)
        return found

    def _merged(self, raw: Results) -> tuple[dict[int, Mapping[str, Any]], bool]:
        left_out = [at for at, one in raw.items() if one.get("apart")]
        found = {at: self.results.get(at, {}) if at in left_out else one for at, one in raw.items()}
        return {at: one for at, one in found.items() if one}, bool(left_out)

    @property
    def steps(self) -> list[int]:
        return [order["id"] for order in self.orders]

    @property
    def at(self) -> int:
        return next((step for step in self.steps if step > self.passed), self.passed)

    def left(self, share: tuple[int, int]) -> list[Chain]:
        """Return the chains that the page has not reached, starting with the last.

        ``share`` (part, parts) selects one part of them.
        """
        which, of = share
        return [chain for chain in reversed(self.waiting) if chain.steps[0] > self.at and chain.steps[0] % of == which]

    def take(self, chain: Chain, results: Results) -> None:
        self.results |= results
        self.settled |= dict.fromkeys(chain.steps, chain)
        whole, before = dict(self.settled), -1
        while len(whole) != before:
            before = len(whole)
            whole = {at: one for at, one in whole.items() if self._between(one) <= whole.keys()}
        _write(self.file, sorted({one.steps[0] for one in whole.values()}))

    def _between(self, chain: Chain) -> set[int]:
        return {at for at in self.steps if chain.steps[0] <= at <= chain.steps[-1]}

    async def start(self, folder: Path, *words: str) -> Ended:
        python = self.environment.python
        arguments = ["/checked/steps.json", "/checked/results.jsonl", str(self.seconds), *words]
        return await run_in_sandbox(
            [str(python), "-I", "-B", f"{RUNNER}/page_runner.py", *arguments],
            folder=folder,
            inside="/checked",
            cwd="/checked/repo",
            python=python,
            mounts=(self.environment.folder, RUNNER),
            seconds=self.seconds * len(self.orders) + 30.0,
            variables={
                "PYTHONHASHSEED": self.seed,
                "PYTHONDONTWRITEBYTECODE": "1",
                "VIRTUAL_ENV": str(self.environment.folder),
            },
        )

    async def follow(self, path: Path) -> None:
        clock = asyncio.get_running_loop().time
        pause = _REPORT_SECONDS if self.waiting else _LOOK_SECONDS
        known, size, reported_at = 0, 0, clock()
        found: dict[int, Mapping[str, Any]] = {}
        while True:
            await asyncio.sleep(pause)
            if (now := _size(path)) != size:
                size = now
                raw = await asyncio.to_thread(_results, path)
                self.passed = max(raw, default=-1)
                self.over = self.over or any(one.get("rest") for one in raw.values())
                found, _ = self._merged(raw)
                found.pop(-1, None)
            if len(found) > known and clock() - reported_at >= _LOOK_SECONDS:
                known, reported_at = len(found), clock()
                self.report(found)

    async def run_apart(self, share: tuple[int, int]) -> None:
        assert self.room is not None
        await asyncio.sleep(_WAIT_SECONDS)
        while not self.over and not self.room.locked() and (chains := self.left(share)):
            async with self.room:
                with contextlib.suppress(OSError, NoIsolation):
                    await self._one_apart(chains)
                if chains[0] in self.waiting:
                    return  # the sandbox could not be started, or the page has reached the chain

    async def _one_apart(self, chains: Sequence[Chain]) -> None:
        with _folder() as folder:
            await _prepare(folder, self.project, {"steps": self.orders, "chains": [chain.steps for chain in chains]})
            running = self.start(folder, "/checked/passed.json")
            await _with_others(running, [self._take_over(folder)])
            self._taken(folder / "results.jsonl")

    async def _take_over(self, folder: Path) -> None:
        size, known = 0, -2
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            at = max(self.steps) if self.over else self.at
            if at != known:
                known = at
                _write(folder / "passed.json", at)
            if (now := _size(folder / "results.jsonl")) != size:
                size = now
                self._taken(folder / "results.jsonl")

    def _taken(self, path: Path) -> None:
        for first, one in _results(path).items():
            chain = next((chain for chain in self.waiting if chain.steps[0] == first), None)
            if chain is None:
                continue
            self.waiting.remove(chain)
            results = {int(at): result for at, result in one["results"].items()}
            if one["clean"] and results.keys() == set(chain.steps) and self.worked(results):
                self.take(chain, results)


async def _with_others(running: Awaitable[Ended], others: Sequence[Coroutine[Any, Any, None]]) -> Ended:
    async with task_group() as group:
        beside = [group.create_task(one) for one in others]
        ended = await running
        for one in beside:
            one.cancel()
    return ended


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


@contextlib.contextmanager
def _folder() -> Any:
    place = paths.cache_dir().absolute() / "checked"
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".run-", dir=place) as name:
        yield Path(name)


async def _prepare(folder: Path, project: ProjectIndex, request: Any) -> None:
    copying = asyncio.ensure_future(asyncio.to_thread(copy_tree, project.root, folder / "repo"))
    try:
        await asyncio.shield(copying)
    finally:
        await copying  # the thread survives a cancellation and would write to a deleted folder
    (folder / "repo").mkdir(exist_ok=True)
    (folder / "steps.json").write_text(json.dumps(request))


def _write(path: Path, value: Any) -> None:
    beside = path.with_name(f".{path.name}")
    beside.write_text(json.dumps(value))
    beside.replace(path)


def _results(path: Path) -> dict[int, Mapping[str, Any]]:
    found: dict[int, Mapping[str, Any]] = {}
    try:
        # Code in the sandbox can write to this file too, so ignore lines that are not results.
        for line in path.read_text("utf-8", "replace").splitlines():
            result = json.loads(line)
            found.setdefault(int(result["id"]), result)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return found
