"""What a ``[keymap]`` moves is named by its new key wherever a key is named."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

import states
import walking

from workbench.app.app import WorkbenchApp
from workbench.app.keys import key_of, use_keymap
from workbench.base import paths
from workbench.base.bindings import KEYS
from workbench.base.settings import Settings

MOVED = {
    **dict.fromkeys([one for one in KEYS if one.endswith(".resume")], "f20"),
    **dict.fromkeys([one for one in KEYS if one.endswith(".mark")], "f21"),
    **dict.fromkeys([one for one in KEYS if one.endswith(".compare")], "f22"),
    "app.cases": "f23",
    "app.sessions": "f24",
    "regeneration.new": "f18",
    "labels.star": "f19",
}
LITERAL = re.compile(
    r"[Pp]ress (?:[uC134*]|space|ctrl\+n)(?:[ .,]|$)|[:,·;] (?:[uC*]|space) (?:resum|star|ask|take|tries|mark|show)",
    re.M,
)


@pytest.fixture(autouse=True)
def _back_to_the_keys_that_all_have() -> object:
    yield
    use_keymap({})


def test_the_key_of_an_action_is_that_of_the_keymap_or_its_own() -> None:
    use_keymap({})
    assert [
        key_of(one)
        for one in (
            "app.marked",
            "runs.all",
            "regeneration.more",
            "app.help",
            "trajectory.escape",
            "pane.next",
            "pick.mark",
            "list.down",
        )
    ] == [*("#", ".", ">", "?", "esc", "tab", "space", "j")]
    use_keymap({"app.marked": "ctrl+b,#"})
    assert key_of("app.marked") == "ctrl+b"


@pytest.mark.parametrize(("state", "named"), [(walking.EMPTY, ("f23", "f18")), (walking.FAILED, ("f20",))])
async def test_texts_and_footers_name_the_keys_of_the_keymap(state: str, named: tuple[str, ...]) -> None:
    session = paths.sessions_dir() / "demo.session"
    session.parent.mkdir(parents=True)
    states.STATES[state](session)
    app, seen = WorkbenchApp(session, replace(Settings(), keymap=MOVED), warm_engine=False), ""
    app.paints = 0  # type: ignore[attr-defined]
    async with app.run_test(size=(120, 40)) as pilot:
        await walking.until(pilot, lambda: app.reader is not None and not app.is_opening, "the session")
        for mode in ("trajectory", "regeneration", "sessions", "cases", "study"):
            await app.action_mode(mode)
            for opens in ("", "U", "number_sign", "question_mark"):
                await pilot.press(*filter(None, [opens]))
                text = await walking.settled(pilot)
                assert not LITERAL.search(text), text
                seen += text
                if opens == "U":
                    await pilot.press("f22")
                    assert {one.message for one in app._notifications} <= {
                        "Mark a run with f21, then go to another one and press f22."
                    }
                if opens:
                    await pilot.press("escape")
                    await walking.settled(pilot)
    assert all(key in seen for key in named)


@pytest.mark.parametrize(
    ("mode", "key", "said"),
    [
        ("trajectory", "u", "There is nothing to resume here."),
        ("trajectory", "n", "There are no search hits here."),
        ("sessions", "e", "e does nothing here; it is a key of Trajectory."),
        ("sessions", "7", "7 does nothing here; ? lists the keys that do."),
        ("regeneration", "F", "No filter hides anything here."),
        ("trajectory", "alt+right", "The history has no entry in this direction."),
    ],
)
async def test_a_key_that_cannot_do_anything_says_why(mode: str, key: str, said: str) -> None:
    session = paths.sessions_dir() / "demo.session"
    session.parent.mkdir(parents=True)
    states.STATES[walking.EMPTY](session)
    app = WorkbenchApp(session, Settings(), warm_engine=False)
    app.paints = 0  # type: ignore[attr-defined]
    async with app.run_test(size=(120, 40)) as pilot:
        await walking.until(pilot, lambda: app.reader is not None and not app.is_opening, "the session")
        await app.action_mode(mode)
        await walking.settled(pilot)
        for _ in range(3):
            await pilot.press("8", key)
        assert [notice.message for notice in app._notifications] == [said]
