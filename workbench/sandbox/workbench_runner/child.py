"""The process in which one candidate is tested: pytest, with a plugin that reports every test over a pipe.

``warm`` forks it from the server, ``cold`` starts it in a fresh interpreter, ``hot`` forks it after collection. It
always ends with ``os._exit`` once the report is written. Otherwise, a candidate with a thread that outlives the tests
would hang on one route and pass on another.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import random
import sys
import time
import traceback
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from . import processes, reaching  # noqa: F401 - bodies with checks import the last
from .process_state import ProcessState

if TYPE_CHECKING:
    from types import TracebackType

    from .recording import Recorder
    from .trace import Tracer

_MESSAGE, _TRACEBACK, _FULL_TRACEBACKS = 300, 6000, 5

#: Prefix of the names of properties that a report includes, and the maximum length of their values.
_RECORDED, _VALUE = "workbench_", 20_000

_FRAMEWORK = (f"{os.sep}_pytest{os.sep}", f"{os.sep}pluggy{os.sep}")


def write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


class Wire:
    """Writes events as JSON lines that carry the job's nonce."""

    def __init__(self, descriptor: int, nonce: str) -> None:
        self.descriptor = descriptor
        self.nonce = nonce

    def emit(self, kind: str, **fields: Any) -> None:
        write(self.descriptor, json.dumps(dict(fields, e=kind, n=self.nonce)).encode("utf-8", "replace") + b"\n")


def enter(spec: dict[str, Any], descriptor: int, keep: Collection[int] = ()) -> None:
    """Turn this process into a candidate's: descriptors, folders, variables, arguments, ``sys.path``."""
    # The same on every route, because code under test may read ``sys.argv``.
    sys.argv[:] = ["pytest"]

    quiet = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(quiet, standard)
    start = 3
    for wanted in sorted((descriptor, *keep)):
        os.closerange(start, wanted)
        start = wanted + 1
    os.closerange(start, 4096)
    with contextlib.suppress(OSError):
        os.setsid()
    processes.unharden_child()
    os.umask(0o022)
    os.chdir(spec["root"])
    os.environ.clear()
    os.environ.update(spec["environ"])
    time.tzset()
    import tempfile

    tempfile.tempdir = None  # the server's answer may have been cached before the folders were mounted
    roots = [os.path.normpath(os.path.join(spec["root"], entry)) for entry in spec["import_roots"]]
    os.environ["PYTHONPATH"] = os.pathsep.join([*roots, *spec["extra_paths"]])
    sys.path[:] = [*roots, *spec["extra_paths"], *[entry for entry in sys.path if entry not in spec["hide_paths"]]]
    sys.dont_write_bytecode = not spec.get("write_bytecode")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    random.seed(0)


