"""What a reader makes of a session that is damaged: the damaged item is named, the rest is as it was."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.damaging import put, without_constraints
from samples.sessions import document_session, regeneration_session

from workbench.plans.arguments import PlanDamaged
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionError, SessionReader


@contextlib.contextmanager
def sql(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, dict[str, str]]]:
    """A document run and a regeneration, in files whose tables take any value; each test gets copies."""
    folder, found = tmp_path_factory.mktemp("recorded"), {}
    for name, make in (("demo", document_session), ("regeneration", regeneration_session)):
        names = make(folder / "sound.session")
        without_constraints(folder / "sound.session", folder / f"{name}.session")
        (folder / "sound.session").unlink()
        found[name] = (folder / f"{name}.session", names)
    return found


def copied(recorded: dict[str, tuple[Path, dict[str, str]]], name: str, folder: Path) -> tuple[Path, dict[str, str]]:
    path, names = recorded[name]
    return Path(shutil.copy(path, folder)), names


@pytest.fixture
def documented(recorded: dict[str, tuple[Path, dict[str, str]]], tmp_path: Path) -> tuple[Path, dict[str, str]]:
    return copied(recorded, "demo", tmp_path)


@pytest.fixture
def regenerated(recorded: dict[str, tuple[Path, dict[str, str]]], tmp_path: Path) -> tuple[Path, dict[str, str]]:
    return copied(recorded, "regeneration", tmp_path)


def sentences(reader: SessionReader) -> str:
    return "\n".join(one.sentence for one in reader.damage)


@pytest.mark.parametrize("value", ["garbage", b"bytes", 1e308, -1.0])
def test_a_value_that_cannot_be_is_unknown_and_named(documented: tuple[Path, dict[str, str]], value: object) -> None:
    path, names = documented
    with SessionReader(path) as reader:
        before = {trial.id: trial for trial in reader.trials()}
    put(path, "trials", "seconds", value)
    with SessionReader(path) as reader:
        trials = {trial.id: trial for trial in reader.trials()}
        assert trials[names["first"]].seconds is None
        assert trials[names["second"]] == before[names["second"]]
        assert f"trial {names['first']}: column seconds" in sentences(reader)
        assert reader.query("SELECT total(seconds) FROM trials")[0][0] == 30.0, (
            "sums of the app's own are of what can be"
        )


@pytest.mark.parametrize("value", [None, b"bytes"])
def test_a_row_without_an_identity_is_left_out_and_named(documented, value):
    path, names = documented
    put(path, "trials", "id", value)
    with SessionReader(path) as reader:
        assert {trial.id for trial in reader.trials()} == {names["second"], names["failed"]}
        assert "it is left out" in sentences(reader)
        assert f"depend on trial {names['first'][:8]}" in sentences(reader), (
            "its steps and scores are not lost in silence"
        )


@pytest.mark.parametrize(
    ("lost", "row"),
    [
        (
            "improvement gone",
            "docstring_attempts (improvement_id, task_id, number, state, at) SELECT 'gone', id, 1, 'accepted', 1.0",
        ),
        ("study gone", "study_cells (study, row_name, column_name, position) SELECT 'gone', id, 'a', 0"),
        ("candidate gone", "failing_tests (candidate_id, test_id, outcome, message) SELECT 'gone', id, 'failed', ''"),
    ],
)
def test_what_hangs_on_a_lost_row_is_named_in_every_table(regenerated, lost, row):
    with sql(regenerated[0]) as connection:
        connection.execute(f"INSERT INTO {row} FROM tasks LIMIT 1")
    with SessionReader(regenerated[0]) as reader:
        assert f"a row depends on {lost}" in sentences(reader)


def test_a_run_of_a_kind_that_is_not_one_still_shows_what_came_of_it(regenerated: tuple[Path, dict[str, str]]) -> None:
    path, _ = regenerated
    put(path, "runs", "kind", "garbage")
    put(path, "runs", "config", None)
    with SessionReader(path) as reader:
        (run,) = reader.runs()
        assert (run.kind, run.config) == ("regenerate", "")
        assert len(reader.tasks(run.id)) == 2
        with pytest.raises(PlanDamaged, match="plan of a run"):
            RegenerationPlan.from_json(run.config)


@pytest.mark.parametrize("how", ["NULL id", "no row", "no table"])
def test_what_hangs_on_a_run_whose_row_is_lost_is_still_there(regenerated, documented, how):
    for path, run in ((documented[0], "run1"), (regenerated[0], "reg1")):
        with sql(path) as connection:
            statement = {
                "NULL id": "UPDATE runs SET id = NULL",
                "no row": "DELETE FROM runs",
                "no table": "DROP TABLE runs",
            }
            connection.execute(statement[how])
        with SessionReader(path) as reader:
            (row,) = reader.runs()
            assert (row.id, row.kind, row.state) == (run, "document" if run == "run1" else "regenerate", "failed")
            assert reader.trials(run) or len(reader.tasks(run)) == 2
            assert f"run {run}: its own row is damaged or missing" in sentences(reader)


def test_a_verdict_that_is_none_does_not_count(regenerated: tuple[Path, dict[str, str]]) -> None:
    path, names = regenerated
    put(path, "candidates", "verdict", "garbage")
    with SessionReader(path) as reader:
        verdicts = {row.id: row.verdict for row in reader.candidates("reg1")}
        assert verdicts[names["local0"]] is None
        assert verdicts[names["local3"]] == "passed"
        assert f"candidate {names['local0']}: column verdict holds the text 'garbage'" in sentences(reader)


@pytest.mark.parametrize("text", ["{}", "[" * 50_000])
def test_tests_that_are_no_list_are_named(regenerated: tuple[Path, dict[str, str]], text: str) -> None:
    path, names = regenerated
    put(path, "tasks", "tests", text)
    with SessionReader(path) as reader:
        assert f"task {names['count_text']}: column tests" in sentences(reader)
        assert [task.tests for task in reader.tasks("reg1")][0] == ""


def test_a_missing_table_index_and_trigger_are_named(documented: tuple[Path, dict[str, str]]) -> None:
    path, names = documented
    with sql(path) as connection:
        for statement in ("TABLE steps", "INDEX calls_by_scope", "TRIGGER trials_update"):
            connection.execute(f"DROP {statement}")
    with SessionReader(path) as reader:
        assert reader.steps(names["first"]) == []
        assert len(reader.trials()) == 3
        for name in (
            "table steps: is missing",
            "index calls_by_scope: is missing",
            "trigger trials_update: is missing",
        ):
            assert name in sentences(reader)


def test_a_missing_column_is_named(documented: tuple[Path, dict[str, str]]) -> None:
    path, names = documented
    with sql(path) as connection:
        connection.execute("DROP VIEW trial_scores")  # SQLite keeps the columns of its views
        connection.execute("ALTER TABLE trials DROP COLUMN cost_usd")
    with SessionReader(path) as reader:
        assert [trial.cost_usd for trial in reader.trials()] == [None, None, None]
        assert "table trials: has no column cost_usd" in sentences(reader)
        assert reader.trial(names["first"]) is not None


def test_text_that_is_not_utf8_is_shown_as_well_as_it_can_be(documented: tuple[Path, dict[str, str]]) -> None:
    path, names = documented
    with sql(path) as connection:
        connection.execute("UPDATE trials SET error = CAST(x'66ff6f' AS TEXT) WHERE id = ?", (names["failed"],))
    with SessionReader(path) as reader:
        assert {trial.id: trial.error for trial in reader.trials()}[names["failed"]] == "f\ufffdo"
        assert f"row {names['failed']}: it contains text that is not UTF-8" in sentences(reader)


@pytest.mark.parametrize(
    ("codec", "data", "why"),
    [
        ("zlib", b"no zlib at all", "cannot be unpacked"),
        ("raw", b"another text", "not what was recorded"),
        ("zlib", zlib.compress(b"another text"), "not what was recorded"),
        ("raw", "text", "missing|damaged"),
    ],
)
def test_a_text_that_is_damaged_says_so_in_its_place(documented, codec, data, why):
    path, names = documented
    with SessionReader(path) as reader:
        digest = {trial.id: trial.readme_blob for trial in reader.trials()}[names["first"]]
    with sql(path) as connection:
        connection.execute("UPDATE blobs SET codec = ?, data = ? WHERE digest = ?", (codec, data, digest))
        if isinstance(data, bytes):
            connection.execute("UPDATE blobs SET size = ? WHERE digest = ?", (len(data), digest))
    with SessionReader(path) as reader:
        with pytest.raises(SessionError, match=f"^The README cannot be read: .*({why})"):
            reader.text(digest, of="the README")
        assert reader.shown(digest, "the README", 1000).startswith("(The README cannot be read: ")
        assert reader.text_or_none(digest, "the README") is None
        assert "the README: cannot be read" in sentences(reader)


def test_a_scorecard_of_another_form_gives_what_it_has(documented: tuple[Path, dict[str, str]]) -> None:
    path, names = documented
    with SessionReader(path) as reader:
        score = reader.scores(names["first"])[0]
        card = reader.card(score)
    whole = len(card["criteria"])
    card["criteria"][0]["points"] = "many"
    card["criteria"].append("no criterion")
    card["spread"] = {"of": 1}
    from workbench.session import score_cards

    mended, lost = score_cards.card(json.dumps(card))
    assert (len(mended["criteria"]), mended["spread"], lost) == (whole - 1, [], 3)
    for text in ("[" * 50_000, "[]", "no JSON", "null"):
        with pytest.raises(ValueError):
            score_cards.card(text)


def test_rows_behind_an_unreadable_page_are_left_out_and_the_others_kept(tmp_path: Path) -> None:
    path = tmp_path / "demo.session"
    names = document_session(path)
    with sql(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'steps'").fetchone()[0]
    content = bytearray(path.read_bytes())
    content[(root - 1) * size : root * size] = b"\xa5" * size
    path.write_bytes(content)
    with SessionReader(path) as reader:
        assert reader.steps(names["first"]) == []
        assert len(reader.trials()) == 3
        assert reader.scores(names["first"])
        assert "table steps: a page of it is damaged" in sentences(reader)


def test_nothing_is_written_into_a_damaged_session(documented: tuple[Path, dict[str, str]]) -> None:
    path, _ = documented
    put(path, "trials", "seconds", "garbage")
    before = path.read_bytes()
    with SessionReader(path) as reader:
        assert reader.damage
        with pytest.raises(SessionError):
            reader.query("UPDATE trials SET seconds = 1")
    assert path.read_bytes() == before


@pytest.mark.parametrize("asks", [5, ["x"], [{"evaluator": "a"}], [{"evaluator": "a", "samples": "many"}]])
def test_asks_that_cannot_be_read_are_one_sentence(asks: object) -> None:
    with pytest.raises(PlanDamaged):
        RegenerationPlan.from_json(json.dumps({"source": "a", "asks": asks}))


def test_a_file_that_is_cut_while_it_is_open_is_called_damaged_however_often_one_asks(documented):
    with SessionReader(documented[0]) as reader:
        os.truncate(documented[0], 5_000)
        for _ in range(3):
            with pytest.raises(SessionError, match=r"damaged") as told:
                reader.query("SELECT * FROM steps")
            assert "closed" not in str(told.value), "it is the file that is at fault"
