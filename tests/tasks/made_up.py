"""Environments for made-up repositories, and helpers that inspect what was built from them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from workbench.regeneration.environment import Environment
from workbench.regeneration.project_layout import import_roots, own_modules, pytest_options
from workbench.regeneration.tasks import Dropped, TaskSet
from workbench.sandbox import Workspace


def environment_of(root: Path) -> Environment:
    """The interpreter that runs these tests has pytest and coverage: nothing is installed."""
    roots = import_roots(root)
    mounts = dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_prefix).resolve()))
    workspace = Workspace(
        root=root,
        python=Path(sys.prefix) / "bin" / "python",
        mounts=tuple(mount for mount in mounts if not mount.is_relative_to("/usr")),
        import_roots=roots,
        own_modules=own_modules(root, roots),
        pytest_args=("-p", "no:asyncio", "-p", "no:xdist", "-p", "no:randomly", *pytest_options(root)),
    )
    return Environment(workspace.python, Path(sys.prefix), "e" * 64, (), ("pytest==1",), (), workspace)


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Write a repository: path -> text."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return root


def dropped(built: TaskSet, name: str) -> Dropped:
    """The entry of a function that became no task."""
    found = [entry for entry in built.dropped if entry.id.endswith(f"::{name}")]
    assert len(found) == 1, [entry.id for entry in built.dropped]
    return found[0]
