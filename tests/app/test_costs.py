"""What each model cost over all sessions: counted once, and what a figure lacks stands beside it."""

import json
import shutil
from typing import Any

import pytest
from driving import Person, screen_text
from recorded import RUN, Recorder

from workbench.app.app import WorkbenchApp
from workbench.base import paths
from workbench.base.settings import Settings
from workbench.cli import main
from workbench.session import SessionWriter


def call(writer: SessionWriter, number: int, run: str | None = RUN, **more: Any) -> None:
    values = {
        "run_id": run, "scope": f"t{number}", "purpose": "agent", "model": "openai/gpt", "digest": f"d{number}", "sample": 0, "nth": 0,
        "messages_blob": writer.blob("[]"), "sampling": "{}", "attempts": "[]", "source": "live", "started_at": 10.0 + number,
        "prompt_tokens": 100, "completion_tokens": 10, "cost_usd": 0.5, "latency_s": 2.0,
    }  # fmt: skip
    writer.insert("calls", {**values, **more})


@pytest.fixture
def sessions():
    """Two sessions and a copy of one, in the user's folder."""
    folder = paths.sessions_dir()
    folder.mkdir(parents=True, exist_ok=True)
    first = Recorder(folder / "first.session")
    first.run(state="done")
    call(first.writer, 1)
    call(first.writer, 2, cost_usd=None)
    call(
        first.writer, 3, source="error", error_kind="timeout", prompt_tokens=None, completion_tokens=None, cost_usd=None
    )
    call(first.writer, 4, source="recorded")  # nobody was asked again
    call(first.writer, 5, run=None, model="local", cost_usd=0.0)
    first.close()
    second = Recorder(folder / "second.session")
    second.writer.add_run("regen", "regenerate", {})
    call(second.writer, 6, run="regen")
    second.close()
    shutil.copy(folder / "first.session", folder / "copy.session")
    return folder


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[tuple[str, str], dict[str, Any]]:
    assert main(["show", *arguments, "--costs", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {(row["model"], row["kind"]): row for row in rows}


def test_each_call_counts_once_whatever_sessions_have_it(sessions, capsys):
    rows = told(capsys)
    assert rows["openai/gpt", "document"] == {
        "model": "openai/gpt", "kind": "document", "sessions": 1, "requests": 3, "tokens_in": 200, "tokens_out": 20,
        "cost_usd": 0.5, "seconds": 6.0, "failed": 1, "unpriced": 2, "uncounted": 1,
    }  # fmt: skip
    assert (rows["openai/gpt", "regenerate"]["requests"], rows["openai/gpt", "regenerate"]["unpriced"]) == (1, 0)
    assert (rows["local", ""]["cost_usd"], rows["local", ""]["requests"]) == (0.0, 1)
    assert set(told(capsys, str(sessions / "second.session"))) == {("openai/gpt", "regenerate")}


async def test_the_app_lists_the_same(sessions):
    app = WorkbenchApp(None, Settings(), warm_engine=False)
    async with app.run_test(size=(160, 40)) as pilot:
        person = Person(app, pilot)
        await person.until(lambda: not app.is_opening)
        await person.press("3")
        await person.sees("second")
        await person.press("dollar_sign")
        await person.sees("openai/gpt", "5 requests · 440 tokens · $1.00", "2 without a price", "o sort  b group")
        assert "regenerate" in screen_text(app)
        await person.press("escape")
        await person.sees("first", "second")
        await person.press("1", "ctrl+p", *"what models cost")
        await person.sees("What models cost")
        await person.press("enter", "enter")
        await person.sees("5 requests · 440 tokens · $1.00")
