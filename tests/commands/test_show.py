"""``workbench show``: the session, an item, a step; for people and as JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples.sessions import HOSTILE, document_session, regeneration_session

from workbench.cli import main
from workbench.pages.session_page import overview
from workbench.pages.table_layout import fitted
from workbench.results.contents import read_contents
from workbench.session import SessionReader, SessionWriter, create


@pytest.fixture
def documented(tmp_path: Path) -> tuple[str, dict[str, str]]:
    path = tmp_path / "demo.session"
    return str(path), document_session(path)


@pytest.fixture
def regenerated(tmp_path: Path) -> tuple[str, dict[str, str]]:
    path = tmp_path / "regen.session"
    return str(path), regeneration_session(path)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def assert_calm(text: str) -> None:
    assert not any((ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F or ord(c) == 0x202E for c in text)


def test_a_session_lists_runs_trials_and_how_to_look_at_one(documented, capsys):
    session, names = documented
    assert main(["show", session]) == 0
    out = capsys.readouterr().out
    for words in ("demo <i>name</i>", "run1", "✓ done", "✗ failed", "11 / 26", names["first"][:4], "13.0 ± 2.8"):
        assert words in out
    assert f"workbench show {session} {names['first'][:4]}" in out
    assert_calm(out)


def test_a_trial_shows_steps_scores_with_reasons_and_the_readme(documented, capsys):
    session, names = documented
    assert main(["show", session, names["first"][:6]]) == 0
    out = capsys.readouterr().out
    for words in ("read_file", "no <usage> section | none", "aeo-bench 11 / 26", "strict 8 / 26", " right to left",
                  "Remark on step 1: look <here>", '"name": "</pre><script>"'):  # fmt: skip
        assert words in out
    assert_calm(out)


def test_a_step_shows_exact_messages_answer_observation_and_attempts(documented, capsys):
    session, names = documented
    assert main(["show", session, f"{names['first'][:6]}:1"]) == 0
    out = capsys.readouterr().out
    for words in ("Message: system\nYou document.", "Message: user\nGo on.", "I look first.", "def f():\n    return '<b>'",
                  "HTTP 429 rate limited", "latency 0.80 s", "tokens 100 + 20"):  # fmt: skip
        assert words in out
    assert_calm(out)


def test_json_lines_hold_everything_untouched(documented, capsys):
    session, names = documented
    assert main(["show", session, "--json"]) == 0
    types = [line["type"] for line in lines(capsys.readouterr().out)]
    assert types[:5] == ["session", "run", "trial", "trial", "trial"]
    assert main(["show", session, names["first"], "--json"]) == 0
    trial, *steps = lines(capsys.readouterr().out)
    assert trial["readme"] == HOSTILE
    assert [step["number"] for step in steps] == [1, 2]
    assert main(["show", session, names["first"] + ":1", "--json"]) == 0
    (step,) = lines(capsys.readouterr().out)
    assert step["call"]["messages"][1] == {"role": "user", "text": "Go \x1b[2Jon."}
    assert len(step["call"]["attempts"]) == 2


def test_a_regeneration_session_its_task_and_its_candidate(regenerated, capsys):
    session, names = regenerated
    assert main(["show", session]) == 0
    out = capsys.readouterr().out
    for words in ("✓✗↯✓", "0.67", "excluded: the stub passed", "no test runs it", names["count_text"][:4]):
        assert words in out
    assert main(["show", session, names["count_text"]]) == 0
    out = capsys.readouterr().out
    for words in (
        "Count <it>.",
        "return text.count('<')",
        names["local1"][:4],
        "✗ failed",
        "tests/test_a.py::test_one",
    ):
        assert words in out
    assert main(["show", session, names["local1"]]) == 0
    out = capsys.readouterr().out
    for words in ("count_text", "return '</pre>' * 1", "✗ failed: 1 test fails", "assert '<' == 1", "E  assert </pre>"):
        assert words in out
    assert_calm(out)
    assert main(["show", session, names["local1"], "--json"]) == 0
    (candidate,) = lines(capsys.readouterr().out)
    assert candidate["failing_tests"][0]["message"] == "assert '<' == \x1b[31m1"


def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cut.session"
    create(path)
    with SessionWriter(path) as writer:
        writer.add_run("gone", "document", {"cases": ["alpha"]})
        writer.set_run("gone", state="running")
    assert main(["show", str(path)]) == 0
    out = capsys.readouterr().out
    assert "‖ interrupted" in out
    assert f"workbench resume {path}" in out


def test_wrong_names_are_one_sentence_and_exit_code_2(documented, capsys, tmp_path):
    session, names = documented
    broken = tmp_path / "broken.session"
    broken.write_text("no session")
    for given, code in (
        (["show", session, "zzzz"], 2),
        (["show", session, names["first"] + ":99"], 2),
        (["show", str(tmp_path / "nothing")], 2),
        (["show"], 2),
        (["show", str(broken)], 1),
    ):
        assert main(given) == code
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("workbench")
        assert captured.err.count("\n") == 1


def test_an_empty_session_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create(tmp_path / "empty.session")
    assert main(["show", str(tmp_path / "empty.session")]) == 0
    assert "Nothing has been run" in capsys.readouterr().out


def test_narrow_tables_drop_columns_and_keep_the_score(documented: tuple[str, dict[str, str]]) -> None:
    with SessionReader(Path(documented[0])) as reader:
        shown = next(iter(next(one for one in overview(read_contents(reader), 5) if one.title == "Trials").parts))
    (narrow,) = fitted(shown, 90)
    headings = {heading.replace("\n", " ") for heading in narrow.headings}
    assert {"id", "case", "aeo-bench (offline)", "status"} <= headings
    assert "T1" not in headings
    assert all(len(row) == len(narrow.headings) for row in narrow.rows)
