"""``workbench compare``: what a name means, the figures of the screens, and one clear sentence where nothing can be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from app.compared import two_agents, two_trials
from app.regenerated import EVALUATOR, RUN, Recorder
from samples.hostile_names import NAME, obeyed

from workbench.cli import main

OTHER = "openai/other"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    recorder = Recorder(tmp_path / "runs.session")
    recorder.run()
    tasks = [recorder.task("f", 0), recorder.task(NAME, 1, id="cccc3")]
    for task, mine, theirs in zip(tasks, ("✓✓✓", "✓✗✗"), ("✗✗✗", "✓✗✗"), strict=True):
        recorder.cells(task, mine)
        recorder.cells(task, theirs, evaluator=OTHER)
    recorder.controls(tasks)
    recorder.sample(tasks[0], 3, "✓", id="aaaa1")
    recorder.sample(tasks[0], 4, "✗", id="bbbb2")
    recorder.close()
    return recorder.path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error of a comparison."""
    try:
        code = main(["compare", *arguments])
    except SystemExit as end:
        code = int(end.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def test_evaluators_by_their_names_controls_too(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = told(capsys, f"{session}/{EVALUATOR}", f"{session}/{RUN}/other")
    assert (code, err) == (0, "")
    assert "only A 0 · only B 0" in out
    assert "over the 2 tasks of both" in out
    assert "4/5" in out
    assert "1 more without a difference" in out
    assert "pass@1 B − A No interval: 2 tasks are too few (3 are needed)." in out
    assert "(paired permutation test over 2 tasks, all 4 ways; 2 tasks give p ≥ 0.5 at best)" in out
    assert "by Holm over" in out
    assert not obeyed(out)
    code, out, _ = told(capsys, f"{session}/other", f"{session}/reference", "--json")
    found = json.loads(out)
    # Both tasks are won: of four ways, both ends of the scale are as far out.
    assert {key: found["pass_at_k"]["1"].pop(key) for key in ("p", "p_holm")} == {"p": 0.5, "p_holm": 0.5}
    found["pass_at_k"]["1"].pop("test")
    assert (code, found["kind"], found["b"]["evaluator"]) == (0, "groups", "reference")
    assert found["pass_at_k"]["1"] == {
        "a": pytest.approx(1 / 6), "b": 1.0, "difference": pytest.approx(5 / 6, abs=1e-5), "tasks": 2, "wins": 2, "ties": 0,
        "losses": 0, "undefined": 0, "low": None, "high": None,
        "interval": "No interval: 2 tasks are too few (3 are needed).",
    }  # fmt: skip


def test_samples_and_trials(session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = told(capsys, f"{session}/aaaa1", f"{session}/bbbb2")
    assert code == 0
    assert "test_counts_trailing_line" in out
    assert "docstrings: the same" in out
    code, out, _ = told(capsys, f"{session}/{RUN}-f", f"{session}/cccc3")
    assert code == 0
    assert "docstrings: the same" in out
    assert "B fails" in out
    assert "@1 B − A" in out
    assert not obeyed(out)
    written = tmp_path / "tasks.md"
    code, out, err = told(capsys, f"{session}/{RUN}-f", f"{session}/cccc3", "-o", str(written))
    assert (code, out, err) == (0, "", f"Written: {written}\n")
    assert "| evaluator | A passed | B passed | @1 B − A | @3 B − A |" in written.read_text()
    assert "\n- def f(text): ...\n" in written.read_text()
    assert told(capsys, f"{session}/{RUN}-f", f"{session}/cccc3", "-o", str(session))[0] == 2
    unknown = written.with_suffix(".pdf")
    code, _, err = told(capsys, f"{session}/{RUN}-f", f"{session}/cccc3", "-o", str(unknown))
    assert (code, unknown.exists()) == (2, False)
    assert ".pdf" in err
    code, out, _ = told(capsys, f"{session}/{RUN}-f", f"{session}/{RUN}-f", "--json")
    assert (code, json.loads(out)["kind"], json.loads(out)["same_prompt"]) == (0, "tasks", True)
    trials = two_trials(tmp_path / "trials.session")
    code, out, _ = told(capsys, f"{trials}/long", f"{trials}/short")
    assert code == 0
    assert "−10.8" in out
    code, out, _ = told(capsys, f"{trials}/run-1", f"{trials}/run-1", "--json")
    assert (code, json.loads(out)["ties"]) == (0, 2)


def test_agents_by_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = two_agents(tmp_path / "agents.session", cases=8, unscored=2)
    code, out, err = told(capsys, f"{session}/white", f"{session}/run-1/second")
    assert (code, err) == (0, "")
    usage = next(line for line in out.splitlines() if "2 Usage" in line)
    for words in ("9.0", "7.2", "−1.8", "0.19"):
        assert words in usage
    assert "6 of 8" in out, "trials without a total are said"
    assert "paired permutation test over 6 cases" in out
    code, out, _ = told(capsys, f"{session}/white", f"{session}/second", "--json")
    found = json.loads(out)
    (usage,) = (one for one in found["points"] if one["criterion"] == "Usage")
    assert (code, found["kind"], usage["difference"], usage["trials"]) == (0, "trials", -1.75, 8)


def test_what_cannot_be_compared_is_said(session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trials = two_trials(tmp_path / "trials.session")
    for a, b, words in (
        (f"{session}/nobody", f"{session}/other", "no item, run, agent or evaluator 'nobody'"),
        (f"{trials}/long", f"{session}/other", "A is a trial, B is a run"),
        (f"{tmp_path}/none", f"{session}", "There is no session"),
        (f"{trials}", f"{session}", "has no regeneration or usage run"),
        (f"{session}/{RUN}-f", f"{session}", "A is a task, B is a run"),
        (f"{trials}/white", f"{trials}/nobody", "it has white, single-file"),
        (f"{trials}/white", f"{trials}/long", "A is a group of trials, B is a trial"),
    ):
        code, _, err = told(capsys, a, b)
        assert code == 2, a
        assert words in err
        assert err.count("\n") == 1
