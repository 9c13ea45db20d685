"""Which test executes which line: coverage.py with one context per test id, parameters kept."""

from __future__ import annotations

import os
from typing import Any


class Tracer:
    """Measures from before the repository is imported; what runs at import has the empty context."""

    def __init__(self, root: str) -> None:
        import coverage

        self.root = os.path.realpath(root)
        self._coverage = coverage.Coverage(data_file=None, source=[root], config_file=False, messages=False)
        self._coverage.start()

    def switch(self, context: str) -> None:
        """Attribute what follows to the test ``context``; empty means to no test."""
        self._coverage.switch_context(context)

    def result(self) -> dict[str, Any]:
        """Return ``{"contexts": [ids], "files": {path: {"statements": [lines], "lines": {line: [context numbers]}}}}``."""
        from coverage.exceptions import CoverageException

        self._coverage.stop()
        data = self._coverage.get_data()
        numbers: dict[str, int] = {}
        files = {}
        for name in data.measured_files():
            lines = {}
            for line, contexts in data.contexts_by_lineno(name).items():
                lines[line] = [numbers.setdefault(context, len(numbers)) for context in contexts]
            try:
                statements = self._coverage.analysis2(name)[1]
            except CoverageException:
                continue  # not Python, or gone
            path = os.path.relpath(os.path.realpath(name), self.root).replace(os.sep, "/")
            files[path] = {"statements": statements, "lines": lines}
        return {"contexts": list(numbers), "files": files}
