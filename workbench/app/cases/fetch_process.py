"""Runs as a process of its own: fetch one case into the cache and tell progress as JSON lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from workbench.catalog import case_from_source, read_case, snapshot_of
from workbench.errors import WorkbenchError


def _tell(**values: object) -> None:
    print(json.dumps(values), flush=True)


def main() -> int:
    """Read the order from standard input, fetch, and tell how it went."""
    order = json.loads(sys.stdin.read())
    folder = Path(order["folder"])
    try:
        case = read_case(folder) if (folder / "case.toml").is_file() else case_from_source(order["source"])
        snapshot_of(case, progress=lambda sentence: _tell(progress=sentence))
    except WorkbenchError as error:
        _tell(failed=str(error))
        return 1
    _tell(done=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
