"""Every screen in each state of a session: a picture at 120×40; at other sizes nothing is cut, covered or out of sight.

One app walks through all screens of a state; the tests compare what it saw.
"""

import asyncio
import re
from pathlib import Path

import pytest
import states
import walking

from workbench.base import paths

pytestmark = pytest.mark.timeout(900)
NARROW = walking.OTHER_SIZES[:1]
Sizes = tuple[tuple[int, int], ...]
Seen = tuple[dict[str, str], list[str]]
LOOKS = [
    pytest.param(state, look.name, marks=pytest.mark.xdist_group(f"looks-{state}"), id=f"{state}-{look.name}")
    for state in states.STATES
    for look in walking.LOOKS
    if state in look.states
]
AGE = re.compile(r" {2,}(?:now|\d+ (?:min|h|d))(?= )")


@pytest.fixture
def session(own_folders, monkeypatch):
    """The only session there is."""
    bundled = paths.bundled
    monkeypatch.setattr(paths, "bundled", lambda name: own_folders / "none" if name == "sessions" else bundled(name))
    path = paths.sessions_dir() / "demo.session"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture(scope="module")
def walked():
    """What was seen so far."""
    return {}


def seen(walked: dict[tuple[str, Sizes], Seen], session: Path, state: str, sizes: Sizes) -> Seen:
    """Walk through a state, once."""
    if (state, sizes) not in walked:
        walked[state, sizes] = {}, ["the walk failed"]  # if it does, no other test walks again
        walked[state, sizes] = asyncio.run(walk(session, state, sizes))
    return walked[state, sizes]


async def walk(session: Path, state: str, sizes: Sizes) -> Seen:
    """Return the text of each screen by its name, and what is misplaced in other sizes."""
    states.STATES[state](session)
    texts, problems = {}, []
    with states.leased(session, state):
        async with walking.app_on(session) as pilot:
            for look in walking.LOOKS:
                if state in look.states:
                    await walking.go(pilot, look)
                    texts[look.name] = await walking.settled(pilot)
                    for size in sizes:
                        await walking.resize(pilot, size)
                        problems += [f"{look.name} {size}: {what}" for what in walking.misplaced(pilot.app)]
                    await walking.resize(pilot, walking.SIZE)
                    await walking.back(pilot)
    return texts, problems


def steady(text: str, name: str) -> str:
    """Return a screen without what differs from day to day and from machine to machine."""
    text = re.sub(r"\d{4}-\d\d-\d\d", "YYYY-MM-DD", text)
    if name in {"sessions", "runs"}:
        text = AGE.sub("  AGE", text)
    if name == "sessions":  # below the table stand folder and age; a longer folder takes a blank row of the table
        text = "\n".join(row for row in text[: text.rfind("╯")].splitlines() if row.strip("│ "))
    return re.sub(r"\d+(\.\d+)? [kM]B", "SIZE", text)


@pytest.mark.parametrize(("state", "name"), LOOKS)
def test_a_screen_looks_as_it_did(walked, session, state, name, snapshot):
    texts, _ = seen(walked, session, state, NARROW if state == walking.HUGE else ())
    assert steady(texts.get(name, "not seen"), name) == snapshot


@pytest.mark.xdist_group("looks-huge")
def test_in_a_narrow_terminal_nothing_is_cut_covered_or_out_of_sight(walked, session):
    _, problems = seen(walked, session, walking.HUGE, NARROW)
    assert not problems, "\n".join(problems)


@pytest.mark.slow
@pytest.mark.parametrize(
    "state",
    [
        pytest.param(state, marks=() if state in (walking.LIVE, walking.BUILDING) else pytest.mark.nightly)
        for state in states.STATES
    ],
)
def test_at_any_size_nothing_is_cut_covered_or_out_of_sight(walked, session, state):
    _, problems = seen(walked, session, state, walking.OTHER_SIZES)
    assert not problems, "\n".join(problems)