def check_syntax(spec: dict[str, Any], wire: Wire) -> None:
    if not spec["path"].endswith((".py", ".pyi")):
        return
    with open(os.path.join(spec["root"], spec["path"]), "rb") as file:
        source = file.read()
    try:
        compile(source, spec["path"], "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as problem:
        line = getattr(problem, "lineno", None)
        place = f" (line {line})" if line else ""
        wire.emit("invalid", message=f"{type(problem).__name__}{place}: {getattr(problem, 'msg', problem)}")
        os._exit(1)


def arguments(spec: dict[str, Any]) -> list[str]:
    """Return pytest's arguments: the project's own, then ours, then what to collect (without parameters)."""
    ours = ["-p", "no:cacheprovider", "--tb=native", "--maxfail=0", "--color=no", "--rootdir", spec["root"]]
    bases = []
    for test in spec["tests"]:
        base = test.split("[", 1)[0]
        if base not in bases:
            bases.append(base)
    return [*spec["pytest_args"], *ours, *(bases or spec["test_paths"])]


def run(spec: dict[str, Any], descriptor: int, start: ProcessState) -> NoReturn:
    """Test the candidate; ``start`` is the state before the import of the repository, which may already call it."""
    words = spec.get("words")
    enter(spec, descriptor, keep=() if words is None else (words,))
    processes.limit_work(spec["limits"])
    processes.confine_child(spec.get("address_space_mb"), spec.get("process_limit"))
    wire = Wire(descriptor, spec.pop("nonce"))
    check_syntax(spec, wire)
    error_writer = None if words is None else SuiteErrorWriter(words, spec["limits"]["seconds"])
    start.listen(wire.emit, spec["root"], *candidate(spec))
    try:
        recorder = _recorder(spec)
        reporter = Reporter(wire, spec, _tracer(spec), error_writer, start)
        plugins = [reporter] if recorder is None else [reporter, recorder]
        code = pytest.main(arguments(spec), plugins=plugins)
    except BaseException:
        if error_writer is not None:
            error_writer.write(traceback.format_exc())  # ``SystemExit`` would print nothing by itself
        raise
    if error_writer is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
    if recorder is not None:
        wire.emit("calls", calls=recorder.result())
    finish(wire, reporter, int(code))


def _tracer(spec: dict[str, Any]) -> Tracer | None:
    if not spec["trace"]:
        return None
    from .trace import Tracer

    try:
        return Tracer(spec["root"], tests=spec["trace_tests"])
    except ImportError as problem:  # an image may lack a library that the interpreter needs
        raise ImportError(f"coverage.py cannot be imported in this sandbox: {problem}") from None


def _recorder(spec: dict[str, Any]) -> Recorder | None:
    if not spec["record"]:
        return None
    from .recording import Recorder

    return Recorder(spec)


def candidate(spec: dict[str, Any]) -> tuple[str, str]:
    """Return the changed file and the qualified name of the function in it, as in code objects."""
    return os.path.join(spec["root"], spec["path"]), (spec["function"] or [""])[0]


def finish(wire: Wire, reporter: Reporter, code: int) -> NoReturn:
    if reporter.tracer is not None:
        wire.emit("trace", trace=reporter.tracer.result())
    seen = {name: getattr(reporter, name) for name in ("patched", "changed", "compared", "collected")}
    wire.emit("end", exit=code, wrong_copy=reporter.modules.wrong(), **seen)
    os._exit(code & 0xFF)


class SuiteErrorWriter:
    """The writing end of :class:`.watching.SuiteErrors`, in the process that runs the tests."""

    def __init__(self, descriptor: int, seconds: float) -> None:
        """Redirect standard error to ``descriptor``; dump tracebacks there after a crash or most of ``seconds``."""
        self._descriptor = descriptor
        os.set_inheritable(descriptor, False)
        os.dup2(descriptor, 2)
        faulthandler.enable(descriptor)
        # Dump before the time limit, because the location of a hang is lost once the process is killed.
        faulthandler.dump_traceback_later(max(seconds - 2.0, seconds * 0.8), file=descriptor)

    def write(self, text: str) -> None:
        """Write text that pytest would only print on the terminal."""
        with contextlib.suppress(OSError):
            write(self._descriptor, text.encode("utf-8", "replace") + b"\n")


class Reporter:
    """The pytest plugin: selects the required tests, reports each of them, and detects changes to pytest itself."""

    def __init__(
        self,
        wire: Wire,
        spec: dict[str, Any],
        tracer: Tracer | None = None,
        error_writer: SuiteErrorWriter | None = None,
        start: ProcessState | None = None,
    ) -> None:
        self.wire = wire
        self.spec = spec
        self.tracer = tracer
        self.error_writer = error_writer
        self.collected = 0
        self._phases: dict[str, list[Any]] = {}
        self._failures = 0
        self.unpassed = 0
        self.compared = False
        self._start = start
        self._collected_state: ProcessState | None = None
        self.patched: list[str] = []
        self.changed: list[str] = []
        self.modules = OwnModules(spec)

    def pytest_addoption(self, parser: Any) -> None:
        """Accept and ignore the options of the cache plugin, which is disabled because there are no earlier runs."""
        from _pytest import cacheprovider, stepwise

        for module in (cacheprovider, stepwise):
            module.pytest_addoption(parser)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        self.select(items)

    def select(self, items: list[Any]) -> None:
        self.collected = len(items)
        wanted = set(self.spec["tests"])
        if wanted:
            items[:] = [item for item in items if item.nodeid in wanted]
        elif self.spec["deselect"]:
            items[:] = [item for item in items if item.nodeid not in self.spec["deselect"]]
        if self.spec["order"].startswith("random:"):
            random.Random(self.spec["order"]).shuffle(items)

    def pytest_collectstart(self, collector: Any) -> None:
        if self.error_writer is not None:
            self.wire.emit("collecting", id=collector.nodeid)

    def pytest_collection_finish(self, session: Any) -> None:
        if self.error_writer is not None:
            # from here on, the name of the running test shows where a hang occurs
            faulthandler.cancel_dump_traceback_later()
        # Run after all other plugins.
        self._collected_state = ProcessState()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        # Compare before pytest removes its own patches when it is unconfigured. Only a pass can be forged, so failed
        # runs are not compared.
        if self._collected_state is not None and not self.unpassed:
            try:
                self.patched, changed = self._collected_state.changes()
                if self._start is not None:
                    changed += self._start.changes_by_import()
            except Exception as problem:  # a class may raise when it is inspected
                changed = [f"what cannot be compared ({type(problem).__name__})"]
            self.changed = sorted(set(changed))
            self.compared = True

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Drop pytest's own frames from a failure before it becomes text, which is the most expensive part."""
        excinfo = call.excinfo
        if not isinstance(excinfo, pytest.ExceptionInfo) or isinstance(excinfo.value, pytest.skip.Exception):
            return
        first: TracebackType | None = excinfo.tb
        while first is not None and any(part in first.tb_frame.f_code.co_filename for part in _FRAMEWORK):
            first = first.tb_next
        if first is None:
            return
        if self._failures >= _FULL_TRACEBACKS and not brief_failures(item):
            while first.tb_next is not None:  # only its message is used
                first = first.tb_next
        call.excinfo = pytest.ExceptionInfo.from_exc_info((excinfo.type, excinfo.value, first))

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self.wire.emit("start", id=nodeid)
        if self.tracer is not None:
            self.tracer.switch(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        if self.tracer is not None:
            self.tracer.switch("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome == "rerun":
            return
        phases = self._phases.setdefault(report.nodeid, [])
        phases.append(report)
        if report.when == "teardown":
            self._report(report.nodeid, self._phases.pop(report.nodeid))

    def _report(self, nodeid: str, phases: list[Any]) -> None:
        outcome, culprit = "passed", None
        for report in phases:
            if report.failed:
                outcome, culprit = ("failed" if report.when == "call" else "error"), report
                break
            if report.skipped:
                outcome, culprit = ("xfailed" if hasattr(report, "wasxfail") else "skipped"), report
            elif report.when == "call" and hasattr(report, "wasxfail"):
                outcome, culprit = "xpassed", report
        message, traceback = self._text(culprit) if culprit is not None else ("", "")
        self.unpassed += outcome != "passed"
        seconds = sum(report.duration for report in phases)
        recorded = {
            name.removeprefix(_RECORDED): value[:_VALUE] if isinstance(value, str) else value
            for name, value in phases[-1].user_properties
            if name in (f"{_RECORDED}value", f"{_RECORDED}called")
        }
        found = {"outcome": outcome, "seconds": seconds, "message": message, "traceback": traceback}
        self.wire.emit("test", id=nodeid, **found, **recorded)

    def _text(self, report: Any) -> tuple[str, str]:
        longrepr = report.longrepr
        if isinstance(longrepr, tuple):
            return self._tidy(str(longrepr[2]))[:_MESSAGE], ""
        crash = getattr(longrepr, "reprcrash", None)
        self._failures += 1
        text = self._tidy(_without_framework(report.longreprtext)) if self._failures <= _FULL_TRACEBACKS else ""
        message = self._tidy(str(crash.message)) if crash is not None else (text.strip().splitlines() or [""])[-1]
        return message.strip().split("\n", 1)[0][:_MESSAGE], text[-_TRACEBACK:]

    def _tidy(self, text: str) -> str:
        return text.replace(self.spec["root"] + os.sep, "")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            message, traceback = self._text(report)
            reason = refusal(traceback, report.longreprtext) or message
            self.wire.emit("collect", id=report.nodeid, message=reason[:_MESSAGE], traceback=traceback)

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        if self.error_writer is not None:
            self.error_writer.write(str(excinfo.getrepr(style="native")))

    def pytest_internalerror(self, excrepr: Any) -> None:
        if self.error_writer is not None:
            self.error_writer.write(str(excrepr))
        self.wire.emit("internal", message=(str(excrepr).strip().splitlines() or [""])[-1][:_MESSAGE])


class BriefFailure:
    """A failure without a traceback, with pytest's own message."""

    def __init__(self, message: str) -> None:
        self.reprcrash = self
        self.message = message

    def __str__(self) -> str:
        return self.message


def brief_failures(item: Any) -> bool:
    """Shorten a function's second and later failures to their messages; return False for items with their own text."""
    brief = item.__class__ is pytest.Function
    if brief:
        item.repr_failure = _brief
    return brief


def _brief(excinfo: Any, style: Any = None) -> BriefFailure:
    return BriefFailure(excinfo.exconly(tryshort=True))


def belongs(name: str, own: Collection[str]) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:length]) in own for length in range(1, len(parts) + 1))


