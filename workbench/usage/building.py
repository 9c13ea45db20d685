"""Build usage tasks: record the calls of a repository's tests, replay them twice, and choose the two that are shown."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from workbench.base.task_groups import task_group
from workbench.regeneration.environment import Environment
from workbench.regeneration.suite import Rules, run_recorded
from workbench.regeneration.tasks import Dropped
from workbench.sandbox import Backend, Limits, Pool, TestOutcome, pool
from workbench.sandbox.workbench_runner.values import decode
from workbench.usage.public_names import PublicName, PublicNames
from workbench.usage.recorded_calls import LEAST_CALLS, LEAST_RESULTS, MOST_CALLS, tasks_of_calls, why_too_uniform
from workbench.usage.tasks import STAGES, Call, UsageTask
from workbench.usage.tree import test_id, usage_workspace
from workbench.usage.verdicts import hidden_calls, job

#: Incremented whenever the same repository would yield different usage tasks.
USAGE_TASKS_FORMAT = 5
MOST_TASKS = 200
#: Maximum number of public callables to try on the calls of a task, and maximum number of these calls.
_MOST_PROBED, _PROBED_CALLS = 200, 24
#: Time limits in seconds: for a replay, and for each call of a function and of a command.
_SECONDS, _SECONDS_A_CALL = 5.0, (1.0, 3.0)
#: Number of characters beyond which a longer result does not identify a task any better.
_TELLING = 80


OnProgress = Callable[[str, int, int, str], None]
"""A callback that gets the stage (``suite``, ``trace`` or ``filter``), finished and total amounts, and a message."""


@dataclass(frozen=True, slots=True)
class UsageTaskSet:
    """The usage tasks of one repository, and statistics about building them."""

    tasks: tuple[UsageTask, ...]  # commands, then callables that a README should name, by file and line
    dropped: tuple[Dropped, ...]
    stages: Mapping[str, int]  # number of public callables and forms of commands left after each stage
    packages: tuple[str, ...]  # import names
    programs: tuple[str, ...]  # console scripts, or `python -m PACKAGE`
    names: tuple[PublicName, ...]  # all public callables
    tests: int  # tests that passed while their calls were recorded
    suite_seconds: float
    backend: str
    environment: str  # digest of the test environment
    test_paths: tuple[str, ...] = ()  # test files with names that pytest does not collect

    @property
    def should_be_named(self) -> tuple[str, ...]:
        """The programs and public callables that a README should name."""
        return (*self.programs, *(one.name for one in self.names if one.documented))


async def build_usage_tasks(
    snapshot_root: Path,
    environment: Environment,
    backend: Backend,
    *,
    limits: Limits | None = None,
    on_progress: OnProgress = lambda stage, done, total, text: None,
    rules: Rules | None = None,
) -> UsageTaskSet:
    """Build the usage tasks of the pristine tree at ``snapshot_root``.

    Raises SuiteFailed if the repository's tests cannot be used, and SandboxError.
    """
    limits, rules = limits or Limits(), rules or Rules()
    workspace = replace(environment.workspace, root=snapshot_root)
    suite_limits = replace(limits, seconds=max(limits.seconds, rules.suite_seconds), output_kb=limits.output_kb * 8)
    async with pool(backend, workspace, workers=1, limits=limits) as suite_pool:
        report = await run_recorded(suite_pool, suite_limits, rules, lambda line: on_progress("suite", 0, 0, line))
        workspace = suite_pool.workers[0].workspace  # finds test files with unusual names
    passed = frozenset(test.id for test in report.tests if test.outcome == "passed")
    names = await asyncio.to_thread(PublicNames, snapshot_root, workspace.test_paths)
    found, dropped = await asyncio.to_thread(tasks_of_calls, _of_passing(report.calls or {}, passed), names)
    text = f"{len(found) + len(dropped)} public callables and forms of commands"
    on_progress("trace", len(passed), len(report.tests), text)
    found.sort(key=_worth)
    dropped += [
        Dropped(one.id, "limit", f"The limit of {MOST_TASKS} tasks was reached before this callable.")
        for one in found[MOST_TASKS:]
    ]
    del found[MOST_TASKS:]
    tasks: list[UsageTask] = []
    if found:
        entries = [(task.target, task.hidden) for task in found]
        tree = await asyncio.to_thread(usage_workspace, workspace, entries)
        async with (
            pool(backend, tree, workers=1, limits=limits) as first,
            pool(backend, tree, workers=1, limits=limits) as second,
        ):
            for one in await _Replays((first, second), limits, names.all, on_progress).decide(found):
                (tasks if isinstance(one, UsageTask) else dropped).append(one)  # type: ignore[arg-type]
    order = {one.id: number for number, one in enumerate(found)}
    return UsageTaskSet(
        tasks=tuple(sorted(tasks, key=lambda task: order[task.id])),
        dropped=tuple(dropped),
        stages=_left(len(tasks), dropped),
        packages=tuple(sorted({name.split(".")[0] for name in names.modules})),
        programs=tuple(names.programs),
        names=names.all,
        tests=len(passed),
        suite_seconds=report.seconds,
        backend=backend.name,
        environment=environment.digest,
        test_paths=workspace.test_paths,
    )


def _of_passing(recorded: Mapping[str, Any], passed: frozenset[str]) -> dict[str, Any]:
    """Return the recorded calls of tests that passed; calls of other tests may have wrong results."""

    def kept(calls: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        return [call for call in calls if not call.get("test") or call["test"] in passed]

    callables = [{**one, "calls": kept(one["calls"])} for one in recorded.get("callables", ())]
    return {**recorded, "callables": callables, "commands": kept(recorded.get("commands", ()))}


def _worth(task: UsageTask) -> tuple[object, ...]:
    target = task.target
    return target.kind != "command", not target.documented, target.path, target.line, target.name


def _left(tasks: int, dropped: Sequence[Dropped]) -> dict[str, int]:
    counts = Counter(one.stage for one in dropped)
    remaining = tasks + len(dropped)
    left = {"callables": remaining}
    for stage in STAGES:
        remaining -= counts[stage]
        left[stage] = remaining
    return left


class _Replays:
    """Replays the calls of tasks in two fresh sandboxes; chooses the shown calls from those with equal results."""

    def __init__(
        self, pools: tuple[Pool, Pool], limits: Limits, names: Sequence[PublicName], on_progress: OnProgress
    ) -> None:
        self.pools = pools
        self.limits = limits
        self.names = names
        self.on_progress = on_progress

    async def decide(self, tasks: Sequence[UsageTask]) -> list[UsageTask | Dropped]:
        done = 0

        async def one(position: int, task: UsageTask) -> UsageTask | Dropped:
            nonlocal done
            decided = await self._decide(position, task)
            done += 1
            note = decided.reason if isinstance(decided, Dropped) else f"{len(decided.hidden)} hidden calls"
            self.on_progress("filter", done, len(tasks), f"{task.id}: {note}")
            return decided

        async with task_group() as group:
            deciding = [group.create_task(one(position, task)) for position, task in enumerate(tasks)]
        return [each.result() for each in deciding]

    async def _decide(self, position: int, task: UsageTask) -> UsageTask | Dropped:
        calls = hidden_calls(task)
        one, other = self.pools if position % 2 else self.pools[::-1]
        first = await self._run(one, position, calls, task)
        second: dict[int, TestOutcome] = {}
        if any(test.value for test in first.values()):
            # Every other call, because a result may depend on the calls before it
            for odd in (0, 1):
                part = {number: call for number, call in calls.items() if number % 2 == odd}
                second |= await self._run(other, position, part, task)
        replayed = _replayed(task, (first, second))
        if isinstance(replayed, Dropped):
            return replayed
        return _with_shown(replayed, await self._others_that_fit(position, calls, replayed))

    async def _run(
        self, workers: Pool, position: int, calls: Mapping[int, Call], task: UsageTask, answer: str = ""
    ) -> dict[int, TestOutcome]:
        """Return the outcomes of an answer, or of the reference, on calls by their numbers; some may be missing."""
        # Some commands never end without a terminal, or wait for something that the tests had replaced.
        a_call = _SECONDS_A_CALL[task.target.kind == "command"]
        limits = replace(self.limits, seconds=_SECONDS + a_call * len(calls))
        report = await workers.run(job("replay", position, calls, answer or task.target.reference, limits))
        numbers = {test_id(position, number): number for number in calls}
        return {numbers[test.id]: test for test in report.tests if test.id in numbers}

    async def _others_that_fit(
        self, position: int, recorded: Mapping[int, Call], task: UsageTask
    ) -> dict[tuple[str, ...], frozenset[str]]:
        """Return other public callables with the same result, for each of the most distinctive calls, by its inputs."""
        count = len(task.parameters)
        others = [
            one
            for one in self.names
            if one.kind != "class" and one.name != task.target.name
            and one.least <= count and (one.most is None or count <= one.most)
        ][:_MOST_PROBED]  # fmt: skip
        if task.target.kind == "command" or not others:
            return {}
        telling = sorted(task.hidden, key=lambda call: (_is_echo(call), -len(call.expected)))
        first = {call.inputs: call for call in telling[:_PROBED_CALLS]}
        tried = {number: call for number, call in recorded.items() if call.inputs in first}
        probe = _PROBE.format(names=[(one.module, one.attribute) for one in others])
        outcomes = await self._run(self.pools[position % 2], position, tried, task, probe)
        found = {}
        for number, recorded_call in tried.items():
            call = first[recorded_call.inputs]
            texts = decode(outcomes[number].value).split() if number in outcomes and outcomes[number].value else ()
            wanted = hashlib.sha256(call.expected.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            fitting = (one.name for one, text in zip(others, texts, strict=False) if text == wanted)
            found[call.inputs] = frozenset(fitting)
        return found


#: An answer that calls every callable, and returns the first digits of the hash of each result.
_PROBE = """import copy, hashlib, importlib, signal

