"""Determine a project's layout and how to run its tests: import roots, own modules, pytest options."""

from __future__ import annotations

import ast
import configparser
import contextlib
import re
import shlex
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.base import python_syntax

#: Folders next to the package that only look like packages; their names may match a third-party or standard module.
_NOT_PACKAGES = frozenset([
    "benchmark", "benchmarks", "build", "dist", "doc", "docs", "example", "examples", "scripts", "test", "testing",
    "tests", "tools",
])  # fmt: skip
_NOT_MODULES = frozenset({"setup", "conftest", "noxfile", "fabfile", "tasks", "dodo"})

#: Options of plugins that measure, parallelise or write reports. They do not affect outcomes and may be missing here.
_DROPPED_WITH_VALUE = (
    "-n", "--numprocesses", "--dist", "--junitxml", "--junit-xml", "--html", "--tb", "--durations", "--maxfail",
)  # fmt: skip
_DROPPED_ALONE = (
    "-v", "-vv", "-vvv", "-q", "-qq", "-s", "-x", "-ra", "-rA", "--verbose", "--quiet", "--exitfirst",
    "--self-contained-html",
)  # fmt: skip
_DROPPED_PREFIXES = (
    "--cov", "--no-cov", "--junit", "--html", "--tb=", "--durations", "--maxfail", "--dist", "--numprocesses", "-n=",
    "-r",
)  # fmt: skip

#: Files and sections, besides ``pyproject.toml``, that can configure pytest, in order of precedence.
_SECTIONS = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))

#: Modules that open windows, patch other modules or print when imported.
_NEVER_PRELOAD = frozenset([
    "__future__", "__main__", "antigravity", "eventlet", "gevent", "idlelib", "sitecustomize", "this", "tkinter",
    "turtle",
])  # fmt: skip


def import_roots(root: Path) -> tuple[str, ...]:
    """Return the folders, relative to ``root``, from which the project's modules are imported."""
    if declared := _declared_roots(root):
        return declared
    source = root / "src"
    has_modules = any(source.glob("*.py")) or any(source.glob("*/*.py"))
    if source.is_dir() and not (source / "__init__.py").exists() and has_modules:
        return ("src",)
    if (root / "lib").is_dir() and any((root / "lib").glob("*/__init__.py")) and not any(root.glob("*/__init__.py")):
        return ("lib",)
    return (".",)


