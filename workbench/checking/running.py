"""Run a page's steps in a sandbox, and say what became of each block."""

from __future__ import annotations

import ast
import asyncio
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench import paths
from workbench.checking.comparing import alike, shell_difference
from workbench.checking.environment import Environment, copy_tree
from workbench.checking.judging import Context, StepVerdict, judge
from workbench.checking.kinds import python_of
from workbench.checking.page import Page
from workbench.checking.project import Project
from workbench.checking.sandboxed import run_in_sandbox
from workbench.checking.steps import Plan, Step
from workbench.checking.verdicts import BlockResult, Verdict
from workbench.errors import WorkbenchError
from workbench.text import one_line

_INSIDE = Path(__file__).resolve().parent / "inside"
_SHOWS = re.compile(
    r"\b(?:outputs?|prints?|printed|results?|gives?|shows?|displays?|returns?|yields?|see|like this|following)\b", re.I
)
#: How often an alarm has to come out the same, and how often more on a page of which something does not.
_SAME, _SAME_WHERE_RANDOM = 1, 5
#: Seconds that a step may take.
STEP_SECONDS = 10.0


class NotSandboxed(WorkbenchError):
    """The sandbox is not what it must be, so nothing was run in it."""


async def run_page(
    page: Page, plan: Plan, project: Project, environment: Environment, seconds: float = STEP_SECONDS
) -> tuple[BlockResult, ...]:
    """Run a page and return the verdicts on its blocks, in order.

    An alarm counts if it comes out the same with another seed for hashes; one that does not is *not run*.

    Raises:
        NotSandboxed: The sandbox could not be proved to isolate.
        OSError: It cannot be started.
    """
    first = await _once(page, plan, project, environment, seconds, "0")
    for seed in range(1, 1 + _SAME + _SAME_WHERE_RANDOM):
        if not any(one.verdict in (Verdict.FAILS, Verdict.DIFFERS) for one in first):
            break
        again = await _once(page, plan, project, environment, seconds, str(seed))
        before, first = first, tuple(_twice(one, other) for one, other in zip(first, again, strict=True))
        # Where something is drawn at random, the rest may be as well, and have come out the same by chance.
        if seed == _SAME and first == before:
            break
    return first


def _twice(one: BlockResult, other: BlockResult) -> BlockResult:
    if one.verdict not in (Verdict.FAILS, Verdict.DIFFERS):
        return one
    if (
        one.verdict is other.verdict
        and one.line == other.line
        and (one.verdict is Verdict.FAILS or one.output == other.output)
    ):
        return one
    return replace(one, verdict=Verdict.NOT_RUN, reason="it ends differently each time", command="", output="", diff=())


async def _once(
    page: Page, plan: Plan, project: Project, environment: Environment, seconds: float, seed: str
) -> tuple[BlockResult, ...]:
    runnable = [step for step in plan.steps if step.kind != "settled"]
    ended: dict[int, Mapping[str, Any]] = {}
    if runnable:
        ended = await _executed(page, plan, project, environment, seconds, seed)
    return _judged(page, plan, project, environment, ended)


async def _executed(
    page: Page, plan: Plan, project: Project, environment: Environment, seconds: float, seed: str
) -> dict[int, Mapping[str, Any]]:
    orders = [
        {
            "id": index,
            "kind": step.kind,
            "code": step.code,
            "line": step.line,
            "page": page.path,
            "files": list(step.files),
            "modules": sorted(project.modules),
        }
        for index, step in enumerate(plan.steps)
        if step.kind != "settled"
    ]
    place = paths.cache_dir().absolute() / "checked"
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".run-", dir=place) as name:
        folder = Path(name)
        await asyncio.to_thread(copy_tree, project.root, folder / "repo")
        (folder / "repo").mkdir(exist_ok=True)
        (folder / "steps.json").write_text(json.dumps(orders))
        python = environment.python
        ended = await run_in_sandbox(
            [
                str(python),
                "-I",
                "-B",
                f"{_INSIDE}/page_runner.py",
                "/checked/steps.json",
                "/checked/results.jsonl",
                str(seconds),
            ],
            folder=folder,
            inside="/checked",
            cwd="/checked/repo",
            python=python,
            mounts=(environment.folder, _INSIDE),
            seconds=seconds * len(orders) + 30.0,
            variables={"PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1", "VIRTUAL_ENV": str(environment.folder)},
        )
        found = _results(folder / "results.jsonl")
    proof = found.pop(-1, None)
    if proof is None or proof.get("problem"):
        why = str(proof["problem"]) if proof else one_line(ended.output, 200) or f"status {ended.status}"
        raise NotSandboxed(f"Nothing of {page.path} was run, as its sandbox does not isolate: {why}.")
    return found


