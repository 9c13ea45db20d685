"""Every kind of order has what any of them has: a dry run, the queue, a question before much, and a way to leave it alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import recorded
import regenerated

from workbench.cli import main
from workbench.engine.process import serve
from workbench.orders import launching, running
from workbench.orders.measured import measured_in
from workbench.plans.plan import Ask, DocumentPlan, RegenerationPlan
from workbench.session import SessionReader, SessionWriter, engine_starts
from workbench.session.judges import recorded_as
from workbench.session.pending_work import unfinished

TRIAL = "t1aaaaaaaaaa"
ORDERS = [
    ["run", "word_counter", "--model", "local", "--judge", "offline", "--session", "{session}"],
    ["regenerate", "word_counter", "--evaluator", "reference", "--sandbox", "process", "--session", "{session}"],
    ["check", "--no-run", "--session", "{session}"],
    ["rescore", "{session}", "--judge", "offline"],
    ["rerun", "{session}", TRIAL],
    ["fork", "{session}", TRIAL, "--step", "3", "--model", "local/smollm2-135m-instruct"],
    ["improve", "word_counter", "--writer", "local", "--evaluator", "local", "--sandbox", "process", "--session", "{session}"],
    ["study", "{study}", "--session", "{session}"],
    ["import", "{files}", "--session", "{session}"],
]  # fmt: skip


@pytest.fixture
def session(home: Path) -> Path:
    made = recorded.Recorder(home / "data" / "demo.session")
    made.run()
    recorded.word_counter(made, TRIAL)
    made.close()
    return made.path


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What engine processes were started with."""
    found: list[list[str]] = []

    class Process:
        pid = os.getpid()

    def engine_process(arguments: list[str], *_: object, **__: object) -> Process:
        found.append(arguments)
        return Process()

    monkeypatch.setattr(launching, "engine_process", engine_process)
    return found


