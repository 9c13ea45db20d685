"""Sessions as files that people keep: listed with how they stand, made, named, tagged, merged, deleted, imported into."""

import contextlib
import json
import os
import sqlite3

import pytest
from driving import screen_text
from regenerated import RUN, Recorder, word_counter

from workbench.app import runs
from workbench.app.cases.run_dialog import RunDialog
from workbench.app.sessions.session_files import SessionCache, found_sessions, with_facts
from workbench.base import paths
from workbench.engine.process import serve
from workbench.orders import launching
from workbench.results.sessions import state_of
from workbench.session import SessionReader, SessionWriter
from workbench.session.labels import SESSION


@pytest.fixture
def several(make_session, monkeypatch, tmp_path):
    """A folder with a finished, an interrupted, a cancelled, a newer and a damaged session; no bundled example."""
    bundled = paths.bundled
    monkeypatch.setattr(paths, "bundled", lambda name: tmp_path / "none" if name == "sessions" else bundled(name))
    files = [
        make_session("done", ("word_counter", "countdown_timer"), ("white", "planner")),
        make_session("stopped", state="running"),
        make_session("cancelled", state="cancelled"),
        make_session("newer"),
    ]
    for place, file in enumerate(files):
        with sqlite3.connect(file) as database:
            then = (1_700_000_000 - place * 90_000,)
            database.execute("UPDATE runs SET created_at = ?, started_at = NULL, finished_at = NULL", then)
            database.execute("UPDATE trials SET started_at = NULL, finished_at = NULL")
            if file.stem == "newer":
                database.execute("PRAGMA user_version = 99")
        database.close()
    damaged = files[0].with_name("damaged.session")
    damaged.write_bytes(files[0].read_bytes()[:3000])
    for place, file in enumerate([*files, damaged]):
        os.utime(file, (1_700_000_000 - place * 90_000,) * 2)
    return damaged.parent


async def listed(person, count: int) -> None:
    await person.press("3")
    await person.sees(f"Sessions {count}")
    await person.until(lambda: person.app.screen._listing.idle)


def names(person) -> list[str]:
    return [entry.path.stem for entry in person.app.screen.table.shown]


async def test_every_file_is_a_row_in_the_order_of_what_was_recorded_and_a_broken_one_says_why(start, several):
    os.utime(several / "cancelled.session")  # as copying or merely opening an older one does
    async with start() as person:
        await listed(person, 5)
        await person.sees("✓ done", "‖ interrupted", "⊘ cancelled")
        await person.until(lambda: person.screen_text.count("! unusable") == 2)
        assert names(person) == ["done", "stopped", "cancelled", "newer", "damaged"]
        row = next(line for line in person.screen_text.splitlines() if "⊘ cancelled" in line)
        assert " now " not in row
        await person.press("G")
        await person.until(lambda: "nothing was changed" in person.screen_text.replace("\n", " "))
        await person.press("g", "enter")
        await person.until(lambda: person.app.current_mode == "trajectory")
        assert person.app.session_path == several / "done.session"


async def test_cancelling_an_interrupted_run_marks_it_and_a_done_one_is_not_resumed(start, several):
    async with start(several / "stopped.session") as person:
        app = person.app
        await person.until(lambda: app.facts is not None and app.facts.resumable)
        await person.press("3")
        await person.sees("‖ interrupted")
        await person.press("g")
        # The open session could be resumed, but the key is for the one under the cursor.
        await person.until(lambda: "u resume" not in screen_text(app))
        await person.press("j")
        await person.until(lambda: "u resume" in screen_text(app).splitlines()[-1])
        await person.press("c")
        with SessionReader(several / "stopped.session") as reader:
            await person.until(lambda: reader.runs()[0].state == "cancelled")


async def test_a_deleted_session_comes_back_also_after_a_restart(start, several):
    path = several / "cancelled.session"
    before = path.read_bytes()
    async with start() as person:
        await person.press("3")
        await person.sees("⊘ cancelled", "Sessions 5")
        await person.press("g", "j", "j", "d")
        await person.sees("Sessions 4", "ctrl+z brings it back")
    assert not path.exists()
    async with start() as person:
        await person.press("3")
        await person.sees("Sessions 4")
        await person.press("full_stop")
        await person.sees("1 deleted", "deleted just now")
        await person.press("ctrl+z")
        await person.sees("Sessions 5")
    assert path.read_bytes() == before
    assert not list((several / "trash").iterdir())


async def test_the_example_is_only_read(start, make_session, monkeypatch, tmp_path):
    example = make_session("example")
    bundled = paths.bundled
    monkeypatch.setattr(paths, "bundled", lambda name: example.parent if name == "sessions" else bundled(name))
    monkeypatch.setenv("WORKBENCH_SESSIONS_DIR", str(tmp_path / "empty"))
    async with start() as person:
        await person.sees("example.session")
        await person.press("3")
        await person.sees("example (example)", "read-only")
        await person.press("d")
        await person.sees("The bundled example")
    assert example.exists()


async def test_a_report_is_exported_and_a_format_that_there_is_not_refused(start, several, tmp_path):
    async with start() as person:
        await person.press("3")
        await person.sees("✓ done")
        await person.press("g", "x")
        await person.sees("Export report", "csv (a line per trial")
        person.app.screen.query_one("#file").value = str(tmp_path / "out.txt")
        await person.sees(".txt")
        person.app.screen.query_one("#format").value = "points"
        await person.sees("'points'")
        person.app.screen.query_one("#format").value = "json"
        await person.sees("json.")
        await person.press("enter")
        await person.until((tmp_path / "out.txt").exists)
    assert json.loads((tmp_path / "out.txt").read_text())


