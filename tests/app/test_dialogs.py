"""What dialogs share: completed paths, last_answers answers, defaults that are those of the command line, what they say."""

import argparse

import pytest

from workbench.agents.names import current_name
from workbench.app.cases import run_dialog as cases
from workbench.app.regeneration import new_run_dialog as regeneration
from workbench.app.session_app import ended_message, notification
from workbench.app.toolkit.fields import completed_path
from workbench.app.toolkit.order_form import last_answers, save_answers
from workbench.base.errors import WorkbenchError
from workbench.base.settings import Settings, load
from workbench.cli import build_parser
from workbench.orders.regenerate import full_ask
from workbench.orders.run import RunOrder, with_defaults
from workbench.plans.plan import DocumentPlan, RegenerationPlan


def test_paths_are_completed_after_what_says_what_they_are(tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".git").mkdir()
    (tmp_path / "project" / "wordcount.py").write_text("")
    (tmp_path / "[b]odd").write_text("")
    (tmp_path / "bell\x07").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert completed_path(f"{tmp_path}/pro") == f"{tmp_path}/project/"
    assert completed_path(f"folder:{tmp_path}/project/w") == f"folder:{tmp_path}/project/wordcount.py"
    assert completed_path("~/pro") == "~/project/"
    assert completed_path("./project/") == "./project/wordcount.py", "what is hidden is named by its dot"
    assert completed_path("./project/.") == "./project/.git/"
    assert completed_path("pro") is None, "a name is no path"
    assert completed_path("folder:pro") == "folder:project/"
    assert completed_path(f"{tmp_path}/missing/x") is None
    assert completed_path(f"{tmp_path}/[") == f"{tmp_path}/[b]odd"
    assert completed_path(f"{tmp_path}/bel") is None
    assert completed_path("a\0b/c") is None
    assert completed_path("git+https://example.org/x") is None
    assert completed_path("requests==2.31.0") is None


def test_the_last_answers_come_back_until_the_default_changes():
    plain = {"model": "local", "repeats": "1"}
    assert last_answers("run", plain) == plain
    save_answers("run", {"model": "openai/gpt-4o", "repeats": "1"}, plain)
    assert last_answers("run", plain) == {"model": "openai/gpt-4o", "repeats": "1"}
    assert last_answers("other", plain) == plain
    set_since = {"model": "openai/gpt-5", "repeats": "1"}
    assert last_answers("run", set_since) == set_since, "who sets a model in the settings gets that"
    several = {"agents": ("white", "planner")}
    save_answers("study", {"agents": ("white",)}, several)
    assert last_answers("study", several) == {"agents": ("white",)}


@pytest.mark.parametrize("content", ["[]", '{"run": {"model": [1, "local"]}}', "\x00"])
def test_a_damaged_file_of_answers_is_as_if_never_answered(tmp_path, content):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "answers.json").write_text(content)
    assert last_answers("run", {"model": "local"}) == {"model": "local"}


def _arguments(*words: str) -> argparse.Namespace:
    return build_parser(words[0]).parse_args(words)


@pytest.mark.parametrize(
    "environment",
    [
        {"OPENAI_API_KEY": "sk-test"},
        {
            "WORKBENCH_AGENT": "planner",
            "WORKBENCH_JUDGE": "offline",
            "WORKBENCH_EVALUATOR": "stub",
            "WORKBENCH_MAX_STEPS": "7",
        },
    ],
)
def test_the_app_begins_with_what_the_command_line_takes(environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    known: Settings = load()
    given = _arguments("run", "word_counter")
    plan = with_defaults(
        DocumentPlan(
            ("word_counter",), current_name(given.agent or known.agent), given.model, given.judge, given.repeats
        )
    )
    assert cases.defaults(known) == {
        "agent": plan.agent,
        "model": plan.model,
        "judge": plan.judge,
        "repeats": str(plan.repeats),
    }
    given = _arguments("regenerate", "word_counter")
    ask = full_ask(
        RegenerationPlan("word_counter", evaluator=given.evaluator, samples=given.samples, limit=given.limit)
    )
    shown = regeneration.defaults(known)
    assert (shown["docs"], shown["evaluator"], shown["limit"]) == (given.docs, ask.evaluator, "")
    if ask.evaluator != "stub":
        assert shown["samples"] == str(ask.samples)


def test_the_end_of_runs_in_words():
    assert ended_message("demo", {"running": 1}, {"running": 1, "done": 1}) == ""
    assert ended_message("demo", {"running": 1, "done": 2}, {"done": 3}) == "demo: a run has ended, done"
    assert (
        ended_message("demo", {"running": 1, "queued": 1}, {"done": 1, "failed": 1})
        == "demo: 2 runs have ended, done, failed"
    )


def test_a_notification_is_one_sequence_whatever_the_session_is_called():
    said = notification("evil\x1b]0;x\x07; name", {"TERM": "xterm"})
    assert said.startswith("\x1b]9;")
    assert said.endswith("\x1b\\")
    assert "\x1b" not in said[4:-2]
    assert "\x07" not in said
    assert ";" not in said[4:-2]
    assert notification("x", {"TERM": "foot"}).startswith("\x1b]777;notify;Workbench;")


async def test_tab_completes_what_was_typed_and_else_goes_on(start, tmp_path):
    (tmp_path / "recording.session").write_text("")
    async with start() as person:
        await person.sees("word_counter")
        await person.press("enter")
        await person.sees("Run countdown_timer")
        dialog = person.app.screen
        model = dialog.query_one("#model")
        model.focus()
        await person.press("tab")
        assert dialog.focused.id == "judge", "what was not typed in is passed"
        assert model.value == "local"
        model.focus()
        model.value = f"replay:{tmp_path}/rec"
        model.cursor_position = len(model.value) - 1
        await person.press("end", "o")
        await person.until(lambda: bool(model._suggestion))
        await person.press("tab")
        assert model.value == f"replay:{tmp_path}/recording.session"
        assert dialog.focused is model


async def test_what_cannot_begin_is_said_in_the_dialog_and_nothing_typed_is_lost(start, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise WorkbenchError("The disk is full.")

    monkeypatch.setattr(RunOrder, "begin", refuse)
    async with start() as person:
        await person.sees("word_counter")
        await person.press("enter")
        await person.sees("Run countdown_timer", "= 1 trial")
        dialog = person.app.screen
        dialog.query_one("#repeats").value = "0"
        await person.sees("✗ Repeats must be a number from 1 to 100.")
        dialog.query_one("#repeats").value = "2"
        await person.sees("2 repeats")
        await person.press("enter")
        await person.sees("The disk is full.", "2 repeats")
        assert person.app.screen is dialog
        assert dialog.values["repeats"] == "2"
