"""A damaged value anywhere in a session: the rest is indexed and found, and nothing is raised that is no sentence."""

from __future__ import annotations

import contextlib
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

import recorded
import regenerated
from faults.damaging import columns, put, without_constraints
from sweeps import ALL, spread

from workbench.base.errors import WorkbenchError
from workbench.search import SearchIndex, parse
from workbench.session import SessionReader

DOCUMENTED = ("runs", "trials", "steps", "accessed_files", "calls", "scorecards", "annotations", "meta")
VALUES = (b"bytes", None, -5)
REGENERATED = ("runs", "tasks", "candidates", "failing_tests", "meta")


@pytest.fixture(params=[DOCUMENTED, REGENERATED], ids=["documented", "regenerated"])
def sound(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, tuple[str, ...]]:
    path = tmp_path / "sound.session"
    if request.param is DOCUMENTED:
        trials = recorded.Recorder(path)
        trials.run()
        for repeat in (1, 2):
            recorded.word_counter(trials, f"trial-{repeat}", repeat=repeat)
        trials.writer.annotate("trial-1", "a remark", 1)
        trials.close()
    else:
        run = regenerated.Recorder(path)
        regenerated.word_counter(run)
        run.close()
    without_constraints(path, tmp_path / "base.session")
    return tmp_path / "base.session", request.param


@pytest.mark.slow
def test_a_damaged_value_ends_no_filling(sound: tuple[Path, tuple[str, ...]], tmp_path: Path) -> None:
    base, tables = sound
    cases = [
        (table, column, value)
        for number, (table, column) in enumerate((table, name) for table in tables for name, _ in columns(base, table))
        for value in (VALUES if ALL else VALUES[number % len(VALUES) :][:1])
    ]
    tried = found = 0
    for number, (table, column, value) in enumerate(spread(cases, 2)):
        path = tmp_path / f"{number}.session"
        shutil.copyfile(base, path)
        if not put(path, table, column, value):
            continue
        tried += 1
        index = SearchIndex(tmp_path / f"{number}.db")
        with contextlib.suppress(WorkbenchError), SessionReader(path) as reader:
            index.update(reader)
        found += index.search(parse("kind:e score:<1000")).total + index.search(parse("count")).total > 0
        index.close()
    assert tried > 20
    assert found > tried * 0.8