def own_modules(root: Path, roots: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the project's own top-level modules, or of its portions of namespace packages.

    A folder that contains only packages and has no ``__init__.py`` is a namespace that other distributions may share
    (PEP 420), so ``dissect/esedb`` counts as ``dissect.esedb``, because ``dissect.cstruct`` belongs to another project.
    """
    names = set()
    for folder in roots:
        for path in (root / folder).glob("*"):
            if not path.stem.isidentifier():
                continue
            if (
                path.is_dir()
                and path.name.isidentifier()
                and path.name not in _NOT_PACKAGES
                and any(path.rglob("*.py"))
            ):
                names.update(_portions(path))
            elif path.suffix == ".py" and path.stem not in _NOT_MODULES and not path.stem.startswith("test_"):
                names.add(path.stem)
    return tuple(sorted(names))


def _portions(package: Path) -> set[str]:
    packages = [
        path for path in package.iterdir() if path.is_dir() and path.name.isidentifier() and any(path.glob("*.py"))
    ]
    if any(package.glob("*.py")) or not packages or not all((path / "__init__.py").exists() for path in packages):
        return {package.name}
    return {f"{package.name}.{path.name}" for path in packages}


def belongs(name: str, own: Sequence[str]) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:length]) in own for length in range(1, len(parts) + 1))


def pytest_options(root: Path) -> tuple[str, ...]:
    """Return a replacement for the project's ``addopts`` without reports, coverage and parallel runs."""
    words = _option_words(root, "addopts")
    return ("-o", f"addopts={shlex.join(filtered_options(words))}") if words else ()


def is_test_file(root: Path, roots: Sequence[str], own: Sequence[str]) -> Callable[[PurePosixPath], bool]:
    """Return a predicate for the project's test files, based on its ``python_files`` and ``testpaths``.

    Patterns that match every file are ignored, as are folders that contain all of the project's modules.
    """
    patterns = [
        pattern for pattern in _option_words(root, "python_files") if not fnmatch("any/name_of_a_file.py", pattern)
    ]
    modules = [PurePosixPath(folder, *name.split(".")) for folder in roots for name in own]
    folders = [
        PurePosixPath(path.relative_to(root).as_posix())
        for pattern in _option_words(root, "testpaths")
        for path in _matching(root, pattern)
    ]
    if all(any(module.is_relative_to(folder) for folder in folders) for module in modules):
        folders = [folder for folder in folders if not any(module.is_relative_to(folder) for module in modules)]

    def is_test(path: PurePosixPath) -> bool:
        return any(path.is_relative_to(folder) for folder in folders) or any(
            fnmatch(f"/{path}" if "/" in pattern else path.name, f"*/{pattern}" if "/" in pattern else pattern)
            for pattern in patterns
        )

    return is_test


def _matching(root: Path, pattern: str) -> Iterator[Path]:
    # Ignore the pattern: pytest also rejects it, or searches elsewhere.
    with contextlib.suppress(ValueError, NotImplementedError, IndexError):
        yield from (path for path in root.glob(pattern) if path.is_relative_to(root))


def _option_words(root: Path, option: str) -> list[str]:
    """Return the words of a pytest option in the project's configuration; [] if it is invalid, which pytest reports."""
    value: object = None
    for name, section in _SECTIONS:
        config = configparser.ConfigParser(interpolation=None, strict=False)
        with contextlib.suppress(configparser.Error, UnicodeDecodeError):
            config.read(root / name, encoding="utf-8")
        value = value or config.get(section, option, fallback=None)
    with contextlib.suppress(KeyError, TypeError):
        value = value or _tools(root)["pytest"]["ini_options"][option]
    if isinstance(value, list):
        return [str(word) for word in value]
    with contextlib.suppress(ValueError):
        return shlex.split(value, comments=True) if isinstance(value, str) else []
    return []


def pytest_configuration(root: Path) -> str:
    """Return the name of the file that configures pytest, or "" if there is none; the file may be invalid."""
    found = [name for name, _ in _SECTIONS[:2] if (root / name).is_file()]
    for name, mark in (("pyproject.toml", "[tool.pytest"), ("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]")):
        with contextlib.suppress(OSError):
            found += [name] if mark in (root / name).read_text("utf-8", "replace") else []
    return found[0] if found else ""


def filtered_options(words: Sequence[str]) -> list[str]:
    """Return pytest arguments without options that only measure, report or parallelise."""
    filtered: list[str] = []
    skip = False
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else "-"
        if skip:
            skip = False
        elif word in _DROPPED_WITH_VALUE or (
            word in ("--cov", "--cov-report", "--cov-config") and not following.startswith("-")
        ):
            skip = True
        elif word not in _DROPPED_ALONE and not re.match(r"-n(?:\d+|auto)\Z", word):
            filtered += [word] if not word.startswith(_DROPPED_PREFIXES) else []
    return filtered


def imported_modules(root: Path, own: Sequence[str]) -> tuple[str, ...]:
    """Return the third-party modules that the project's files, including tests, import at the top level."""
    found: Counter[str] = Counter()
    for path in sorted(root.rglob("*.py")):
        if {"build", "dist", "docs", "examples", ".venv", "venv"}.intersection(path.relative_to(root).parts):
            continue
        try:
            module = python_syntax.parse(path.read_bytes())
        except (OSError, *python_syntax.UNREADABLE):
            continue
        for name in _imports(module.body):
            top = name.split(".")[0]
            if not belongs(name, own) and top not in _NOT_PACKAGES | _NOT_MODULES | _NEVER_PRELOAD:
                found[name] += 1
    return tuple(sorted(found, key=lambda name: (-found[name], name)))[:200]


def missing_modules(root: Path, own: Sequence[str], installed: Sequence[str]) -> tuple[str, ...]:
    """Return imported top-level modules that are not standard, ``installed`` or part of the project."""
    local = {path.stem for path in root.rglob("*.py")} | {path.name for path in root.rglob("*") if path.is_dir()}
    names = {name.split(".")[0] for name in imported_modules(root, own)}
    return tuple(sorted(names - set(sys.stdlib_module_names) - set(installed) - local))


def _imports(body: Sequence[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Try) or (isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test)):
            yield from _imports(node.body)


def _tools(root: Path) -> Any:
    with contextlib.suppress(OSError, ValueError):
        return tomllib.loads((root / "pyproject.toml").read_text("utf-8")).get("tool", {})
    return {}


def _declared_roots(root: Path) -> tuple[str, ...]:
    with contextlib.suppress(KeyError, TypeError, AttributeError):
        setuptools = _tools(root)["setuptools"]
        packages = setuptools.get("packages", {})
        where = packages.get("find", {}).get("where") if isinstance(packages, dict) else None
        where = where or ([setuptools["package-dir"][""]] if "" in setuptools.get("package-dir", {}) else None)
        if where:
            return tuple(str(entry) for entry in where if (root / str(entry)).is_dir())
    with contextlib.suppress(OSError):
        text = (root / "setup.py").read_text("utf-8", "replace")
        if match := re.search(r"""package_dir\s*=\s*\{\s*['"]['"]\s*:\s*['"]([\w./-]+)['"]""", text):
            return (match[1],) if (root / match[1]).is_dir() else ()
    return ()
