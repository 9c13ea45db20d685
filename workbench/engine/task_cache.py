"""Cache the tasks built from a repository, by its content: the complete result, and partial results while building.

An interrupted build continues where it stopped: the suite's runs are in ``suites/``, each decision about a function is a
line of ``tasks/KEY.part``, and ``tasks/KEY.json`` is the complete result.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench import paths
from workbench.regeneration.environment import Environment
from workbench.regeneration.stubs import STUB_VERSION
from workbench.regeneration.suite import SUITE_FORMAT, Rules, Suite
from workbench.regeneration.tasks import Dropped, Task, TaskSet
from workbench.repository import Snapshot

#: Incremented whenever the same repository would yield different tasks.
TASKS_FORMAT = 3


class TaskCache:
    """The cached results of one repository in one environment and sandbox; a ``building.Record``.

    Write errors are ignored: they cost time later but never fail the run.
    """

    def __init__(self, snapshot: Snapshot, environment: Environment, backend: str, rules: Rules | None = None) -> None:
        workspace = environment.workspace
        about: list[Any] = [snapshot.digest, environment.digest, backend, workspace.pytest_args,
                            workspace.test_paths, workspace.import_roots, workspace.variables]  # fmt: skip
        about += [asdict(rules)] if rules is not None and rules != Rules() else []
        folder = paths.cache_dir()
        self._suite = folder / "suites" / f"{_key([SUITE_FORMAT, *about])}.json"
        self._tasks = folder / "tasks" / f"{_key([TASKS_FORMAT, STUB_VERSION, *about])}.json"
        self._part = self._tasks.with_suffix(".part")

    @property
    def place(self) -> Path:
        return self._tasks

    def is_begun(self) -> bool:
        """Return whether a build left something behind that the next one goes on with."""
        return self._suite.exists() or self._part.exists()

    def tasks(self) -> TaskSet | None:
        """Return the complete result, or None."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return TaskSet.from_json(json.loads(self._tasks.read_text(encoding="utf-8")))
        return None

    def finish(self, built: TaskSet) -> None:
        """Store the complete result and delete the partial ones."""
        _write(self._tasks, built.to_json())
        with contextlib.suppress(OSError):
            self._part.unlink(missing_ok=True)

    def forget(self) -> None:
        """Delete everything, so that the tasks are built again."""
        for path in (self._suite, self._tasks, self._part):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)

    def suite(self) -> Suite | None:
        """Return the cached runs of the suite, or None."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return Suite.from_json(json.loads(self._suite.read_text(encoding="utf-8")))
        return None

    def keep_suite(self, suite: Suite) -> None:
        """Store the suite's runs, and delete decisions that were based on earlier ones."""
        with contextlib.suppress(OSError):
            self._part.unlink(missing_ok=True)
        _write(self._suite, suite.to_json())

    def decisions(self) -> Mapping[str, Task | Dropped]:
        """Return the cached decisions about functions, by id."""
        found: dict[str, Task | Dropped] = {}
        with contextlib.suppress(OSError), self._part.open(encoding="utf-8") as lines:
            for line in lines:
                # Skip a line that was only partly written when the process was killed.
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    data = json.loads(line)
                    found[data["id"]] = Dropped(**data) if "stage" in data else Task.from_json(data)
        return found

    def keep(self, decision: Task | Dropped) -> None:
        data = decision.to_json() if isinstance(decision, Task) else asdict(decision)
        with contextlib.suppress(OSError):
            self._part.parent.mkdir(parents=True, exist_ok=True)
            with self._part.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(data) + "\n")


def _key(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]


def _write(place: Path, data: Mapping[str, Any]) -> None:
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=place.parent, prefix=".part-", delete=False, encoding="utf-8"
        ) as file:
            try:
                json.dump(data, file, ensure_ascii=True)
                file.flush()
                os.replace(file.name, place)  # noqa: PTH105  atomic
            except OSError:
                Path(file.name).unlink(missing_ok=True)
                raise
