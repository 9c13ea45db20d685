"""Records of building the tasks of a catalogue repository on some machine: counts and control results.

``workbench catalog check`` writes them. The user's own in the data folder take precedence over bundled ones in
``records/``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.base import paths, typed_json
from workbench.catalog.reading import BadCase
from workbench.catalog.repositories import Repository

_BUNDLED = Path(__file__).resolve().parent / "records"


@dataclass(frozen=True, slots=True)
class Record:
    """The result of building a repository's tasks and testing the controls on each of them."""

    repository: str
    source: str
    snapshot: str
    functions: int
    other_functions: int  # in tests, documentation, ``setup.py``
    traced: int  # functions that a stable test executes
    in_time: int  # of those, by tests within the time limit
    tasks: int  # of those, tests pass with the original body and fail with a stub
    dropped: Mapping[str, int]
    stable: int  # tests that passed in every run of the suite
    unstable: Mapping[str, str]  # passed in some runs, with their outcomes
    failing: Mapping[str, str]  # tests that never passed or hang, files that cannot be imported, with the reason
    skipped: Mapping[str, str]  # skipped or expected to fail, with the reason
    reference: int  # tasks that pass with the original body; should equal ``tasks``
    stub: int  # tasks that pass with a stub; should be 0
    seconds: Mapping[str, float]  # wall-clock of ``tasks`` (without the environment) and ``controls``
    date: str
    python: str
    sandbox: str
    workbench: str

    @property
    def sound(self) -> bool:
        return self.tasks > 0 and self.reference == self.tasks and self.stub == 0

    @property
    def unusable(self) -> int:
        return len(self.failing) + len(self.unstable)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def own_records_dir() -> Path:
    return paths.data_dir() / "catalogue"


def bundled_record(entry: Repository) -> Record | None:
    return _read(_BUNDLED / f"{entry.name}.json")


def record_of(entry: Repository) -> Record | None:
    return _read(own_records_dir() / f"{entry.name}.json") or bundled_record(entry)


def write_record(entry: Repository, record: Record, folder: Path | None = None) -> Path:
    file = (folder or own_records_dir()) / f"{entry.name}.json"
    part = file.with_suffix(".part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(record.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(part, file)  # noqa: PTH105  atomic
    except OSError as error:
        raise BadCase(f"{file} cannot be written: {(error.strerror or str(error)).lower()}.") from None
    return file


def _read(file: Path) -> Record | None:
    try:
        return typed_json.decode(Record, file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadCase(
            f"{file} is not a valid record of a built repository ({error}); delete it or run the check again."
        ) from None