from workbench_runner.values import encode


def called(module, attribute, inputs):
    def stop(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 1.0, 0.1)
    try:
        target = importlib.import_module(module)
        for part in attribute.split("."):
            target = getattr(target, part)
        text = encode(target(*copy.deepcopy(inputs)))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    except BaseException:
        return "-"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def answer(*inputs):
    return " ".join(called(module, attribute, inputs) for module, attribute in {names!r})
"""


def _replayed(task: UsageTask, runs: Sequence[Mapping[int, TestOutcome]]) -> UsageTask | Dropped:
    kept: list[Call] = []
    seconds = 0.0
    failures: list[str] = []
    differing = uncalled = 0
    for number, call in hidden_calls(task).items():
        one, other = (run.get(number) for run in runs)
        if one is None or other is None or not one.value or not other.value:
            failures.append(next((each.message for each in (one, other) if each and each.message), "no result"))
        elif one.value != other.value or call.expected not in ("", one.value):
            differing += 1
        elif not (one.called and other.called):
            uncalled += 1
        elif task.target.kind != "command" or _says_something(one.value):
            kept.append(replace(call, expected=one.value))
            seconds += one.seconds
    if not kept and failures:
        return Dropped(task.id, "original", f"Its calls cannot be replayed outside of the tests: {failures[0]}")
    if not kept and uncalled:
        return Dropped(task.id, "original", "Its replayed calls do not reach the package.")
    if len(kept) < LEAST_CALLS:
        silent = len(task.hidden) - len(kept) - differing - len(failures) - uncalled
        parts = {
            "differ": differing,
            "fail": len(failures),
            "print nothing": silent,
            "do not reach the package": uncalled,
        }
        why = ", ".join(f"{number} {what}" for what, number in parts.items() if number)
        return Dropped(task.id, "replay", f"Of its {len(task.hidden)} replayed calls, {why}.")
    task = replace(task, hidden=_chosen(kept), seconds=round(seconds, 6))
    return why_too_uniform(task) or task


def _says_something(result: str) -> bool:
    """Return whether a command printed anything or wrote a file."""
    value = decode(result)
    return bool(value["stdout"] or value.get("files"))


def _chosen(calls: Sequence[Call]) -> tuple[Call, ...]:
    """Select at most ``MOST_CALLS`` calls, with as many different results as possible, and return them in order."""
    seen: Counter[str] = Counter()
    ranks = []
    for number, call in enumerate(calls):
        ranks.append((seen[call.expected], number))
        seen[call.expected] += 1
    return tuple(calls[number] for number in sorted(number for _, number in sorted(ranks)[:MOST_CALLS]))


def _is_echo(call: Call) -> bool:
    """Return whether the result is one of the inputs. Such a call does not show what the callable does."""
    return call.expected in call.inputs


def _with_shown(task: UsageTask, fitting: Mapping[tuple[str, ...], frozenset[str]]) -> UsageTask | Dropped:
    """Choose two calls to show: with different results, fitted by the fewest other callables, then with long results.

    ``fitting`` maps the inputs of some calls to the other callables with the same result.
    """
    calls = task.hidden
    every = frozenset[str]().union(*fitting.values())  # may fit a call on which they were not tried

    def rank(pair: tuple[int, int]) -> tuple[object, ...]:
        rest = {call.expected for number, call in enumerate(calls) if number not in pair}
        one, other = (fitting.get(calls[number].inputs, every) for number in pair)
        echoes = sum(_is_echo(calls[number]) for number in pair)
        length = sum(min(len(calls[number].expected), _TELLING) for number in pair)
        return rest <= {"None"}, len(rest) < LEAST_RESULTS, len(one & other), echoes, -length, pair

    pairs = combinations(range(len(calls)), 2)
    best = min((pair for pair in pairs if calls[pair[0]].expected != calls[pair[1]].expected), key=rank)
    hidden = tuple(call for number, call in enumerate(calls) if number not in best)
    if all(call.expected == "None" for call in hidden):
        return Dropped(task.id, "results", "All of its hidden calls return None, as a stub does.")
    return replace(task, shown=tuple(calls[number] for number in best), hidden=hidden)
