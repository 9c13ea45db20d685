"""Which test executes which line and takes which branch: coverage.py with one context per test id, parameters kept."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any


class Tracer:
    """Measures from before the repository is imported; what runs at import has the empty context."""

    def __init__(self, root: str) -> None:
        import coverage

        self.root = os.path.realpath(root)
        self._coverage = coverage.Coverage(
            data_file=None, source=[root], branch=True, config_file=False, messages=False
        )
        # Lines that authors leave out of their own reports ("pragma: no cover") are lines of a body like all others.
        for which in ("exclude", "partial"):
            self._coverage.clear_exclude(which)
        self._coverage.start()

    def switch(self, context: str) -> None:
        """Attribute what follows to the test ``context``; empty means to no test."""
        self._coverage.switch_context(context)

    def result(self) -> dict[str, Any]:
        """Return what was executed.

        ``{"contexts": [ids], "masks": [hex], "files": {path: {"statements": [lines], "lines": {line: mask number},
        "branches": [[from, to, mask number or -1]]}}}``. Bit n of a mask stands for the n-th context; lines that the
        same tests execute share one mask. ``branches`` are all arcs out of lines with several exits, a negative line
        being the exit of a function; -1 says that nothing took it.
        """
        self._coverage.stop()
        data = self._coverage.get_data()
        contexts = dict(_rows(data, "SELECT id, context FROM context"))
        names = dict(_rows(data, "SELECT id, path FROM file"))
        order = {number: 1 << position for position, number in enumerate(contexts)}
        arcs: dict[int, dict[tuple[int, int], int]] = {}
        for file, context, start, end in _rows(data, "SELECT file_id, context_id, fromno, tono FROM arc"):
            found = arcs.setdefault(file, {})
            found[start, end] = found.get((start, end), 0) | order[context]
        masks: dict[int, int] = {}
        files = {}
        for file, executed in arcs.items():
            measured = self._measure(names[file], executed)
            if measured is not None:
                path = os.path.relpath(os.path.realpath(names[file]), self.root).replace(os.sep, "/")
                statements, lines, branches = measured
                files[path] = {
                    "statements": sorted(statements),
                    "lines": {line: masks.setdefault(mask, len(masks)) for line, mask in sorted(lines.items())},
                    "branches": [
                        [start, end, masks.setdefault(mask, len(masks)) if mask else -1]
                        for (start, end), mask in sorted(branches.items())
                    ],
                }
        return {"contexts": list(contexts.values()), "masks": [f"{mask:x}" for mask in masks], "files": files}

    def _measure(
        self, name: str, executed: dict[tuple[int, int], int]
    ) -> tuple[set[int], dict[int, int], dict[tuple[int, int], int]] | None:
        """Return statements, lines with their masks, and branches with theirs; None when it is not Python, or gone."""
        from coverage.exceptions import CoverageException
        from coverage.python import PythonFileReporter

        reporter = PythonFileReporter(name, self._coverage)
        try:
            statements = set(reporter.lines())
            exits, single = reporter.exit_counts(), reporter.no_branch_lines()
            branches = {arc: 0 for arc in reporter.arcs() if exits.get(arc[0], 0) > 1 and arc[0] not in single}
        except CoverageException:
            return None
        lines: dict[int, int] = {}
        for arc, mask in executed.items():
            # The line that an arc comes from may have run before the context was switched.
            if arc[1] > 0:
                for line in {arc[1], *reporter.translate_lines([arc[1]])}:
                    lines[line] = lines.get(line, 0) | mask
            for branch in reporter.translate_arcs([arc]):
                if branch in branches:
                    branches[branch] |= mask
        return statements, lines, branches


def _rows(data: Any, query: str) -> Iterable[tuple[Any, ...]]:
    """Run a query on coverage's database, whose tables are documented."""
    with data._connect() as connection:
        found = connection.execute(query)
        if not hasattr(found, "__enter__"):
            return list(found)
        with found as cursor:
            return list(cursor)
