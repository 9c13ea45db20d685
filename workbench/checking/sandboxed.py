"""A program of a check in a sandbox: no network, one folder of its own, nothing else of this machine."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.sandbox import NoIsolation, program
from workbench.sandbox.program import Ended, Program, ProgramLimits

_MEMORY_MB, _PROCESSES, _DISK_MB = 2048, 256, 1024


def require_isolation() -> None:
    """Make sure that this machine can isolate what a page says.

    Raises:
        NoIsolation: It cannot; nothing is run without.
    """
    problem = program.problem()
    if problem:
        raise NoIsolation(f"Nothing was run, as only an isolating sandbox may run what a page says: {problem}", ())


async def run_in_sandbox(
    command: Sequence[str],
    *,
    folder: Path,
    inside: str,
    python: Path,
    seconds: float,
    cwd: str = "",
    mounts: Sequence[Path] = (),
    variables: Mapping[str, str] | None = None,
) -> Ended:
    """Run a command in bubblewrap.

    Args:
        command: Its words, with paths as they are inside.
        folder: The one folder that it may write to.
        inside: The path of that folder inside.
        python: The interpreter that it uses.
        seconds: Its time limit.
        cwd: Its working directory inside; ``inside`` unless given.
        mounts: What else it may read, at the same paths.
        variables: Environment variables besides the usual ones.

    Raises:
        NoIsolation: There is no sandbox here.
    """
    require_isolation()
    usual = {
        "PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/home/sandbox",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm",
        "COLUMNS": "80",
        "PYTHONNOUSERSITE": "1",
        "NO_COLOR": "1",
    }
    outside = await asyncio.to_thread(_interpreters, python)
    work = Program(
        command,
        folder,
        inside,
        cwd or inside,
        python,
        None,
        mounts=(*mounts, *outside),
        variables={**usual, **(variables or {})},
    )
    limits = ProgramLimits(seconds=seconds, memory_mb=_MEMORY_MB, processes=_PROCESSES, disk_mb=_DISK_MB)
    return await program.run_confined(work, limits, stop=asyncio.Event())


def _interpreters(python: Path) -> list[Path]:
    """Return the folders outside ``/usr`` that hold an environment's interpreter."""
    found = (Path(sys.base_prefix).resolve(), python.resolve().parent.parent)
    return [one for one in dict.fromkeys(found) if not one.is_relative_to("/usr")]
