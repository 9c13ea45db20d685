"""Document runs by a real engine process against a loopback model: live, killed, resumed, replayed, refused."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.author import README, Author
from engine.following import ended, state
from loopback.server import LoopbackServer, Reply, failure

from workbench.orders import launching, running
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader
from workbench.session.lease import RunHeld
from workbench.session.rows import TrialRow

SECRET = "sk-test-5ecret-5ecret-5ecret"
MODEL = "openai/scripted"
Until = Callable[..., Any]


@pytest.fixture
def session(scripted: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    return tmp_path / "run.session"


def start(session: Path, **options: Any) -> str:
    plan = DocumentPlan(**{"cases": ("word_counter",), "model": MODEL, "judge": "offline", **options})
    run = plan_document(session, plan)
    launching.launch(session, run)
    return run


def essence(session: Path, trial: TrialRow) -> dict[str, Any]:
    """What a trial says, without times, ids and the model's name."""
    with SessionReader(session) as reader:
        return {
            "state": trial.state,
            "tokens": (trial.prompt_tokens, trial.completion_tokens),
            "readme": reader.text(trial.readme_blob),
            "metadata": reader.text(trial.metadata_blob),
            "steps": [
                (s.number, s.kind, s.action, s.target, s.answer_blob, s.observation_blob, s.problem)
                for s in reader.steps(trial.id)
            ],
            "seen": [(s.path, s.access, s.step, s.size) for s in reader.accessed_files(trial.id)],
            "scores": [(s.rubric, s.judge, s.total, s.card_blob) for s in reader.scores(trial.id)],
        }


def only_trial(session: Path, run: str) -> TrialRow:
    with SessionReader(session) as reader:
        (trial,) = reader.trials(run)
    return trial


def engine_pid(session: Path, run: str) -> int:
    with SessionReader(session) as reader:
        held = reader.holder(run)
    assert held is not None
    return held.pid


def test_a_run_is_traced_and_scored(session: Path, scripted: LoopbackServer, until: Until) -> None:
    scripted.answer = Author()
    run = start(session)
    assert ended(session, run, until) == "done"
    trial = only_trial(session, run)
    told = essence(session, trial)
    assert told["readme"] == README
    assert [step[1:4] for step in told["steps"]] == [
        ("tool", "list_directory", "."),
        ("invalid", "no <json> tag", "asked again"),
        ("tool", "read_file", "word_counter.py"),
        ("tool", "read_file", "pyproject.toml"),
        ("respond", "respond", "README 0.2 kB"),
    ]
    assert {score[0] for score in told["scores"]} == {"aeo-bench", "strict"}
    with SessionReader(session) as reader:
        calls = reader.calls(trial.id)
        steps = reader.steps(trial.id)
        # Every step knows the exact messages: those that the server got.
        for step, call, seen in zip(steps, calls, scripted.seen, strict=True):
            assert step.call_id == call.id
            sent = seen.body["messages"]
            assert [{"role": role, "content": text} for role, text in reader.messages(call)] == sent
            assert call.latency_s is not None
            assert call.prompt_tokens is not None
        assert reader.files_of(trial.snapshot or "")
        assert ("word_counter.py", "read") in [(row.path, row.access) for row in reader.accessed_files(trial.id)]


def test_no_secret_is_in_the_file(session: Path, scripted: LoopbackServer, until: Until) -> None:
    scripted.answer = Author()
    scripted.script.append(failure(500, f"trouble with key {SECRET}"))
    run = start(session)
    assert ended(session, run, until) == "done"
    with SessionReader(session) as reader:
        (blob_count,) = reader.query("SELECT count(*) FROM blobs")[0]
        assert blob_count > 5
        contents = [reader.data(digest) for (digest,) in reader.query("SELECT digest FROM blobs")]
        attempts = reader.query("SELECT attempts FROM calls")
    assert "trouble with key" in str(attempts)  # the failed try is recorded, the key in it is not
    assert SECRET.encode() not in session.read_bytes()
    assert all(SECRET.encode() not in content for content in contents)
    assert SECRET not in launching.engine_log(run).read_text()


