"""The measure ``use`` of a study: figures of measured READMEs, and the usage runs that a study orders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from samples.usage_runs import TASKS, add_usage_run
from studies.partial_studies import FULL, Agents, report

from workbench.base.errors import UsageError
from workbench.orders.measured import measured_in
from workbench.orders.study import each_run, order_study, pending_runs, titles_of
from workbench.orders.study_estimate import estimate_study
from workbench.pages.study_rows import rows_of
from workbench.plans.usage import UsagePlan
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import RunRow, ScoreRow
from workbench.studies.comparing import compare
from workbench.studies.declaration import BadStudy, Study, StudyColumn, StudySettings
from workbench.studies.study_files import parse_study

WHITE, SINGLE = StudyColumn("white", "local"), StudyColumn("single-file", "local")
LINES = {"used": 1, "wrong": 1, "option": 1}


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    """Two agents that wrote the same README for every case."""
    made = Agents(tmp_path / "use.session", StudySettings(use="literal"))
    for agent in ("white", "single-file"):
        for case in ("word_counter", "countdown_timer", "password_generator"):
            made.put(agent, case, {"offline-4": FULL})
    return made


def measure(agents: Agents, case: str, state: str = "done", decided: int = len(TASKS)) -> None:
    with SessionWriter(agents.path) as writer, writer.transaction():
        add_usage_run(writer, "# A", LINES, run=case, label="trial", source=case, state=state, decided=decided)


def test_use_stands_beside_the_score_and_what_is_not_measured_is_missing(agents: Agents) -> None:
    measure(agents, "word_counter")
    measure(agents, "countdown_timer", "failed", decided=3)
    with SessionWriter(agents.path) as writer:
        add_usage_run(writer, "# A", LINES, run="none", label="trial", source="password_generator", decided=0)
        plan = SessionReader(agents.path).run("none").plan | {"permanent_failure": True}  # type: ignore[union-attr]
        writer.set_run(
            "none", state="failed", error="It has no tests.", config=str(plan).replace("'", '"').replace("True", "true")
        )
        writer.set_run("countdown_timer", error="The spend limit is reached.")
    outcome = agents.read()
    assert outcome.study.measures == ("score", "use")
    whole, partial, none = (
        outcome.cell(row, WHITE).means["use"] for row in ("word_counter", "countdown_timer", "password_generator")
    )
    assert (whole.value, whole.items, whole.judged) == (pytest.approx(20.0), 1, (1, 5, 5))
    assert (partial.value, partial.undefined, partial.missing[0].why) == (None, 1, "The spend limit is reached.")
    assert (none.value, none.undefined, none.missing[0].why) == (None, 1, "It has no tests.")
    states = {row: outcome.cell(row, WHITE).state for row in outcome.rows}
    # A project without tasks is never measured, so its cell waits for nothing.
    assert states == {"word_counter": "done", "countdown_timer": "failed", "password_generator": "done"}
    assert outcome.summary(WHITE).means["use"].value == pytest.approx(20.0)
    assert [one.difference for one in compare(outcome, WHITE, SINGLE, "use").pairs if one.difference is not None] == [
        0.0
    ]
    trial = next(row for row in rows_of(outcome) if row["kind"] == "trial" and row["row"] == "word_counter")
    assert (trial["use"], trial["use_good"], trial["use_judged"]) == (pytest.approx(20.0), 1, 5)
    text = report(agents.path, "agents")
    assert "20.0" in text
    assert "1 of 5 answers" in text
    assert "It has no tests." in text


def test_without_usage_runs_no_readme_has_a_use(agents: Agents) -> None:
    cell = agents.read().cell("word_counter", WHITE)
    assert (cell.means["use"].value, cell.done) == (None, 0)


@pytest.mark.parametrize(("settings", "kind", "why"), [
    ({"use": True}, "agents", "settings.use"),
    ({"use": "literal"}, "docs", "use"),
], ids=["not-a-text", "of-docs"])  # fmt: skip
def test_a_mistake_in_the_setting_has_its_sentence(settings: dict[str, object], kind: str, why: str) -> None:
    systems = {"agents": ["white"]} if kind == "agents" else {"docs": ["none"]}
    with pytest.raises(BadStudy, match=why):
        parse_study(
            {"name": "a", "kind": kind, "rows": ["word_counter"], "columns": systems, "settings": settings}, Path()
        )


# -- orders

STUDY = Study("mine", "agents", ("word_counter", "countdown_timer"), (StudyColumn("white", "openai/scripted"),), repeats=2,
              settings=StudySettings(judges=("offline",), use="literal"))  # fmt: skip


def finish(session: Path, repeats: int, readme: str) -> None:
    """Stand in for the agents' engine: the trials of these repeats are done and scored."""
    with SessionReader(session) as reader, SessionWriter(session) as writer:
        for row in reader.trials():
            if row.repeat <= repeats and row.state != "done":
                writer.set_trial(row.id, state="done", readme_blob=writer.blob(f"{readme} {row.case_id}"))
                for rubric in ("aeo-bench", "strict"):
                    writer.put_score(ScoreRow(row.id, rubric, "offline-4", 50.0, 100.0, 1.0, 1.0, 1.0, 1.0, "", 1.0))
        for run in reader.runs():
            if run.kind == "document" and all(row.state == "done" for row in reader.trials(run.id)):
                writer.set_run(run.id, state="done")


