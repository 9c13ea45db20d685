"""The command line as a script uses it: JSON lines, exit codes, one sentence for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands.conftest import interrupt_when
from engine.author import METADATA, README, Author
from loopback.server import failure

from workbench.base import paths
from workbench.base.errors import UsageError
from workbench.cli import main


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def model(scripted: Any) -> Any:
    scripted.answer = Author()
    return scripted


RUN = ["--model", "openai/scripted", "--judge", "offline", "--json"]


def test_run_prints_steps_and_a_summary(model: Any, capsys: pytest.CaptureFixture[str], home: Path) -> None:
    assert main(["run", "word_counter", *RUN, "--session", "demo"]) == 0
    printed = lines(capsys.readouterr().out)
    assert [line["action"] for line in printed if line["type"] == "step"][0] == "list_directory"
    closing = printed[-1]
    assert closing["type"] == "summary"
    (case,) = closing["cases"]
    assert {"case", "agent", "model", "score", "tiers", "steps", "tokens", "cost", "status"} <= case.keys()
    assert (case["case"], case["agent"], case["status"], case["steps"]) == ("word_counter", "white", "done", 5)
    assert case["tiers"]["1"] == 15.0
    assert case["score"] == pytest.approx(sum(case["tiers"].values()))
    assert [path.name for path in (home / "data" / "sessions").iterdir()] == ["demo.session"]
    # The same again finds everything done; nothing is asked twice.
    asked = len(model.seen)
    assert main(["run", "word_counter", *RUN, "--session", "demo"]) == 0
    assert lines(capsys.readouterr().out)[-1]["cases"] == closing["cases"]
    assert len(model.seen) == asked
    assert main(["run", "word_counter", *RUN[:-1], "--session", "demo"]) == 0
    out = capsys.readouterr().out
    assert "✓ word_counter · white" in out
    assert "judge: offline" in out
    assert main(["resume", "demo", "--json"]) == 0


def test_a_failed_trial_is_exit_code_1(model: Any, capsys: pytest.CaptureFixture[str]) -> None:
    model.answer = lambda body: failure(400, "we do not like this request")
    assert main(["run", "word_counter", *RUN]) == 1
    case = lines(capsys.readouterr().out)[-1]["cases"][0]
    assert (case["status"], case["score"], case["tiers"]["3"]) == ("failed", None, None)
    assert "do not like" in case["error"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run"], "required"),
        (["run", "word_countr", *RUN], "word_counter"),
        (["run", "word_counter", "--agent", "whit", "--json"], "Did you mean 'white'"),
        (["run", "word_counter", "--repeats", "0", *RUN], "a whole number of 1 or more"),
        (["fly"], "invalid choice"),
        (["resume", "no-such"], "There is no session 'no-such'"),
        (["score", "no-such.md"], "cannot be read"),
        (["rerun", "no-such", "x"], "There is no session"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_one_sentence(home, capsys, arguments, sentence):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert "Traceback" not in printed.err
    assert printed.err.count("\n") == 1


def test_ctrl_c_keeps_what_is_done_and_exits_with_130(model, tmp_path, capsys):
    author = model.answer = Author(stop_at=2)
    session = str(tmp_path / "broken.session")
    interrupt_when(author.reached)
    assert main(["run", "word_counter", *RUN, "--session", session]) == 130
    printed = capsys.readouterr()
    assert f"workbench resume {session}" in printed.err
    assert "Traceback" not in printed.err
    assert lines(printed.out)[-1]["cases"][0]["status"] == "cancelled"
    author.go.set()
    author.stop_at = 0
    assert main(["resume", session, "--json"]) == 0
    assert lines(capsys.readouterr().out)[-1]["cases"][0]["status"] == "done"


def test_score_without_a_case_leaves_tier_3_unscored(home, tmp_path, capsys):
    readme, metadata = tmp_path / "README.md", tmp_path / "metadata.json"
    readme.write_text(README)
    metadata.write_text(json.dumps(METADATA))
    assert main(["score", str(readme), "--metadata", str(metadata), "--judge", "offline", "--json"]) == 0
    closing = lines(capsys.readouterr().out)[-1]
    assert (closing["type"], closing["rubric"], closing["tiers"]["3"]) == ("score", "aeo-bench", None)
    assert (closing["tiers"]["1"], closing["tiers"]["2"]) == (15.0, 25.0)
    scored = [points for points in closing["tiers"].values() if points is not None]
    assert closing["total"] == pytest.approx(sum(scored))


def test_score_of_odd_files(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme, binary, metadata = tmp_path / "README.md", tmp_path / "a.bin", tmp_path / "metadata.json"
    readme.write_text(README)
    binary.write_bytes(b"\x7fELF\0\0\1")
    metadata.write_text("{bad")
    assert main(["score", str(binary)]) == 2
    assert "is a binary file" in capsys.readouterr().err
    assert main(["score", str(readme), "--metadata", str(metadata), "--judge", "offline", "--json"]) == 1
    printed = capsys.readouterr()
    assert "is not JSON" in printed.err
    assert lines(printed.out)[-1]["tiers"]["1"] == 10.0
    readme.write_text("")
    assert main(["score", str(readme), "--judge", "offline", "--json"]) == 0
    assert lines(capsys.readouterr().out)[-1]["tiers"]["3"] is None


def test_score_with_a_case_scores_every_tier_with_a_reason(home, tmp_path, capsys):
    readme = tmp_path / "README.md"
    readme.write_text(README)
    command = ["score", str(readme), "--case", "word_counter", "--rubric", "strict", "--judge", "offline", "--json"]
    assert main(command) == 0
    printed = lines(capsys.readouterr().out)
    assert all(tier is not None for tier in printed[-1]["tiers"].values())
    assert all(line["reason"] for line in printed if line["type"] == "criterion")
    assert main(command[:-1]) == 0
    assert "judge offline" in capsys.readouterr().out


def test_a_claim_that_the_case_contradicts_costs_points_and_the_score_says_what_it_judges(home, tmp_path, capsys):
    readme = tmp_path / "README.md"
    truth = paths.bundled("test_cases") / "word_counter" / "ground_truth" / "README.md"
    points = []
    for more in ("", "\nRead [the manual](docs/none.md).\n"):
        readme.write_text(truth.read_text() + more)
        assert main(["score", str(readme), "--case", "word_counter", "--judge", "offline"]) == 0
        told = capsys.readouterr().out
        assert "form and names, not truth" in " ".join(told.split())
        points.append(float(told.split(" of ")[0]))
    assert points[1] < points[0]
    assert "there is no file docs/none.md" in " ".join(told.split())


def test_score_by_a_model_and_its_failure_is_unscored(model, tmp_path, capsys):
    readme = tmp_path / "README.md"
    readme.write_text(README)
    command = ["score", str(readme), "--case", "word_counter", "--judge", "openai/judge", "--json"]
    numbers = {"purpose": 9, "dependencies": 8, "run_command": 7, "clarity": 6, "completeness": 5, "formatting": 4}

    def answer(body: dict[str, Any]) -> str:
        asked = [key for key in numbers if f"- {key}:" in str(body["messages"])]
        return json.dumps({**{key: numbers[key] for key in asked}, "reasoning": "seen"})

    model.answer = answer
    assert main(command) == 0
    closing = lines(capsys.readouterr().out)[-1]
    assert (closing["tiers"]["3"], closing["tiers"]["4"], closing["judge"]) == (24.0, 15.0, "openai/judge")
    model.answer = lambda body: "I would rather not."
    assert main(command) == 1
    closing = lines(capsys.readouterr().out)[-1]
    assert (closing["tiers"]["3"], closing["tiers"]["4"]) == (None, None)


def test_cases_are_listed_added_and_shown(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.py").write_text("print('hello')\n")
    assert main(["cases", "--json"]) == 0
    known = [line["id"] for line in lines(capsys.readouterr().out)]
    assert {
        "word_counter",
        "password_generator",
        "countdown_timer",
        "art_github",
        "dotenv_github",
        "pyfiglet_github",
    } <= set(known)
    assert main(["cases", "--add", str(tmp_path / "mine"), "--id", "mine", "--json"]) == 0
    assert Path(lines(capsys.readouterr().out)[0]["path"]).exists()
    assert main(["cases", "mine", "--fetch", "--json"]) == 0
    shown = lines(capsys.readouterr().out)[0]
    assert (shown["id"], shown["visible_files"]) == ("mine", 1)


def test_a_debug_flag_shows_the_traceback(home: Path) -> None:
    with pytest.raises(UsageError):
        main(["resume", "no-such", "--debug"])
