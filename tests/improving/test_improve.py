"""``workbench improve`` by real engines: what a good docstring gains is known by hand, bad ones are refused with the reason."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from thin_docs import GOOD, SOURCE, WRITER, Models, order

from workbench.cli import main
from workbench.session import SessionReader

pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("needs_bubblewrap")]
Printed = pytest.CaptureFixture[str]


def lines(capsys: Printed) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e", *arguments], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


#: What a writer may answer that is no honest docstring, the gate at which it is refused, and what is said.
REFUSED = [
    ("Sure! Here it is: better", "answer", "it is prose or code"),
    ("", "answer", "the writer's answer is empty"),
    ('"""Return the sum.\n\nArgs:\n    modulus: The limit.\n"""', "claims", "add has no parameter modulus"),
    ('"""By luck, what exceeds whole thousands."""', "held-out samples", "0 of 3 passed before, 0 of 3 now"),
]


@pytest.mark.slow
def test_only_an_honest_docstring_is_kept_and_another_regeneration_confirms_its_gain(thin, scripted, home, capsys):
    git(thin, "init", "-q")
    git(thin, "add", "-A")
    git(thin, "commit", "-qm", "as it was")
    scripted.answer = models = Models(*(answer for answer, _, _ in REFUSED), f"```python\n{GOOD}\n```")
    asked = order(thin, "--branch", "better-docs", "--attempts", "5", "--json")
    assert main(asked) == 0
    printed = lines(capsys)
    summary = printed[-1]
    assert {one["task_id"]: one["documented"] for one in summary["standings"]} == {
        "sums.py::add": "badly", "sums.py::shout": "well", "sums.py::unused": "untestable"
    }  # fmt: skip
    assert summary["functions"] == {"well": 1, "badly": 1, "untestable": 1}

    *refused, kept = [one for one in printed if one["type"] == "attempt"]
    assert [(one["kept"], one["gate"]) for one in refused] == [(False, gate) for _, gate, _ in REFUSED]
    for one, (_, _, said) in zip(refused, REFUSED, strict=True):
        assert said in one["reason"], one
        assert len(one["reason"]) < 200
        assert "\n" not in one["reason"]
    assert (kept["kept"], kept["seen"], kept["before"], kept["after"], kept["gain"]) == (
        True,
        [2, 2],
        [0, 3],
        [3, 3],
        1.0,
    )
    assert kept["interval"][0] > 0
    assert (summary["tried"], summary["kept"], summary["attempts"]) == (1, 1, 5)
    assert (summary["gain"]["value"], summary["gain"]["low"]) == (0.5, None)  # what luck had brought counts as well
    assert "too few" in summary["gain"]["interval"]

    # The writer was told how bodies behaved, and why its last answer was refused; nothing of the tests.
    assert "1 of 2 tests failed: it returned or did something else" in models.asked[0]
    assert "return first + second" in models.asked[0]
    assert not any(word in prompt for prompt in models.asked for word in ("test_add", "999", "assert"))
    assert "was refused: it is prose or code" in models.asked[1]

    # The branch has one commit more, of docstrings only; the working tree is as it was.
    assert git(thin, "status", "--porcelain") == ""
    assert (thin / "sums.py").read_text() == SOURCE
    assert git(thin, "log", "--format=%s", "better-docs").splitlines()[1:] == ["as it was"]
    message = git(thin, "log", "-1", "--format=%B", "better-docs")
    assert "sums.py::add: pass@1 0.00 → 1.00, pass@3 0.00 → 1.00 (3 samples; gain +1.00" in message

    # The same order once more finds everything, and asks once: for the answer that was none.
    requests, patch = len(scripted.seen), Path.cwd() / summary["patch"]
    patch = patch.rename(patch.with_name("kept.patch"))
    git(thin, "branch", "-m", "better-docs", "first-docs")
    assert main(asked) == 0
    assert lines(capsys)[-1] == summary | {"commit": git(thin, "rev-parse", "--short=10", "better-docs").strip()}
    assert main(order(thin, "--dry-run")) == 2, "the patch is there"
    capsys.readouterr()
    assert main([*order(thin, "--dry-run", "--attempts", "2", "--json", "--patch", "other.patch")]) == 0
    told = lines(capsys)[-1]
    assert (told["count"], told["requests"], told["up_to"]) == (3 + 2 * (2 + 3), 3 + 2 * (2 + 3) + 2, True)
    assert len(scripted.seen) == requests + 1

    # The patch makes the branch's file.
    git(thin, "apply", str(patch))
    assert git(thin, "show", "better-docs:sums.py") == (thin / "sums.py").read_text() != SOURCE

    # Everything stays in the session: every attempt with its reason, the answers, the samples with new docstrings.
    with SessionReader(home / "data" / "sessions" / "demo.session") as reader:
        tasks = [task for run in reader.runs() for task in reader.tasks(run.id) if task.qualified_name == "add"]
        remarks = [one.text for one in reader.annotations(tasks[0].id)]
        assert [text.partition(": ")[2].partition(":")[0] for text in remarks] == [
            *(f"attempt {number} refused ({gate})" for number, (_, gate, _) in enumerate(REFUSED, 1)), "attempt 5 kept"
        ]  # fmt: skip
        assert "second: Another one." in reader.text(tasks[-1].docstring_blob or "")
        counted = reader.query(
            "SELECT purpose, model, count(*) FROM calls WHERE purpose = 'writer' GROUP BY purpose, model"
        )
    assert [tuple(row) for row in counted] == [("writer", WRITER, 6)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--below", "2"], "it must be a share above 0 and at most 1"),
        (["--evaluator", "reference"], "reference is not an evaluator that reads docstrings"),
        (["--branch", "x"], "--branch needs a git checkout"),
        (["--patch", "nowhere/at/all.patch"], "There is no folder"),
    ],
)
def test_bad_input_is_one_sentence(thin, scripted, capsys, more, said):
    scripted.answer = models = Models(GOOD)
    try:
        code = main(order(thin, *more))
    except SystemExit as ended:
        code = int(str(ended.code))
    assert code == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
    assert not models.asked
