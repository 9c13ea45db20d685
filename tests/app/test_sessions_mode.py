from __future__ import annotations

import os
import re
import sqlite3
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from regenerated import RUN, Recorder, word_counter
from trajectory_app import screen_text

from workbench.app.sessions.session_files import found_sessions, size_text, with_facts
from workbench.base.text import age
from workbench.session import SessionReader


@pytest.fixture
def several(make_session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with a finished, an interrupted, a cancelled, a damaged and a newer session; no bundled example."""
    from workbench.base import paths

    bundled = paths.bundled
    monkeypatch.setattr(paths, "bundled", lambda name: tmp_path / "none" if name == "sessions" else bundled(name))
    files = [
        make_session("done", ("word_counter", "countdown_timer"), ("white", "planner")),
        make_session("stopped", state="running"),
        make_session("cancelled", state="cancelled"),
        make_session("newer"),
    ]
    for place, file in enumerate(files):
        recorded_at(file, 1_700_000_000 - place * 90_000)
    with sqlite3.connect(files[3]) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    damaged = files[0].with_name("damaged.session")
    damaged.write_bytes(files[0].read_bytes()[:3000])
    for place, file in enumerate([*files, damaged]):
        os.utime(file, (1_700_000_000 - place * 90_000,) * 2)
    return damaged.parent


def recorded_at(file: Path, then: float) -> None:
    """Let everything in a session have been recorded at a time."""
    with sqlite3.connect(file) as database:
        database.execute("UPDATE runs SET created_at = ?, started_at = NULL, finished_at = NULL", (then,))
        database.execute("UPDATE trials SET started_at = NULL, finished_at = NULL")
    database.close()


def steady(text: str) -> str:
    """Return a screen without ages, sizes and the test's own folder."""
    text = re.sub(r"\d+ (d|h|min) |  now ", "  AGE ", text)
    text = re.sub(r"\d+ kB", "SIZE", text)
    text = re.sub(r"workbench \d[\w.]*", "workbench OURS", re.sub(r"for schema \d+", "for schema OURS", text))
    return re.sub(r"/\S*pytest\S*/", "/FOLDER/", text)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_file_is_a_row_also_the_broken_ones(start, several, snapshot, size: tuple[int, int]) -> None:
    async with start(size=size) as person:
        await person.until(lambda: person.app.facts is not None)
        await person.press("3")
        await person.sees("✓ done", "‖ interrupted", "⊘ cancelled", "Sessions 5")
        await person.until(lambda: person.screen_text.count("! unusable") == 2)
        rows = [line.rstrip(" │") for line in person.screen_text.splitlines() if "│" in line]
        assert steady("\n".join(row for row in rows if row.strip(" │"))) == snapshot


async def test_the_sentence_of_a_broken_file_can_be_read_whole(start, several) -> None:
    async with start() as person:
        await person.press("3")
        await person.until(lambda: person.screen_text.count("! unusable") == 2)
        await person.press("G")
        await person.sees("damaged.session")
        await person.until(lambda: "nothing was changed" in person.screen_text.replace("\n", " "))


async def test_enter_opens_and_shows_the_newest_trial(start, several) -> None:
    async with start() as person:
        await person.press("3")
        await person.sees("Sessions 5", "✓ done")
        await person.press("g", "enter")
        await person.until(lambda: person.app.current_mode == "trajectory")
        assert person.app.session_path == several / "done.session"


async def test_cancelling_an_interrupted_run_marks_it_and_a_done_one_is_not_resumed(start, several) -> None:
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


async def test_a_deleted_session_comes_back_also_after_a_restart(start, several) -> None:
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
        await person.sees("Sessions 5", "cancelled is back")
    assert path.read_bytes() == before
    assert not list((several / "trash").iterdir())


async def test_the_example_is_only_read(start, make_session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from workbench.base import paths

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


async def test_no_session_at_all_says_what_to_do(start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from workbench.base import paths

    bundled = paths.bundled
    monkeypatch.setattr(paths, "bundled", lambda name: tmp_path / "none" if name == "sessions" else bundled(name))
    async with start() as person:
        await person.press("3")
        await person.sees("There are no sessions yet", "Sessions 0")


async def test_a_report_is_exported(start, several, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    async with start() as person:
        await person.press("3")
        await person.sees("✓ done")
        await person.press("g", "x")
        await person.sees("Export report", "csv (a line per trial")
        person.app.screen.query_one("#file").value = str(out)
        await person.sees("Written as json.")
        await person.press("enter")
        await person.sees("The report is in", seconds=30)
    assert out.read_text().lstrip().startswith("{")


async def test_a_report_in_a_format_of_a_package_is_written_and_one_that_ends_its_process_is_told(
    start, several, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apart_reports.py").write_text(
        "class Cases:\n    def render(self, session):\n"
        "        return ''.join(f'{one.case_name}\\n' for one in session.trials())\n"
    )
    (tmp_path / "ending_reports.py").write_text("import os\nos._exit(7)\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    async with start() as person:
        await person.press("3")
        await person.sees("✓ done")
        for format, told in (
            ("apart_reports:Cases", "The report is in"),
            ("ending_reports:Cases", "could not be written"),
        ):
            await person.press("g", "x")
            await person.sees("Export report", "package.module:Class")
            person.app.screen.query_one("#file").value = str(tmp_path / "cases.txt")
            await person.sees(".txt does not imply a format; choose one.")
            await person.press("enter")  # is refused, and leads to the field that lacks something
            person.app.screen.query_one("#format").value = "points"
            await person.sees("There is no report format 'points' of this")
            person.app.screen.query_one("#format").value = format
            await person.sees(f"Written as {format}.")
            await person.press("enter")
            await person.sees(told, seconds=60)
    assert (tmp_path / "cases.txt").read_text() == "word_counter\ncountdown_timer\n" * 2
    assert "apart_reports" not in sys.modules


def test_a_session_that_was_opened_elsewhere_is_listed_too(make_session, tmp_path: Path) -> None:
    path = make_session("here")
    moved = tmp_path / "elsewhere.session"
    path.rename(moved)
    (entry,) = [entry for entry in found_sessions(moved) if not entry.example]
    facts = with_facts(entry).facts
    assert facts is not None
    assert (entry.path, facts.state, facts.trials) == (moved, "done", 1)


async def test_age_is_that_of_what_was_recorded_not_of_the_file(start, several) -> None:
    os.utime(several / "cancelled.session")  # as copying or merely opening an older one does
    async with start() as person:
        await person.press("3")
        await person.sees("Sessions 5", "✓ done")
        await person.until(lambda: person.screen_text.count("! unusable") == 2)
        names = [entry.path.stem for entry in person.app.screen.table.shown]
        assert names == ["done", "stopped", "cancelled", "newer", "damaged"]
        row = next(line for line in person.screen_text.splitlines() if "⊘ cancelled" in line)
        assert " now " not in row


async def test_a_failed_self_check_is_told_in_the_list(start, several) -> None:
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
        await person.sees("Self-check failed: a control does not hold on 1 task; a cold re-check gave another verdict")
        await person.press("enter")
        await person.until(lambda: person.app.current_mode == "regeneration")
        await person.sees("✗ SELF-CHECK FAILED", "✗ VERDICTS DISAGREE")


def test_ages_and_sizes_are_short() -> None:
    assert [age(0, now) for now in (5, 65, 7300, 200_000)] == ["now", "1 min", "2 h", "2 d"]
    assert [size_text(size) for size in (10, 147_456, 2_500_000)] == ["1 kB", "147 kB", "2.5 MB"]
