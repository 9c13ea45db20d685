"""Trap: the wrong code gets tested. With a src layout and ``pip install .`` an installed copy wins over the tree."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.regeneration.environment import build_environment
from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice
from workbench.sandbox import Backend, Job, Reason, Report, Route, Verdict, Workspace, pool

from .conftest import LIMITS

pytestmark = [pytest.mark.sandbox]

SOURCE = 'def total(numbers):\n    """Return the sum."""\n    return sum(numbers)\n'
SUITE = "from sums_of_things import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
ROUTES = [Route.AUTO, Route.WARM, Route.COLD]


def src_layout(root: Path) -> Path:
    """A project in the src layout, with its suite beside it."""
    (root / "src" / "sums_of_things").mkdir(parents=True)
    (root / "src" / "sums_of_things" / "__init__.py").write_text(SOURCE)
    (root / "tests").mkdir()
    (root / "tests" / "test_total.py").write_text(SUITE)
    (root / "pyproject.toml").write_text('[project]\nname = "sums-of-things"\nversion = "1.0"\n')
    return root


async def verdicts(backend: Backend, workspace: Workspace, *routes: Route) -> list[tuple[Report, Report]]:
    """What the original and a stub get on each route."""
    path = "src/sums_of_things/__init__.py"
    (function,) = find_functions(SOURCE.encode(), path)
    job = Job("x", ("tests/test_total.py::test_total",), path, SOURCE.encode(), LIMITS, Route.AUTO, ("total", 1))
    stub = replace(job, content=splice(SOURCE.encode(), function, "pass"))
    async with pool(backend, workspace, workers=1, limits=LIMITS) as opened:
        return [
            (await opened.run(replace(job, route=route)), await opened.run(replace(stub, route=route)))
            for route in routes
        ]


def installed(site: Path) -> Path:
    """What ``pip install .`` leaves: a copy of the package."""
    (site / "sums_of_things").mkdir(parents=True)
    (site / "sums_of_things" / "__init__.py").write_text(SOURCE)
    return site


@pytest.mark.slow
async def test_the_tree_wins_over_an_installed_copy(bubblewrap: Backend, workspace: Workspace, tmp_path: Path) -> None:
    root, site = src_layout(tmp_path / "project"), installed(tmp_path / "site")
    (root / "conftest.py").write_text(f"import sys\nsys.path.append({str(site)!r})\n")
    here = replace(workspace, root=root, import_roots=("src",), own_modules=("sums_of_things",))
    for original, stub in await verdicts(bubblewrap, replace(here, mounts=(*here.mounts, site)), *ROUTES):
        assert (original.verdict, stub.verdict) == (Verdict.PASSED, Verdict.FAILED), (original.detail, stub.detail)


@pytest.mark.slow
@pytest.mark.parametrize(
    "roots", [("src",), pytest.param((".",), marks=pytest.mark.nightly)], ids=["copy-first", "tree-not-on-the-path"]
)
async def test_an_installed_copy_that_wins_is_our_error_and_nobodys_verdict(bubblewrap, workspace, tmp_path, roots):
    root, site = src_layout(tmp_path / "project"), installed(tmp_path / "site")
    (root / "conftest.py").write_text(f"import sys\nsys.path.insert(0, {str(site)!r})\n")
    here = replace(workspace, root=root, import_roots=roots, own_modules=("sums_of_things",))
    for pair in await verdicts(bubblewrap, replace(here, mounts=(*here.mounts, site)), Route.AUTO, Route.COLD):
        for report in pair:
            assert (report.verdict, report.reason) == (Verdict.ERROR, Reason.WRONG_COPY), report.detail
            assert "sums_of_things" in report.detail


def wheel_of(root: Path) -> Path:
    """A wheel of the project, as a dependency or an install command may bring it along."""
    info = "sums_of_things-1.0.dist-info"
    files = {
        "sums_of_things/__init__.py": SOURCE,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: sums-of-things\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = []
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(text)}\n")
    path = root / "sums_of_things-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": "".join(lines) + f"{info}/RECORD,,\n"}.items():
            archive.writestr(name, text)
    return path


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize("install", ["pip install .", pytest.param("the wheel", marks=pytest.mark.nightly)])
async def test_the_environment_never_keeps_a_copy(bubblewrap, tmp_path, monkeypatch, install):
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    root = src_layout(tmp_path / "project")
    command = f"pip install {wheel_of(tmp_path)}" if install == "the wheel" else install
    environment = await build_environment(root, install=[command])
    assert "pytest" in str(environment.installed)
    assert not list(environment.folder.rglob("sums_of_things*"))
    assert environment.workspace.import_roots[0] == "src"
    ((original, stub),) = await verdicts(bubblewrap, environment.workspace, Route.AUTO)
    assert (original.verdict, stub.verdict) == (Verdict.PASSED, Verdict.FAILED), (original.detail, stub.detail)