def test_a_session_that_was_opened_elsewhere_is_listed_too(make_session, tmp_path):
    path = make_session("here")
    moved = tmp_path / "elsewhere.session"
    path.rename(moved)
    (entry,) = [entry for entry in found_sessions(moved) if not entry.example]
    facts = with_facts(entry).facts
    assert (entry.path, facts.state, facts.trials) == (moved, "done", 1)


async def test_a_failed_self_check_is_told_in_the_list(start, several):
    made = Recorder(several / "checked.session")
    word_counter(made)
    made.cells(f"{RUN}-total", "✓", evaluator="stub", control=True)
    cold = '{"why": "random", "verdict": "failed", "route": "cold", "seconds": 1.0, "agrees": false}'
    made.sample(f"{RUN}-total", 0, "✗", recheck=cold)
    made.close()
    async with start() as person:
        await person.press("3")
        await person.sees("Sessions 6", "✓ ✗ self-check")
        await person.press("g")
        await person.sees("Self-check failed: a control fails on 1 task; a cold re-check gave a different verdict")
        await person.press("enter")
        await person.until(lambda: person.app.current_mode == "regeneration")
        await person.sees("✗ SELF-CHECK FAILED", "✗ VERDICTS DISAGREE")


async def test_a_new_session_is_what_the_next_run_goes_into_also_after_a_restart(start, make_session):
    folder = make_session("old").parent
    async with start() as person:
        await listed(person, 2)
        await person.press("ctrl+n")
        await person.sees("New session", "The next run goes into it")
        for name, problem in (("", "Enter a name"), ("a/b", "leave out slashes"), ("old", "old exists already")):
            person.app.screen.query_one("Input").value = name
            await person.press("enter")
            await person.sees(problem)
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
        await person.sees("The run goes into mine. The session was chosen in Sessions")
        await person.press("escape", "3")
        await person.until(lambda: names(person)[0] == "mine")
        person.app.screen.table.go_to(folder / "mine.session")
        await person.press("equals_sign")
        await person.until(lambda: runs.chosen_session() is None)


async def test_renaming_takes_file_name_and_the_open_session_along(start, make_session):
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


async def test_a_session_that_is_written_is_neither_renamed_nor_deleted(start, make_session):
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


async def test_marked_sessions_are_merged_into_a_new_one(start, make_session):
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


def test_one_failed_run_does_not_brand_a_session_for_good(make_session):
    path = make_session("again")
    with SessionWriter(path) as writer:
        writer.add_run("first", "document", {})
        writer.set_run("first", state="failed", error="no key")
        writer.update("runs", {"id": "first"}, {"created_at": 5.0})
    (entry,) = [with_facts(entry) for entry in found_sessions() if not entry.example]
    assert (entry.facts.state, entry.facts.left, entry.facts.resumable) == ("done", 1, True)
    with SessionWriter(path) as writer:
        writer.archive_run("first")
    (entry,) = [with_facts(entry) for entry in found_sessions() if not entry.example]
    assert (entry.facts.left, entry.facts.resumable) == (0, False)


def test_the_state_of_a_session_is_that_of_its_newest_work():
    assert state_of({"failed", "done"}, "done") == "done"
    assert state_of({"failed", "done"}, "failed") == "failed"
    assert state_of({"failed", "unscored"}, "unscored") == "unscored"
    assert state_of({"failed", "interrupted", "done"}, "done") == "interrupted"
    assert state_of({"cancelled", "failed"}, "cancelled") == "failed"
    assert state_of(set(), "") == "empty"


def test_what_was_found_is_remembered_until_the_file_is_written(make_session):
    path = make_session("kept")
    (entry,) = [with_facts(entry) for entry in found_sessions() if not entry.example]
    memory = SessionCache()
    memory.put(entry)
    memory.save([entry])
    (now,) = [entry for entry in found_sessions() if not entry.example]
    assert SessionCache().get(now) == entry
    with SessionWriter(path) as writer:
        writer.set_labels(SESSION, "", add=("new",))
    (now,) = [entry for entry in found_sessions() if not entry.example]
    assert SessionCache().get(now) is None
    with sqlite3.connect(path) as database:  # what a process decides is never taken from memory
        database.execute("UPDATE runs SET state = 'running'")
    database.close()
    (now,) = [with_facts(entry) for entry in found_sessions() if not entry.example]
    memory.put(now)
    assert memory.get(now) is None


class Ended:
    """An engine that has ended."""

    def wait(self) -> int:
        return 0


@pytest.fixture
def at_once(monkeypatch):
    """Runs are executed in this process, when they are launched."""

    def launch(session, run, warm=None):
        log = launching.engine_log(run)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as output, contextlib.redirect_stdout(output):
            serve(session, run)
        return Ended()

    monkeypatch.setattr(launching, "launch", launch)


@pytest.mark.usefixtures("at_once")
async def test_files_of_other_programs_come_into_the_session_under_the_cursor(start, make_session, tmp_path):
    session = make_session("mine")
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
        person.app.screen.query_one("#file").value = str(tmp_path / "chat.jsonl")
        person.app.screen.query_one("#format").value = "words"
        await person.press("enter")
        await person.sees("There is no importer 'words'.")
        person.app.screen.query_one("#format").value = ""
        await person.press("enter")
        await person.sees("1 imported")
    with SessionReader(session) as reader:
        assert reader.runs()[-1].name == "import: chat.jsonl"
