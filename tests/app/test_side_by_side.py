"""Anything side by side: marks outlive their session, samples, evaluators and runs are compared, and the way back leads there."""

from pathlib import Path

from compared import two_agents, two_trials
from driving import on, press, quiet, regeneration, screen_text, sees, table_of_trials, trajectory, until
from recorded import Recorder as TrialRecorder
from recorded import word_counter
from regenerated import Recorder
from samples.hostile_names import NAME, obeyed
from textual.pilot import Pilot
from textual.widgets import Input

from workbench.app.compare_screen import SideBySide
from workbench.app.difference_list import DifferenceList, laid_out
from workbench.app.location import Location, MarkedItem, MarkedPair
from workbench.app.runs_screen import RunsScreen
from workbench.comparison.groups import GROUPS, RUNS, pass_at
from workbench.comparison.panes import ComparisonKind
from workbench.comparison.tasks import CANDIDATES, TASKS
from workbench.comparison.trial_sets import TRIAL_SETS
from workbench.comparison.trials import TRIALS
from workbench.regeneration.passk import PassEstimate
from workbench.statistics.intervals import Value
from workbench.statistics.paired import Paired

OTHER = "openai/other"


def two_evaluators(path: Path, *, name: str = "count_text") -> Path:
    """Record a run of two evaluators on two tasks."""
    recorder = Recorder(path)
    recorder.run()
    tasks = [recorder.task(name, 0), recorder.task("total", 1)]
    for task, mine, theirs in zip(tasks, ("✓✗✓", "✓✓✓"), ("✗✗✗", "✓✓✓"), strict=True):
        recorder.cells(task, mine)
        recorder.cells(task, theirs, evaluator=OTHER)
    recorder.close()
    return path


async def shown(pilot: Pilot[int], kind: ComparisonKind) -> SideBySide:
    """Wait until a comparison of a kind is shown."""
    screen = await on(pilot, SideBySide)
    await until(pilot, lambda: screen.kind is kind, kind.what)
    await until(pilot, lambda: screen.comparison is not None and screen.comparing.idle, "both")
    if kind in (GROUPS, RUNS):
        await until(pilot, lambda: screen.detailing.idle and screen.detail, "the task")
    await pilot.pause()
    return screen


async def test_a_mark_outlives_its_session_and_the_way_back_leads_to_the_comparison(tmp_path, home):
    here, there = two_trials(tmp_path / "here.session"), tmp_path / "there.session"
    recorder = TrialRecorder(there)
    recorder.run()
    word_counter(recorder, "abroad", readme="# word_counter\n\nAnother text.\n")
    word_counter(recorder, "second", repeat=2)
    recorder.close()
    async with trajectory(here, (160, 50)) as (pilot, _):
        app = pilot.app
        await table_of_trials(pilot)
        await pilot.press("g", "space")
        await sees(pilot, "marked: white · word_counter · rep 1")
        app.go_to(Location(there, "trajectory", "abroad"))
        await until(pilot, lambda: app.session_path == there and app.selected_trial == "abroad", "the other session")
        await sees(pilot, "rep 1 of here.session")
        table = await table_of_trials(pilot)
        await until(pilot, lambda: table.table.selected is not None, "the cursor")
        await pilot.press("C")
        screen = await shown(pilot, TRIALS)
        assert (screen.pair.left.session, screen.pair.right.session) == (here, there)
        await sees(pilot, "here.session", "there.session")
        await pilot.press("enter")
        await until(pilot, lambda: app.session_path == here and app.selected_trial == "long", "A in its own session")
        await until(pilot, lambda: not isinstance(app.screen, SideBySide), "the trial")
        await pilot.press("alt+left")
        again = await shown(pilot, TRIALS)
        assert again.pair == screen.pair
        runs = (MarkedItem(path, "run", "run-1", of_trials=True) for path in (here, there))
        app.show_pair(MarkedPair(*runs))
        beside = await shown(pilot, TRIAL_SETS)
        await pilot.press("tab")
        assert "1 in both · only A 1 · only B 0" in screen_text(app)
        assert beside.lists[0].selected is not None
        await pilot.press("S")
        await until(pilot, lambda: beside.comparison is not None and beside.comparing.idle, "the other way round")
        await pilot.press("g", "enter")
        assert (await shown(pilot, TRIALS)).pair.left.kind == "trial"


