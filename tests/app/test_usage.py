"""Usage runs in the app: in Regeneration, Trials and Trajectory, and the dialog that orders them."""

from __future__ import annotations

import pytest
import recorded
from driving import opened, press, screen_text, sees, until
from samples.usage_runs import RUN, add_usage_run
from textual.widgets import Input

from workbench.app.regeneration.new_run_dialog import UsageDialog
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.app.trials.screen import TrialsScreen
from workbench.plans.usage import UsagePlan
from workbench.results.page_scores import page_key, use_by_page
from workbench.results.usage import readme_use
from workbench.session import SessionReader, SessionWriter, create
from workbench.usage.reader_agent import prompt_version

LINES = {name: recorded.README.splitlines().index(text) + 1 for name, text in
         {"used": "python wordcount.py file.txt", "wrong": "# word_counter", "option": "| `--words` | only words |"}.items()}  # fmt: skip


@pytest.fixture
def session(own_folders):
    """Two trials, the first with a measured README."""
    made = recorded.Recorder(own_folders / "demo.session")
    made.run()
    recorded.word_counter(made, "t1")
    recorded.word_counter(made, "t2", repeat=2, readme="# other\n")
    with made.writer.transaction():
        add_usage_run(made.writer, recorded.README, LINES, label="trial t1")
    made.close()
    return made.path


async def shown(pilot, mode: str, kind: type):
    await pilot.press(mode)
    await until(pilot, lambda: isinstance(pilot.app.screen, kind), kind.__name__)
    return pilot.app.screen


async def test_a_usage_run_shows_what_readers_did_with_the_page(session):
    async with opened(session) as pilot:
        screen = await shown(pilot, "4", RegenerationScreen)
        await sees(pilot, "use of word_counter", "use@1 0.20", "names ", "no page 0.00", "sources 1.00", "worth ")
        await sees(pilot, "readers", "hidden call", "wordcount.count_lines", "unnamed", "wrong example")
        text = screen_text(pilot.app)
        assert not [word for word in ("pass@", "docstring", "function", "cover", "wordcount.py::") if word in text]
        await press(pilot, screen, "j")
        await sees(pilot, "gap: line 1 (Usage): wrong example: count_words('a b') gives", "2, not 3")
        await sees(pilot, "✗ answer('a  b c')", "expected 3", "got      0", "✓ answer('')", "Reference")
        await press(pilot, screen, "Y")
        await sees(pilot, "✗   1 # word_counter")
        await press(pilot, screen, "j")
        await sees(pilot, "expected '8\\n'", "got      prints nothing", "exit status 2")
        await press(pilot, screen, "D")
        await sees(pilot, "record its calls", "callables found", "no literal calls", "Dropped 1 callable")


async def test_a_page_is_marked_where_an_answer_rests_on_it(session):
    async with opened(session) as pilot:
        screen = await shown(pilot, "4", RegenerationScreen)
        await sees(pilot, "use@1 0.20")
        await press(pilot, screen, "Y")
        await sees(pilot, f"✓  {LINES['used']} python wordcount.py file.txt")


async def test_the_failure_analysis_shows_answers_and_calls(session):
    async with opened(session) as pilot:
        await shown(pilot, "4", RegenerationScreen)
        await sees(pilot, "use@1 0.20")
        await pilot.press("w")
        await sees(pilot, "expected 3, got 0", "There is no answer", "Statement")
        await pilot.press("j", "j", "j")
        await sees(pilot, "Reference")
        assert "is neither in the session" not in screen_text(pilot.app)


async def test_the_steps_of_a_reader_agent_open_from_its_sample(own_folders):
    path = own_folders / "demo.session"
    create(path)
    with SessionWriter(path) as writer, writer.transaction() as connection:
        add_usage_run(writer, recorded.README, LINES, reader="agent:local", prompt=prompt_version(8))
        first = "SELECT candidates.id FROM candidates JOIN tasks ON tasks.id = task_id WHERE context = 'README' AND position = 0"
        sample = connection.execute(first).fetchone()[0]
        writer.add_trial(sample, RUN, 0, ("word_counter", "word_counter"), "reader", "local", 1)
    async with opened(path) as pilot:
        screen = await shown(pilot, "4", RegenerationScreen)
        await sees(pilot, "use@1 0.20")
        await until(pilot, lambda: screen.detail.candidate == sample, "the sample is shown")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(pilot.app.screen, TrajectoryScreen), "its steps")
        await until(
            pilot, lambda: pilot.app.screen.state and pilot.app.screen.state.trial.id == sample, "of this sample"
        )


async def test_trials_have_a_column_for_the_use_of_their_readmes(session):
    async with opened(session, (160, 40)) as pilot:
        await shown(pilot, "2", TrajectoryScreen)
        await pilot.press("T")
        await until(pilot, lambda: isinstance(pilot.app.screen, TrialsScreen) and pilot.app.screen.table.rows, "trials")
        await sees(pilot, "use by literal")
        uses = {line.id: line.use.value if line.use else None for line in pilot.app.screen.table.rows}
        assert uses == {"t1": 0.2, "t2": None}
        assert "  use" in screen_text(pilot.app)


