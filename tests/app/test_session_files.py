"""Sessions as files that people keep: made, named, chosen, sorted, tagged, merged; and states that say how they stand."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from pathlib import Path

import pytest
from textual.geometry import Offset

from workbench.app import runs
from workbench.app.cases.run_dialog import RunDialog
from workbench.app.sessions.session_files import SessionCache, found_sessions, with_facts
from workbench.engine.process import serve
from workbench.orders import launching
from workbench.results.sessions import state_of
from workbench.session import SessionReader, SessionWriter
from workbench.session.labels import SESSION


async def listed(person, count: int) -> None:
    await person.press("3")
    await person.sees(f"Sessions {count}")
    await person.until(lambda: person.app.screen._listing.idle)


def names(person) -> list[str]:
    return [entry.path.stem for entry in person.app.screen.table.shown]


async def test_a_new_session_is_what_the_next_run_goes_into_also_after_a_restart(start, make_session) -> None:
    folder = make_session("old").parent
    async with start() as person:
        await listed(person, 2)
        await person.press("ctrl+n")
        await person.sees("New session", "The next run goes into it")
        await person.press("enter")
        await person.sees("Enter a name")
        await person.type("a/b")
        await person.press("enter")
        await person.sees("leave out slashes")
        person.app.screen.query_one("Input").value = "x" * 300
        await person.press("enter")
        await person.sees("too long")
        person.app.screen.query_one("Input").value = "old"
        await person.press("enter")
        await person.sees("old exists already")
        person.app.screen.query_one("Input").value = "mine"
        await person.press("enter")
        await person.sees("Sessions 3", "→ mine", "empty")
    assert runs.chosen_session() == folder / "mine.session"
    async with start() as person:
        await listed(person, 3)
        await person.press("1", "enter")
        await person.until(lambda: isinstance(person.app.screen, RunDialog))
        assert person.app.screen.values["session"] == "mine"
        person.app.screen.query_one("#session").focus()
        await person.sees("The run goes into mine. It was chosen in Sessions")
        await person.press("escape", "3")
        await person.until(lambda: names(person)[0] == "mine")
        person.app.screen.table.go_to(folder / "mine.session")
        await person.press("equals_sign")
        await person.until(lambda: runs.chosen_session() is None)


async def test_renaming_takes_file_name_and_the_open_session_along(start, make_session) -> None:
    path = make_session("before")
    async with start(path) as person:
        await person.until(lambda: person.app.facts is not None)
        await listed(person, 2)
        await person.press("f2")
        await person.sees("Rename session")
        person.app.screen.query_one("Input").value = "after [b]"
        await person.press("enter")
        now = path.with_name("after [b].session")
        await person.until(lambda: now.exists() and person.app.session_path == now and person.app.reader is not None)
        await person.sees("after [b]")
    assert not path.exists()
    with SessionReader(now) as reader:
        assert reader.meta()["name"] == "after [b]"
        assert len(reader.trials()) == 1


async def test_a_session_that_is_written_is_neither_renamed_nor_deleted(start, make_session) -> None:
    path = make_session("live", state="running")
    with SessionWriter(path) as writer:
        held = writer.acquire("run1")
        async with start() as person:
            await listed(person, 2)
            await person.sees("▸ running")
            await person.press("f2")
            await person.sees("has an active run; cancel it first")
            await person.press("d")
            await person.until(lambda: person.app.screen._keeping.idle)
            assert path.exists()
        writer.release(held)


async def test_marked_sessions_are_merged_into_a_new_one(start, make_session) -> None:
    one, two = make_session("one"), make_session("two", ("countdown_timer",), run="run2")
    before = one.read_bytes(), two.read_bytes()
    async with start() as person:
        await listed(person, 3)
        await person.press("g", "space", "space")
        await person.sees("2 marked")
        await person.press("ampersand")
        await person.sees("Merge 2 sessions")
        await person.type("both")
        await person.press("enter")
        await person.sees("both has 2 runs, 2 trials.", seconds=30)
        await person.until(lambda: person.app.screen.table.selected.path.stem == "both")
    assert (one.read_bytes(), two.read_bytes()) == before
    with SessionReader(one.with_name("both.session")) as reader:
        assert sorted(trial.case_id for trial in reader.trials()) == ["countdown_timer", "word_counter"]


async def test_tags_are_a_column_and_sorting_is_a_key_and_a_click(start, make_session) -> None:
    small, large = make_session("small"), make_session("large", ("word_counter", "countdown_timer"))
    with SessionWriter(small) as writer:
        writer.annotate(SESSION, "the one for the paper")
    async with start() as person:
        await listed(person, 3)
        table = person.app.screen.table
        table.go_to(small)
        await person.press("t")
        await person.sees("Tags of small")
        await person.type("paper")
        await person.press("enter")
        await person.until(lambda: "paper" in person.screen_text and "tags" in person.screen_text.splitlines()[2])
        await person.press("asterisk")
        await person.sees("★, paper", "✎ the one for the paper")
        await person.press("o")
        await person.until(lambda: names(person) == ["large", "small", "example"])
        await person.press("O")
        await person.until(lambda: names(person) == ["small", "large", "example"])
        heading = person.screen_text.splitlines()[2]
        await person.pilot.click(table, offset=Offset(heading.index("trials") - 1, 0))
        await person.until(lambda: table.arrangement.order == "trials" and names(person)[0] == large.stem)
        await person.press("slash", *"paper")
        await person.sees("Sessions 1 of 3")


def test_one_failed_run_does_not_brand_a_session_for_good(make_session) -> None:
    path = make_session("again")
    with SessionWriter(path) as writer:
        writer.add_run("first", "document", {})
        writer.set_run("first", state="failed", error="no key")
        writer.update("runs", {"id": "first"}, {"created_at": 5.0})
    (entry,) = [with_facts(entry) for entry in found_sessions() if not entry.example]
    assert entry.facts is not None
    assert (entry.facts.state, entry.facts.left, entry.facts.resumable) == ("done", 1, True)
    with SessionWriter(path) as writer:
        writer.archive_run("first")
    (entry,) = [with_facts(entry) for entry in found_sessions() if not entry.example]
    assert entry.facts is not None
    assert (entry.facts.left, entry.facts.resumable) == (0, False)


def test_the_state_of_a_session_is_that_of_its_newest_work() -> None:
    assert state_of({"failed", "done"}, "done") == "done"
    assert state_of({"failed", "done"}, "failed") == "failed"
    assert state_of({"failed", "unscored"}, "unscored") == "unscored"
    assert state_of({"failed", "interrupted", "done"}, "done") == "interrupted"
    assert state_of({"cancelled", "failed"}, "cancelled") == "failed"
    assert state_of(set(), "") == "empty"


def test_what_was_found_is_remembered_until_the_file_is_written(make_session) -> None:
    path = make_session("kept")
    (entry,) = [with_facts(entry) for entry in found_sessions() if not entry.example]
    memory = SessionCache()
    memory.note(entry)
    memory.save([entry])
    (now,) = [entry for entry in found_sessions() if not entry.example]
    assert SessionCache().recall(now) == entry
    with SessionWriter(path) as writer:
        writer.set_labels(SESSION, "", add=("new",))
    (now,) = [entry for entry in found_sessions() if not entry.example]
    assert SessionCache().recall(now) is None
    with sqlite3.connect(path) as database:  # what a process decides is never taken from memory
        database.execute("UPDATE runs SET state = 'running'")
    database.close()
    (now,) = [with_facts(entry) for entry in found_sessions() if not entry.example]
    memory.note(now)
    assert memory.recall(now) is None


class Ended:
    """An engine that has ended."""

    def __init__(self, code: int) -> None:
        self.code = code

    def wait(self) -> int:
        return self.code


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are executed in this process, when they are launched."""

    def launch(session: Path, run: str, warm: object = None) -> Ended:
        log = launching.engine_log(run)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as output, contextlib.redirect_stdout(output):
            return Ended(serve(session, run))

    monkeypatch.setattr(launching, "launch", launch)


