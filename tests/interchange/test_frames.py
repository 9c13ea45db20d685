"""A session as data frames: the recipes of the page, both libraries, what is missing stays missing."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import workbench
from workbench import open_session
from workbench.base import paths
from workbench.base.errors import UsageError
from workbench.results import tables
from workbench.session import SessionError, SessionReader

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
EXAMPLE = paths.bundled("sessions") / "example.session"
Into = Callable[..., Any]


def recipes() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_page_names_every_table_and_has_five_recipes() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in tables.TABLES if f"| `{name}` |" not in text] == []
    assert len(recipes()) == 6
    assert text.count("\n### ") == 5


def test_the_recipes_run_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    room: dict[str, Any] = {}
    for recipe in recipes():
        exec(recipe, room)
    told = capsys.readouterr().out
    assert re.search(r"^white +82\.\d+ ", told, re.M)
    assert "list_directory" in told
    assert "never solved: [" in told
    with SessionReader(EXAMPLE) as reader:
        best = max((row for row in reader.scores() if row.rubric == "aeo-bench"), key=lambda row: row.total or 0)
        assert room["readme"] == reader.text(reader.trial(best.trial_id).readme_blob)  # type: ignore[union-attr]
    room["session"].close()


def test_frames_have_the_rows_of_the_session() -> None:
    with open_session(EXAMPLE) as session, SessionReader(EXAMPLE) as reader:
        runs = [run.id for run in reader.runs()]
        assert list(session.trials["trial"]) == [one.id for one in reader.trials()]
        assert len(session.steps) == sum(one.steps for one in reader.trials())
        assert len(session.criteria) == sum(len(reader.card(row)["criteria"]) for row in reader.scores())
        candidates = [row for run in runs for row in reader.candidates(run)]
        assert set(session.candidates["candidate"]) == {row.id for row in candidates}
        assert len(session.failing_tests) == sum(len(reader.failing_tests(row.id)) for row in candidates)
        assert len(session.tasks) == sum(len(reader.tasks(run)) for run in runs)
        found = session.query("SELECT agent, count(*) AS n FROM trials GROUP BY agent ORDER BY agent")
        assert list(found.itertuples(index=False, name=None)) == [
            ("no-exploration", 1),
            ("single-file", 1),
            ("white", 1),
        ]
        assert session.text(None) is None


def test_what_a_file_did_not_say_is_missing_and_not_nought(made: Path, into: Into) -> None:
    path, _ = into(made / "mini-text.json", made / "atif-full.json", made / "openai--model-a.jsonl")
    with open_session(path) as session:
        trials = session.trials.set_index("case_name")
        assert trials.loc["mini-text", "prompt_tokens"] is pandas.NA
        assert trials.loc["session-7", "prompt_tokens"] == 900
        assert dict(trials["imported_from"]) == {"mini-text": "mini-swe-agent", "session-7": "atif"}
        assert session.steps["at"].isna().sum() == 7  # two of mini's and five of the other's steps have no time
        assert session.candidates["verdict"].isna().all()
        assert set(session.candidates["imported_from"]) == {"evalplus"}


def test_a_table_or_a_query_that_does_not_exist_is_a_sentence() -> None:
    with open_session("example") as session:
        with pytest.raises(UsageError, match="There is no table 'trial'; the tables are trials, steps"):
            session.rows("trial")
        with pytest.raises(UsageError, match="SQLite refuses the query: no such column: nonsense"):
            session.query("SELECT nonsense FROM trials")
        with pytest.raises(UsageError, match="SQLite refuses"):
            session.query("DELETE FROM trials")
    with pytest.raises(UsageError, match="There is no session 'nowhere'"):
        open_session("nowhere")
    assert issubclass(SessionError, Exception)
    assert workbench.__version__


def test_polars_is_used_where_pandas_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pandas" else real(name))
    with open_session(EXAMPLE) as session:
        assert session.trials["agent"].to_list() == [row[4] for row in session.rows("trials").values]
        assert session.candidates["verdict"].null_count() == 0
        assert session.criteria.height == 81


def test_without_either_library_rows_are_there_and_frames_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with open_session(EXAMPLE) as session:
        assert len(session.rows("trials").values) == 3
        with pytest.raises(UsageError, match="pip install pandas"):
            _ = session.trials