def usage_runs(session: Path) -> list[RunRow]:
    with SessionReader(session) as reader:
        return [run for run in reader.runs() if run.kind == "usage"]


@pytest.mark.sandbox
@pytest.mark.usefixtures("scripted", "needs_bubblewrap")
def test_the_readmes_of_finished_trials_are_ordered_once_for_each_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = tmp_path / "mine.session"
    order_study(session, STUDY)
    estimate = estimate_study(measured_in([]), session, STUDY, 4)
    assert (estimate.count, "use" in estimate.sentence()) == (4, True)
    started: list[str] = []

    def resume(session: Path, run: str) -> list[str]:
        started.append(run)
        finish(session, 2, "# first") if len(started) == 1 else None
        with SessionWriter(session) as writer:
            writer.set_run(run, state="done")
        return [run]

    monkeypatch.setattr("workbench.orders.running.resume", resume)
    titles = []
    for run in each_run(session, "mine"):
        with SessionReader(session) as reader:
            titles += titles_of(reader, "mine", run)
    assert titles == [
        *(f"{row} × white · openai/scripted" for row in STUDY.rows),
        *(f"{row} × use · literal" for row in STUDY.rows),
    ]
    first = usage_runs(session)
    assert [run.plan["source"] for run in first] == ["word_counter", "countdown_timer"]
    order_study(session, STUDY)
    assert [run.config for run in usage_runs(session)] == [run.config for run in first]

    order_study(session, replace(STUDY, repeats=3, rows=("word_counter",)))
    finish(session, 3, "# second")
    order_study(session, replace(STUDY, repeats=3, rows=("word_counter",)))
    grown = usage_runs(session)
    assert [run.id for run in grown] == [run.id for run in first]
    pages = [ask.context for ask in UsagePlan.from_json(grown[0].config).asks]
    assert (len(pages), pages[1:3]) == (4, ["none", "source"])
    with SessionReader(session) as reader:
        assert pending_runs(reader, "mine") == [grown[0].id]


@pytest.mark.parametrize("use", ["reference", "nobody/knows"])
@pytest.mark.usefixtures("scripted")
def test_a_reader_that_cannot_be_is_refused_before_anything_is_written(use: str, tmp_path: Path) -> None:
    session = tmp_path / "mine.session"
    with pytest.raises(UsageError, match=use.partition("/")[0]):
        order_study(session, replace(STUDY, settings=replace(STUDY.settings, use=use)))
    assert not session.exists()
