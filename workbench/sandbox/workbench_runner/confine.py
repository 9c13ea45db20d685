"""Rights that a Linux process gives up permanently without a daemon or namespaces: Landlock, seccomp, user id.

``python -I -S confine.py PLAN -- COMMAND…`` gives up the rights listed in the plan and then executes the command,
before any code of the environment or the repository runs. If a measure fails, the process ends. Sources:
``linux/landlock.h``, ``linux/seccomp.h``, ``linux/capability.h``; numbers of system calls from ``asm/unistd.h``.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import platform
import struct
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_ALL_OF_ABI_1, _REFER, _TRUNCATE, _IOCTL_DEV = (1 << 13) - 1, 1 << 13, 1 << 14, 1 << 15
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_MAKE_DEVICES = 1 << 6 | 1 << 11
_TCP = 3  # bind and connect
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2

_KEEPCAPS, _SECCOMP, _CAPBSET_DROP, _NO_NEW_PRIVS, _CAP_AMBIENT = 8, 22, 24, 38, 47
_CAP_DAC_READ_SEARCH, _LAST_CAPABILITY = 2, 63

#: System calls by machine: refused with any arguments (parts of the kernel that no test needs and that a namespace does
#: not separate, other processes' memory, mounts, further namespaces, file handles, and io_uring, which bypasses
#: filters).
_REFUSED = {
    "x86_64": "101 103 134 153 155 159 161 163 164 165 166 167 168 169 170 171 172 173 174 175 176 177 178 179 180 227 246"
    " 248 249 250 256 272 279 298 303 304 305 308 310 311 312 313 320 321 323 425 426 427 428 429 430 431 432 433 438 440"
    " 442 443",
    "aarch64": "39 40 41 51 58 60 89 97 104 105 106 112 116 117 142 161 162 170 171 217 218 219 224 225 238 239 241 264"
    " 265 266 268 270 271 272 273 280 282 294 425 426 427 428 429 430 431 432 433 438 440 442 443",
}
#: Sockets, System V and POSIX message queues, semaphores and shared memory: without namespaces they reach other programs.
_SHARED = {
    "x86_64": "41 29 30 31 64 65 66 68 69 70 71 220 240 241",
    "aarch64": "198 180 181 186 187 188 189 190 191 192 193 194 195 196",
}
_SOCKETPAIR = {"x86_64": 53, "aarch64": 199}
_CLONE, _CLONE3, _PRLIMIT, _KILL = ({"x86_64": 56, "aarch64": 220}, 435, {"x86_64": 302, "aarch64": 261},
                                    {"x86_64": 62, "aarch64": 129})  # fmt: skip
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NAMESPACES = 0x7E020000
_AF_UNIX = 1
_EPERM, _EACCES, _ENOSYS = 1, 13, 38
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000


class KernelRefused(Exception):
    """The kernel refused a measure; the message says which."""


@functools.lru_cache(maxsize=1)
def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _prctl(*values: int) -> int:
    numbers = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[1:5]]
    result: int = _libc().prctl(ctypes.c_int(values[0]), *numbers)
    return result


@functools.lru_cache(maxsize=1)
def landlock_abi() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return max(0, int(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))
    except (OSError, AttributeError):
        return 0


def seccomp_available() -> bool:
    """Return whether the kernel supports system call filters and this machine's system call numbers are known."""
    if platform.machine() not in _AUDIT_ARCH or not sys.platform.startswith("linux"):
        return False
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            return any(line.startswith("Seccomp:") for line in file)
    except OSError:
        return False


def scope_signals() -> bool:
    """Let this process and its children signal and trace only one another; needs Landlock 6 and no new privileges."""
    if landlock_abi() < 6:
        return False
    with contextlib.suppress(KernelRefused):
        _restrict(_ruleset(0, 0, _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS))
        return True
    return False


def _ruleset(files: int, network: int, scopes: int) -> int:
    size = 24 if scopes else 16 if network else 8
    attributes = struct.pack("=QQQ", files, network, scopes)[:size]
    descriptor = int(_libc().syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0))
    if descriptor < 0:
        raise KernelRefused("the kernel refused Landlock rules: " + os.strerror(ctypes.get_errno()))
    return descriptor


def _restrict(descriptor: int) -> None:
    result = _libc().syscall(_RESTRICT_SELF, descriptor, 0)
    os.close(descriptor)
    if result:
        raise KernelRefused("the kernel refused to apply Landlock rules: " + os.strerror(ctypes.get_errno()))


