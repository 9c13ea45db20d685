"""List the back ends of this machine with their guarantees, and choose one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from workbench.base.extensions import load, make
from workbench.sandbox.backend import Backend, Guarantees
from workbench.sandbox.errors import NoIsolation, SandboxUnavailable
from workbench.sandbox.names import BACKENDS, backend_info
from workbench.sandbox.process import KernelFeatures, PlainProcess, promises, promises_in_short


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """One back end on this machine: usable when ``problem`` is None, and then there are guarantees."""

    name: str
    problem: str | None
    guarantees: Guarantees | None


def make_backend(name: str, folders: Sequence[str] = ()) -> Backend:
    """Return a back end by name or dotted path, imported from ``folders`` first. UsageError: there is none."""
    backend = make("sandbox", load("sandbox", backend_info(name).path, Backend, folders))
    backend.name = backend_info(name).name
    return cast(Backend, backend)


def backends() -> tuple[Backend, ...]:
    return tuple(make_backend(info.name) for info in BACKENDS)


def available_backends() -> tuple[BackendStatus, ...]:
    return tuple(
        BackendStatus(backend.name, problem, None if problem else backend.guarantees())
        for backend in backends()
        for problem in [backend.problem()]
    )


def choose_backend(name: str | None = None, folders: Sequence[str] = ()) -> Backend:
    """Return the back end ``name`` (or dotted path, imported from ``folders`` first), or the strongest that isolates.

    One that does not isolate, such as the plain process, must be named.

    Raises:
        SandboxUnavailable: It is unknown or cannot be used here; the sentence says why.
        NoIsolation: None was named and none isolates here; it carries what a plain process guarantees instead.
    """
    if name:
        backend = make_backend(name, folders)
        problem = backend.problem()
        if problem:
            raise SandboxUnavailable(problem)
        return backend
    problems = []
    for backend in backends():
        problem = backend.problem()
        if problem is not None:
            # The plain process is offered below, with its own problem if it has one.
            problems += [problem] if backend.name != PlainProcess.name else []
        elif backend.guarantees().isolated:
            return backend
    means, unusable = KernelFeatures.here(), PlainProcess().problem()
    offer = (
        unusable or f"--sandbox process runs candidates in a plain process instead, with {promises_in_short(means)}."
    )
    raise NoIsolation(
        f"No sandbox isolates code that a model wrote here: {' '.join(problems)} {offer}",
        () if unusable else promises(means),
    )