class OwnModules:
    """The repository's modules imported so far, so that a fork checks only new or replaced modules.

    Iterating over all of ``sys.modules`` changes every module's reference count, and each change costs the fork a page
    copy.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        self._own = set(spec["own_modules"])
        self._root = os.path.realpath(spec["root"]) + os.sep
        self._folders: dict[str, bool] = {}  # links are resolved only once per folder
        self._known: list[tuple[str, Any]] = []
        self._astray: list[str] = []
        self._last: str | None = None

    def remember(self) -> None:
        """Record the modules that are imported now, before a fork."""
        self._known = [(name, module) for name, module in list(sys.modules.items()) if self._is_own(name)]
        self._astray = [name for name, module in self._known if self._strays(name, module)]
        self._last = next(reversed(sys.modules))

    def wrong(self) -> list[list[str]]:
        """Return ``[module, file]`` for modules of the repository that came from outside its tree."""
        known = dict(self._known)
        here = sys.modules
        suspects = {name for name, module in self._known if here.get(name, module) is not module}
        suspects.update(name for name in self._astray if name in here)
        for name in self._newest():
            if self._is_own(name) and known.get(name) is not here[name]:
                suspects.add(name)
        return [[name, str(here[name].__file__)] for name in sorted(suspects) if self._strays(name, here[name])]

    def _newest(self) -> list[str]:
        """Return the modules imported since ``remember``, or all modules if the mark is gone."""
        names = []
        try:
            for name in reversed(sys.modules):
                if name == self._last:
                    break
                names.append(name)
        except RuntimeError:  # a thread of the candidate is importing
            return list(sys.modules)
        return names

    def _is_own(self, name: str) -> bool:
        return belongs(name, self._own)

    def _strays(self, name: str, module: Any) -> bool:
        file = getattr(module, "__file__", None)
        # Projects re-export other packages' modules under their own names (requests.packages.urllib3); these are not
        # copies.
        made_as = str(getattr(getattr(module, "__spec__", None), "name", name))
        if not isinstance(file, str) or not belongs(made_as, self._own):
            return False
        folder = os.path.dirname(file)
        if folder not in self._folders:
            self._folders[folder] = (os.path.realpath(folder) + os.sep).startswith(self._root)
        return not self._folders[folder]


def refusal(text: str, whole: str) -> str:
    """Return why an item cannot be collected; its traceback is passed without pytest's frames and ``whole``."""
    lines = [line for line in text.splitlines() if line.strip()]
    if any(line.startswith(("Traceback", '  File "')) for line in lines):
        reason = lines[-1].removeprefix("E ").strip()
        ignoring = "in _getconftest_pathlist" in whole
        return f"collect_ignore or collect_ignore_glob in a conftest.py: {reason}" if ignoring else reason
    if any(line.startswith("E  ") for line in lines):
        return lines[-1].removeprefix("E ").strip()
    kept = [line.strip() for line in lines if not line.startswith(("HINT", "Hint", "For more information", "  http"))]
    return " ".join(kept)


def _without_framework(text: str) -> str:
    kept, hidden = [], False
    for line in text.splitlines(keepends=True):
        if line.startswith('  File "'):
            hidden = "/site-packages/_pytest/" in line or "/site-packages/pluggy/" in line
        elif not line.startswith("    "):
            hidden = False
        if not hidden:
            kept.append(line)
    return "".join(kept)


def main() -> NoReturn:
    """Entry point of the cold route: the specification on standard input, the report's descriptor as argument."""
    spec = json.loads(sys.stdin.buffer.read())
    run(spec, int(sys.argv[1]), ProcessState())
