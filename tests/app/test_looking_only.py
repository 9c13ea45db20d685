"""A read-only app: every key that changes something is refused in a sentence, and below it everything that writes."""

import importlib
import pkgutil
from collections.abc import Callable

import pytest
from driving import Person

import workbench.app
from workbench.app.app import WorkbenchApp
from workbench.app.keys import CHANGING, WRITING_FILES, refusal
from workbench.base.read_only import VARIABLE, ReadOnly
from workbench.base.settings import Settings
from workbench.orders.launching import launch
from workbench.repository import fetch
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.session_folder import move


def test_every_action_that_it_refuses_exists():
    known = set()
    for module in pkgutil.walk_packages(workbench.app.__path__, "workbench.app."):
        for one in vars(importlib.import_module(module.name)).values():
            if isinstance(one, type):
                known |= {name.removeprefix("action_") for name in vars(one) if name.startswith("action_")}
    assert known >= CHANGING.keys() | WRITING_FILES


def test_what_is_refused_and_what_is_not(monkeypatch):
    free = {"in_dialog": False, "in_browser": False}
    assert refusal("rerun", **free) == ""
    monkeypatch.setenv(VARIABLE, "1")
    assert refusal("rerun", **free) == "This workbench is read-only, so it cannot start, resume or cancel runs."
    assert refusal("screen.fetch", **free) == "This workbench is read-only, so it cannot fetch sources."
    assert refusal("turn(-1)", **free) != ""
    # In a dialog the same name means something else; a browser downloads what a terminal would write.
    assert refusal("cancel", in_dialog=True, in_browser=False) == ""
    assert (refusal("export", **free) != "", refusal("export", in_dialog=False, in_browser=True)) == (True, "")
    assert refusal("scores", **free) == ""


def test_what_writes_fetches_or_starts_refuses_by_itself(make_session, tmp_path, monkeypatch):
    path = make_session()
    before = path.read_bytes()
    monkeypatch.setenv(VARIABLE, "1")
    tries: list[Callable[[], object]] = [
        lambda: SessionWriter(path),
        lambda: create(tmp_path / "new.session"),
        lambda: move(path, tmp_path / "moved.session"),
        lambda: launch(path, "run1"),
        lambda: fetch("python-dotenv==1.1.1"),
    ]
    for one in tries:
        with pytest.raises(ReadOnly, match="read-only, so it cannot"):
            one()
    assert path.read_bytes() == before
    with SessionReader(path) as reader:
        assert len(reader.trials()) == 1


async def test_keys_say_so_and_open_no_dialog(make_session, monkeypatch):
    path = make_session()
    monkeypatch.setenv(VARIABLE, "1")
    app = WorkbenchApp(path, Settings())
    async with app.run_test(size=(120, 40)) as pilot:
        person = Person(app, pilot)
        await person.sees("list_directory")
        depth = len(app.screen_stack)

        async def told(said: str) -> None:
            await person.until(lambda: any(f"cannot {said}" in notice.message for notice in app._notifications))

        for key, said in (
            ("r", "start, resume or cancel runs"),
            ("asterisk", "add stars"),
            ("x", "write files"),
            ("ctrl+e", "open another program"),
        ):
            await person.press(key)
            await told(said)
        assert len(app.screen_stack) == depth
        await person.press("1")
        await person.sees("Real projects")
        await person.press("enter")
        await told("start runs.")
        assert app.warm is None
