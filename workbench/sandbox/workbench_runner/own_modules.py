"""Was the tree under test imported, or a copy of it from somewhere else?"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from typing import Any


def belongs(name: str, own: Collection[str]) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:length]) in own for length in range(1, len(parts) + 1))


class OwnModules:
    """The repository's modules so far: a fork need only look at new or replaced ones.

    Going through all of ``sys.modules`` writes to every module's reference count, and each costs the fork a page.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        self._own = set(spec["own_modules"])
        self._root = os.path.realpath(spec["root"]) + os.sep
        self._folders: dict[str, bool] = {}  # links are resolved once a folder
        self._known: list[tuple[str, Any]] = []
        self._astray: list[str] = []
        self._last: str | None = None

    def remember(self) -> None:
        """Record what is imported now, before a fork."""
        self._known = [(name, module) for name, module in list(sys.modules.items()) if self._is_own(name)]
        self._astray = [name for name, module in self._known if self._strays(name, module)]
        self._last = next(reversed(sys.modules))

    def wrong(self) -> list[list[str]]:
        """Return ``[module, file]`` for modules of the repository that came from outside its tree."""
        known = dict(self._known)
        here = sys.modules
        suspects = {name for name, module in self._known if here.get(name, module) is not module}
        suspects.update(name for name in self._astray if name in here)
        for name in self._newest():
            if self._is_own(name) and known.get(name) is not here[name]:
                suspects.add(name)
        return [[name, str(here[name].__file__)] for name in sorted(suspects) if self._strays(name, here[name])]

    def _newest(self) -> list[str]:
        """Return the modules imported since ``remember``, or all if its mark is gone."""
        names = []
        try:
            for name in reversed(sys.modules):
                if name == self._last:
                    break
                names.append(name)
        except RuntimeError:  # a thread of the candidate imports at this moment
            return list(sys.modules)
        return names

    def _is_own(self, name: str) -> bool:
        return belongs(name, self._own)

    def _strays(self, name: str, module: Any) -> bool:
        file = getattr(module, "__file__", None)
        # Projects offer modules of others under names of their own (requests.packages.urllib3): those are no copies.
        made_as = str(getattr(getattr(module, "__spec__", None), "name", name))
        if not isinstance(file, str) or not belongs(made_as, self._own):
            return False
        folder = os.path.dirname(file)
        if folder not in self._folders:
            self._folders[folder] = (os.path.realpath(folder) + os.sep).startswith(self._root)
        return not self._folders[folder]
