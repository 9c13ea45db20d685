"""The back ends that one can choose, strongest first, and the choice of one by name or by what isolates here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, cast

from workbench.base.errors import UsageError
from workbench.base.extensions import is_dotted, load, make, named_class, names, path_of, plugin_named
from workbench.sandbox.backend import Backend, Guarantees
from workbench.sandbox.types import NOT_ISOLATED, Limits, NoIsolation, SandboxUnavailable, SandboxUnknown


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """A back end's name in sessions and on the command line, where its class is, and what it does not isolate."""

    name: str
    path: str
    weaknesses: tuple[str, ...] = ()


#: bubblewrap has no engine with root's rights behind it, docker has one.
BACKENDS = (
    BackendInfo("bubblewrap", "workbench.sandbox.bubblewrap:Bubblewrap"),
    BackendInfo("docker", "workbench.sandbox.docker:Docker"),
    BackendInfo("process", "workbench.sandbox.process:PlainProcess", (NOT_ISOLATED,)),
)


def backend_info(name: str) -> BackendInfo:
    """Return what is known of a back end, also of a plug-in's by its dotted path. SandboxUnknown: there is none."""
    for info in BACKENDS:
        if info.name == name:
            return info
    if is_dotted(name):
        return BackendInfo(name, name)
    if path := path_of("sandbox", name):
        return BackendInfo(path, path)
    known = ", ".join([*(info.name for info in BACKENDS), *names("sandbox")])
    raise SandboxUnknown(f"There is no sandbox called {name!r}; choose from {known}, or package.module:Class.")


def weaknesses_of(names: Iterable[str], sandbox: str = "", recorded: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what back ends that gave verdicts do not isolate.

    ``recorded`` is what the run's chosen ``sandbox`` declared when it was used; runs of former versions recorded
    nothing.
    """
    known = {info.name: info.weaknesses for info in BACKENDS}
    if recorded:
        known[sandbox] = tuple(recorded)
    return tuple(dict.fromkeys(weak for name in names for weak in known.get(name, ())))


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """One back end on this machine: usable when ``problem`` is None, and then there are guarantees."""

    name: str
    problem: str | None
    guarantees: Guarantees | None


def make_backend(name: str, folders: Sequence[str] = ()) -> Backend:
    """Return a back end by name or dotted path, imported from ``folders`` first. UsageError: there is none."""
    info = backend_info(name)
    backend = make("sandbox", load("sandbox", info.path, Backend, folders))
    backend.name = info.name
    return cast(Backend, backend)


def backends() -> tuple[Backend, ...]:
    return tuple(make_backend(info.name) for info in BACKENDS)


def available_backends() -> tuple[BackendStatus, ...]:
    checked = ((backend, backend.problem()) for backend in backends())
    return tuple(BackendStatus(one.name, problem, None if problem else one.guarantees()) for one, problem in checked)


def choose_backend(name: str | None = None, folders: Sequence[str] = ()) -> Backend:
    """Return the back end ``name`` (or dotted path, imported from ``folders`` first), or the strongest that isolates.

    One that does not isolate, such as the plain process, must be named.

    Raises:
        SandboxUnavailable: It is unknown or cannot be used here; the sentence says why.
        NoIsolation: None was named and none isolates here; it carries what a plain process guarantees instead.
    """
    from workbench.sandbox.process import KernelFeatures, PlainProcess, promises, promises_in_short

    if name:
        backend = make_backend(name, folders)
        if problem := backend.problem():
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


class Clusters(Protocol):
    """Tests candidates on other machines: ``--engine NAME://HOST:PORT``, where NAME is that of its entry point."""

    name: str

    def check(self, address: str) -> None:
        """Raise UsageError where an address is none, or what it needs is not installed."""

    def pack(self, prepared: Any, backend: str, limits: Limits) -> Any:
        """Return a prepared repository (its ``case``, ``snapshot`` and ``environment``) as it is sent."""

    def connected(self, address: str) -> AbstractAsyncContextManager[Any]:
        """Connect; what it gives has ``pool(packed, tell)``, which opens sandboxes there. Raises WorkbenchError."""


def clusters_at(address: str) -> Clusters:
    """Return what an address leads to; ``NAME+tls://`` is ``NAME`` too. UsageError: no package offers such clusters."""
    scheme = re.split(r"\+|://", address, maxsplit=1)[0]
    if plugin_named("cluster", scheme) is None:
        raise UsageError(
            f"There is no engine {address!r}; name a Dask scheduler as dask://HOST:PORT or dask+tls://HOST:PORT."
        )
    found: Clusters = named_class("cluster", scheme, Clusters)
    return found
