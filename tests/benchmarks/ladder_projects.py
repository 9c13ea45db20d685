"""The projects of the judge's validity ladder: the six bundled cases, and ten real ones from the package index.

The ten come with facts that nobody wrote for this: read off the distribution's metadata and its source.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tarfile
from email.parser import HeaderParser
from pathlib import Path

from ladder_rungs import Project

from workbench.catalog import Facts, resolve_case, snapshot_of, view_of
from workbench.repository import View

CASES = ("art_github", "countdown_timer", "dotenv_github", "password_generator", "pyfiglet_github", "word_counter")
TUNED = ("tabulate==0.9.0", "schema==0.7.7", "humanize==4.9.0", "toolz==0.12.1", "xmltodict==0.13.0")
"""The judge's constants were chosen with these and the six cases in sight."""
HELD_OUT = ("prettytable==3.10.0", "cachetools==5.3.3", "emoji==2.12.1", "python-slugify==8.0.4", "parse==1.20.1")
"""And not with these."""


def bundled() -> list[Project]:
    """Return the six bundled cases."""
    found = []
    for name in CASES:
        case = resolve_case(name)
        assert case.facts is not None
        assert case.reference_readme is not None
        found.append(Project(case.name, case.reference_readme, case.facts, view_of(case, snapshot_of(case))))
    return found


def downloaded(pins: tuple[str, ...], cache: Path, *, held_out: bool) -> list[Project]:
    """Return real projects as their source distributions have them, fetched into ``cache`` when they are not there."""
    cache.mkdir(parents=True, exist_ok=True)
    return [_project(_unpacked(pin, cache), pin.split("==")[0], held_out) for pin in pins]


def _unpacked(pin: str, cache: Path) -> Path:
    stem = pin.replace("==", "-")
    archive = cache / f"{stem}.tar.gz"
    if not archive.exists():
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "-d",
            str(cache),
            pin,
        ]
        subprocess.run(pip, check=True)
    folder = cache / stem
    if not folder.exists():
        with tarfile.open(archive) as opened:
            opened.extractall(cache, filter="data")
    return folder


def _project(folder: Path, name: str, held_out: bool) -> Project:
    readme = next(path for suffix in (".md", ".rst", "") for path in folder.glob("README*") if path.suffix == suffix)
    return Project(name, readme.read_text("utf-8"), derived_facts(folder, name), View(folder), held_out)


def derived_facts(folder: Path, name: str) -> Facts:
    """Return facts from the core metadata, the entry points, and the docstrings of the public functions and classes."""
    metadata = HeaderParser().parsestr((folder / "PKG-INFO").read_text("utf-8"))
    required = [
        text for text in metadata.get_all("Requires-Dist") or () if "extra ==" not in text and "extra==" not in text
    ]
    dependencies = tuple(match.group() for text in required if (match := re.match(r"[\w.-]+", text)))
    module = name.removeprefix("python-").replace("-", "_")
    sources = [
        path
        for path in sorted(folder.rglob("*.py"))
        if path.relative_to(folder).parts[0] in {module, "src", f"{module}.py"} and "test" not in path.stem
    ]
    said = [(path, *found) for path in sources for found in _documented(path)]
    said.sort(key=lambda item: (-len(item[2]), item[1]))
    picked = said[:6]
    files = [item[0] for item in picked] or sources
    scripts = re.search(r"(?:console_scripts|\[project\.scripts\])[^\w]+([\w-]+)\s*=", _manifests(folder))
    return Facts(
        main_purpose=metadata["Summary"].strip(),
        dependencies=dependencies,
        run_command=f"{scripts.group(1)} --help" if scripts else f"import {module}",
        key_features=tuple(f"{item[1]}: {item[2]}" for item in picked),
        must_mention=tuple(item[1] for item in picked[:4]),
        main_file=str(max(set(files), key=files.count).relative_to(folder)),
    )


def _manifests(folder: Path) -> str:
    files = (folder / "pyproject.toml", folder / "setup.cfg", folder / "setup.py")
    return "\n".join(path.read_text("utf-8") for path in files if path.exists())


def _documented(path: Path) -> list[tuple[str, str]]:
    """Return the public functions and classes of a file with the first sentence of their docstrings."""
    found = []
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            first = re.split(r"(?<=\.)\s|\n\s*\n", (ast.get_docstring(node) or "").strip())[0]
            first = " ".join(first.split())
            if 10 < len(first) <= 120:
                found.append((node.name, first.rstrip(".")))
    return found