async def test_six_keys_tell_which_criterion_costs_an_agent_most(tmp_path, home):
    session = two_agents(tmp_path / "agents.session", cases=20, unscored=2)
    async with trajectory(session, (120, 40)) as (pilot, _):
        table = await table_of_trials(pilot)
        await until(pilot, lambda: table.table.selected is not None, "the cursor")
        await pilot.press("b", "space", "down", "space", "C")
        screen = await shown(pilot, TRIAL_SETS)
        assert screen.lists[0].has_focus
        first = next(row for row in screen.comparison.panes["Points"].rows if row.title and row.gap)
        assert first.title == "Usage"
        text = screen_text(pilot.app)
        for words in ("1 of 12 differ", "2 Usage", "18 of 20", "p (Holm)", "95 % interval"):
            assert words in text, words
        await pilot.press("f")
        assert "Clarity" not in screen_text(pilot.app)
        await pilot.press("S")
        await until(pilot, lambda: screen.comparison is not None and screen.comparing.idle, "the other way round")
        usage = next(row for row in screen.comparison.panes["Points"].rows if row.title == "Usage")
        assert usage.paired.gap == -first.paired.gap


async def test_two_samples_two_evaluators_and_down_to_a_sample(tmp_path, home):
    async with regeneration(two_evaluators(tmp_path / "two.session"), (120, 40)) as (pilot, mode):
        app = pilot.app
        await press(pilot, mode, "v", "tab", "space")
        await until(pilot, lambda: mode.doing.idle and app.marks.of("candidate"), "the mark")
        await press(pilot, mode, "l")
        await pilot.press("C")
        await shown(pilot, CANDIDATES)
        text = screen_text(app)
        for words in ("sample 1", "sample 2", "✓ passed", "✗ failed", "docstring the same", "only B 1", "Original → A"):
            assert words in text
        assert "Prompts" not in text
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is mode, "the mode")
        # Whose docstring is looked at sees both, also where they are the same.
        mode.sample.choose("Docstring")
        await press(pilot, mode, "C")
        docs = await shown(pilot, CANDIDATES)
        await until(pilot, lambda: docs.focused is not None and docs.focused.id == "docstrings-list", "the docstrings")
        assert "Docstrings · the same" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is mode, "the mode")
        mode.focus_pane(mode.query_one("#tasks"))
        await press(pilot, mode, "M", "v", "C")
        groups = await shown(pilot, GROUPS)
        rows = groups.lists[0]
        assert rows.selected.name == "count_text"
        text = screen_text(app)
        for words in ("▼ count_text", "2/3", "0/3", "−0.67", "B wins 0, ties 1, loses 1", "2 in both", "✗ 3"):
            assert words in text, words
        await pilot.press("f")
        assert "the same" in screen_text(app)
        await pilot.press("enter")
        samples = await shown(pilot, CANDIDATES)
        assert samples.comparison.to_json()["a"]["verdict"] == "passed"
        assert samples.comparison.to_json()["b"]["evaluator"] == OTHER
        await pilot.press("S")
        await until(pilot, lambda: samples.comparison.to_json()["a"]["evaluator"] == OTHER, "the other way round")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is mode and quiet(mode), "the sample")
        assert (mode.following.evaluator or mode.view.evaluator) == OTHER
        await pilot.press("alt+left")
        await shown(pilot, CANDIDATES)


