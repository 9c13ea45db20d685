"""The index of all texts: what is in a session is found, what changed replaces what was, and a lost index is made anew."""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

import recorded
import regenerated

from workbench.base.errors import WorkbenchError
from workbench.search import SearchIndex, parse
from workbench.search.index import line_of
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.labels import criterion_part


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    made = SearchIndex(tmp_path / "data" / "search.db")
    yield made
    made.close()


@pytest.fixture
def documented(tmp_path: Path) -> recorded.Recorder:
    recorder = recorded.Recorder(tmp_path / "documented.session")
    recorder.run()
    recorded.word_counter(recorder, "first")
    recorded.word_counter(recorder, "second", repeat=2, accuracy=None)
    recorder.writer.update("trials", {"id": "second"}, {"agent": "single-file"})
    return recorder


def filled(index: SearchIndex, path: Path) -> int:
    with SessionReader(path) as reader:
        return index.update(reader)


def asked(index: SearchIndex, text: str) -> set[tuple[str, str, int]]:
    return {(hit.item.id, hit.entry.kind, hit.entry.number) for hit in index.search(parse(text)).hits}


def test_everything_of_a_trial_is_found_where_it_stands(index: SearchIndex, documented: recorded.Recorder) -> None:
    documented.writer.annotate("first", "remarkable step", 3)
    part = criterion_part("aeo-bench", 3, "purpose")
    documented.writer.annotate("first", "unfair", criterion=part)
    filled(index, documented.path)
    with SessionReader(documented.path) as reader:
        trial = reader.trial("first")
        assert trial is not None
        word = reader.text(trial.readme_blob).split()[-1].strip("`.")
        steps = reader.steps("first")
        files = {seen.path for seen in reader.accessed_files("first") if seen.access == "read"}
    assert ("first", "readme", 0) in asked(index, word)
    assert asked(index, "remarkable") == {("first", "remark", 3)}
    (unfair,) = index.search(parse("unfair")).hits
    assert (unfair.item.id, unfair.entry.criterion) == ("first", part)
    assert part in {hit.entry.criterion for hit in index.search(parse("kind:reason")).hits if hit.item.id == "first"}
    for step in steps:
        if step.kind == "tool" and step.target not in (".", ""):
            assert ("first", "step", step.number) in asked(index, step.target)
    for path in files:
        assert {item for item, _, _ in asked(index, f"file:{path}")} >= {"first"}
    assert {item for item, _, _ in asked(index, "agent:single-file")} == {"second"}
    assert asked(index, "agent:single-file agent:white") == set()
    assert asked(index, "kind:remark") == {("first", "remark", 3), ("first", "remark", 0)}


def test_scores_and_lost_criteria_choose_trials(index: SearchIndex, documented: recorded.Recorder) -> None:
    filled(index, documented.path)
    with SessionReader(documented.path) as reader:
        (score,) = [card for card in reader.scores("first") if card.rubric == "aeo-bench"]
        lost = [one["title"] for one in reader.card(score)["criteria"] if (one["points"] or 0) < one["maximum"]]
    assert score.total is not None
    share = 100 * score.total / score.out_of
    assert ("first", "name", 0) in asked(index, f"score:{share - 0.01:.2f}..{share + 0.01:.2f}")
    assert asked(index, f"score:>{share + 1:.2f} agent:white") == set()
    assert ("first", "name", 0) in asked(index, f'lost:"{lost[0].lower()}"')
    assert asked(index, 'lost:"no such criterion"') == set()


def test_tasks_candidates_and_failing_tests_are_found(index: SearchIndex, tmp_path: Path) -> None:
    recorder = regenerated.Recorder(tmp_path / "regenerated.session")
    regenerated.word_counter(recorder)
    recorder.close()
    filled(index, recorder.path)
    with SessionReader(recorder.path) as reader:
        (run,) = reader.runs()
        rows = [row for row in reader.candidates(run.id) if not row.control]
        failed = [row for row in rows if row.verdict == "failed"]
        reader_tests = {row.id: reader.failing_tests(row.id) for row in failed}
    tests = {test.test_id for mine in reader_tests.values() for test in mine}
    found = index.search(parse("verdict:failed kind:candidate"))
    assert {hit.item.id for hit in found.hits} == {row.id for row in failed if row.body_blob}
    assert {hit.item.task for hit in found.hits} == {row.task_id for row in failed if row.body_blob}
    test = sorted(tests)[0].rpartition("::")[2]
    assert {hit.entry.kind for hit in index.search(parse(test)).hits} == {"failing"}
    assert dict(found.counts["verdict"]) == {"failed": len(found.hits)}
    raised = {hit.item.id for hit in index.search(parse("error:AssertionError kind:candidate")).hits}
    assert raised == {row.id for row in failed if any("assert" in test.message for test in reader_tests[row.id])}
    assert raised
    assert asked(index, "error:KeyboardInterrupt") == set()


def test_what_changed_replaces_what_was(index: SearchIndex, documented: recorded.Recorder) -> None:
    assert filled(index, documented.path) > 0
    assert filled(index, documented.path) == 0
    writer = documented.writer
    writer.set_trial("first", readme_blob=writer.blob("# Entirely zebra\n"))
    assert asked(index, "zebra") == set()
    assert filled(index, documented.path) == 1
    assert asked(index, "zebra") == {("first", "readme", 0)}
    before = index.search(parse("kind:readme agent:white")).total
    writer.set_trial("first", readme_blob=writer.blob("# Entirely giraffe\n"))
    filled(index, documented.path)
    assert asked(index, "zebra") == set()
    assert index.search(parse("kind:readme agent:white")).total == before


