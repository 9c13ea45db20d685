"""The inputs and outputs of a sandbox, and its own errors, as opposed to those of a candidate in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from workbench.base import typed_json
from workbench.base.errors import UsageError, WorkbenchError

NOT_ISOLATED = "NOT isolated"


class Verdict(StrEnum):
    """The outcome of one candidate; ``ERROR`` is a failure of the Workbench and never counts against the model."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    INVALID = "invalid"
    ERROR = "error"


class Reason(StrEnum):
    """The reason for a verdict, where the verdict alone does not say it."""

    NONE = ""
    TESTS_FAILED = "tests_failed"
    OUT_OF_MEMORY = "out_of_memory"
    EARLY_EXIT = "early_exit"
    SIGNAL = "signal"
    COLLECTION = "collection"
    MISSING_TESTS = "missing_tests"
    SKIPPED = "skipped"
    EXIT_STATUS = "exit_status"
    TAMPERED = "tampered"
    OUTPUT_FLOOD = "output_flood"
    DISK_FULL = "disk_full"
    WRONG_COPY = "wrong_copy"
    SYNTAX = "syntax"
    SANDBOX = "sandbox"


class Route(StrEnum):
    """How a candidate is tested; ``AUTO`` selects the fastest route that provably gives the same verdict."""

    AUTO = "auto"
    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of one candidate."""

    seconds: float = 30.0  # wall clock for importing the repository and running the required tests
    memory_mb: int = 1024  # of the candidate and all its children, MiB
    processes: int = 64  # concurrent processes and threads, including the runner's own
    output_kb: int = 4096  # size of the report (messages and tracebacks), KiB
    file_mb: int = 64  # size of a single file, MiB
    disk_mb: int = 512  # size of all files together (the sandbox's tmpfs), MiB


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """The outcome of one test."""

    __test__ = False  # keeps pytest from collecting the class because of its name

    id: str  # pytest node id, relative to the repository's root, including parameters
    outcome: str  # pytest's, ``error`` (setup or teardown) or ``missing`` (never reported)
    seconds: float = 0.0  # setup, call and teardown together
    message: str = ""  # the last line of the failure, for a table cell
    traceback: str = ""  # native; "" for passed tests


@dataclass(frozen=True, slots=True)
class Job:
    """One candidate to test: a changed file and the tests that it must pass."""

    id: str  # the work item's identity, repeated in the report
    tests: tuple[str, ...] = ()  # T_i, required node ids; () means every test that pytest collects
    path: str = ""  # of the changed file (POSIX, relative to the repository); "": the tree unchanged
    content: bytes = b""  # the whole changed file
    limits: Limits = field(default_factory=Limits)
    route: Route = Route.AUTO  # ``AUTO`` unless a verdict is to be re-checked on a slower route
    function: tuple[str, int] | None = None  # whose body changed; needed by the hot route only
    order: str = "given"  # ``given`` or ``random:SEED``
    deselect: tuple[str, ...] = ()  # if ``tests`` is empty: tests that hang or kill the process
    trace: bool = False  # record which tests execute which lines (coverage.py)
    added: tuple[tuple[str, bytes], ...] = ()  # files (path, content) for this job only
    trace_tests: bool = False  # record the lines of test files as well


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one job."""

    job: str  # its id
    verdict: Verdict
    reason: Reason = Reason.NONE
    detail: str = ""  # one sentence for the user; "" for ``passed``
    tests: tuple[TestOutcome, ...] = ()  # each required (or collected) test; failures with tracebacks
    seconds: float = 0.0  # wall clock inside the sandbox, including the reset
    route: Route = Route.COLD  # that gave the verdict; never ``AUTO``
    slower: str = ""  # why a faster route was not used
    backend: str = ""
    suspicious: tuple[str, ...] = ()  # evidence against the report (a patched pytest, a runner that died)
    changed: tuple[str, ...] = ()  # classes, ``sys`` …; opened files of the tree; started processes
    plain: bool | None = None  # None: not judged
    doubtful: str = ""  # why a pass is marked: the body is not plain, or changed or opened something
    running: str = ""  # the test that was running when the process ended early
    notes: tuple[str, ...] = ()  # modules that could not be imported during collection
    trace: Mapping[str, Any] | None = None  # see ``workbench.regeneration.building``
    stderr: str = ""  # of a run of the whole suite; "" for other jobs

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASSED

    @property
    def failing(self) -> tuple[TestOutcome, ...]:
        return tuple(test for test in self.tests if test.outcome != "passed")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """Return the runner's report; what is judged outside of the sandbox is not taken from it."""
        try:
            return typed_json.convert(cls, {**data, "backend": "", "plain": None, "doubtful": ""})
        except typed_json.WrongForm as error:
            detail = "What it reported is no report of a test run."
            return cls(str(data.get("job", "")), Verdict.CRASHED, Reason.TAMPERED, detail, suspicious=(str(error),))


@dataclass(frozen=True, slots=True)
class Workspace:
    """A repository prepared for testing: its files, its interpreter and how to run its tests."""

    root: Path  # the pristine tree on this machine; read-only
    python: Path  # the environment's interpreter (absolute path)
    mounts: tuple[Path, ...] = ()  # read-only at the same path inside (environment, base interpreter)
    import_roots: tuple[str, ...] = (".",)  # relative to ``root``, for ``sys.path`` (``src``, ``.``)
    own_modules: tuple[str, ...] = ()  # never preloaded; top-level or dotted (part of a namespace package)
    preload: tuple[str, ...] = ()  # third-party modules to import once per worker
    pytest_args: tuple[str, ...] = ()  # from the project's configuration or from ``case.toml``
    test_paths: tuple[str, ...] = ()  # relative to ``root``; (): pytest finds them
    variables: tuple[tuple[str, str], ...] = ()  # extra environment variables for the tests
    metadata: tuple[tuple[str, str], ...] = ()  # path on ``sys.path`` → content: ``.dist-info`` without code


class SandboxError(WorkbenchError):
    """The sandbox failed; never the candidate's fault."""


class SandboxUnavailable(SandboxError):
    """No back end, or not the requested one, can be used on this machine."""


class SandboxUnknown(SandboxUnavailable, UsageError):
    """No back end has this name."""


class NoIsolation(SandboxUnavailable):
    """No back end that isolates can be used, and none was named: a person has to decide about the plain process.

    ``promises`` are the plain process's guarantees here, one sentence each; empty if it cannot be used either.
    """

    def __init__(self, sentence: str, promises: Sequence[str] = ()) -> None:
        self.promises = tuple(promises)
        super().__init__(sentence)


def no_room(folder: str | Path) -> str:
    return f"The disk is full: there is no room in {folder} for a sandbox; free some space or set TMPDIR to another folder."
