"""The inputs and outputs of a sandbox: plain frozen dataclasses that can be converted to JSON and back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


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
    """Resource limits of one candidate.

    Attributes:
        seconds: Wall-clock time for importing the repository and running the required tests.
        memory_mb: Memory of the candidate and all its children, MiB.
        processes: Concurrent processes and threads, including the runner's own.
        output_kb: Maximum size of the report (messages and tracebacks), KiB.
        file_mb: Maximum size of a single file, MiB.
        disk_mb: Maximum size of all files together (the sandbox's tmpfs), MiB.
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
    """The outcome of one test.

    Attributes:
        id: pytest node id, relative to the repository's root, including parameters.
        outcome: ``passed``, ``failed``, ``error`` (in setup or teardown), ``skipped``, ``xfailed``, ``xpassed`` or
            ``missing`` (required, but never reported).
        seconds: Setup, call and teardown together.
        message: The last line of the failure, for a table cell.
        traceback: The native traceback (empty for passed tests).
    """

    __test__ = False  # keeps pytest from collecting the class because of its name

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
        id: The work item's identity, repeated in the report.
        tests: Required node ids (T_i). Empty means every test that pytest collects.
        path: POSIX path of the changed file, relative to the repository; empty = test the tree unchanged.
        content: The whole changed file.
        limits: The candidate's resource limits.
        route: ``AUTO`` unless a verdict is to be re-checked on a slower path.
        function: ``(qualified name, occurrence)`` of the function whose body changed; needed by the hot route only.
        order: ``given`` or ``random:SEED``.
        deselect: Node ids to leave out when ``tests`` is empty (tests that hang or kill the process).
        added: Files ``(path, content)`` that are put into the tree for this job only.
        trace: Record which tests execute which lines (coverage.py); the report carries ``trace``.
        trace_tests: Record the lines of test files as well.
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
    added: tuple[tuple[str, bytes], ...] = ()
    trace_tests: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-able mapping, with ``content`` as base64, because a candidate may not be valid text."""
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
            "trace_tests": self.trace_tests,
            "added": [[path, base64.b64encode(content).decode("ascii")] for path, content in self.added],
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
            added=tuple((str(path), base64.b64decode(content)) for path, content in data.get("added", ())),
            trace_tests=bool(data.get("trace_tests", False)),
        )


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one job.

    Attributes:
        job: The job's id.
        verdict: The verdict.
        reason: The reason as a code; see :class:`Reason`.
        detail: The reason as one sentence for the user; empty for ``passed``.
        tests: The outcome of each required test (of each collected test if none were named), failures with tracebacks.
        seconds: Wall-clock time inside the sandbox, including the reset.
        route: The route that gave the verdict; never ``AUTO``.
        slower: Why a faster route was not used; empty if it was.
        backend: The back end's name.
        suspicious: What speaks against the report (a patched pytest, a runner that died); re-check cold.
        changed: What is not in the process as it was before the tests (classes, modules, functions, ``sys``), files of the
            tree that were opened, and whether processes were started.
        plain: Whether the changed body uses only what cannot reach its reporter; None where that was not judged.
        doubtful: Why a pass is marked: the body is not plain, or changed or opened something; empty otherwise.
        running: The test that was running when the process ended before its time; "" otherwise.
        notes: Modules that could not be imported while tests were collected, one line each.
        trace: Line contexts, when the job asked for them; see ``workbench.regeneration.tracing``.
        said: What a run of the whole suite wrote on its standard error; of other jobs nothing is kept.
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
    changed: tuple[str, ...] = ()
    plain: bool | None = None
    doubtful: str = ""
    running: str = ""
    notes: tuple[str, ...] = ()
    trace: Mapping[str, Any] | None = None
    said: str = ""

    @property
    def passed(self) -> bool:
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
            "changed": list(self.changed),
            "plain": self.plain,
            "doubtful": self.doubtful,
            "running": self.running,
            "notes": list(self.notes),
            "trace": self.trace,
            "said": self.said,
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
            changed=tuple(str(name) for name in data.get("changed", ())),
            plain=None if data.get("plain") is None else bool(data["plain"]),
            doubtful=str(data.get("doubtful", "")),
            running=str(data.get("running", "")),
            notes=tuple(str(note) for note in data.get("notes", ())),
            trace=data.get("trace"),
            said=str(data.get("said", "")),
        )


@dataclass(frozen=True, slots=True)
class Workspace:
    """A repository prepared for testing: its files, its interpreter and how to run its tests.

    Attributes:
        root: Folder of the pristine tree on this machine; read-only.
        python: The environment's interpreter (absolute path).
        mounts: Folders that the interpreter needs, read-only, at the same path inside (environment, base interpreter).
        import_roots: Folders relative to ``root`` to put on ``sys.path`` (``src``, ``.``).
        own_modules: Modules that belong to the repository, top-level or dotted (its part of a namespace package); they
            are never preloaded.
        preload: Third-party modules to import once per worker.
        pytest_args: Arguments for pytest, from the project's configuration or from ``case.toml``.
        test_paths: Paths of the tests, relative to ``root``; empty = let pytest find them.
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