def test_another_file_in_the_place_of_a_session_begins_anew(index: SearchIndex, documented: recorded.Recorder) -> None:
    filled(index, documented.path)
    documented.close()
    documented.path.unlink()
    create(documented.path)
    with SessionWriter(documented.path) as writer:
        writer.add_run("other", "document", {})
        writer.add_trial("alone", "other", 0, ("giraffe", "giraffe"), "white", "m", 1)
    filled(index, documented.path)
    assert {hit.item.id for hit in index.search(parse("case:e")).hits} == {"alone"}


def test_sessions_are_searched_alone_or_together(index: SearchIndex, tmp_path: Path) -> None:
    for name in ("one", "two"):
        path = tmp_path / f"{name}.session"
        create(path)
        with SessionWriter(path) as writer:
            writer.add_run("r", "document", {})
            writer.add_trial(f"trial-of-{name}", "r", 0, ("zebra", "zebra"), "white", "m", 1)
        filled(index, path)
    assert [hit.session.stem for hit in index.search(parse("zebra")).hits] == ["one", "two"]
    assert [hit.item.id for hit in index.search(parse("zebra"), [tmp_path / "two.session"]).hits] == ["trial-of-two"]


@pytest.mark.parametrize("content", [b"no database\n" * 500, b"", b"SQLite format 3\0" + bytes(5000)])
def test_an_index_that_is_none_is_made_anew(content: bytes, tmp_path: Path, documented: recorded.Recorder) -> None:
    path = tmp_path / "search.db"
    path.write_bytes(content)
    index = SearchIndex(path)
    filled(index, documented.path)
    assert index.search(parse("agent:white")).total > 0
    index.close()


def test_where_no_index_can_be_kept_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkbenchError, match="The search index .* cannot be used"):
        SearchIndex(tmp_path / "file" / "search.db")


def test_filling_ends_when_it_is_asked_to_and_goes_on_later(index: SearchIndex, documented: recorded.Recorder) -> None:
    with SessionReader(documented.path) as reader:
        assert index.update(reader, lambda: True) == 0
        assert index.search(parse("agent:white")).total == 0
        assert index.update(reader) > 0
    assert index.search(parse("agent:white")).total > 0


def test_two_programs_fill_and_ask_one_index(tmp_path: Path, documented: recorded.Recorder) -> None:
    path, problems = tmp_path / "search.db", []

    def work() -> None:
        try:
            mine = SearchIndex(path)
            for _ in range(5):
                filled(mine, documented.path)
                mine.search(parse("word"))
            mine.close()
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    index = SearchIndex(path)
    names = [hit.item.id for hit in index.search(parse("kind:name")).hits]
    index.close()
    assert sorted(names) == ["first", "second"]


def test_a_text_that_is_gone_is_left_out(index: SearchIndex, documented: recorded.Recorder) -> None:
    with sqlite3.connect(documented.path) as connection:
        connection.execute("DELETE FROM blobs WHERE digest IN (SELECT readme_blob FROM trials)")
    connection.close()
    filled(index, documented.path)
    assert index.search(parse("kind:step agent:white")).total > 0
    (hit, *_) = index.search(parse("kind:readme")).hits
    with SessionReader(documented.path) as reader:
        assert line_of(reader, hit, parse("word")).text == ""


@given(text=st.text(max_size=60), before=st.text(max_size=20), after=st.text(max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
def test_the_line_around_a_hit_holds_the_match(text, before, after, tmp_path_factory):
    folder = tmp_path_factory.mktemp("line")
    create(folder / "a.session")
    with SessionWriter(folder / "a.session") as writer:
        writer.add_run("r", "document", {})
        writer.add_trial("t", "r", 0, ("c", "c"), "white", "m", 1)
        writer.annotate("t", f"{text}\n{before} needle_word {after}")
    index = SearchIndex(folder / "search.db")
    with SessionReader(folder / "a.session") as reader:
        index.update(reader)
        query = parse("needle_word")
        (hit,) = index.search(query).hits
        line = line_of(reader, hit, query)
    index.close()
    assert line.text[line.start : line.end].lower() == "needle_word"


def test_a_value_can_be_asked_for_exactly(index: SearchIndex, documented: recorded.Recorder) -> None:
    """What is counted beside a value is what asking for that value shows."""
    documented.writer.update("trials", {"id": "first"}, {"model": "openai/gpt-4o"})
    documented.writer.update("trials", {"id": "second"}, {"model": "openai/gpt-4o mini"})
    filled(index, documented.path)
    both = index.search(parse("model:GPT-4o"))
    assert {hit.item.id for hit in both.hits} == {"first", "second"}
    for value, count in both.counts["model"]:
        assert index.search(parse(f'model:="{value}"')).total == count


def test_what_belongs_to_an_archived_run_is_not_found(index: SearchIndex, documented: recorded.Recorder) -> None:
    path = documented.path
    filled(index, path)
    assert {one[0] for one in asked(index, "score:>70")} == {"first", "second"}
    documented.writer.archive_run(recorded.RUN)
    filled(index, path)
    assert index.search(parse("score:>70")).total == index.search(parse("wordcount")).total == 0
    documented.writer.unarchive_run(recorded.RUN)
    filled(index, path)
    assert asked(index, "score:>70")