@pytest.mark.fresh_engines
def test_a_killed_engine_loses_nothing_and_resume_gives_the_unbroken_result(session, tmp_path, scripted, until):
    stop_at = 3
    author = Author(stop_at)
    scripted.answer = author
    run = start(session)
    until(author.reached.is_set, 60, "the blocked turn")
    with SessionReader(session) as reader:
        shown = reader.steps(only_trial(session, run).id)
    assert len(shown) == stop_at
    os.kill(engine_pid(session, run), signal.SIGKILL)
    until(lambda: state(session, run) == "interrupted", 10)
    author.go.set()
    author.stop_at = 0
    asked = len(scripted.seen)
    assert running.resume(session) == [run]
    assert ended(session, run, until) == "done"
    trial = only_trial(session, run)
    with SessionReader(session) as reader:
        assert reader.steps(trial.id)[:stop_at] == shown
    # Only what was missing was asked: answers that were in the file were not asked for again.
    assert len(scripted.seen) - asked == 5 - stop_at
    # An unbroken run with the same answers says the same.
    replayed = tmp_path / "replayed.session"
    again = start(replayed, model=f"replay:{session}")
    assert ended(replayed, again, until) == "done"
    assert essence(replayed, only_trial(replayed, again)) == essence(session, trial)
    assert len(scripted.seen) - asked == 5 - stop_at
    assert running.resume(session) == []


def test_two_readers_see_a_run_live_and_a_second_engine_is_refused(session, scripted, until):
    author = Author(stop_at=3)
    scripted.answer = author
    run = start(session)
    until(author.reached.is_set, 60)
    trial = only_trial(session, run).id
    with SessionReader(session) as one, SessionReader(session) as two:
        assert len(one.steps(trial)) == len(two.steps(trial)) == 3
        from workbench.session import SessionWriter

        with SessionWriter(session) as writer, pytest.raises(RunHeld, match="executed by another engine"):
            writer.acquire(run)
        from workbench.engine.process import serve

        assert serve(session, run) == 1
        author.go.set()
        until(lambda: len(one.steps(trial)) == len(two.steps(trial)) == 5)
    assert ended(session, run, until) == "done"
    until(lambda: sorted(item.name for item in session.parent.glob("run.session*")) == ["run.session"], 10)


def test_cancel_keeps_what_is_done_and_resume_goes_on(session: Path, scripted: LoopbackServer, until: Until) -> None:
    author = Author(stop_at=3)
    scripted.answer = author
    run = start(session)
    until(author.reached.is_set, 60)
    running.cancel(session, run)
    assert ended(session, run, until) == "cancelled"
    assert only_trial(session, run).state == "cancelled"
    with SessionReader(session) as reader:
        assert len(reader.steps(only_trial(session, run).id)) == 3
    author.go.set()
    running.resume(session)
    assert ended(session, run, until) == "done"
    assert only_trial(session, run).state == "done"


@pytest.mark.fresh_engines
def test_a_warm_engine_takes_a_run_and_outlives_its_starter(session, scripted, until):
    scripted.answer = Author()
    warm = launching.WarmEngine()
    warm.start()
    run = plan_document(session, DocumentPlan(("word_counter",), model=MODEL, judge="offline"))
    launching.launch(session, run, warm)
    warm.close()
    assert ended(session, run, until) == "done"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [(failure(401, "Incorrect API key provided", "invalid_api_key"), "key"), (Reply(wait=30), "timeout")],
)
def test_a_model_that_fails_is_one_sentence_and_the_other_trials_go_on(
    session, scripted, until, monkeypatch, reply, kind
):
    monkeypatch.setenv("WORKBENCH_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("WORKBENCH_MAX_TRIES", "2")
    author = Author()

    def answer(body: dict[str, object]) -> str | Reply:
        return reply if "Project: word_counter" in str(body["messages"]) else author(body)

    scripted.answer = answer
    run = start(session, cases=("word_counter", "countdown_timer"))
    assert ended(session, run, until) == "done"
    with SessionReader(session) as reader:
        bad, good = reader.trials(run)
        assert (bad.state, good.state) == ("failed", "done")
        assert bad.error
        assert "Traceback" not in bad.error
        assert bad.error_kind == kind, bad.error
        (step,) = reader.steps(bad.id)
        assert (step.kind, step.problem) == ("error", bad.error)
        (call,) = reader.calls(bad.id)
        assert call.error == bad.error
        assert reader.scores(bad.id) == []  # a model failure is no bad README


def test_the_spend_limit_stops_asking(session: Path, scripted: LoopbackServer, until: Until) -> None:
    author = Author()
    usage = {"prompt_tokens": 100_000, "completion_tokens": 100_000, "total_tokens": 200_000}
    scripted.answer = lambda body: Reply(text=author(body), usage=usage)
    run = start(session, model="openai/gpt-4o", spend_limit=0.5)
    assert ended(session, run, until) == "done"
    trial = only_trial(session, run)
    assert (trial.state, trial.error_kind) == ("failed", "budget")
    with SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        assert row.spend_usd > 0.5
        assert len(reader.calls(trial.id)) < 5
