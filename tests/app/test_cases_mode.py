from pathlib import Path

import pytest

from workbench.app.runs import default_session, place_of_run
from workbench.base import paths
from workbench.orders.run import RunOrder
from workbench.plans.plan import DocumentPlan
from workbench.results.scores import last_scores
from workbench.session import SessionReader


async def test_folders_open_with_vim_keys_and_an_outline_item_leads_to_its_place(start):
    async with start() as person:
        await person.sees("word_counter")
        await person.press("j", "j")
        await person.sees("word_counter.py")
        await person.press("l", "g", "l")
        await person.sees("▾ tests/", "test_counting.py")
        await person.press("h")
        await person.until(lambda: "test_counting.py" not in person.screen_text)
        await person.press("h")
        await person.until(lambda: person.app.screen.current_pane.id == "cases")
        await person.press("l", "G")
        await person.sees("Functions 38")
        await person.press("tab", "tab", "G")
        await person.until(lambda: person.app.screen.file_view.scroll_offset.y > 100)


@pytest.mark.slow
async def test_any_folder_can_be_browsed_and_readmes_are_marked_hidden(start, tmp_path):
    place = tmp_path / "thing"
    (place / "pkg").mkdir(parents=True)
    (place / "README.md").write_text("# told\n")
    (place / "pkg" / "core.py").write_text("def work():\n    return '\x1b[31mred\x1b[0m'\n")
    async with start() as person:
        await person.sees("word_counter")
        await person.press("ctrl+n")
        await person.sees("Open repository")
        await person.type(str(place))
        await person.press("enter")
        await person.sees("README.md", "1 hidden from agents", "Your own 1")
        await person.press("G")
        await person.sees("# told", "hidden from agents")
        await person.press("g", "l", "j")
        await person.sees("return 'red'", "ƒ work()")
        assert "\x1b" not in person.screen_text


@pytest.mark.slow
async def test_a_fetch_without_network_says_so_and_can_be_tried_again(start, monkeypatch):
    # A proxy that nobody answers at: every way out ends at once.
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    async with start() as person:
        await person.sees("art")
        await person.press("j", "j", "j")
        await person.sees("Not fetched yet.")
        await person.press("f5")
        await person.sees("Press f5 to try again", seconds=90)
        assert "Traceback" not in person.screen_text


async def test_marks_decide_what_runs_and_enter_asks_once(start):
    async with start() as person:
        await person.sees("word_counter")
        await person.press("space", "space")
        await person.sees("2 marked")
        await person.press("A")
        await person.sees("6 marked")
        await person.press("enter")
        await person.sees("Run 6 cases", "offline", "local")
        assert person.app.screen.focused.id == "start"
        await person.press("escape")
        await person.until(lambda: "Run 6 cases" not in person.screen_text)


@pytest.mark.slow
@pytest.mark.model
async def test_two_keys_start_a_run_that_appears_step_by_step(start):
    async with start() as person:
        await person.sees("word_counter")
        await person.press("j", "j")
        await person.sees("word_counter.py")
        await person.press("enter")
        await person.sees("Run word_counter")
        await person.press("enter")
        await person.until(lambda: person.app.current_mode == "trajectory", 30)
        await person.sees("word_counter", "list_directory", seconds=90)
        path = person.app.session_path
        assert path.parent == paths.sessions_dir()
        person.app.cancel_session(path)
        with SessionReader(path) as reader:
            await person.until(lambda: reader.run_state(reader.runs()[0]) not in {"queued", "running"}, 60)


def test_a_run_from_the_example_goes_into_a_new_session_and_counts_on(monkeypatch, make_session):
    launched: list[Path] = []
    monkeypatch.setattr("workbench.orders.launching.launch", lambda session, run, warm=None: launched.append(session))
    example = make_session("example")
    bundled = paths.bundled
    monkeypatch.setattr(paths, "bundled", lambda name: example.parent if name == "sessions" else bundled(name))
    plan = DocumentPlan(("word_counter",), model="local", judge="offline", first_repeat=0)
    session = RunOrder(place_of_run(str(example), "word_counter"), plan).begin().session
    assert session != example
    assert session.name.endswith("-word_counter.session")
    monkeypatch.setattr(paths, "bundled", bundled)
    assert RunOrder(place_of_run(str(session), "word_counter"), plan).begin().session == session
    with SessionReader(session) as reader:
        assert [one.repeat for one in reader.trials()] == [1, 2]
    assert launched == [session, session]


def test_the_newest_score_counts_and_a_waiting_trial_does_not_hide_it(make_session):
    path = make_session(points=(40.0, 0, 0, 0))
    from workbench.session.writer import SessionWriter

    with SessionWriter(path) as writer:
        writer.add_trial("later", "run1", 9, ("word_counter", "word_counter"), "white", "local", 2)
    with SessionReader(path) as reader:
        (score,) = last_scores(reader)["word_counter"]
    assert (score.agent, score.total.points, score.share) == ("white", 40.0, 0.4)


@pytest.mark.parametrize("name", ["\u200bhidden", "\x1b[31m", "n" * 190])
def test_a_session_whose_name_cannot_be_typed_is_not_offered_for_the_next_run(make_session, name):
    assert default_session(make_session("plain")) == "plain"
    assert default_session(make_session(name)) == ""
