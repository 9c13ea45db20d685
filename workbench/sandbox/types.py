"""What goes into a sandbox and what comes out: plain frozen dataclasses with a JSON round trip."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class Verdict(StrEnum):
    """The outcome of one candidate. ``ERROR`` is ours and never counted as the model's."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    INVALID = "invalid"
    ERROR = "error"


class Reason(StrEnum):
    """Why a verdict is what it is, where the verdict alone does not tell."""

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
    """How a verdict was reached; ``AUTO`` takes the fastest one that is provably the same."""

    AUTO = "auto"
    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one candidate may use.

    Attributes:
        seconds: Wall-clock time for importing the repository and running the required tests.
        memory_mb: Memory of the candidate and all its children, MiB.
        processes: Processes and threads at once, the runner's own included.
        output_kb: Report size that is accepted (messages and tracebacks), KiB.
        file_mb: Largest single file that may be written, MiB.
        disk_mb: All files together (the sandbox's tmpfs), MiB.
    """

    seconds: float = 30.0
    memory_mb: int = 1024
    processes: int = 64
    output_kb: int = 4096
    file_mb: int = 64
    disk_mb: int = 512

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able mapping."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Limits:
        """Rebuild from :meth:`to_json`; unknown names are ignored."""
        return cls(**{name: data[name] for name in cls.__dataclass_fields__ if name in data})


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """What happened to one test.

    Attributes:
        id: pytest node id, relative to the repository's root, parameters included.
        outcome: ``passed``, ``failed``, ``error`` (in setup or teardown), ``skipped``, ``xfailed``, ``xpassed`` or
            ``missing`` (required, but never reported).
        seconds: Setup, call and teardown together.
        message: The last line of the failure, for a table cell.
        traceback: The native traceback (empty for passed tests).
    """

    __test__ = False  # not a test class, whatever its name says to pytest

    id: str
    outcome: str
    seconds: float = 0.0
    message: str = ""
    traceback: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able mapping."""
        return {name: getattr(self, name) for name in ("id", "outcome", "seconds", "message", "traceback")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TestOutcome:
        """Rebuild from :meth:`to_json`."""
        return cls(
            id=str(data["id"]),
            outcome=str(data["outcome"]),
            seconds=float(data.get("seconds", 0.0)),
            message=str(data.get("message", "")),
            traceback=str(data.get("traceback", "")),
        )


@dataclass(frozen=True, slots=True)
class Job:
    """One candidate to test: a changed file and the tests that it must pass.

    Attributes:
        id: The work item's identity; comes back in the report.
        tests: Required node ids (T_i). Empty means every test that pytest collects.
        path: The changed file, posix, relative to the repository; empty tests the tree as it is.
        content: The whole changed file.
        limits: What the candidate may use.
        route: ``AUTO`` unless a verdict is to be re-checked on a slower path.
        function: ``(qualified name, occurrence)`` of the function whose body changed; needed by the hot path only.
        order: ``given`` or ``random:SEED``.
        deselect: Node ids to leave out when ``tests`` is empty (tests that hang or kill the process).
        trace: Record which tests execute which lines (coverage.py); the report carries ``trace``.
    """

    id: str
    tests: tuple[str, ...] = ()
    path: str = ""
    content: bytes = b""
    limits: Limits = field(default_factory=Limits)
    route: Route = Route.AUTO
    function: tuple[str, int] | None = None
    order: str = "given"
    deselect: tuple[str, ...] = ()
    trace: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able mapping; ``content`` as base64, because a candidate need not be valid text."""
        return {
            "id": self.id,
            "tests": list(self.tests),
            "path": self.path,
            "content": base64.b64encode(self.content).decode("ascii"),
            "limits": self.limits.to_json(),
            "route": str(self.route),
            "function": list(self.function) if self.function else None,
            "order": self.order,
            "deselect": list(self.deselect),
            "trace": self.trace,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Job:
        """Rebuild from :meth:`to_json`."""
        function = data.get("function")
        return cls(
            id=str(data["id"]),
            tests=tuple(str(test) for test in data.get("tests", ())),
            path=str(data.get("path", "")),
            content=base64.b64decode(data.get("content", "")),
            limits=Limits.from_json(data.get("limits", {})),
            route=Route(data.get("route", "auto")),
            function=(str(function[0]), int(function[1])) if function else None,
            order=str(data.get("order", "given")),
            deselect=tuple(str(test) for test in data.get("deselect", ())),
            trace=bool(data.get("trace", False)),
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What the sandbox says about one job.

    Attributes:
        job: The job's id.
        verdict: The verdict.
        reason: Why, as a code; see :class:`Reason`.
        detail: Why, as one sentence for a person; empty for ``passed``.
        tests: An outcome per required test (every collected test when none were named), failures with tracebacks.
        seconds: Wall-clock time inside the sandbox, reset included.
        route: The path that gave the verdict; never ``AUTO``.
        slower: Why a faster path was not taken; empty when it was.
        backend: The back end's name.
        suspicious: What made the report doubtful (a patched pytest, junk on the report's channel); re-check cold.
        running: The test that was running when the process ended before its time; "" otherwise.
        notes: Modules that could not be imported while tests were collected, one line each.
        trace: Line contexts, when the job asked for them; see ``workbench.regeneration.tracing``.
    """

    job: str
    verdict: Verdict
    reason: Reason = Reason.NONE
    detail: str = ""
    tests: tuple[TestOutcome, ...] = ()
    seconds: float = 0.0
    route: Route = Route.COLD
    slower: str = ""
    backend: str = ""
    suspicious: tuple[str, ...] = ()
    running: str = ""
    notes: tuple[str, ...] = ()
    trace: Mapping[str, Any] | None = None

    @property
    def passed(self) -> bool:
        """Whether every required test ran and passed."""
        return self.verdict is Verdict.PASSED

    @property
    def failing(self) -> tuple[TestOutcome, ...]:
        """The tests that did not pass, in the order in which they ran."""
        return tuple(test for test in self.tests if test.outcome != "passed")

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able mapping."""
        return {
            "job": self.job,
            "verdict": str(self.verdict),
            "reason": str(self.reason),
            "detail": self.detail,
            "tests": [test.to_json() for test in self.tests],
            "seconds": self.seconds,
            "route": str(self.route),
            "slower": self.slower,
            "backend": self.backend,
            "suspicious": list(self.suspicious),
            "running": self.running,
            "notes": list(self.notes),
            "trace": self.trace,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """Rebuild from :meth:`to_json`."""
        return cls(
            job=str(data["job"]),
            verdict=Verdict(data["verdict"]),
            reason=Reason(data.get("reason", "")),
            detail=str(data.get("detail", "")),
            tests=tuple(TestOutcome.from_json(test) for test in data.get("tests", ())),
            seconds=float(data.get("seconds", 0.0)),
            route=Route(data.get("route", "cold")),
            slower=str(data.get("slower", "")),
            backend=str(data.get("backend", "")),
            suspicious=tuple(str(note) for note in data.get("suspicious", ())),
            running=str(data.get("running", "")),
            notes=tuple(str(note) for note in data.get("notes", ())),
            trace=data.get("trace"),
        )


@dataclass(frozen=True, slots=True)
class Workspace:
    """A repository made ready for testing: its files' folder, its interpreter and how its tests are run.

    Attributes:
        root: Folder of the pristine tree on this machine; it is only read.
        python: The environment's interpreter (absolute path).
        mounts: Folders that the interpreter needs, read-only, at the same path inside (environment, base interpreter).
        import_roots: Folders relative to ``root`` that go onto ``sys.path`` (``src``, ``.``).
        own_modules: Modules that belong to the repository, top-level or dotted (its part of a namespace package); they
            are never preloaded.
        preload: Third-party modules worth importing once per worker.
        pytest_args: Arguments from the project's configuration or from ``case.toml``.
        test_paths: Where the tests are, relative to ``root``; empty leaves it to pytest.
        variables: Extra environment variables for the tests.
        metadata: Extra files (path below a private folder on ``sys.path`` → content): ``.dist-info`` without code.
    """

    root: Path
    python: Path
    mounts: tuple[Path, ...] = ()
    import_roots: tuple[str, ...] = (".",)
    own_modules: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    pytest_args: tuple[str, ...] = ()
    test_paths: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
