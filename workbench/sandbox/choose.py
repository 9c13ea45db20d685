"""Which back ends this machine has, what each promises, and which one to take."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.sandbox.backend import Backend
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.sandbox.docker import Docker
from workbench.sandbox.errors import SandboxUnavailable
from workbench.sandbox.process import PlainProcess


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """One back end on this machine: usable when ``problem`` is None."""

    name: str
    problem: str | None
    guarantees: tuple[str, ...]


def backends() -> tuple[Backend, ...]:
    """Return one of each, strongest first: bubblewrap has no engine with root's rights behind it, docker has one."""
    return (Bubblewrap(), Docker(), PlainProcess())


def available_backends() -> tuple[BackendStatus, ...]:
    """Return every back end with its guarantees here, or with why it cannot be used; strongest first."""
    return tuple(
        BackendStatus(backend.name, problem, () if problem else backend.guarantees())
        for backend in backends()
        for problem in [backend.problem()]
    )


def choose_backend(name: str | None = None) -> Backend:
    """Return the back end ``name``, or the strongest that isolates.

    The plain process is never chosen without being named: it has no namespaces.

    Raises:
        SandboxUnavailable: It is unknown or cannot be used here; the sentence says why.
    """
    known = {backend.name: backend for backend in backends()}
    if name:
        if name not in known:
            raise SandboxUnavailable(f"There is no sandbox called {name!r}; choose from {', '.join(known)}.")
        problem = known[name].problem()
        if problem:
            raise SandboxUnavailable(problem)
        return known[name]
    problems = []
    for backend in known.values():
        if backend.name == "process":
            continue
        problem = backend.problem()
        if problem is None:
            return backend
        problems.append(problem)
    reasons = " ".join(problems)
    raise SandboxUnavailable(
        f"No sandbox isolates here: {reasons} Choose --sandbox process to run with less isolation."
    )