@pytest.mark.usefixtures("at_once")
async def test_files_of_other_programs_come_into_the_session_under_the_cursor(
    start, make_session, tmp_path, monkeypatch
) -> None:
    session = make_session("mine")
    (tmp_path / "word_importer.py").write_text(
        "from workbench.interop.formats.trajectory import Step, Trajectory\n"
        "class Words:\n    endings = ('.words',)\n    def read(self, path):\n"
        "        yield Trajectory('speaker', [Step('agent', path.read_text())])\n"
    )
    (tmp_path / "a.words").write_text("spoken")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    line = {"messages": [{"role": "user", "content": "hello [bold]"}, {"role": "assistant", "content": "world"}]}
    (tmp_path / "chat.jsonl").write_text(json.dumps(line) + "\n{\n")
    async with start() as person:
        await listed(person, 2)
        person.app.screen.table.go_to(session)
        await person.press("ctrl+p")
        await person.type("import files")
        await person.sees("Import files of other programs")
        await person.press("enter")
        await person.sees("the target is mine")
        person.app.screen.query_one("Input").value = str(tmp_path / "chat.jsonl")
        await person.press("enter")
        await person.sees("1 imported")
        # With the importer of a package.
        await person.press("ctrl+p")
        await person.type("import files")
        await person.sees("Import files of other programs")
        await person.press("enter")
        await person.sees("the target is mine")
        person.app.screen.query_one("#file").value = str(tmp_path / "a.words")
        person.app.screen.query_one("#format").value = "words"
        await person.press("enter")
        await person.sees("There is no importer 'words'.")
        person.app.screen.query_one("#format").value = "word_importer:Words"
        await person.press("enter")
        await person.until(lambda: names_of_runs(session)[-1] == "import: a.words")
    assert names_of_runs(session)[-2:] == ["import: chat.jsonl", "import: a.words"]


def names_of_runs(session: Path) -> list[str]:
    with SessionReader(session) as reader:
        return [run.name for run in reader.runs()]
