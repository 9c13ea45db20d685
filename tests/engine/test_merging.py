"""Several sessions as one: nothing is lost, nothing is there twice, and the sources are not touched."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))

import recorded
import regenerated
from studies.declared_studies import put_agents

from workbench.base.errors import WorkbenchError
from workbench.engine import merging
from workbench.engine.merging import MergeFailed, merge
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader, SessionWriter
from workbench.session.identity import trial_id
from workbench.session.labels import SESSION, STAR, criterion_part
from workbench.session.schema import tables
from workbench.studies.study_reader import read_study


def documented(path: Path, *repeats: int, run: str = "run1", said: str = "") -> Path:
    """A session with a trial for each repeat, under the identity that an engine gives it."""
    made = recorded.Recorder(path)
    made.run(run, state="done")
    for repeat in repeats:
        key = trial_id("white", "local", "word_counter", repeat)
        made.trial(key, run_id=run, repeat=repeat)
        made.tool(key, 1, "read_file", "a.py", f"print({said!r}, {repeat})")
        made.finish(key)
        made.score(key, recorded.card())
    made.close()
    return path


def fingerprint(path: Path) -> tuple[str, list[str]]:
    return hashlib.sha256(path.read_bytes()).hexdigest(), sorted(file.name for file in path.parent.iterdir())


def counts(path: Path) -> dict[str, int]:
    with SessionReader(path) as reader:
        return {table: reader.query(f"SELECT count(*) FROM {table}")[0][0] for table in merging.COUNTED}


def test_two_sessions_of_the_same_work_keep_both_results(tmp_path: Path) -> None:
    one, two = (
        documented(tmp_path / "one.session", 1, 2),
        documented(tmp_path / "two.session", 1, run="run2", said="else"),
    )
    with SessionWriter(two) as writer:
        first = trial_id("white", "local", "word_counter", 1)
        writer.set_labels(first, "", add=("good",))
        writer.set_labels(SESSION, "", add=(STAR,))
        writer.annotate(first, "why?", 1)
        writer.annotate(first, "too strict", criterion=criterion_part("aeo-bench", 1, "purpose"))
        writer.name_run("run2", "evening")
    with SessionWriter(one) as writer:
        writer.name_run("run1", "evening")
    before = fingerprint(one), fingerprint(two)
    merged = merge([one, two], tmp_path / "both.session")
    (tmp_path / "both.session").rename(tmp_path.parent / f"{tmp_path.name}.session")
    assert (fingerprint(one), fingerprint(two)) == before
    path = tmp_path.parent / f"{tmp_path.name}.session"
    assert (merged.rows["trials"], merged.equal["trials"], merged.rows["runs"]) == (3, 0, 2)
    with SessionReader(path) as reader:
        third = trial_id("white", "local", "word_counter", 3)
        assert {(row.id, row.repeat) for row in reader.trials()} >= {(third, 3)}
        assert reader.text(reader.steps(third)[0].observation_blob) == "print('else', 1)"
        assert reader.scores(third)
        assert {(row.item, row.label) for row in reader.labels()} == {(third, "good"), (SESSION, STAR)}
        assert [(row.item, row.step, row.text) for row in reader.annotations()] == [
            (third, 1, "why?"),
            (third, None, "too strict"),
        ]
        assert reader.annotations(third)[1].part == "criterion:aeo-bench:1.purpose"
        assert sorted(run.name or "" for run in reader.runs()) == ["evening", "evening (two)"]
        assert third in {change.item for change in reader.changes(0)}  # the search learns of it
        assert not reader.damage


def test_what_is_equal_is_there_once_and_a_merge_again_adds_nothing(tmp_path: Path) -> None:
    one = documented(tmp_path / "one.session", 1, 2)
    copy = tmp_path / "copy.session"
    with SessionReader(one) as reader:
        reader.copy_to(copy)
    went_on = recorded.Recorder.__new__(recorded.Recorder)  # the copy goes on by a trial of its own
    went_on.__dict__.update(path=copy, writer=SessionWriter(copy))
    key = trial_id("white", "local", "word_counter", 3)
    went_on.trial(key, run_id="run1", repeat=3)
    went_on.finish(key)
    went_on.close()
    both = merge([one, copy], tmp_path / "both.session")
    assert (both.rows["runs"], both.rows["trials"], both.equal["trials"]) == (1, 3, 2)
    again = merge([tmp_path / "both.session", one, copy], tmp_path / "again.session")
    assert again.rows == both.rows


@pytest.mark.parametrize("newest_first", [True, False])
def test_of_two_scorecards_of_one_trial_the_later_counts(tmp_path: Path, newest_first: bool) -> None:
    one, key = documented(tmp_path / "one.session", 1), trial_id("white", "local", "word_counter", 1)
    copy = tmp_path / "copy.session"
    with SessionReader(one) as reader:
        reader.copy_to(copy)
        (card,) = reader.scores(key)
    with SessionWriter(copy) as writer:
        writer.put_score(replace(card, total=12.0, at=card.at + 60))
    merge([copy, one] if newest_first else [one, copy], tmp_path / "both.session")
    with SessionReader(tmp_path / "both.session") as reader:
        assert [score.total for score in reader.scores(key)] == [12.0]


def test_remarks_that_say_the_same_of_two_items_are_both_there(tmp_path: Path) -> None:
    """The second one was taken for the first, whatever it was on."""
    sources = [documented(tmp_path / f"{repeat}.session", repeat, run=f"run{repeat}") for repeat in (1, 2)]
    items = [trial_id("white", "local", "word_counter", repeat) for repeat in (1, 2)]
    for path, item in zip(sources, items, strict=True):
        with SessionWriter(path) as writer:
            writer.insert("annotations", {"item": item, "text": "good", "at": 7.0})
    merge(sources, tmp_path / "both.session")
    with SessionReader(tmp_path / "both.session") as reader:
        assert [row.item for row in reader.annotations()] == items


def test_every_row_of_every_table_arrives(tmp_path: Path) -> None:
    recorder = regenerated.Recorder(tmp_path / "one.session")
    regenerated.word_counter(recorder)
    recorder.close()
    put_agents(tmp_path / "two.session", {("a", "white"): [80.0]})
    merge([tmp_path / "one.session", tmp_path / "two.session"], tmp_path / "both.session")
    rows = {}
    for name in ("one", "two", "both"):
        with SessionReader(tmp_path / f"{name}.session") as reader:
            rows[name] = {table: reader.query(f"SELECT * FROM {table}") for table in tables()}
    for table in tables().keys() - {"meta", "log_identity", "leases", "changes"}:
        assert {*rows["both"][table]} == {*rows["one"][table], *rows["two"][table]}, table


def test_a_run_without_a_name_stays_without_one(tmp_path: Path) -> None:
    """The second one was named "None (two)"."""
    one, two = documented(tmp_path / "one.session", 1), documented(tmp_path / "two.session", 2, run="run2")
    merge([one, two], tmp_path / "both.session")
    with SessionReader(tmp_path / "both.session") as reader:
        assert [run.name for run in reader.runs()] == [None, None]


def test_runs_on_the_same_tasks_become_one_with_all_their_samples(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        recorder = regenerated.Recorder(tmp_path / f"{name}.session")
        regenerated.word_counter(recorder)
        recorder.close()
        made.append(recorder.path)
    with sqlite3.connect(made[1]) as database:
        database.execute("UPDATE runs SET created_at = created_at + 5")  # another run that has the same id
        database.execute("UPDATE candidates SET at = at + 1, tested_s = 9.0")
    database.close()
    single, samples = counts(made[0]), _samples(made[0])
    merged = merge(made, tmp_path / "both.session")
    assert merged.rows["tasks"] == single["tasks"]
    assert merged.rows["runs"] == 1
    assert merged.rows["candidates"] == single["candidates"] + samples
    with SessionReader(tmp_path / "both.session") as reader:
        (run,) = reader.runs()
        assert {row.run_id for task in reader.tasks(run.id) for row in reader.candidates(run.id, task.id)} == {run.id}
        RegenerationPlan.from_json(run.config)


def _samples(path: Path) -> int:
    with SessionReader(path) as reader:
        return int(reader.query("SELECT count(*) FROM candidates WHERE control = 0")[0][0])


def test_a_merge_that_does_not_hold_its_check_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = documented(tmp_path / "one.session", 1), documented(tmp_path / "two.session", 2, run="run2")
    real = merging.add_source

    def losing(connection, source):  # type: ignore[no-untyped-def]
        tally = real(connection, source)
        connection.execute("DELETE FROM steps")
        return tally

    monkeypatch.setattr(merging, "add_source", losing)
    with pytest.raises(MergeFailed, match="failed its check"):
        merge([one, two], tmp_path / "both.session")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one.session", "two.session"]


def test_what_cannot_be_merged_is_said(tmp_path: Path) -> None:
    one, two = documented(tmp_path / "one.session", 1), documented(tmp_path / "two.session", 2)
    with pytest.raises(WorkbenchError, match="at least two different"):
        merge([one, one], tmp_path / "both.session")
    with pytest.raises(WorkbenchError, match="exists already"):
        merge([one, two], one)
    with sqlite3.connect(two) as database:
        database.execute("UPDATE trials SET seconds = 'long'")
    database.close()
    with pytest.raises(WorkbenchError, match="two.session is not merged: damaged"):
        merge([one, two], tmp_path / "both.session")
    assert not (tmp_path / "both.session").exists()


def test_studies_are_merged_with_what_they_point_to(tmp_path: Path) -> None:
    scores = {("a", "white"): [80.0, 90.0], ("b", "white"): [60.0, 50.0]}
    first, same, other = (tmp_path / f"{name}.session" for name in ("first", "same", "other"))
    put_agents(first, scores)
    put_agents(same, {("a", "white"): [80.0, 90.0], ("b", "white"): [70.0, 50.0]})
    put_agents(other, {("a", "single-file"): [10.0], ("b", "single-file"): [20.0]})
    merge([first, same, other], tmp_path / "all.session")
    with SessionReader(tmp_path / "all.session") as reader:
        assert [study.name for study in reader.studies()] == ["agents", "agents (other)"]
        mine, theirs = read_study(reader, "agents"), read_study(reader, "agents (other)")
    assert mine.cell("b", "white · local").means["score"].value == 55.0
    assert [cell.means["score"].value for cell in theirs.cells.values()] == [10.0, 20.0]
    assert theirs.finished
