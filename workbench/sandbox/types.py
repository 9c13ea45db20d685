"""The inputs and outputs of a sandbox, and its own errors, which are distinct from those of a candidate in it."""

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
    """The outcome of one candidate; ``ERROR`` is a failure of the workbench and never counts against the model."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    INVALID = "invalid"
    BYPASSED = "bypassed"  # a usage answer that is right on every call without calling the package
    ERROR = "error"


class Reason(StrEnum):
    """The reason for a verdict, if the verdict alone does not express it."""

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
    """How a candidate is tested; ``AUTO`` selects the fastest route that provably yields the same verdict."""

    AUTO = "auto"
    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of one candidate."""

    seconds: float = 30.0  # wall-clock seconds for importing the repository and running the required tests
    memory_mb: int = 1024  # memory of the candidate and all its children in MiB
    processes: int = 64  # number of concurrent processes and threads, including the runner's own
    output_kb: int = 4096  # maximum size of the report (messages and tracebacks) in KiB
    file_mb: int = 64  # size of a single file in MiB
    disk_mb: int = 512  # total size of all files (the sandbox's tmpfs) in MiB


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """The outcome of one test."""

    __test__ = False  # keeps pytest from collecting this class because of its name

    id: str  # pytest node id, relative to the repository's root, including parameters
    outcome: str  # pytest's outcome, ``error`` (setup or teardown) or ``missing`` (never reported)
    seconds: float = 0.0  # total seconds of setup, call and teardown
    message: str = ""  # last line of the failure, for a table cell
    traceback: str = ""  # traceback in pytest's native style; "" for passed tests
    value: str = ""  # value that the test recorded as the property ``workbench_value``
    called: bool | None = None  # value that the test recorded as the property ``workbench_called``


@dataclass(frozen=True, slots=True)
class Job:
    """One candidate to test: a changed file and the tests that must pass."""

    id: str  # id of the work item, repeated in the report
    tests: tuple[str, ...] = ()  # T_i, the node ids of the required tests; () means every test that pytest collects
    path: str = ""  # path of the changed file (POSIX, relative to the repository); "" leaves the tree unchanged
    content: bytes = b""  # the complete changed file
    limits: Limits = field(default_factory=Limits)
    route: Route = Route.AUTO  # ``AUTO`` unless a verdict is to be re-checked on a slower route
    function: tuple[str, int] | None = None  # the function with the changed body, needed only by the hot route
    order: str = "given"  # ``given`` (unchanged) or ``random:SEED``
    deselect: tuple[str, ...] = ()  # tests that hang or kill the process, used if ``tests`` is empty
    trace: bool = False  # whether to record which tests execute which lines (coverage.py)
    added: tuple[tuple[str, bytes], ...] = ()  # extra files (path, content) for this job only
    trace_tests: bool = False  # whether to record the lines of test files as well
    record: bool = False  # whether to record calls with literal arguments; see ``workbench_runner.recording``


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one job."""

    job: str  # id of the job
    verdict: Verdict
    reason: Reason = Reason.NONE
    detail: str = ""  # one sentence for the user; "" for ``passed``
    tests: tuple[TestOutcome, ...] = ()  # outcome of each required (or collected) test; failures include tracebacks
    seconds: float = 0.0  # wall-clock seconds inside the sandbox, including the reset
    route: Route = Route.COLD  # route of the verdict; never ``AUTO``
    slower: str = ""  # reason why a faster route was not used
    backend: str = ""
    suspicious: tuple[str, ...] = ()  # evidence against the report (a patched pytest, a runner that died)
    changed: tuple[str, ...] = ()  # changed state (classes, ``sys`` …), opened files of the tree, and started processes
    plain: bool | None = None  # whether the body is within the safe subset of Python; None if this was not checked
    doubtful: str = ""  # reasons why a pass is doubtful: the body is not plain, or it changed state or opened files
    running: str = ""  # the test that was running when the process ended early
    notes: tuple[str, ...] = ()  # modules that could not be imported during collection
    trace: Mapping[str, Any] | None = None  # the recorded trace; see ``workbench.regeneration.building``
    calls: Mapping[str, Any] | None = None  # recorded ``callables``, ``commands`` and what was ``dropped``
    stderr: str = ""  # error output of a run of the whole suite; "" for other jobs

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASSED

    @property
    def failing(self) -> tuple[TestOutcome, ...]:
        return tuple(test for test in self.tests if test.outcome != "passed")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """Parse the runner's report, without fields that must be determined outside of the sandbox."""
        try:
            return typed_json.convert(cls, {**data, "backend": "", "plain": None, "doubtful": ""})
        except typed_json.WrongForm as error:
            detail = "Its output is not the report of a test run."
            return cls(str(data.get("job", "")), Verdict.CRASHED, Reason.TAMPERED, detail, suspicious=(str(error),))


@dataclass(frozen=True, slots=True)
class Workspace:
    """A repository prepared for testing: its files, its interpreter and how to run its tests."""

    root: Path  # the pristine tree on this machine, which is read-only
    python: Path  # absolute path of the environment's interpreter
    mounts: tuple[Path, ...] = ()  # folders mounted read-only at the same path inside (environment, base interpreter)
    import_roots: tuple[str, ...] = (".",)  # ``sys.path`` entries relative to ``root`` (``src``, ``.``)
    # modules that are never preloaded; top-level or dotted (part of a namespace package)
    own_modules: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()  # third-party modules to import once per worker
    pytest_args: tuple[str, ...] = ()  # options from the project's configuration or from ``case.toml``
    test_paths: tuple[str, ...] = ()  # test paths relative to ``root``; if (), pytest finds the tests
    variables: tuple[tuple[str, str], ...] = ()  # extra environment variables for the tests
    # path on ``sys.path`` → content, for ``.dist-info`` folders without code
    metadata: tuple[tuple[str, str], ...] = ()


class SandboxError(WorkbenchError):
    """The sandbox failed; never the candidate's fault."""


class SandboxUnavailable(SandboxError):
    """Neither the requested back end nor any other can be used on this machine."""


class SandboxUnknown(SandboxUnavailable, UsageError):
    """No back end has this name."""


class NoIsolation(SandboxUnavailable):
    """No back end was named, and none with isolation is usable: the user must decide about the plain process.

    ``promises`` contains the plain process's guarantees here, one sentence each; it is empty if that cannot be used
    either.
    """

    def __init__(self, sentence: str, promises: Sequence[str] = ()) -> None:
        self.promises = tuple(promises)
        super().__init__(sentence)


def no_room(folder: str | Path) -> str:
    return f"The disk is full: there is no room in {folder} for a sandbox; free some space or set TMPDIR to another folder."
