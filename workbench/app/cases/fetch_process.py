"""Runs as a process of its own: fetch one case into the cache and report progress as JSON lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from workbench.catalog import case_from_source, read_case, snapshot_of
from workbench.errors import WorkbenchError


def _report(**values: object) -> None:
    print(json.dumps(values), flush=True)


def main() -> int:
    """Read the order from standard input, fetch, and report how it went."""
    order = json.loads(sys.stdin.read())
    folder = Path(order["folder"])
    try:
        case = read_case(folder) if (folder / "case.toml").is_file() else case_from_source(order["source"])
        snapshot_of(case, progress=lambda sentence: _report(progress=sentence))
    except WorkbenchError as error:
        _report(failed=str(error))
        return 1
    _report(done=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
