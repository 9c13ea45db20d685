"""The back ends that one can choose, without importing any of them, strongest first; and clusters, by their addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base.errors import UsageError
from workbench.base.extensions import is_dotted
from workbench.base.plugins import named_class, names, path_of, plugin_named
from workbench.sandbox.errors import SandboxUnknown

if TYPE_CHECKING:
    from workbench.sandbox.types import Limits

NOT_ISOLATED = "NOT isolated"


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
            f"There is no engine {address!r}; name a Dask scheduler as dask://HOST:PORT (or dask+tls://HOST:PORT), or none."
        )
    found: Clusters = named_class("cluster", scheme, Clusters)
    return found