def _results(path: Path) -> dict[int, Mapping[str, Any]]:
    found: dict[int, Mapping[str, Any]] = {}
    try:
        # What runs inside may write there as well: what is no result of the runner's is left alone.
        for line in path.read_text("utf-8", "replace").splitlines():
            result = json.loads(line)
            found.setdefault(int(result["id"]), result)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return found


def _judged(
    page: Page, plan: Plan, project: Project, environment: Environment | None, ended: Mapping[int, Mapping[str, Any]]
) -> tuple[BlockResult, ...]:
    names = frozenset(_names(page))
    not_shell = [
        code.code
        for code, kind in zip(page.codes, plan.kinds, strict=True)
        if kind not in ("shell", "session", "install")
    ]
    before = ""
    verdicts: dict[int, list[tuple[Step, StepVerdict]]] = {}
    for index, step in enumerate(plan.steps):
        code = page.codes[step.block]
        if step.kind == "settled":
            verdict = Verdict.FAILS if step.failed else Verdict.NOT_RUN if step.reason else Verdict.WORKS
            found = StepVerdict(verdict, step.line, step.reason)
        elif index not in ended:
            found = StepVerdict(Verdict.NOT_RUN, step.line, "the sandbox ended before it")
        else:
            context = Context(
                page.path,
                project.modules,
                environment.commands if environment else frozenset(),
                str(environment.folder) if environment else "",
                f"{code.before}\0{code.code}",
                before,
                names,
                "\n".join(not_shell),
            )
            found = judge(step, ended[index], context)
        if found.verdict is not Verdict.WORKS and not step.harmless and not before:
            what = "was not run" if found.verdict is Verdict.NOT_RUN else "did not work"
            before = f"line {found.line}, which {what}"
        verdicts.setdefault(step.block, []).append((step, found))
    results = [_block(page, index, plan.kinds[index], verdicts.get(index, [])) for index in range(len(page.codes))]
    return tuple(_with_output(page, plan, results, ended))


def settled(page: Page, plan: Plan, project: Project, reason: str = "") -> tuple[BlockResult, ...]:
    """Return the verdicts on a page of which nothing is run, with the reason for what could have been."""
    steps = [
        replace(step, kind="settled", reason=step.reason or reason) if step.kind != "settled" else step
        for step in plan.steps
    ]
    return _judged(page, Plan(plan.kinds, steps), project, None, {})


def _names(page: Page) -> list[str]:
    found: list[str] = []
    for code in page.codes:
        tree = python_of(code.code)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.alias):
                found.append((node.asname or node.name).split(".")[0])
    return found


def _block(page: Page, index: int, kind: str, found: Sequence[tuple[Step, StepVerdict]]) -> BlockResult:
    code = page.codes[index]
    for wanted in (Verdict.FAILS, Verdict.DIFFERS):
        for step, said in found:
            if said.verdict is wanted:
                command = step.code if step.kind == "shell" or step.failed else ""
                return BlockResult(page.path, said.line, kind, wanted, said.reason, command, said.output, said.diff)
    not_run = [(step, said) for step, said in found if said.verdict is Verdict.NOT_RUN]
    counted = [(step, said) for step, said in not_run if not step.harmless]
    worked = sum(said.verdict is Verdict.WORKS for _, said in found)
    if worked and not counted:
        return BlockResult(page.path, code.line, kind, Verdict.WORKS)
    reasons = counted or not_run
    if not reasons:
        return BlockResult(page.path, code.line, kind, Verdict.NOT_RUN, "there is nothing in it to run")
    reason = reasons[0][1].reason + (f"; {worked} of its {len(found)} commands work" if worked else "")
    return BlockResult(page.path, reasons[0][1].line, kind, Verdict.NOT_RUN, reason)


def _with_output(
    page: Page, plan: Plan, results: Sequence[BlockResult], ended: Mapping[int, Mapping[str, Any]]
) -> list[BlockResult]:
    """Compare a block of output with what the block right before it printed, where the page says that it is that."""
    found = list(results)
    for index, code in enumerate(page.codes):
        if plan.kinds[index] != "output" or not index or not code.adjacent or code.skip:
            continue
        if code.before and not _SHOWS.search(code.before):
            continue
        steps = [
            at for at, step in enumerate(plan.steps) if step.block == index - 1 and step.kind in ("python", "shell")
        ]
        if not steps or found[index - 1].verdict is not Verdict.WORKS or any(plan.steps[at].stand_ins for at in steps):
            continue
        printed = "".join(str(ended[at].get("stdout", "")) for at in steps if at in ended)
        if not printed.strip():
            continue
        diff = shell_difference(code.code, printed)
        if not diff:
            found[index] = replace(found[index], verdict=Verdict.WORKS, reason="")
        elif alike(code.code, printed) >= 0.6:
            reason = f"what line {found[index - 1].line} prints differs from it"
            found[index] = replace(
                found[index], verdict=Verdict.DIFFERS, reason=reason, output=printed[-1500:], diff=diff
            )
    return found
