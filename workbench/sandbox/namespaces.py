"""Why this machine forbids user namespaces: the setting at fault, found by looking at the kernel's files.

Sources: ``namespaces(7)``, ``user_namespaces(7)``, ``proc_sys_user(5)``; ``kernel.unprivileged_userns_clone`` is a patch
of Debian, ``kernel.apparmor_restrict_unprivileged_userns`` one of Ubuntu; ``Seccomp:`` of ``proc_pid_status(5)``.
"""

from __future__ import annotations

import os
from pathlib import Path

_FILTERED = "2"  # mode of seccomp: a filter of system calls


def why_forbidden(words: str = "", proc: Path = Path("/proc"), *, root: bool | None = None) -> str:
    """Return the setting that forbids namespaces and what to do about it, as the end of a sentence; "" if none is found.

    Args:
        words: What the program said that was refused.
        proc: The file system with the kernel's settings.
        root: Whether this is root, whom two of the settings do not bind; asked of the system if None.
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
