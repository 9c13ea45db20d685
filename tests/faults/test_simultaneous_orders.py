"""Orders at once into one new session, of both kinds: all succeed, each reports its own result, and nothing is done twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engine.tiny_repository import BAD, GOOD, make_repository, samples_file
from samples.sessions import integrity_problem

from workbench.session import SessionReader

pytestmark = [pytest.mark.slow, pytest.mark.sandbox, pytest.mark.network, pytest.mark.fresh_engines]


def begin(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "workbench", *command, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ends(begun: list[subprocess.Popen[str]]) -> list[tuple[int, dict[str, Any], str]]:
    found = []
    for process in begun:
        out, err = process.communicate(timeout=600)
        printed = out.splitlines()
        found.append((process.returncode, json.loads(printed[-1]) if printed else {}, err))
    return found


def test_regenerations_at_once(needs_bubblewrap: None, one_cache: None, tmp_path: Path) -> None:
    repository, session = str(make_repository(tmp_path / "small-sums")), tmp_path / "one.session"
    good, bad = samples_file(tmp_path / "good.jsonl", GOOD), samples_file(tmp_path / "bad.jsonl", BAD)
    expected = {"reference": 1.0, "stub": 0.0, good: 1.0, bad: 0.0}
    orders = ["reference", "stub", good, bad, good]
    command = ["regenerate", repository, "--k", "1", "--session", str(session), "--evaluator"]
    for evaluator, (code, closing, err) in zip(orders, ends([begin(*command, one) for one in orders]), strict=True):
        assert code == 0, (evaluator, closing, err)
        assert (closing["evaluator"], closing["pass_at_k"]) == (evaluator, {"1": expected[evaluator]})
        assert (closing["candidates"], closing["unfinished"]) == (3, 0)
    with SessionReader(session) as reader:
        (run,) = reader.runs()
        rows = reader.candidates(run.id)
        assert len(rows) == len({row.id for row in rows}) == 12
        assert {row.state for row in rows} == {"done"}
    assert integrity_problem(session) is None
