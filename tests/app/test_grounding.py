"""Where a README comes from, on the screen: marks in it, the list of its items, the exploration, the table of trials."""

import json

import pytest
from driving import press, quiet, screen_text, table_of_trials, trajectory, until
from recorded import Recorder

from workbench.app.trajectory.grounding_list import GroundingList
from workbench.repository import fetch
from workbench.results import grounding as kept
from workbench.results.grounding import KeptGroundings
from workbench.session import SessionReader, SessionWriter

README = """# wordy

Install it with `pip install tabulate`, then:

```bash
python wordy.py --top 5
```

- `count_words` counts, `merge_all` merges and `conjure_words` conjures.
"""
CODE = "import tabulate\n\n\ndef count_words(text):\n    parser.add_argument('--top')\n"


@pytest.fixture
def session(tmp_path, home):
    """A trial on a real repository in the cache, of which the agent read one file; and one on a repository that is gone."""
    folder = tmp_path / "wordy"
    (folder / "tools").mkdir(parents=True)
    (folder / "wordy.py").write_text(CODE)
    (folder / "tools" / "merging.py").write_text("def merge_all(*counts):\n    return counts\n")
    snapshot = fetch(f"folder:{folder}")
    path = tmp_path / "why.session"
    recorder = Recorder(path)
    recorder.run()
    for repeat, (key, digest) in enumerate((("here", snapshot.digest), ("gone", "0" * 64)), 1):
        recorder.trial(key, repeat=repeat, state="running", case="wordy")
        recorder.writer.add_snapshot(digest, "folder", "", [(one.path, one.size) for one in snapshot.files])
        recorder.writer.set_trial(key, snapshot=digest)
        recorder.tool(key, 1, "list_directory", ".", json.dumps(["tools/", "wordy.py"]))
        recorder.tool(key, 2, "read_file", "missing.py", "Error: 'missing.py' does not exist: conjure_words.")
        recorder.tool(key, 3, "read_file", "wordy.py", CODE)
        recorder.seen(key, "wordy.py", "read", 3, len(CODE))
        recorder.step(key, 4, "respond", "respond", "README 0.2 kB", answer="{}")
        recorder.finish(key, readme=README)
    recorder.close()
    return path


def looked_up(screen) -> bool:
    return quiet(screen) and screen.outcome.why is not None


async def test_w_marks_the_items_with_signs_and_counts_and_lights_what_a_step_gave(session):
    async with trajectory(session, (140, 44), "here") as (pilot, screen):
        await pilot.press("w")
        await until(pilot, lambda: looked_up(screen) and "conjure_words✗" in screen_text(pilot.app), "the marks")
        shown = screen_text(pilot.app)
        assert "6 items · 4 seen · 1 not looked at · 1 nowhere" in shown
        for marked in ("count_words●", "merge_all○", "--top●", "wordy.py●", "tabulate●"):
            assert marked in shown
        screen.step_list.select_number(3)
        await until(pilot, lambda: quiet(screen) and len(screen.outcome.text.evidence) == 4, "what step 3 gave")
        screen.step_list.select_number(1)
        await until(pilot, lambda: quiet(screen) and len(screen.outcome.text.evidence) == 1, "what step 1 gave")
        await press(pilot, screen, "w")
        assert "conjure_words✗" not in screen_text(pilot.app)


async def test_the_list_begins_with_inventions_and_enter_goes_to_the_step_or_the_line(session):
    async with trajectory(session, (140, 44), "here") as (pilot, screen):
        screen.go_to_outcome("Grounding")
        screen.focus_pane(screen.outcome)
        await until(pilot, lambda: looked_up(screen) and screen.outcome.items.display, "the list")
        screen.focus_pane(screen.outcome)
        assert isinstance(screen.focused, GroundingList)
        items = screen.outcome.items.rows
        assert [item.text for item in items][:2] == ["conjure_words", "merge_all"]
        assert "tools/merging.py:1" in screen_text(pilot.app)
        at = next(number for number, item in enumerate(items) if item.text == "count_words")
        await press(pilot, screen, *["j"] * at)
        assert screen.step_number == 3  # the step follows the cursor
        await press(pilot, screen, "enter")
        await until(pilot, lambda: quiet(screen) and screen.content.text.evidence, "the mark in the observation")
        mark = screen.content.text.evidence[0]
        assert screen.content.text.document.lines[mark.line].text[mark.start : mark.end] == "count_words"
        screen.focus_pane(screen.outcome)
        await press(pilot, screen, "g", "enter")
        await until(pilot, lambda: quiet(screen) and screen.outcome.tab == "README", "the README")
        assert screen.outcome.text.evidence


async def test_a_repository_that_is_not_here_makes_nothing_an_invention(session):
    async with trajectory(session, (140, 44), "gone") as (pilot, screen):
        screen.go_to_outcome("Explored")
        await until(
            pilot, lambda: looked_up(screen) and "asked once for a nonexistent path" in screen_text(pilot.app), "it"
        )
        assert "not on this machine" in " ".join(screen_text(pilot.app).split())
        screen.go_to_outcome("Grounding")
        await until(pilot, lambda: quiet(screen) and "2 not seen" in screen_text(pilot.app), "the counts")
        assert "nowhere" not in screen_text(pilot.app)


async def test_the_table_of_trials_counts_and_filters(session):
    async with trajectory(session, (200, 44), "here") as (pilot, _):
        screen = await table_of_trials(pilot)
        await until(pilot, lambda: {line.nowhere for line in screen.table.trials.lines} == {1, None}, "the counts")
        lines = {line.id: line for line in screen.table.trials.lines}
        assert lines["here"].unseen == 1
        assert lines["here"].shown == pytest.approx(100 * 74 / 116)  # of 74 and 42 bytes
        wanted = screen.table.filter.choosing("grounding", "nowhere")
        assert screen.filter_trials(wanted) == 1
        assert "nowhere > 0" in screen_text(pilot.app)


def test_what_was_counted_is_remembered_until_something_changes(session, monkeypatch):
    asked: list[str] = []
    really = kept.read_trial
    monkeypatch.setattr(kept, "read_trial", lambda reader, trial: asked.append(trial.id) or really(reader, trial))
    with SessionReader(session) as reader:
        first = dict(KeptGroundings().all_of(reader))
        assert dict(KeptGroundings().all_of(reader)) == first
        assert sorted(asked) == ["gone", "here"]
    with SessionWriter(session) as writer:
        writer.set_trial("here", readme_blob=writer.blob("# wordy\n\n`conjure_all` and `conjure_words`\n"))
    with SessionReader(session) as reader:
        assert dict(KeptGroundings().all_of(reader))["here"].nowhere == 2
    assert sorted(asked) == ["gone", "here", "here"]
