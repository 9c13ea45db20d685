"""Tasks: functions whose tests fail with a stub and pass with the original body.

For every dropped function the stage and the reason are recorded; the stages refine those of the paper's Table 2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from workbench.regeneration.stubs import STUB_VERSION
from workbench.sandbox import Limits, Workspace

_NETWORK = re.compile(
    r"gaierror|Name or service not known|Temporary failure in name resolution|Network is unreachable|No route to host"
    r"|NameResolutionError|Max retries exceeded|(?:New|Max)?ConnectionError\b|ConnectError\b|urlopen error"
)

#: The stages at which a function can be dropped, in order.
STAGES = ("parse", "body", "trace", "time", "original", "stub")


@dataclass(frozen=True, slots=True)
class Task:
    """One function whose body is to be regenerated from its documentation."""

    id: str  # ``path::qualified_name``, with ``#n`` from the second definition of the name on
    path: str  # POSIX, relative to the repository
    qualified_name: str
    occurrence: int  # which of that name in the file, from 1
    kind: str  # ``function``, ``method`` or ``nested``
    signature: str  # the header as one line
    start_line: int  # of ``def``, from 1
    end_line: int  # last line of the body
    tests: tuple[str, ...]  # T_i, node ids in pytest's order
    statements: int  # executable lines of the body
    covered: int  # of these, by T_i
    seconds: float  # of T_i with the original body, including setup and teardown
    import_time: bool  # the body also runs at import (a fast path must not patch it)
    body: str  # exactly the text that a splice replaces
    docstring: str | None
    source_sha256: str  # of the file
    branches: int = 0  # in the body (an ``if`` has two)
    branches_covered: int = 0  # by T_i
    unstable: tuple[str, ...] = ()  # quarantined tests that execute the function

    @property
    def coverage(self) -> float:
        """Share of the body's statements that T_i executes, 0 to 1."""
        return self.covered / self.statements if self.statements else 0.0

    @property
    def branch_coverage(self) -> float | None:
        """Share of the body's branches that T_i takes, 0 to 1; None if there are none."""
        return self.branches_covered / self.branches if self.branches else None

    def limits(self, base: Limits) -> Limits:
        """Return a candidate's limits: ten times the original's time plus five seconds, at most ``base.seconds``."""
        return replace(base, seconds=min(base.seconds, 10 * self.seconds + 5.0))


@dataclass(frozen=True, slots=True)
class Dropped:
    """A function that does not become a task, with the stage (see `STAGES`) and the reason."""

    id: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of building tasks, for a live view."""

    stage: str  # ``suite``, ``functions``, ``original``, ``stub`` or ``done``
    done: int  # functions decided so far
    total: int  # functions to decide; 0 while unknown
    text: str  # what happened, as one line
    task: Task | None = None  # found in this step
    dropped: Dropped | None = None  # in this step


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The tasks of one repository, and the statistics of building them."""

    tasks: tuple[Task, ...]  # in the order of files and lines
    dropped: tuple[Dropped, ...]
    stages: Mapping[str, int]  # functions left after each stage, as in Table 2
    stable: int  # number of tests that passed in every run
    unstable: Mapping[str, tuple[str, ...]]  # passed in some runs only, with their outcomes
    failing: Mapping[str, str]  # never passed, with the reason
    taken_out: Mapping[str, str]  # hang or kill the process, with the reason
    suite_seconds: tuple[float, ...]  # wall-clock: as given, in random order, traced
    backend: str  # the sandbox's name
    environment: str  # its digest
    stub: str = STUB_VERSION  # version of the stubs
    not_collected: Mapping[str, str] = field(default_factory=dict)  # files that cannot be imported, with the reason
    test_paths: tuple[str, ...] = ()  # files with names that pytest does not collect

    @property
    def counts(self) -> dict[str, int]:
        """Number of functions and tests left after each stage; only with the selection ``published`` those of Table 2.

        ``n_candidates`` functions outside tests; ``n_with_body`` of them parse and have more than a stub; ``n_traced``
        are executed by a stable test; ``n_in_time`` by stable tests within the time limit; ``n_reference`` pass these
        tests alone; ``n_tasks`` fail them with every stub; ``n_documented`` of these have a docstring.
        """
        left = len(self.tasks) + len(self.dropped)
        gone = Counter(entry.stage for entry in self.dropped)
        counts = {"n_candidates": left}
        names = {"body": "n_with_body", "trace": "n_traced", "time": "n_in_time", "original": "n_reference"}
        for stage in STAGES:
            left -= gone[stage]
            if stage in names:
                counts[names[stage]] = left
        counts |= {"n_tasks": len(self.tasks), "n_documented": sum(task.docstring is not None for task in self.tasks)}
        skipped = sum(is_skipped(why) for why in self.failing.values())
        tests = {
            "n_stable": self.stable,
            "n_unstable": len(self.unstable),
            "n_failing": len(self.failing) - skipped,
            "n_skipped": skipped,
            "n_taken_out": len(self.taken_out),
        }
        return {**counts, "n_tests": sum(tests.values()), **tests}

    @property
    def quarantined(self) -> str:
        """A short description of the tests excluded from all verdicts; empty if every test is usable."""
        return ", ".join(not_used(self.unstable, self.failing, self.taken_out, self.not_collected))

    def workspace(self, workspace: Workspace) -> Workspace:
        return usable(workspace, self.not_collected, self.test_paths)


def is_skipped(why: str) -> bool:
    """Return whether a test that never passed was skipped or expected to fail."""
    return why.startswith(("skipped:", "xfailed:", "xpassed:"))


def needs_network(why: str) -> bool:
    return _NETWORK.search(why) is not None


def not_used(
    unstable: Collection[str], failing: Mapping[str, str], taken_out: Collection[str], not_collected: Collection[str]
) -> tuple[str, ...]:
    skipped = sum(map(is_skipped, failing.values()))
    online = sum(map(needs_network, failing.values()))
    parts = (
        (len(unstable), "unstable", ""),
        (len(failing) - skipped, "failing", f" ({online} for want of a network)" if online else ""),
        (skipped, "skipped", ""),
        (len(taken_out), "hanging or fatal", ""),
        (len(not_collected), "test files that cannot be imported", ""),
    )
    return tuple(f"{number} {what}{more}" for number, what, more in parts if number)


def usable(workspace: Workspace, not_collected: Iterable[str], test_paths: tuple[str, ...]) -> Workspace:
    """Return ``workspace`` without test files that cannot be imported, and with those that must be named explicitly."""
    ignored = tuple(f"--ignore={path}" for path in not_collected)
    return replace(
        workspace, pytest_args=(*workspace.pytest_args, *ignored), test_paths=test_paths or workspace.test_paths
    )
