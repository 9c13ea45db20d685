"""What is known about a project: its modules and names, so that inventions in a README can be told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.rubric.commands import head, normal, package_name, split
from workbench.rubric.judging import FactsLike, ViewLike

_SKIPPED = frozenset({"tests", "test", "docs", "doc", "examples", "benchmarks", "scripts", "setup", "conftest"})


@dataclass(frozen=True, slots=True)
class Project:
    """Names that belong to a project.

    ``files`` holds the visible files' names without folders, None when the repository was not at hand.
    """

    modules: frozenset[str]
    packages: frozenset[str]
    files: frozenset[str] | None

    @staticmethod
    def known_from(facts: FactsLike | None, view: ViewLike | None) -> Project:
        """Gather the names from the facts (hidden from the agent) and from the visible files."""
        modules: set[str] = set()
        packages: set[str] = set()
        if facts is not None:
            modules.update(_module_names([facts.main_file]))
            start = head(normal(split(facts.run_command)))
            packages.update(package_name(word) for word in start if word not in {"python", "-m", "-c"})
            modules.update(word.split(".")[0] for word in start[2:3])
            said = (*facts.must_mention, facts.main_purpose)
            packages.update(package_name(word) for item in said for word in item.split() if re.search(r"\w-\w", word))
        files = None
        if view is not None:
            paths = [entry.path for entry in view.files]
            files = frozenset(path.rsplit("/", 1)[-1] for path in paths)
            modules.update(_module_names(paths))
        packages.update(package_name(name) for name in modules)
        packages.discard("")
        return Project(frozenset(modules), frozenset(packages), files)

    def owns(self, package: str) -> bool:
        """Return whether a package name (in normal form) is plausibly the project's own.

        ``python-dotenv`` is, for a project with the module ``dotenv``: such prefixes and suffixes are common.
        """
        bare = re.sub(r"^(python|py)-|-(python|py|cli|tool)$", "", package)
        return package in self.packages or bare in self.packages

    def has_module(self, name: str, dependencies: Iterable[str]) -> bool:
        """Return whether a module is the project's or may belong to one of its dependencies."""
        if name in self.modules:
            return True
        plain = package_name(name)
        # A package's module often has another name (beautifulsoup4 → bs4): only a hint of likeness is asked.
        return any(plain in other or other in plain for other in dependencies if len(other) > 2)

    def lacks(self, path: str) -> bool:
        """Return whether a file named in a command is certainly not in the repository."""
        if self.files is None or re.search(r"[<>{}$*\[\]]|^(your|my|path|example|docs?/|/|~)", path):
            return False
        name = path.rsplit("/", 1)[-1]
        return name not in self.files


def _module_names(paths: Iterable[str]) -> set[str]:
    names: set[str] = set()
    for path in paths:
        if not path.endswith((".py", ".pyi", ".pyx")):
            continue
        parts = path.rsplit(".", 1)[0].split("/")
        if parts[0] == "src" and len(parts) > 1:
            parts = parts[1:]
        if parts[0] not in _SKIPPED:
            names.add(parts[0])
        names.update(part for part in parts[-1:] if part not in {"__init__", "__main__"} | _SKIPPED)
    return names
