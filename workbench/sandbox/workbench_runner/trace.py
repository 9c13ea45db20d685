"""Trace which test executes which lines and branches, using coverage.py with one context per test id."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping
from typing import Any

#: Files whose functions are not tasks unless tasks are selected as published; they are not measured, which saves time.
_TESTS = ("*/test_*.py", "*/*_test.py", "*/conftest.py")


class Tracer:
    """Starts measuring before the repository is imported; code that runs at import has the empty context."""

    def __init__(self, root: str, *, tests: bool = False) -> None:
        import coverage

        self.root = os.path.realpath(root)
        self._coverage = coverage.Coverage(
            data_file=None, source=[root], omit=() if tests else _TESTS, branch=True, config_file=False, messages=False
        )
        # Lines that authors exclude from their own reports ("pragma: no cover") are counted here.
        for which in ("exclude", "partial"):
            self._coverage.clear_exclude(which)
        self._coverage.start()
        self._arcs = _ArcRecorder(self._data())

    def switch(self, context: str) -> None:
        """Attribute all further execution to the test ``context``, or to no test if it is empty."""
        self._coverage.switch_context(context)

    def result(self) -> dict[str, Any]:
        """Return the executed lines and branches.

        ``{"contexts": [ids], "masks": [hex], "files": {path: {"statements": [lines], "lines": {line: mask number},
        "branches": [[from, to, mask number or -1]]}}}``. Bit n of a mask stands for the n-th context; lines that the
        same tests execute share one mask. ``branches`` are all arcs out of lines with several exits; a negative line
        stands for the exit of a function, and mask number -1 means that the arc was never taken.
        """
        self._coverage.stop()
        self._arcs.close(self._data())
        masks: dict[int, int] = {}
        files = {}
        for name, executed in self._arcs.arcs.items():
            measured = self._measure(name, executed)
            if measured is not None:
                path = os.path.relpath(os.path.realpath(name), self.root).replace(os.sep, "/")
                statements, lines, branches = measured
                files[path] = {
                    "statements": sorted(statements),
                    "lines": {line: masks.setdefault(mask, len(masks)) for line, mask in sorted(lines.items())},
                    "branches": [
                        [start, end, masks.setdefault(mask, len(masks)) if mask else -1]
                        for (start, end), mask in sorted(branches.items())
                    ],
                }
        return {"contexts": list(self._arcs.contexts), "masks": [f"{mask:x}" for mask in masks], "files": files}

    def _data(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # coverage.py warns that its database is empty
            return self._coverage.get_data()

    def _measure(
        self, name: str, executed: dict[tuple[int, int], int]
    ) -> tuple[set[int], dict[int, int], dict[tuple[int, int], int]] | None:
        """Return statements, lines and branches with their masks, or None if the file is missing or not Python."""
        from coverage.exceptions import CoverageException
        from coverage.python import PythonFileReporter

        reporter = PythonFileReporter(name, self._coverage)
        try:
            statements = set(reporter.lines())
            exits, single = reporter.exit_counts(), reporter.no_branch_lines()
            branches = {arc: 0 for arc in reporter.arcs() if exits.get(arc[0], 0) > 1 and arc[0] not in single}
        except CoverageException:
            return None
        firsts: dict[int, int] = {}

        def first(line: int) -> int:
            if abs(line) not in firsts:
                firsts[abs(line)] = next(iter(reporter.translate_lines([abs(line)])))
            return firsts[line] if line > 0 else -firsts[-line]

        lines: dict[int, int] = {}
        for (start, end), mask in executed.items():
            # The source line of an arc may have run before the context was switched.
            if end > 0:
                for line in {end, first(end)}:
                    lines[line] = lines.get(line, 0) | mask
            branch = (first(start), first(end))
            if branch in branches:
                branches[branch] |= mask
        return statements, lines, branches


class _ArcRecorder:
    """Takes the measured arcs from coverage.py at every switch of the context, before they reach its database.

    Writing to the database would take several times as long as the tests. With a version of coverage.py that does not
    allow this, the arcs are read from the database at the end.
    """

    def __init__(self, data: Any) -> None:
        self.contexts: dict[str, int] = {"": 1}  # context name -> its bit
        self.arcs: dict[str, dict[tuple[int, int], int]] = {}  # file -> arc -> bits of the contexts that took it
        self._bit = 1
        data.add_arcs = self._add
        data.set_context = self._set
        data.add_file_tracers = data.touch_files = lambda *files, **more: None

    def _set(self, context: str | None) -> None:
        self._bit = self.contexts.setdefault(context or "", 1 << len(self.contexts))

    def _add(self, measured: Mapping[str, Collection[tuple[int, int]]]) -> None:
        bit = self._bit
        for name, arcs in measured.items():
            known = self.arcs.setdefault(name, {})
            for arc in arcs:
                known[arc] = known.get(arc, 0) | bit

    def close(self, data: Any) -> None:
        """Read the arcs from the database if none have been received."""
        if self.arcs:
            return
        for context in sorted(data.measured_contexts()):
            self._set(context)
            data.set_query_context(context)
            self._add({name: data.arcs(name) or () for name in data.measured_files()})
