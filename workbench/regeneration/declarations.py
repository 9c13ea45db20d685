"""Read a project's metadata and requirements from its files without running any of them.

Requirements come from the first of these that exists: ``pyproject.toml``, the ``PKG-INFO`` of an sdist, ``setup.cfg``,
literals in ``setup.py``, and ``requirements.txt``. Test requirements come from ``tox.ini`` and from the extras,
dependency groups and requirements files for tests; if there are none, those for development are used instead.
"""

from __future__ import annotations

import ast
import configparser
import contextlib
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from workbench.base import python_syntax

_TEST_NAMES = ("test", "tests", "testing", "pytest", "unittest")
_DEV_NAMES = ("dev", "develop", "development")
_TEST_FILES = (
    "requirements-test.txt", "requirements-tests.txt", "requirements_test.txt", "requirements_tests.txt",
    "test-requirements.txt", "test_requirements.txt", "tests/requirements.txt", "test/requirements.txt",
    "requirements/test.txt", "requirements/tests.txt", "requirements/testing.txt",
)  # fmt: skip
_DEV_FILES = (
    "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt", "dev_requirements.txt",
    "requirements/dev.txt", "requirements.txt",
)  # fmt: skip

#: Tools that tests do not need; some of them change how pytest runs (coverage, parallel runs).
_TOOLS = re.compile(
    r"^(pytest[-_]cov|pytest[-_]xdist|pytest[-_]randomly|coverage|coveralls|codecov|tox.*|nox|twine|build|wheel|black|flake8.*|mypy|ruff|"
    r"isort|pylint|pre[-_]commit|sphinx.*|mkdocs.*|furo|bump.*|towncrier|check[-_]manifest|setuptools[-_]scm|pyright|ipdb|pdbpp|"
    r"types[-_].*|cibuildwheel|delocate|auditwheel|bandit|safety|yapf|autopep8|pip|setuptools)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Declarations:
    """The metadata and requirements that a project declares."""

    name: str = ""  # "" if none is declared
    version: str = "0"  # "0" if it cannot be read
    requirements: tuple[str, ...] = ()  # requirements at run time
    # requirements by optional feature (extra)
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    test_requirements: tuple[str, ...] = ()  # requirements that the tests probably need
    # console scripts, as name → ``module:function``
    scripts: Mapping[str, str] = field(default_factory=dict, hash=False)
    # entry points, as group → name → object
    entry_points: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    python: str = ""  # supported versions of Python, as declared
    licence: str = ""  # license declared in ``pyproject.toml``
    read: tuple[str, ...] = ()  # names of the files that were read


class _Files:
    """The parsed files of a project; ``read`` lists their names."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.read: list[str] = []
        self.pyproject = _toml(root / "pyproject.toml", self.read)
        self.config = _ini(root / "setup.cfg", self.read)
        self.setup = _setup_py(root / "setup.py", self.read)
        self.info = _pkg_info(root / "PKG-INFO", self.read)
        self.project = _table(self.pyproject.get("project"))
        self.tools = _table(self.pyproject.get("tool"))
        self.poetry = _table(self.tools.get("poetry"))

    def field(self, name: str) -> Any:
        """Return a metadata field that exists in all formats, such as the name."""
        return self.project.get(name) or self.poetry.get(name) or (self.info and self.info.get(name.capitalize()))


def declarations(root: Path) -> Declarations:
    """Read the declarations of the project at ``root``; unreadable files are ignored."""
    files = _Files(root)
    requirements, extras = _requirements(files)
    entries = {group: dict(_table(table)) for group, table in _table(files.project.get("entry-points")).items()}
    entries |= _setup_entry_points(files.setup.get("entry_points"), files.config)
    scripts = {str(key): str(value) for key, value in _table(files.project.get("scripts")).items()}
    poetry = _table(files.poetry.get("scripts"))
    scripts |= {str(key): str(value) for key, value in poetry.items() if isinstance(value, str)}
    scripts |= entries.pop("console_scripts", {})
    name = files.field("name") or _option(files.config, "metadata", "name") or files.setup.get("name")
    licence = files.project.get("license")
    poetry_python = _table(files.poetry.get("dependencies")).get("python")
    python = (
        files.project.get("requires-python")
        or (isinstance(poetry_python, str) and re.sub(r"^[\^~]\s*", ">=", poetry_python))
        or _option(files.config, "options", "python_requires")
        or files.setup.get("python_requires")
        or (files.info and files.info.get("Requires-Python"))
    )
    return Declarations(
        name=str(name or ""),
        version=_version(files),
        python=str(python or ""),
        licence=str(licence.get("text", "") if isinstance(licence, dict) else licence or ""),
        requirements=requirements,
        extras=extras,
        test_requirements=_test_requirements(files, extras),
        scripts=scripts,
        entry_points={group: {str(k): str(v) for k, v in table.items()} for group, table in entries.items()},
        read=tuple(dict.fromkeys(files.read)),
    )


def requirements_file(root: Path, name: str, seen: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the requirements in a file, following ``-r`` and ``-c`` inside the project and ignoring other options."""
    path = root / name
    if name in seen or not path.is_file() or not path.resolve().is_relative_to(root.resolve()):
        return ()
    found: list[str] = []
    text = path.read_text("utf-8", "replace").replace("\\\n", " ")
    for raw in text.splitlines():
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        if match := re.match(r"(?:-r|--requirement)[ =]?\s*(\S+)", line):
            nested = (Path(name).parent / match[1]).as_posix()
            found += requirements_file(root, nested, seen | {name})
        elif line and not line.startswith("-") and _is_requirement(line):
            found.append(re.sub(r"\s+--hash=\S+", "", line))
    return tuple(found)


def _requirements(files: _Files) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    root, project, poetry, config, setup = files.root, files.project, files.poetry, files.config, files.setup
    extras = {str(name): _strings(value) for name, value in _table(project.get("optional-dependencies")).items()}
    if project and "dependencies" not in project.get("dynamic", ()):
        return _strings(project.get("dependencies", ())), extras
    if poetry.get("dependencies"):
        extras = {name: _strings(value) for name, value in _table(poetry.get("extras")).items()}
        return _poetry(_table(poetry["dependencies"])), extras
    dynamic = _table(_table(files.tools.get("setuptools")).get("dynamic"))
    if file := _table(dynamic.get("dependencies")).get("file", ()):
        names = (file,) if isinstance(file, str) else tuple(file)
        return tuple(line for name in names for line in requirements_file(root, str(name))), extras
    if files.info is not None and files.info.get_all("Requires-Dist"):
        return _requires_dist(files.info.get_all("Requires-Dist"), extras)
    if _option(config, "options", "install_requires"):
        section = dict(config["options.extras_require"]) if config.has_section("options.extras_require") else {}
        extras |= {name: _lines(value) for name, value in section.items()}
        return _lines(_option(config, "options", "install_requires")), extras
    if isinstance(setup.get("extras_require"), dict):
        extras |= {str(name): _strings(value) for name, value in setup["extras_require"].items()}
    if isinstance(setup.get("install_requires"), (list, tuple)):
        return _strings(setup["install_requires"]), extras
    if "install_requires" in setup or not setup:
        files.read.append("requirements.txt")
        return requirements_file(root, "requirements.txt"), extras
    return (), extras


def _test_requirements(files: _Files, extras: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    groups, poetry = _table(files.pyproject.get("dependency-groups")), files.poetry

    def named(names: Iterable[str]) -> list[str]:
        found: list[str] = []
        for name in names:
            found += extras.get(name, ())
            found += _group(groups, name)
            group = _table(_table(poetry.get("group")).get(name))
            found += _poetry(_table(group.get("dependencies")))
        return found

    def of_files(names: Iterable[str]) -> list[str]:
        existing = [name for name in names if (files.root / name).is_file()]
        files.read += existing
        return [line for name in existing for line in requirements_file(files.root, name)]

    found = named(_TEST_NAMES)
    found += _strings(files.setup.get("tests_require", ()) or ())
    found += _tox(files.root, files.read)
    found += of_files(_TEST_FILES)
    if not found:
        found = named(_DEV_NAMES) + list(_poetry(_table(poetry.get("dev-dependencies"))))
    if not found:
        found = of_files([name for name in _DEV_FILES if (files.root / name).is_file()][:1])
    return tuple(dict.fromkeys(line for line in found if not is_tool(line)))


def is_tool(requirement: str) -> bool:
    """Return whether a requirement is a development tool rather than something that tests import."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return bool(match and _TOOLS.match(match[0]))


def _tox(root: Path, read: list[str]) -> tuple[str, ...]:
    config = _ini(root / "tox.ini", read)
    found: list[str] = []
    here = f"py{sys.version_info[0]}{sys.version_info[1]}"
    for raw in (_option(config, "testenv", "deps") or "").splitlines():
        line = raw.split("#")[0].strip()
        factors, colon, rest = line.partition(":")
        if colon and re.fullmatch(r"[\w{},!.-]+", factors):
            expanded = re.findall(
                r"\w+", re.sub(r"py\{([^}]*)\}", lambda m: " ".join("py" + part for part in m[1].split(",")), factors)
            )
            if here not in expanded:
                continue
            line = rest.strip()
        if match := re.match(r"-r\s*(\S+)", line.replace("{toxinidir}/", "")):
            found += requirements_file(root, match[1])
        elif line and not line.startswith((".", "-", "{")) and _is_requirement(line):
            found.append(line)
    return tuple(found)


def _group(groups: Mapping[str, Any], name: str, depth: int = 0) -> list[str]:
    found: list[str] = []
    for entry in groups.get(name, ()) if depth < 8 else ():
        if isinstance(entry, str):
            found.append(entry)
        elif isinstance(entry, dict) and "include-group" in entry:
            found += _group(groups, str(entry["include-group"]), depth + 1)
    return found


def _requires_dist(
    lines: list[str], extras: dict[str, tuple[str, ...]]
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    requirements: list[str] = []
    for line in lines:
        match = re.search(r"""extra\s*==\s*['"]([^'"]+)['"]""", line)
        if match is None:
            requirements.append(line)
            continue
        requirement, _, marker = line.partition(";")
        rest = re.sub(r"""\(?\s*(?:and\s+)?extra\s*==\s*['"][^'"]+['"]\s*\)?""", "", marker).strip()
        rest = re.sub(r"\s+and\s*$", "", rest)
        extras[match[1]] = (*extras.get(match[1], ()), requirement.strip() + (f"; {rest}" if rest else ""))
    return tuple(requirements), extras


def _poetry(table: Mapping[str, Any]) -> tuple[str, ...]:
    found = []
    for name, value in table.items():
        if name == "python" or (isinstance(value, dict) and value.get("optional")):
            continue
        version = value if isinstance(value, str) else str(_table(value).get("version", "*"))
        # A caret or tilde also sets an upper bound, but newer versions are the better guess without the lock file.
        version = re.sub(r"[\^~]\s*=?\s*", ">=", version)
        found.append(name if version == "*" else f"{name}{version if version[0] in '<>=!' else '==' + version}")
    return tuple(found)


def _version(files: _Files) -> str:
    version = files.field("version") or files.setup.get("version")
    if isinstance(version, str) and version:
        return version
    option = _option(files.config, "metadata", "version") or ""
    if re.match(r"\d", option):
        return option
    for pattern in ("*.py", "*/__init__.py", "*/_version.py", "*/version.py", "*/__version__.py", "src/*/*.py"):
        for path in sorted(files.root.glob(pattern)):
            with contextlib.suppress(OSError):
                if match := re.search(
                    r"""^__version__\s*(?::\s*\w+\s*)?=\s*['"]([^'"]+)""", path.read_text("utf-8", "replace"), re.M
                ):
                    return match[1]
    return "0"


def _setup_py(path: Path, read: list[str]) -> dict[str, Any]:
    """Return the keyword arguments of ``setup(…)``.

    A value that is neither a literal nor a variable set to a literal is None.
    """
    try:
        module = python_syntax.parse(path.read_bytes())
    except (OSError, *python_syntax.UNREADABLE):
        return {}
    read.append("setup.py")
    names: dict[str, Any] = {}

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return names.get(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = value(node.left), value(node.right)
            return left + right if isinstance(left, list) and isinstance(right, list) else None
        if isinstance(node, ast.Dict):
            pairs = [
                (value(key) if key else None, value(item)) for key, item in zip(node.keys, node.values, strict=True)
            ]
            return {key: item for key, item in pairs if isinstance(key, str)}
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None

    found: dict[str, Any] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = value(node.value)
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("setup"):
            found |= {keyword.arg: value(keyword.value) for keyword in node.keywords if keyword.arg}
    return found


def _setup_entry_points(argument: Any, config: configparser.ConfigParser) -> dict[str, dict[str, str]]:
    groups: dict[str, Any] = dict(argument) if isinstance(argument, dict) else {}
    if config.has_section("options.entry_points"):
        groups |= {group: _lines(text) for group, text in config["options.entry_points"].items()}
    found = {}
    for group, lines in groups.items():
        pairs = [line.partition("=") for line in _strings(lines)]
        found[str(group)] = {name.strip(): target.strip() for name, equals, target in pairs if equals}
    return found


def _toml(path: Path, read: list[str]) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    read.append(path.name)
    return data


def _ini(path: Path, read: list[str]) -> configparser.ConfigParser:
    config = configparser.ConfigParser(interpolation=None, strict=False)
    with contextlib.suppress(configparser.Error, UnicodeDecodeError):
        if config.read(path, encoding="utf-8"):
            read.append(path.name)
    return config


def _pkg_info(path: Path, read: list[str]) -> Any:
    if not path.is_file():
        return None
    read.append(path.name)
    return HeaderParser().parsestr(path.read_text("utf-8", "replace"))


def _option(config: configparser.ConfigParser, section: str, name: str) -> str | None:
    return config.get(section, name, fallback=None)


def _lines(text: str | None) -> tuple[str, ...]:
    return tuple(
        line.strip() for line in (text or "").splitlines() if line.strip() and not line.strip().startswith("#")
    )


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return _lines(value)
    return tuple(str(entry) for entry in value if isinstance(entry, str)) if isinstance(value, (list, tuple)) else ()


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_requirement(line: str) -> bool:
    return re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[|[<>=!~;@(]|$)", line) is not None
