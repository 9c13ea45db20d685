"""A study is ordered and executed: what is there is used, a failing cell leaves the others alone, a killed engine nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from engine.tiny_repository import make_repository
from loopback.server import LoopbackServer

from workbench.app import runs
from workbench.app.study.new_study_dialog import offered
from workbench.base.errors import UsageError
from workbench.orders import launching, running
from workbench.orders.measured import measured_in
from workbench.orders.study import (
    each_run,
    execute_study,
    order_study,
    pending_runs,
    resolved_study,
    study_runs,
    titles_of,
)
from workbench.orders.study_estimate import estimate_study, seconds_left
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import ScoreRow
from workbench.studies.declaration import Study, StudyColumn, StudyLimits, StudySettings
from workbench.studies.study_reader import read_study

MODEL = "openai/scripted"
AGENTS = Study(
    "mine",
    "agents",
    ("word_counter", "countdown_timer"),
    (StudyColumn("no-exploration", MODEL), StudyColumn("single-file", MODEL)),
    repeats=2,
    settings=StudySettings(judges=("offline",)),
)


def finish(session: Path, study: Study, trials: int) -> None:
    """Stand in for the engine: some trials are done and scored."""
    with SessionReader(session) as reader:
        rows = reader.trials()
    with SessionWriter(session) as writer:
        for row in rows[:trials]:
            writer.set_trial(row.id, state="done", cost_usd=0.5)
            for rubric in ("aeo-bench", "strict"):
                writer.put_score(ScoreRow(row.id, rubric, "offline-4", 50.0, 100.0, 1.0, 1.0, 1.0, 1.0, "", 1.0))
        for run in {row.run_id for row in rows[:trials]}:
            if all(row.state == "done" for row in _trials(session, run)):
                writer.set_run(run, state="done")


def _trials(session: Path, run: str) -> list[object]:
    with SessionReader(session) as reader:
        return list(reader.trials(run))  # type: ignore[arg-type]


def test_what_a_session_has_already_needs_no_key(scripted, tmp_path, monkeypatch):
    session = tmp_path / "mine.session"
    order_study(session, AGENTS)
    finish(session, AGENTS, 8)
    for name in ("WORKBENCH_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    order_study(session, AGENTS)
    with SessionReader(session) as reader:
        assert pending_runs(reader, "mine") == []
        assert MODEL in [option.name for option in offered("agents", reader)["models"]]
    assert estimate_study(measured_in([]), session, resolved_study(AGENTS, session), 4).count == 0
    for study, place in ((replace(AGENTS, repeats=3), session), (AGENTS, tmp_path / "other.session")):
        with pytest.raises(UsageError, match="needs a key"):
            order_study(place, study)
    assert not (tmp_path / "other.session").exists()


def test_a_study_ordered_again_adds_only_what_it_lacks(scripted: LoopbackServer, tmp_path: Path) -> None:
    session = tmp_path / "mine.session"
    order_study(session, AGENTS)
    with SessionReader(session) as reader:
        assert len(reader.runs()) == 2
        assert len(reader.trials()) == 8
        outcome = read_study(reader, "mine")
    assert {cell.state for cell in outcome.cells.values()} == {"queued"}
    assert (outcome.done, outcome.planned) == (0, 8)
    finish(session, AGENTS, 8)
    order_study(session, AGENTS)
    with SessionReader(session) as reader:
        assert len(reader.runs()) == 2
        assert pending_runs(reader, "mine") == []
        assert read_study(reader, "mine").finished
    order_study(session, replace(AGENTS, repeats=3, rows=(*AGENTS.rows, "password_generator")))
    with SessionReader(session) as reader:
        assert len(reader.runs()) == 4
        assert len(reader.trials()) == 2 * (3 * 3)
        assert len(study_runs(reader, "mine")) == 4
        assert len(pending_runs(reader, "mine")) == 2
        outcome = read_study(reader, "mine")
    assert (outcome.done, outcome.planned) == (8, 18)


def test_another_judge_asks_for_scores_and_no_agent_is_run(scripted: LoopbackServer, tmp_path: Path) -> None:
    session = tmp_path / "mine.session"
    order_study(session, AGENTS)
    finish(session, AGENTS, 8)
    order_study(session, replace(AGENTS, settings=StudySettings(judges=("offline", MODEL))))
    with SessionReader(session) as reader:
        assert len(reader.trials()) == 8
        assert len(pending_runs(reader, "mine")) == 2


def test_what_cannot_be_is_refused_before_anything_is_written(scripted: LoopbackServer, tmp_path: Path) -> None:
    session = tmp_path / "mine.session"
    for study, sentence in (
        (replace(AGENTS, columns=(StudyColumn("whit", MODEL),)), "Did you mean 'white'"),
        (replace(AGENTS, columns=(StudyColumn("white", "nobody/knows"),)), "nobody"),
        (replace(AGENTS, rows=("word_contr",)), "did you mean word_counter"),
        (replace(AGENTS, results=("session:gone",)), "There is no session 'gone'"),
        (replace(AGENTS, settings=StudySettings(rubrics=("strct",))), "did you mean 'strict'"),
        (Study("paper", "paper"), "read-only"),
    ):
        with pytest.raises(UsageError, match=sentence):
            order_study(session, study)
    assert not session.exists()


def test_the_default_model_is_written_out_and_is_no_second_column(scripted, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_AGENT_MODEL", MODEL)
    study = replace(AGENTS, columns=(StudyColumn("white"),))
    assert resolved_study(study).columns == (StudyColumn("white", MODEL),)
    with pytest.raises(UsageError, match="appears twice, once through this machine's default model"):
        resolved_study(replace(study, columns=(StudyColumn("white"), StudyColumn("white", MODEL))))


def test_a_folder_is_a_row_by_its_whole_path(scripted, tmp_path, monkeypatch):
    make_repository(tmp_path / "small-sums")
    monkeypatch.chdir(tmp_path)
    session = tmp_path / "mine.session"
    study = order_study(session, replace(AGENTS, rows=("small-sums",), repeats=1))
    assert study.rows == (str(tmp_path / "small-sums"),)
    with SessionReader(session) as reader:
        outcome = read_study(reader, "mine")
    assert [len(cell.work.trials) for cell in outcome.cells.values()] == [1, 1]


def test_the_spend_limit_holds_over_all_runs(scripted: LoopbackServer, tmp_path: Path) -> None:
    session = tmp_path / "mine.session"
    order_study(session, replace(AGENTS, spend_limit=3.0))
    with SessionReader(session) as reader:
        first, second = pending_runs(reader, "mine")
    finish(session, AGENTS, 4)
    with SessionWriter(session) as writer:
        writer.add_spend(first, 3.5)
    assert list(each_run(session, "mine")) == []
    with SessionReader(session) as reader:
        outcome = read_study(reader, "mine")
        row = reader.run(second)
    assert outcome.problems == (
        "The study's spend limit of $3.00 is reached ($3.50 spent), so the missing work was not "
        "started; raise spend_limit and start the study again.",
    )
    assert row is not None
    assert row.state == "queued"


def test_cells_of_docs_share_a_run_and_one_that_cannot_be_says_why(scripted, needs_bubblewrap, tmp_path):
    session = tmp_path / "docs.session"
    source = str(make_repository(tmp_path / "small-sums"))
    systems = ("original", "none", "llm:nobody/knows")
    study = Study(
        "docs",
        "docs",
        (source,),
        tuple(StudyColumn(one, evaluator) for one in systems for evaluator in ("reference", MODEL)),
        samples=3,
        k=(1, 3),
        limits=StudyLimits(tasks=2),
    )
    order_study(session, study)
    order_study(session, study)
    with SessionReader(session) as reader:
        cells = reader.study_cells("docs")
        assert len(reader.runs()) == len({cell.run_id for cell in cells if cell.run_id}) == 2
        outcome = read_study(reader, "docs")
    assert [bool(cell.problem) for cell in cells] == [False] * 4 + [True] * 2
    assert "nobody" in outcome.cell(source, study.columns[4]).problem
    assert outcome.cell(source, study.columns[4]).state == "failed"
    assert outcome.planned is None
    estimate = estimate_study(measured_in([]), session, resolved_study(replace(study, columns=study.columns[:4])), 4)
    # Its tasks are not built; the study takes two of them at most.
    assert (estimate.noun, estimate.count, estimate.up_to) == ("candidate", 24, True)


def test_an_estimate_counts_what_the_session_lacks(scripted: LoopbackServer, tmp_path: Path) -> None:
    session = tmp_path / "mine.session"
    assert estimate_study(measured_in([]), session, AGENTS, 4).count == 8
    order_study(session, AGENTS)
    assert estimate_study(measured_in([]), session, AGENTS, 4).count == 8
    finish(session, AGENTS, 8)
    more = replace(AGENTS, repeats=3)
    told = estimate_study(measured_in([session]), session, more, 4)
    assert told.count == 4
    assert estimate_study(measured_in([session]), session, AGENTS, 4).count == 0
    assert not (tmp_path / "other.session").exists()


def test_what_is_left_is_told_by_what_was_done(scripted: LoopbackServer, tmp_path: Path) -> None:
    session = tmp_path / "mine.session"
    order_study(session, AGENTS)
    assert seconds_left(session, "mine", 2) is None, "nothing like it was measured"
    finish(session, AGENTS, 6)
    with SessionReader(session) as reader, SessionWriter(session) as writer:
        for row in reader.trials()[:6]:
            writer.set_trial(row.id, seconds=20.0)
    assert seconds_left(session, "mine", 2) == 20.0, "two trials of 20 seconds side by side"
    assert seconds_left(session, "mine", 1) == 40.0


class Engines:
    """Stands in for engine processes: what becomes of the trials of each run that is launched, in turn."""

    def __init__(self, *ends: str) -> None:
        self.ends = list(ends)
        self.launched: list[str] = []

    def __call__(self, session: Path, run: str, warm: object = None) -> None:
        self.launched.append(run)
        end = self.ends.pop(0)
        if end == "done":
            with SessionReader(session) as reader:
                trials = reader.trials(run)
            with SessionWriter(session) as writer:
                for row in trials:
                    writer.set_trial(row.id, state="done")
                    for rubric in ("aeo-bench", "strict"):
                        writer.put_score(
                            ScoreRow(row.id, rubric, "offline-4", 50.0, 100.0, 1.0, 1.0, 1.0, 1.0, "", 1.0)
                        )
        with SessionWriter(session) as writer:
            # An engine that is gone leaves its run as it was.
            writer.set_run(
                run, state="running" if end == "killed" else end, error="It broke." if end == "failed" else None
            )


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Engines]:
    def put(*ends: str) -> Engines:
        made = Engines(*ends)
        monkeypatch.setattr(launching, "launch", made)
        return made

    return put


def states(session: Path) -> list[str]:
    with SessionReader(session) as reader:
        return [cell.state for cell in read_study(reader, "mine").cells.values()]


def test_a_run_that_breaks_or_is_killed_leaves_the_others_alone(scripted, tmp_path, engines):
    session = tmp_path / "mine.session"
    study = replace(AGENTS, rows=("word_counter",), repeats=1, columns=(*AGENTS.columns, StudyColumn("white", MODEL)))
    order_study(session, study)
    first = engines("failed", "killed", "done")
    assert execute_study(session, "mine") == 1
    assert states(session) == ["failed", "interrupted", "done"]
    with SessionReader(session) as reader:
        assert read_study(reader, "mine").cell("word_counter", study.columns[0]).problem == "It broke."
    order_study(session, study)
    with SessionReader(session) as reader:
        assert titles_of(reader, "mine", first.launched[0]) == [f"word_counter × no-exploration · {MODEL}"]
    second = engines("done", "done")
    assert execute_study(session, "mine") == 0
    assert states(session) == ["done"] * 3
    assert second.launched == first.launched[:2]
    with SessionWriter(session) as writer:
        # An engine that has just finished its run still holds it.
        held = writer.acquire(first.launched[0])
        assert execute_study(session, "mine") == 0
        writer.release(held)
    assert second.launched == first.launched[:2]


def test_the_app_goes_on_with_a_study_that_was_killed(engines, scripted, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.orders.study.launch_study", lambda *study, queue: execute_study(*study))
    session = tmp_path / "mine.session"
    order_study(session, AGENTS)
    made = engines("done", "killed")
    assert execute_study(session, "mine") == 1
    again = engines("done")
    assert runs.resume_study(session, "mine") == (session, 1)
    assert again.launched == made.launched[1:]
    assert states(session) == ["done"] * 4
    assert runs.resume_study(session, "mine") == (session, 0), "nothing is started where nothing is missing"


def test_resume_lets_the_runs_of_a_study_wait_for_one_another(scripted, tmp_path, engines):
    session = tmp_path / "mine.session"
    order_study(session, replace(AGENTS, rows=("word_counter",), repeats=1, spend_limit=2.0))
    made = engines("queued", "queued")
    assert running.resume(session) == made.launched
    with SessionReader(session) as reader:
        assert [run.queue_position for run in reader.runs()] == [1.0, 2.0]
        # Also what is not started by the study keeps its limit.
        assert [DocumentPlan.from_json(run.config).spend_limit for run in reader.runs()] == [2.0, 2.0]


def test_a_cancelled_run_ends_the_study(scripted, tmp_path, engines):
    session = tmp_path / "mine.session"
    order_study(session, replace(AGENTS, rows=("word_counter",), repeats=1))
    made = engines("cancelled")
    assert execute_study(session, "mine") == 1
    assert len(made.launched) == 1
    assert states(session)[0] == "cancelled"


@pytest.mark.slow
def test_checks_asked_for_later_run_no_agent_again(scripted: LoopbackServer, tmp_path: Path) -> None:
    session = tmp_path / "mine.session"
    order_study(session, AGENTS)
    finish(session, AGENTS, 8)
    checked = replace(AGENTS, rows=("word_counter",), settings=StudySettings(judges=("offline",), checks=True))
    with SessionWriter(session) as writer, SessionReader(session) as reader:
        readmes = [row.id for row in reader.trials() if row.case_id == "word_counter"]
        for trial in readmes:
            writer.set_trial(
                trial, readme_blob=writer.blob("# word_counter\n\nSee `count_wrods()` and `count_words()`.\n")
            )
    asked = len(scripted.seen)
    order_study(session, checked)
    with SessionReader(session) as reader:
        assert len(reader.trials()) == 8
        assert len(pending_runs(reader, "mine")) == 2
    assert execute_study(session, "mine") == 0
    assert len(scripted.seen) == asked
    with SessionReader(session) as reader:
        rows = reader.checks()
        outcome = read_study(reader, "mine")
    assert sorted(row.trial_id for row in rows) == sorted(readmes)
    assert {row.state for row in rows} == {"done"}
    assert "no-exploration" in {one.title for one in outcome.by_column}
    assert {cell.means["claims"].value for cell in outcome.cells.values()} == {50.0}
    order_study(session, checked)
    with SessionReader(session) as reader:
        assert pending_runs(reader, "mine") == []
