"""JSON holds everything with stable keys; CSV is a table that no spreadsheet executes."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from samples.sessions import HOSTILE, TOOL_CALL

from workbench.base.text import json_text
from workbench.pages import write_report
from workbench.pages.rows import safe


def loaded(session: Path, item: str | None = None) -> dict[str, Any]:
    text = write_report(session, "json", None, item)
    assert isinstance(text, str)
    decoded: dict[str, Any] = json.loads(text)
    return decoded


def test_json_gives_back_every_text_byte_for_byte(documented: tuple[Path, dict[str, str]]) -> None:
    report = loaded(documented[0])
    assert report["damaged"] == []
    first = report["trials"][0]
    assert first["trial"] == documented[1]["first"]
    assert first["readme"] == HOSTILE
    assert first["metadata"]["name"] == "</pre><script>"
    assert [score["rubric"] for score in first["scores"]] == ["aeo-bench", "strict"]
    step = first["trajectory"][0]
    assert (step["answer"], step["thought"]) == (TOOL_CALL, "I look first.")
    assert step["observation"].startswith("def f()")
    messages = first["calls"][0]["messages"]
    assert [report["texts"][message["text"]] for message in messages] == ["You document.", "Go \x1b[2Jon."]
    assert report["trials"][2]["error_kind"] == "timeout"
    assert report["trials"][2]["score"] is None


def test_json_of_a_regeneration_session(regenerated: tuple[Path, dict[str, str]]) -> None:
    outcome = loaded(regenerated[0])["regenerations"][0]
    local = next(one for one in outcome["evaluators"] if one["evaluator"] == "local")
    assert local["pass_at_k"]["1"]["value"] == 2 / 3
    assert local["pass_at_k"]["3"]["value"] == 1.0
    assert local["verdicts"] == {"passed": 2, "failed": 1, "error": 1}
    candidates = outcome["tasks"][0]["candidates"]
    assert candidates[1]["failing_tests"][0]["traceback"] == "E  assert </pre>"
    assert [one["value"] for e in outcome["evaluators"] if e["control"] for one in [e["pass_at_k"]["1"]]] == [1.0, 0.0]


@settings(max_examples=40)
@given(st.text())
def test_json_text_is_lossless_and_obeyed_by_no_terminal(text: str) -> None:
    written = json_text({"text": text})
    assert json.loads(written) == {"text": text}
    assert not any(ord(c) < 32 or 0x7F <= ord(c) <= 0x9F or 0x202A <= ord(c) <= 0x202E for c in written)


def test_csv_has_every_trial_with_all_its_scores_and_every_candidate(documented, regenerated, tmp_path):
    both = tmp_path / "both.session"
    shutil.copy(documented[0], both)
    with closing(sqlite3.connect(both)) as connection:
        connection.execute("ATTACH ? AS other", (str(regenerated[0]),))
        for table in ("runs", "tasks", "candidates", "failing_tests", "former_verdicts"):
            connection.execute(f"INSERT INTO {table} SELECT * FROM other.{table}")
        connection.commit()
    texts = {name: write_report(path, "csv", None) for name, path in
             (("both", both), ("trials", documented[0]), ("candidates", regenerated[0]))}  # fmt: skip
    rows = {
        name: list(csv.DictReader(io.StringIO(text, newline="")))
        for name, text in texts.items()
        if isinstance(text, str)
    }
    for kind in ("trial", "candidate"):
        mine = [row for row in rows["both"] if row["kind"] == kind]
        alone = rows[f"{kind}s"]
        assert alone
        assert [{name: row[name] for name in alone[0]} for row in mine] == alone
    assert len(rows["both"]) == len(rows["trials"]) + len(rows["candidates"])
    trials, candidates = rows["trials"], rows["candidates"]
    assert [row["case"] for row in trials] == ["alpha", "alpha", "'=cmd|'/c calc'!A1"]
    assert [row["score"] for row in trials] == ["11.0", "15.0", ""]
    assert [row["score strict offline"] for row in trials] == ["8.0", "", ""]
    assert trials[2]["error"] == "The model took longer than 180 s, retry."
    assert [row["verdict"] for row in candidates if row["evaluator"] == "local"] == [
        "passed",
        "failed",
        "error",
        "passed",
    ]
    assert candidates[1]["failing_tests"] == "tests/test_a.py::test_one"


@settings(max_examples=40)
@given(st.text())
def test_no_text_cell_begins_as_a_formula(text: str) -> None:
    cell = safe(text)
    assert isinstance(cell, str)
    assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))
    assert safe(-1.5) == -1.5