def landlock(readable: Iterable[str], writable: Iterable[str], devices: Iterable[str]) -> None:
    """Deny files outside ``readable`` and ``writable``, TCP, and outgoing signals, as far as the ABI allows."""
    abi = landlock_abi()
    handled = _ALL_OF_ABI_1
    for version, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        handled |= right if abi >= version else 0
    scopes = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if abi >= 6 else 0
    descriptor = _ruleset(handled, _TCP if abi >= 4 else 0, scopes)
    everything = handled & ~_MAKE_DEVICES & ~_IOCTL_DEV
    plans = ((readable, _EXECUTE | _READ_FILE | _READ_DIR), (writable, everything),
             (devices, _READ_FILE | _WRITE_FILE | _IOCTL_DEV))  # fmt: skip
    for paths, rights in plans:
        for path in paths:
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            allowed = rights & handled & (-1 if os.path.isdir(path) else _FOR_FILES)
            rule = struct.pack("=Qi", allowed, opened)
            if _libc().syscall(_ADD_RULE, descriptor, 1, rule, 0):
                raise KernelRefused(
                    f"the kernel refused a Landlock rule for {path}: " + os.strerror(ctypes.get_errno())
                )
            os.close(opened)
    _restrict(descriptor)


def filter_program(*, sockets: bool) -> bytes:
    """Return the filter's BPF program; ``sockets`` allows sockets and shared memory that namespaces separate."""
    machine = platform.machine()
    allow, name = [(0x06, 0, 0, _ALLOW)], machine
    refuse = [(0x06, 0, 0, _ERRNO | _EPERM)]

    def argument(number: int) -> tuple[int, int, int, int]:
        return (0x20, 0, 0, 16 + 8 * number)  # the lower half, which holds an int completely

    def when(number: int, then: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
        return [(0x15, 0, len(then), number), *then]

    program = [(0x20, 0, 0, 4), (0x15, 1, 0, _AUDIT_ARCH[name]), (0x06, 0, 0, _KILL_PROCESS), (0x20, 0, 0, 0)]
    if machine == "x86_64":
        program += [(0x35, 0, 1, 0x40000000), *refuse]  # the x32 interface has its own numbers
    for number in _REFUSED[name].split():
        program += when(int(number), refuse)
    if not sockets:
        for number in _SHARED[name].split():
            program += when(int(number), [(0x06, 0, 0, _ERRNO | _EACCES)])
        program += when(_SOCKETPAIR[name], [argument(0), (0x15, 1, 0, _AF_UNIX), *refuse, *allow])
    program += when(
        _CLONE3, [(0x06, 0, 0, _ERRNO | _ENOSYS)]
    )  # a filter cannot see its flags, which are in memory; the C library then uses clone
    program += when(_CLONE[name], [argument(0), (0x45, 0, 1, _NAMESPACES), *refuse, *allow])
    program += when(_PRLIMIT[name], [argument(0), (0x15, 1, 0, 0), *refuse, *allow])
    program += when(_KILL[name], [argument(0), (0x15, 0, 1, 0xFFFFFFFF), *refuse, *allow])
    program += allow
    return b"".join(struct.pack("=HBBI", *line) for line in program)


def seccomp(*, sockets: bool) -> None:
    program = filter_program(sockets=sockets)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    holder = ctypes.create_string_buffer(header, len(header))
    if _prctl(_SECCOMP, 2, ctypes.addressof(holder)):
        raise KernelRefused("the kernel refused a system call filter: " + os.strerror(ctypes.get_errno()))


def become(user: int, *, read_search: bool) -> None:
    """Switch from root to ``user`` without capabilities except, on request, the one to ignore folder permissions."""
    for capability in range(_LAST_CAPABILITY + 1):
        if not (read_search and capability == _CAP_DAC_READ_SEARCH):
            _prctl(_CAPBSET_DROP, capability)
    if read_search:
        _prctl(_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if read_search:
        mask = 1 << _CAP_DAC_READ_SEARCH
        header, data = struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", mask, mask, mask, 0, 0, 0)
        if _libc().capset(header, data) or _prctl(_CAP_AMBIENT, 2, _CAP_DAC_READ_SEARCH):
            raise KernelRefused("the kernel refused to keep a capability: " + os.strerror(ctypes.get_errno()))


def confine(plan: dict[str, Any]) -> None:
    """Apply the plan: ``user``, ``read_search``, ``landlock`` with ``read``/``write``/``devices``, ``seccomp``."""
    if plan.get("user") is not None:
        become(plan["user"], read_search=plan["read_search"])
    if _prctl(_NO_NEW_PRIVS, 1):
        raise KernelRefused("the kernel refused to forbid new privileges")
    if plan["landlock"]:
        landlock(plan["read"], plan["write"], plan["devices"])
    if plan["seccomp"]:
        seccomp(sockets=False)


def main() -> NoReturn:
    split = sys.argv.index("--")
    try:
        confine(json.loads(sys.argv[1]))
        os.execv(sys.argv[split + 1], sys.argv[split + 1 :])
    except (KernelRefused, OSError) as problem:
        sys.stderr.write(f"{problem}\n")
        os._exit(72)


if __name__ == "__main__":
    main()
