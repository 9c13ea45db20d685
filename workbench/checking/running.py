"""Run a page in a sandbox and determine the verdict on each block."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.checking.chains import typed
from workbench.checking.environment import CheckEnvironment
from workbench.checking.executing import Execution
from workbench.checking.judging import judge_parts, set_apart, went_well
from workbench.checking.judging_commands import StepContext, part
from workbench.checking.steps import PagePlan
from workbench.checking.verdicts import ALARMS, BlockPart, BlockResult, BlockVerdict
from workbench.claims.comparing import alike, random_alone, shell_difference, without_addresses
from workbench.claims.page import Page
from workbench.claims.project import ProjectIndex
from workbench.claims.python import names_bound, python_of

_SHOWS = re.compile(
    r"\b(?:outputs?|prints?|printed|results?|gives?|shows?|displays?|returns?|yields?|see|like this|following)\b", re.I
)
#: Number of reruns that must reproduce an alarm, normally and on a page with random output.
_SAME, _SAME_WHERE_RANDOM = 1, 5
#: Maximum number of sections and blocks to run on their own, so that checking a page full of errors terminates.
_MOST_ALONE = 20
_RANDOM = "its result differs between runs"
#: Time limit for a step, in seconds.
STEP_SECONDS = 10.0


Known = Callable[[Sequence[BlockResult], Sequence[int]], None]
"""A callback that receives the blocks of a page while it runs, and the indices of blocks without a verdict so far."""


async def run_page(
    page: Page,
    plan: PagePlan,
    project: ProjectIndex,
    environment: CheckEnvironment,
    seconds: float = STEP_SECONDS,
    on_known: Known | None = None,
    room: asyncio.Semaphore | None = None,
) -> tuple[BlockResult, ...]:
    """Run a page and return the verdicts on its blocks, in order.

    An alarm counts only if a run with another hash seed confirms it; otherwise its block is *not run*. A block also
    works if it works on its own or with its section on its own. ``on_known`` is called a few times a second, and an
    alarm is passed to it only once confirmed; ``room`` limits the number of further sandboxes.

    Raises:
        NotSandboxed: The sandbox was not shown to provide isolation.
        OSError: The sandbox cannot be started.
    """
    run = _Run(page, project, environment, seconds)
    first, late, apart = await run.once(plan, "0", on_known, room)
    if apart and any(one.verdict in ALARMS for one in first):
        # An alarm counts only if it also occurs when the page runs in order, so run the page again in order.
        first, late, _ = await run.once(plan, "0", on_known)
    # A step that timed out would time out again, so it is not repeated.
    in_time = plan.without(lambda at, _: at in late, "it did not end within the time limit", harmless=False)
    for seed in range(1, 1 + _SAME + _SAME_WHERE_RANDOM):
        if not any(one.verdict in ALARMS for one in first):
            break
        last = max(at for at, one in enumerate(first) if one.verdict in ALARMS)
        # Steps after the last alarm cannot affect it.
        again, _, _ = await run.once(in_time.up_to(last), str(seed))
        before, first = first, tuple(_twice(one, other) for one, other in zip(first, again, strict=True))
        # If one output is random, others may be random too and agree by chance, as the order of a two-element set can.
        if seed == _SAME and first == before and not any(_only_order(part.diff) for one in first for part in one.parts):
            break
    runs: dict[tuple[int, ...], tuple[BlockResult, ...]] = {}
    for at in [at for at, one in enumerate(first) if one.verdict in ALARMS]:
        # A reader may start with this section or block, without the state that earlier ones left.
        section = tuple(index for index, code in enumerate(page.codes) if code.section == page.codes[at].section)
        for own in (section, (at,)):
            if first[at].verdict not in ALARMS or len(own) == len(page.codes):
                continue
            if own not in runs and len(runs) < _MOST_ALONE:
                runs[own], _, _ = await run.once(in_time.only(own), "0")
            if own in runs and runs[own][at].verdict is BlockVerdict.WORKS:
                first = (*first[:at], runs[own][at], *first[at + 1 :])
    return first


def _only_order(diff: Sequence[str]) -> bool:
    claimed, real = (
        sorted(word for line in diff if line.startswith(sign) for word in re.findall(r"\w+", line[1:])) for sign in "-+"
    )
    return bool(diff) and claimed == real


def _twice(one: BlockResult, other: BlockResult) -> BlockResult:
    if one.verdict not in ALARMS:
        return one
    if not any(part.verdict in ALARMS for part in one.parts):
        same = other.verdict is one.verdict and one.output == other.output
        return one if same else replace(one, verdict=BlockVerdict.NOT_RUN, reason=_RANDOM, output="", diff=())
    again = {(part.line, part.code): part for part in other.parts}
    parts = [_confirmed(part, again.get((part.line, part.code))) for part in one.parts]
    return one.with_parts(parts, bool(one.command))


def _confirmed(one: BlockPart, other: BlockPart | None) -> BlockPart:
    """Confirm a part with the result of another run; the page is not to blame for output that varies between runs."""
    if one.verdict not in ALARMS:
        return one
    if other is not None and one.verdict is other.verdict:
        if one.verdict is BlockVerdict.FAILS or without_addresses(one.output) == without_addresses(other.output):
            return one
        if one.diff and random_alone(one.diff, other.diff):
            return replace(one, verdict=BlockVerdict.WORKS, reason="", output="", diff=())
    return replace(one, verdict=BlockVerdict.NOT_RUN, reason=_RANDOM, output="", diff=())


@dataclass(frozen=True, slots=True)
class _Run:
    page: Page
    project: ProjectIndex
    environment: CheckEnvironment
    seconds: float

    async def once(
        self, plan: PagePlan, seed: str, on_known: Known | None = None, room: asyncio.Semaphore | None = None
    ) -> tuple[tuple[BlockResult, ...], frozenset[int], bool]:
        """Run a page once; return the verdicts, the indices of steps that timed out, and whether any step ran apart."""
        open_steps = [at for at, step in enumerate(plan.steps) if step.kind != "settled"]
        ended: dict[int, Mapping[str, Any]] = {}
        apart = False

        def judged(so_far: Mapping[int, Mapping[str, Any]]) -> tuple[BlockResult, ...]:
            return _judged(self.page, plan, self.project, self.environment, so_far)

        def worked(results: Mapping[int, Mapping[str, Any]]) -> bool:
            context = StepContext(self.page.path, self.project, self.environment.commands, "", "", frozenset())
            found = [one for at, result in results.items() for one in judge_parts(plan.steps[at], result, context)]
            return all(one.verdict is BlockVerdict.WORKS for one in found)

        def report(so_far: Mapping[int, Mapping[str, Any]]) -> None:
            if on_known is not None:
                blocks = judged(so_far)
                waiting = {plan.steps[at].block for at in open_steps if at not in so_far}
                on_known(blocks, [at for at, one in enumerate(blocks) if at in waiting or one.verdict in ALARMS])

        if open_steps:
            report({})
            execution = Execution(
                self.page, plan, self.project, self.environment, self.seconds, seed, room, worked, report
            )
            ended, apart = await execution.run()
        late = frozenset(at for at, one in ended.items() if one.get("timeout"))
        return judged(ended), late, apart


def _judged(
    page: Page,
    plan: PagePlan,
    project: ProjectIndex,
    environment: CheckEnvironment | None,
    ended: Mapping[int, Mapping[str, Any]],
) -> tuple[BlockResult, ...]:
    imported = frozenset(_imported(page))
    not_shell = [
        code.code
        for code, kind in zip(page.codes, plan.kinds, strict=True)
        if kind not in ("shell", "session", "install", "command")
    ]
    before = ""
    unbound: set[str] = set()
    bound: dict[str, int] = {}  # name → the section that last bound it
    parts: dict[int, list[BlockPart]] = {}
    for index, step in enumerate(plan.steps):
        code = page.codes[step.block]
        if step.kind == "settled":
            verdict = BlockVerdict.FAILS if step.failed else BlockVerdict.NOT_RUN if step.reason else BlockVerdict.WORKS
            found: tuple[BlockPart, ...] = (part(verdict, step.line, step.reason),)
        elif index not in ended:
            found = (part(BlockVerdict.NOT_RUN, step.line, "the sandbox ended before it"),)
        else:
            context = StepContext(
                page.path,
                project,
                environment.commands if environment else frozenset(),
                f"{code.before}\0{code.code}",
                before,
                imported,
                "\n".join(not_shell),
                frozenset(name for name, section in bound.items() if section != code.section),
                frozenset(unbound),
            )
            found = judge_parts(step, ended[index], context)
            if code.another_time:
                found = tuple(set_apart(one, code.another_time) for one in found)
        if plan.kinds[step.block] in ("python", "doctest"):
            tree = python_of(typed(step.code))
            names = names_bound(tree) if tree is not None else set()
            bound.update(dict.fromkeys(names, code.section))
            unbound = unbound - names if all(map(went_well, found)) else unbound | names
        bad = next((one for one in found if not went_well(one)), None)
        if bad is not None and not step.harmless and not before:
            what = "was not run" if bad.verdict is BlockVerdict.NOT_RUN else "did not work"
            before = f"line {bad.line}, which {what}"
        seconds = float(ended[index].get("seconds") or 0.0) if index in ended else 0.0
        for one in found:
            finished = replace(one, code=one.code or step.code, seconds=seconds, harmless=step.harmless)
            parts.setdefault(step.block, []).append(finished)
            seconds = 0.0
    commands = {step.block for step in plan.steps if step.kind == "shell" or step.failed}
    results = [
        _block(page, index, plan.kinds[index], parts.get(index, []), index in commands)
        for index in range(len(page.codes))
    ]
    return tuple(_with_output(page, plan, results, ended))


def settled(page: Page, plan: PagePlan, project: ProjectIndex, reason: str = "") -> tuple[BlockResult, ...]:
    """Return the verdicts on a page that is not run; ``reason`` applies to the blocks that could have been run."""
    # Installations were not tried either, but those that cannot work still fail.
    steps = [
        step if step.failed else replace(step, kind="settled", reason=step.reason or reason) for step in plan.steps
    ]
    return _judged(page, PagePlan(plan.kinds, steps), project, None, {})


def _imported(page: Page) -> Iterator[str]:
    for code in page.codes:
        tree = python_of(code.code)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.alias):
                yield (node.asname or node.name).split(".")[0]


def _block(page: Page, index: int, kind: str, parts: Sequence[BlockPart], is_command: bool) -> BlockResult:
    line = page.codes[index].line
    end = line + max(0, len(page.codes[index].code.splitlines()) - 1)
    return BlockResult(page.path, line, kind, BlockVerdict.NOT_RUN, first=line, end=end).with_parts(parts, is_command)


def _with_output(
    page: Page, plan: PagePlan, results: Sequence[BlockResult], ended: Mapping[int, Mapping[str, Any]]
) -> list[BlockResult]:
    found = list(results)
    for index, code in enumerate(page.codes):
        if plan.kinds[index] != "output" or not index or not code.adjacent or code.skip:
            continue
        if code.before and not _SHOWS.search(code.before):
            continue
        steps = [
            at for at, step in enumerate(plan.steps) if step.block == index - 1 and step.kind in ("python", "shell")
        ]
        shown = found[index - 1]
        if (
            not steps
            or shown.verdict is not BlockVerdict.WORKS
            or shown.reason
            or any(plan.steps[at].stand_ins for at in steps)
        ):
            continue
        printed = "".join(str(ended[at].get("stdout", "")) for at in steps if at in ended)
        if not printed.strip():
            continue
        diff = shell_difference(code.code, printed)
        if not diff:
            found[index] = replace(found[index], verdict=BlockVerdict.WORKS, reason="")
        elif alike(code.code, printed) >= 0.6:
            reason = f"the output of line {found[index - 1].line} is different"
            found[index] = replace(
                found[index], verdict=BlockVerdict.DIFFERS, reason=reason, output=printed[-1500:], diff=diff
            )
    return found
