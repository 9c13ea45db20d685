"""The available back ends, strongest first, and the choice of one by name or by the isolation available here."""

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
    """A back end's name in sessions and on the command line, the location of its class, and its weaknesses."""

    name: str
    path: str
    weaknesses: tuple[str, ...] = ()


#: bubblewrap comes first because docker depends on an engine with root privileges.
BACKENDS = (
    BackendInfo("bubblewrap", "workbench.sandbox.bubblewrap:Bubblewrap"),
    BackendInfo("docker", "workbench.sandbox.docker:Docker"),
    BackendInfo("process", "workbench.sandbox.process:PlainProcess", (NOT_ISOLATED,)),
)


def backend_info(name: str) -> BackendInfo:
    """Return information about a back end, or about a plug-in by its dotted path. Raises SandboxUnknown."""
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
    """Return the weaknesses of the back ends that returned verdicts.

    ``recorded`` contains the weaknesses that the run's ``sandbox`` declared when it was used; runs by older versions
    recorded none.
    """
    known = {info.name: info.weaknesses for info in BACKENDS}
    if recorded:
        known[sandbox] = tuple(recorded)
    return tuple(dict.fromkeys(weak for name in names for weak in known.get(name, ())))


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """The status of a back end on this machine; it is usable, and has guarantees, if ``problem`` is None."""

    name: str
    problem: str | None
    guarantees: Guarantees | None


def make_backend(name: str, folders: Sequence[str] = ()) -> Backend:
    """Return a back end by name or dotted path, searching ``folders`` first. Raises UsageError if there is none."""
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
    """Return the back end with this ``name`` (or dotted path), or the strongest back end that provides isolation.

    Dotted paths are imported from ``folders`` first. A back end without isolation, such as the plain process, must be
    named explicitly.

    Raises:
        SandboxUnavailable: The back end is unknown or cannot be used here; the message says why.
        NoIsolation: No back end was named, and none with isolation is available; the error has the plain process's guarantees.
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
            # The offer below names the plain process and its problem, if it has one.
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
    """Tests candidates on other machines: ``--engine NAME://HOST:PORT``, where NAME is the name of its entry point."""

    name: str

    def check(self, address: str) -> None:
        """Raise UsageError if the address is invalid or a required package is not installed."""

    def pack(self, prepared: Any, backend: str, limits: Limits) -> Any:
        """Return a prepared repository (its ``case``, ``snapshot`` and ``environment``) in the form to send."""

    def connected(self, address: str) -> AbstractAsyncContextManager[Any]:
        """Connect and return an object whose ``pool(packed, tell)`` opens sandboxes there. Raises WorkbenchError."""


def clusters_at(address: str) -> Clusters:
    """Return the clusters for an address; ``NAME+tls://`` also selects ``NAME``. Raises UsageError if none match."""
    scheme = re.split(r"\+|://", address, maxsplit=1)[0]
    if plugin_named("cluster", scheme) is None:
        raise UsageError(
            f"There is no engine {address!r}; name a Dask scheduler as dask://HOST:PORT or dask+tls://HOST:PORT."
        )
    found: Clusters = named_class("cluster", scheme, Clusters)
    return found
