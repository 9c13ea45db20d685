"""The back ends that one can choose, without importing any of them, strongest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.base.extensions import is_dotted
from workbench.base.plugins import names, path_of
from workbench.sandbox.errors import SandboxUnknown

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
