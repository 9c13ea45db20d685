"""Every screen in four states: as it looks at three sizes, and that from 60×15 to 250×80 nothing is cut without saying so.

One app walks through all screens of a state; the tests look at what it saw.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import states
import walking

from workbench.base import paths

Seen = dict[tuple[str, tuple[int, int]], tuple[str, list[str]]]
TABLE = [
    pytest.param(
        state,
        look.name,
        size,
        marks=pytest.mark.xdist_group(f"looks-{state}"),
        id=f"{state}-{look.name}-{size[0]}x{size[1]}",
    )
    for state in states.STATES
    for look in walking.LOOKS
    if state in look.states
    for size in walking.SIZES
]
SWEEP = [pytest.param(state, marks=pytest.mark.xdist_group(f"looks-{state}")) for state in states.STATES]


async def _walk(session: Path, state: str) -> Seen:
    """Look at every screen in every size: its text, and what is cut."""
    seen: Seen = {}
    with states.leased(session, state):
        async with walking.app_on(session, walking.SIZES[1]) as pilot:
            for look in walking.LOOKS:
                if state in look.states:
                    await walking.go(pilot, look)
                    for size in (*walking.SIZES, *walking.EDGES.get(state, ())):
                        await pilot.resize_terminal(*size)
                        await walking.until(pilot, lambda size=size: pilot.app.screen.size == size, f"{size}")
                        text = await walking.settled(pilot)
                        seen[look.name, size] = text, walking.cut(pilot.app, text)
                    await pilot.resize_terminal(*walking.SIZES[1])
                    await walking.back(pilot)
    return seen


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Seen]]:
    """What was seen, by state; filled as the tests ask for it."""
    seen: dict[str, Seen] = {}
    yield seen
    seen.clear()


@pytest.fixture
def seen(
    walked: dict[str, Seen], request: pytest.FixtureRequest, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> Seen:
    """What was seen in the state of this test."""
    state = request.node.callspec.params["state"]
    if state not in walked:
        bundled = paths.bundled
        monkeypatch.setattr(
            paths, "bundled", lambda name: own_folders / "none" if name == "sessions" else bundled(name)
        )
        session = paths.sessions_dir() / "demo.session"
        session.parent.mkdir(parents=True)
        states.STATES[state](session)
        walked[state] = asyncio.run(_walk(session, state))
    return walked[state]


AGE = re.compile(r" {2,}(?:now|\d+ (?:min|h|d))(?= )")


def steady(text: str, name: str) -> str:
    """Return a screen without what differs from day to day and from machine to machine."""
    text = re.sub(r"\d{4}-\d\d-\d\d", "YYYY-MM-DD", text)
    if name in {"sessions", "runs"}:
        text = AGE.sub("  AGE", text)
    if name == "sessions":  # below the table stand folder and age; a longer folder takes a blank row of the table
        rows = text[: text.rfind("╯")].splitlines()
        text = "\n".join(row for row in rows if row.strip("│ "))
    return re.sub(r"\d+(\.\d+)? [kM]B", "SIZE", text)


@pytest.mark.parametrize(("state", "name", "size"), TABLE)
def test_every_screen_as_a_person_sees_it(
    seen: Seen, state: str, name: str, size: tuple[int, int], snapshot: object
) -> None:
    assert steady(seen[name, size][0], name) == snapshot


@pytest.mark.parametrize("state", SWEEP)
def test_nothing_is_cut_without_an_ellipsis_and_the_width_is_used(seen: Seen, state: str) -> None:
    problems = [f"{name} {size}: {what}" for (name, size), (_, cut) in seen.items() for what in cut]
    assert not problems, "\n".join(problems)
