"""Random keys on every screen, as fast as they come and with what waits in the app's queues in random order: the app never dies."""

import asyncio
import contextlib
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import states
import walking
from sweeps import ALL, spread
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.keys import _character_to_key
from textual.message import Message
from textual.message_pump import MessagePump
from textual.widgets import Input

from workbench.app.app import WorkbenchApp
from workbench.app.toolkit import workers as latest
from workbench.app.toolkit.lifecycle import BaseScreen, Dialog, RemovalSafe, is_gone
from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.settings import Settings

EACH = 2000 if ALL else 30
"""Keys on each screen; unless all is swept, each screen has its turn in one state of a session."""
OFTEN = ("enter", "escape", "tab", "ctrl+f", *"TUCVw#[]jlxfa 12345", "ctrl+n", "alt+left")
KEYS = (
    *map(chr, range(33, 127)),
    *("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "backspace", "delete", "shift+tab"),
    *("f1", "f2", "f5", "shift+up", "shift+down", "alt+right", "ctrl+home", "ctrl+end"),
    *(f"ctrl+{letter}" for letter in "abcdefgklnopqrstuvwxyz"),
)
SIZES = [Size(*size) for size in ((30, 10), (60, 15), *walking.OTHER_SIZES, walking.SIZE)]


class KeptApp(WorkbenchApp):
    """An app that no key leaves; it notes what would end it."""

    def __init__(self, session: Path, faults: list[object]) -> None:
        super().__init__(session, Settings(), warm_engine=False)
        self.faults = faults

    def _handle_exception(self, error: Exception) -> None:
        self.faults.append(error)
        super()._handle_exception(error)

    async def action_quit(self) -> None:
        """Stay."""


@pytest.fixture
def faults(monkeypatch, own_folders):
    """What went wrong so far; nothing leaves this process: no engine is started, nothing fetched or imported."""
    found: list[object] = []
    sentence_of = latest.sentence_of

    def noted(error: Exception) -> str:
        if not isinstance(error, WorkbenchError | OSError):
            found.append(error)
        return sentence_of(error)

    def no_engine(*_: object, **__: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["true"], stdin=subprocess.PIPE)

    monkeypatch.setattr(latest, "sentence_of", noted)
    monkeypatch.setattr("workbench.orders.launching.engine_process", no_engine)
    monkeypatch.setattr("workbench.app.cases.files.Fetcher.fetch", lambda *_: None)
    bundled = paths.bundled
    monkeypatch.setattr(paths, "bundled", lambda name: own_folders / "none" if name == "sessions" else bundled(name))
    monkeypatch.chdir(own_folders)
    return found


@contextlib.contextmanager
def busy(chance: random.Random) -> Iterator[None]:
    """Let what waits in the app's queues have its turn in random order, as on a machine that does much else."""
    dispatch = MessagePump._dispatch_message

    async def late(pump: MessagePump, message: Message) -> None:
        for _ in range(chance.choice((0, 0, 0, 0, 1, 2, 5, 20))):
            await asyncio.sleep(0)
        await dispatch(pump, message)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MessagePump, "_dispatch_message", late)
        yield


def press(app: WorkbenchApp, key: str) -> None:
    """Press a key as a terminal tells it: nobody waits for what it does."""
    app.post_message(events.Key(key if len(key) > 1 else _character_to_key(key), key if len(key) == 1 else None))


def resize(app: WorkbenchApp, size: Size) -> None:
    app.post_message(events.Resize(size, size))


async def storm(app: WorkbenchApp, chance: random.Random, count: int, faults: list[object]) -> list[str]:
    """Press ``count`` random keys, and resize the terminal now and then; returns them."""
    pressed = []
    with busy(chance):
        for _ in range(count):
            pressed.append(chance.choice(OFTEN if chance.random() < 0.5 else KEYS))
            press(app, pressed[-1])
            if chance.random() < 0.02:
                resize(app, chance.choice(SIZES))
            for _ in range(chance.choice((0, 0, 1, 5, 50, 200))):
                await asyncio.sleep(0)
            if faults:
                break
    return pressed


async def handled(app: WorkbenchApp) -> None:
    """Wait until what was posted so far has been handled, by the app and by the screen that has the keys."""
    for node in (app, app.screen, app):
        done = asyncio.Event()
        if node.call_later(done.set):
            async with asyncio.timeout(120):
                while not done.is_set() and not is_gone(node):  # a screen that ends meanwhile drops what waits for it
                    await asyncio.sleep(0.01)


async def answers(app: WorkbenchApp, pressed: list[str]) -> None:
    """Check that keys still lead from wherever the app is to the list of sessions."""
    resize(app, SIZES[-1])
    end = time.monotonic() + 60
    while time.monotonic() < end:
        await handled(app)
        if app.current_mode == "sessions" and len(app.screen_stack) == 1:
            return
        press(app, "3" if len(app.screen_stack) == 1 and not isinstance(app.focused, Input) else "escape")
        await asyncio.sleep(0.05)  # a screen that is still being built answers late on a busy machine
    last = " ".join(pressed[-40:])
    pytest.fail(f"nothing leads to the sessions from {app.screen_stack} after {last}\n{walking.screen_text(app)}")