async def test_two_tasks_from_the_table_with_a_name_that_lies(tmp_path, home):
    async with regeneration(two_evaluators(tmp_path / "two.session", name=NAME), (120, 40)) as (pilot, mode):
        app = pilot.app
        await press(pilot, mode, "g", "space")
        assert app.marks.of("task")
        await press(pilot, mode, "j", "C")
        screen = await shown(pilot, TASKS)
        text = screen_text(app)
        for words in ("2 of 2 differ", "0 in both · only A 15 · only B 14", "differ in: function"):
            assert words in text, words
        assert not obeyed(text)
        await pilot.press("f", "n", "N", "tab", "tab", "tab")
        await until(pilot, lambda: getattr(screen.focused, "id", "") == "tests-list", "the tests")
        await pilot.press("g")
        rows = screen.query_one("#tests-list", DifferenceList)
        while rows.selected is not None and rows.selected.left is not None:
            await pilot.press("j")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is mode and quiet(mode), "task B")
        assert mode.selected_task.name == "total"
        await pilot.press("alt+left")
        again = await shown(pilot, TASKS)
        await pilot.press("S")
        await until(
            pilot,
            lambda: again.comparison is not None and again.comparison.to_json()["a"]["name"] == "total",
            "swapped",
        )
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.focused, Input), "the question")
        # A session is never written over; what was typed stays.
        app.focused.value = str(tmp_path / "two.session")
        await pilot.press("enter")
        await sees(pilot, "is a session file")
        app.focused.value = str(tmp_path / "tasks.md")
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "tasks.md").exists() and app.screen is again, "the file")
        assert "| function | total |" in (tmp_path / "tasks.md").read_text()


async def test_two_runs_with_hostile_names_and_a_file_that_is_gone(tmp_path, home):
    path = tmp_path / "runs.session"
    recorder = Recorder(path)
    for run, cells in (("one", "✓✓✓"), ("two", "✗✗✗")):
        recorder.run(run_id=run)
        recorder.cells(recorder.task(NAME, 0, run_id=run), cells, run_id=run)
    recorder.writer.add_run("three", "document", {"cases": ["word_counter"]})
    recorder.close()
    async with regeneration(path, (120, 40)) as (pilot, _):
        app = pilot.app
        await pilot.press("U")
        await on(pilot, RunsScreen)
        await until(pilot, lambda: app.screen.table.rows, "the runs")
        await pilot.press("C")
        await sees(pilot, "Mark a run with space")
        by_id = {
            one: MarkedItem(path, "run", one, run=one, of_trials=one == "three") for one in ("one", "two", "three")
        }
        app.marks.toggle(by_id["one"])
        app.marks.toggle(by_id["two"])
        await pilot.press("C")
        screen = await shown(pilot, RUNS)
        assert "B wins 0, ties 0, loses 1" in screen_text(app)
        assert not obeyed(screen_text(app))
        app.show_pair(MarkedPair(by_id["one"], by_id["three"]))
        await sees(pilot, "Run B has trials, not tasks")
        app.show_pair(MarkedPair(screen.pair.left, MarkedItem(tmp_path / "gone.session", "run", "one")))
        await sees(pilot, "gone.session")


async def test_prompt_and_what_it_takes(tmp_path, home):
    async with trajectory(two_trials(tmp_path / "two.session"), (120, 40), "long") as (pilot, mode):
        mode.content.choose("Prompt")
        await until(pilot, lambda: "tokens sent" in screen_text(pilot.app) and mode.content.loader.idle, "the prompt")
        await sees(pilot, "system", "You document repositories.")
        await pilot.press("S")
        assert 'names "click", which the' in screen_text(pilot.app)
        await pilot.press("W")
        await sees(pilot, "missing points", "+7  Dependencies")
        assert mode.score_pane.selected.title == "Dependencies"
        await pilot.press("j")
        assert mode.score_pane.selected.title == "Completeness"
        await pilot.press("right_square_bracket")
        await sees(pilot, "side by side", "b strict")
        await pilot.press("left_square_bracket")
        assert "missing points" in screen_text(pilot.app)
        await pilot.press("W", "W")
        assert "side by side" not in screen_text(pilot.app)


def test_the_interval_of_the_difference_stands_whole_or_not_at_all():
    def paired(files: int) -> Paired:
        cells = [(f"file{at}", at % 3 / 2, at % 2 / 1) for at in range(files)]
        left, right = ([Value("r", file, pair[side]) for file, *pair in cells] for side in (0, 1))
        return Paired(left, right)

    estimate = PassEstimate(1, 0.5, 9, 0)
    for tally, known in ((paired(6), True), (paired(2), False)):
        columns = laid_out(pass_at("pass", 1, tally, estimate, estimate, 0), range(3))
        wide, narrow = ("".join(text for text, _ in columns.cells(2, width)) for width in (60, 16))
        assert ("[" in wide) == ("]" in wide) == known
        assert "[" not in narrow
        assert any(sign in narrow for sign in "+−0")