def order(words: list[str], session: Path, *more: str) -> list[str]:
    study = session.parent / "mine.toml"
    study.write_text(
        'name = "mine"\nkind = "docs"\nrows = ["word_counter"]\nsamples = 1\n[columns]\ndocs = ["original"]\n'
        'evaluators = ["reference"]\n[settings]\nsandbox = "process"\n'
    )
    files = session.parent / "files"
    files.mkdir(exist_ok=True)
    line = {"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "world"}]}
    (files / "chat.jsonl").write_text(json.dumps(line) + "\n")
    return [*(word.format(session=session, study=study, files=files) for word in words), *more]


def runs(session: Path) -> list[str]:
    with SessionReader(session) as reader:
        return [run.id for run in reader.runs()]


@pytest.mark.parametrize("words", ORDERS, ids=lambda words: words[0])
def test_a_dry_run_says_what_it_takes_and_starts_nothing(words, session, launched, capsys):
    before = runs(session)
    assert main(order(words, session, "--dry-run")) == 0
    assert capsys.readouterr().out.endswith("Nothing was started.\n")
    assert main(order(words, session, "--dry-run", "--json")) == 0
    (said,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert said["type"] == "estimate"
    assert (runs(session), launched) == (before, [])


@pytest.mark.parametrize("words", ORDERS, ids=lambda words: words[0])
def test_it_can_be_left_in_the_queue(words, session, launched, capsys):
    before = runs(session)
    assert main(order(words, session, "--queue", "--detach")) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.splitlines()[-1] == str(session)
    (started,) = launched
    with SessionReader(session) as reader:
        new = [run for run in reader.runs() if run.id not in before]
    if words[0] in ("improve", "study"):  # their processes wait, each run of theirs begins when it is its turn
        assert started[-1] == "--queue"
    else:
        assert [run.queue_position for run in new] == [1.0]
        assert started[-1] == new[0].id


def test_an_import_that_was_left_is_resumed_and_cancelled_as_any_run(session, launched, capsys):
    words = order(["import", "{files}", "--session", "{session}", "--detach"], session)
    assert main(words) == 0
    before, run = runs(session)
    assert main(["cancel", str(session), "--run", run]) == 0
    assert main(["resume", str(session), "--run", run, "--dry-run"]) == 0
    assert "import of 1 file = 1 file, about 0 requests, $0; time not known" in capsys.readouterr().out
    assert len(launched) == 1
    assert running.resume(session, run) == [run]
    assert serve(session, run) == 0
    assert capsys.readouterr().out.endswith("1 imported (1 file).\n")
    with SessionReader(session) as reader:
        (trial,) = reader.trials(run)
        row = reader.run(run)
        assert row is not None
        assert (reader.run_state(row), trial.agent, unfinished(reader)) == ("done", trial.agent, [])
    # A resume reads files only: what was imported stays as its file has it.
    with SessionWriter(session) as writer:
        writer.set_run(run, state="failed")
        writer.set_trial(trial.id, state="failed")
    assert running.resume(session, run) == [run]
    assert serve(session, run) == 0
    with SessionReader(session) as reader:
        assert [(one.id, one.state) for one in reader.trials(run)] == [(trial.id, "failed")]
    # All of it is known: nothing of a second order is left.
    assert main([*words, "--json"]) == 0
    again = runs(session)[-1]
    assert serve(session, again) == 0
    assert runs(session) == [before, run]


def test_a_resume_says_what_is_missing_and_starts_nothing(session, launched, capsys):
    assert main(["resume", str(session), "--dry-run"]) == 0
    assert "Nothing is missing" in capsys.readouterr().out
    with SessionWriter(session) as writer:
        writer.add_run("trials", "document", DocumentPlan(("word_counter",), judge="offline").to_json())
        writer.add_trial("t9", "trials", 0, ("word_counter", "Word counter"), "white", "local", 1)
        bodies = RegenerationPlan("word_counter", evaluator="local", samples=2, asks=(Ask("local", 2),))
        writer.add_run("bodies", "regenerate", bodies.to_json())
        writer.add_run("check", "document", DocumentPlan((), check_only=True, check="claims").to_json())
        writer.put_check((TRIAL, 0, 10.0, 1), "check")
        score = DocumentPlan((), judge="offline", rubrics=("strict",), trials=(TRIAL,), rescore="anew")
        writer.add_run("score", "document", score.to_json())
    assert main(["resume", str(session), "--dry-run", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {one["what"]: (one["count"], one["noun"], one["up_to"]) for one in told} == {
        "run trials: trials of white × local": (1, "trial", False),
        "run bodies: word_counter × local": (76, "candidate", True),
        "run check: READMEs to check": (1, "README", False),
        f"run score: scores by {recorded_as('offline')}": (1, "trial", False),
    }
    assert not launched


def test_what_has_no_run_of_its_own_waits_for_the_others(session: Path) -> None:
    launching.wait_for_others(session)  # nothing is under way
    with launching.SessionWriter(session) as writer:
        writer.add_run("other", "document", {"cases": ["word_counter"]})
    engine_starts.started("other", os.getpid())
    looked = []

    class Look:
        def wait(self, _: float) -> None:
            looked.append(1)
            with launching.SessionWriter(session) as writer:
                writer.set_run("other", state="done")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(launching.threading, "Event", Look)
        launching.wait_for_others(session)
    assert looked == [1]


def test_the_first_estimate_of_a_newcomer_is_that_of_the_source_itself(home, tmp_path, monkeypatch, capsys):
    """The functions of a source bound its tasks; what an example recorded elsewhere, with other tasks, is not taken for them."""
    example = regenerated.Recorder(tmp_path / "bundled" / "example.session")
    example.run(asks=[{"evaluator": "local", "samples": 1}])
    example.task("f0", 0)
    example.close()
    bundled = launching.paths.bundled
    monkeypatch.setattr(
        launching.paths, "bundled", lambda name: example.path.parent if name == "sessions" else bundled(name)
    )
    assert measured_in([example.path]).tasks == {}
    assert main(["regenerate", "word_counter", "--evaluator", "local", "--dry-run"]) == 0
    assert "word_counter × local × 3 samples = up to 114 candidates, about 110 requests" in capsys.readouterr().out