async def walk(
    template: Path, state: str, looks: list[walking.Look], chance: random.Random, faults: list[object]
) -> None:
    """Go to each screen, each time in a copy of the template, and press keys there, which may delete any session."""
    asyncio.get_running_loop().set_exception_handler(lambda _, told: faults.append(told.get("exception") or told))
    app = KeptApp(template, faults)
    async with app.run_test(size=walking.SIZE, notifications=True) as pilot:
        for number, look in enumerate(looks):
            session = paths.sessions_dir() / f"{number}.session"
            shutil.copy(template, session)
            with states.leased(session, state):
                await walking.until(pilot, lambda: not app.is_opening, "the app")
                app.open_session(session)
                await walking.until(pilot, opened(app, session), "the session")
                await pilot.press(look.mode)
                for key in look.keys:
                    if key == "tour":
                        app.tour.begin()
                    else:
                        await pilot.press(key)
                pressed = await storm(app, chance, EACH, faults)
                if not faults:
                    await answers(app, pressed)
                if faults:
                    print(f"{look.name}: {' '.join(pressed[-40:])}")
                    return


def opened(app: WorkbenchApp, session: Path) -> Callable[[], Any]:
    return lambda: app.reader is not None and app.reader.path == session


@pytest.mark.timeout(3600 if ALL else 600)
@pytest.mark.parametrize(
    "state",
    [
        pytest.param(state, marks=pytest.mark.slow if state == walking.LIVE else pytest.mark.nightly)
        for state in walking.FILLED
    ],
)
def test_no_keys_end_the_app(faults, state, own_folders):
    template = own_folders / "template" / "demo.session"
    template.parent.mkdir()
    paths.sessions_dir().mkdir(parents=True)
    states.STATES[state](template)
    looks = spread(walking.LOOKS, len(walking.FILLED), walking.FILLED.index(state))
    try:
        asyncio.run(walk(template, state, looks, random.Random(state), faults))
    except Exception:
        if not faults:
            raise
    for fault in faults:
        raise fault if isinstance(fault, BaseException) else AssertionError(fault)


@pytest.mark.slow
@pytest.mark.parametrize("keys", ["U escape T escape", "4 2 ctrl+f escape"])
async def test_what_is_left_as_soon_as_it_was_opened(faults, keys):
    session = paths.sessions_dir() / "demo.session"
    session.parent.mkdir(parents=True)
    states.live(session)
    app = KeptApp(session, faults)
    async with app.run_test(size=walking.SIZE) as pilot:
        await walking.until(pilot, lambda: app.reader is not None and not app.is_opening, "the session")
        chance = random.Random(keys)
        for _ in range(5):
            with busy(chance):
                for key in keys.split():
                    press(app, key)
                await handled(app)
            await walking.until(pilot, lambda: faults or len(app.screen_stack) == 1, "the mode")
        assert not faults


async def test_what_is_typed_before_a_screen_is_there_is_typed_into_it(faults):
    session = paths.sessions_dir() / "demo.session"
    session.parent.mkdir(parents=True)
    states.live(session)
    app = KeptApp(session, faults)
    async with app.run_test(size=walking.SIZE) as pilot:
        await walking.until(pilot, lambda: app.reader is not None and not app.is_opening, "the session")
        for key in ("ctrl+f", *"quick"):
            press(app, key)
        await walking.until(pilot, lambda: [field.value for field in app.screen.query(Input)] == ["quick"], "the text")


@pytest.mark.parametrize("seed", range(2))
async def test_what_was_deferred_while_a_screen_was_shown_outlives_it(seed):
    """Else a screen that is opened as another one ends never takes a key."""
    chance, app = random.Random(seed), App[None]()
    async with app.run_test() as pilot:
        with busy(chance):
            for _ in range(20):
                done = asyncio.Event()
                app.push_screen(Dialog[None]())
                await asyncio.sleep(0)
                app.call_after_refresh(done.set)
                for _ in range(chance.randrange(20)):
                    await asyncio.sleep(0)
                app.screen.dismiss(None)
                await walking.until(pilot, done.is_set, "what was deferred")


async def test_what_asks_a_screen_for_a_widget_after_it_was_removed_does_not_end_the_app():
    class Left(BaseScreen[None]):
        def compose(self) -> ComposeResult:
            yield Input(id="text")

    class Leaving(RemovalSafe, App[None]):
        asked = False

        async def ask(self, screen: Left) -> None:
            await screen.remove()
            self.asked = True
            screen.query_one("#text", Input)

    app = Leaving()
    async with app.run_test() as pilot:
        screen = Left()
        await app.push_screen(screen)
        app.pop_screen()
        app.call_later(app.ask, screen)
        await walking.until(pilot, lambda: app.asked, "the question")
        await app.push_screen(Left())
        await walking.until(pilot, lambda: app.screen.query("#text"), "the next screen")