async def test_a_partial_result_says_of_how_many_tasks_it_is(own_folders):
    made = recorded.Recorder(own_folders / "demo.session")
    made.run()
    recorded.word_counter(made, "t1")
    made.trial("t2", repeat=2)
    with made.writer.transaction():
        add_usage_run(made.writer, recorded.README, LINES, decided=2)
    made.close()
    async with opened(made.path, (160, 40)) as pilot:
        await shown(pilot, "2", TrajectoryScreen)
        await pilot.press("T")
        await sees(pilot, "0.50 n 2")


async def test_a_trajectory_shows_the_use_of_its_readme_and_leads_to_its_lines(session):
    async with opened(session) as pilot:
        screen = await shown(pilot, "2", TrajectoryScreen)
        screen.show_trial("t1")
        await sees(pilot, "· use@1 0.20 ·", "aeo-bench ▾ · use@1 0.20", "trial 1 of 2")
        assert "names 1 of 5 tasks · no page 0.00 · sources 1.00" in " ".join(screen.score_pane.plain_text().split())
        screen.outcome.choose("Use")
        screen.focus_pane(screen.outcome)
        await sees(pilot, "use@1 0.20 · names", "4 gaps", "wrong example")
        listed = screen.outcome.uses
        assert [one.task.target.name for one in listed.rows][-1] == "wordcount.count_lines"  # without a gap
        await until(pilot, lambda: listed.has_focus, "the list has the focus")
        listed.set_cursor(
            next(at for at in range(1, 9) if listed.selectable(at) and _line_at(listed, at) == LINES["option"])
        )
        await press(pilot, screen, "enter")
        await until(
            pilot, lambda: screen.outcome.tab == "README" and screen.outcome.text.evidence, "the line is marked"
        )
        document = screen.outcome.text.document
        line = document.lines[screen.outcome.text.evidence[0].line]
        assert (line.source, line.mark) == (LINES["option"] - 1, ("✗", "bad"))
        assert {line.mark for line in document.lines if line.mark} == {("✗", "bad")}


def _line_at(listed, at: int) -> int:
    listed.set_cursor(at)
    return listed.line


async def test_a_readme_that_was_not_measured_says_which_key_measures_it(session):
    async with opened(session) as pilot:
        screen = await shown(pilot, "2", TrajectoryScreen)
        screen.show_trial("t2")
        await sees(pilot, "trial 2 of 2")
        screen.outcome.choose("Use")
        await sees(pilot, "Not measured yet. @ measures")


async def test_the_dialog_orders_the_readme_of_the_trial(session):
    async with opened(session) as pilot:
        screen = await shown(pilot, "2", TrajectoryScreen)
        screen.show_trial("t1")
        await sees(pilot, "trial 1 of 2")
        await pilot.press("at")
        await until(pilot, lambda: isinstance(pilot.app.screen, UsageDialog), "the dialog")
        dialog = pilot.app.screen
        assert [field.id for field in dialog.query(Input)] == ["reader", "samples", "limit"]
        await sees(pilot, "1 page × literal, beside no page and the sources")
        plan = dialog.read({"reader": "literal", "samples": "", "limit": "2"})
        assert plan == UsagePlan(source=str(session), limit=2)
        order = dialog.order(plan, {})
        assert (order.session, order.trials) == (session, ("t1",))
        dialog.query_one("#reader", Input).value = "no-such-provider/model"
        await pilot.press("enter")
        await sees(pilot, "no-such-provider")
        assert pilot.app.screen is dialog


async def test_the_dialog_of_the_regeneration_mode_has_a_source_and_a_page(session):
    async with opened(session) as pilot:
        await shown(pilot, "4", RegenerationScreen)
        await sees(pilot, "use@1 0.20")
        await pilot.press("at")
        await until(pilot, lambda: isinstance(pilot.app.screen, UsageDialog), "the dialog")
        dialog = pilot.app.screen
        assert [field.id for field in dialog.query(Input)] == [
            "source",
            "reader",
            "page",
            "samples",
            "limit",
            "session",
        ]
        assert dialog.query_one("#source", Input).value == "word_counter"


def test_the_newest_result_of_a_page_is_shown_and_finished_runs_are_read_once(session):
    with SessionReader(session) as reader:
        page = page_key("word_counter", reader.trial("t1").readme_blob)
        known = {}
        name, first = use_by_page(reader, known)
        assert (name, first[page].value, first[page].tasks, first[page].partial) == ("literal", 0.2, 5, False)
        known[RUN] = known[RUN][0], {}
        assert use_by_page(reader, known) == ("", {})
        use = readme_use(reader, page)
        assert readme_use(reader, page, use) is use
        assert (use.value, use.used.none.use_at[0].value, use.used.source.use_at[0].value) == (0.2, 0.0, 1.0)
        assert use.marks == {LINES["used"]: False, LINES["wrong"]: False, LINES["option"]: False}
        assert readme_use(reader, page_key("word_counter", "0" * 64)) is None
        assert readme_use(reader, page_key("another_project", page[1])) is None
