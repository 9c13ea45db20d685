"""Work in threads: only the newest request counts, or all in their order; failures become sentences."""

import threading
from collections.abc import Callable

from driving import until
from textual.app import App
from textual.pilot import Pilot

from workbench.app.toolkit.workers import LatestWorker, LiveLoader
from workbench.base.errors import WorkbenchError
from workbench.session.rows import Change


class Small(App[None]):
    """An app that keeps what its notices say."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def notify(self, message: str, **_: object) -> None:
        self.said.append(message)


async def _asked(pilot: Pilot[None], loader: LatestWorker) -> list[int]:
    """Ask for four things while the first is at work; return what was done."""
    gate, done = threading.Event(), []
    loader.ask(lambda: (gate.wait(30), 1)[1], done.append)
    for number in (2, 3, 4):
        loader.ask(lambda number=number: number, done.append)
    gate.set()
    await until(pilot, lambda: loader.idle, "all that was asked for")
    return done


async def test_of_what_waits_only_the_newest_is_done():
    async with Small().run_test() as pilot:
        assert await _asked(pilot, LatestWorker(pilot.app, "test")) == [1, 4]


async def test_actions_are_all_done_in_their_order():
    async with Small().run_test() as pilot:
        assert await _asked(pilot, LatestWorker(pilot.app, "test", every=True)) == [1, 2, 3, 4]


async def test_a_long_job_shows_what_it_has_and_learns_that_it_is_outdated():
    async with Small().run_test() as pilot:
        loader, gate, shown = LatestWorker(pilot.app, "test"), threading.Event(), []

        def long() -> str:
            loader.report(shown.append, "half")
            gate.wait(30)
            return "outdated" if loader.outdated else "whole"

        loader.ask(long, shown.append)
        await until(pilot, lambda: shown == ["half"], "the first half")
        loader.ask(lambda: "newer", shown.append)
        gate.set()
        await until(pilot, lambda: loader.idle, "both")
        assert shown == ["half", "outdated", "newer"]


async def test_what_goes_wrong_is_a_sentence_and_the_next_job_is_done():
    def bad() -> None:
        raise WorkbenchError("The file is gone.")

    async with Small().run_test() as pilot:
        loader, said, done = LatestWorker(pilot.app, "test", every=True), [], []
        loader.ask(bad, done.append, said.append)
        loader.ask(bad, done.append)
        loader.ask(lambda: 1, done.append)
        await until(pilot, lambda: loader.idle, "all")
        assert said == ["The file is gone."]
        assert pilot.app.said == ["The file is gone."]
        assert done == [1]


async def test_what_a_session_says_is_read_again_after_a_change_of_its_kind_and_never_shown_for_another_session():
    async with Small().run_test() as pilot:
        gate, begun, shown = threading.Event(), [], []

        def read(reader: str) -> Callable[[], str]:
            begun.append(reader)
            return lambda: (gate.wait(30), f"{reader} {len(begun)}")[1]

        live = LiveLoader(pilot.app, "test", read, shown.append, kinds={"run"}, seconds=0.01, nothing="no session")
        pilot.app.reader = None
        live.refresh()
        assert shown == ["no session"]
        pilot.app.reader = "one"
        live.refresh()
        for kind in ("run", "run", "trial"):
            live.on_changes([Change(0, kind, "r", "")])
        gate.set()
        await until(pilot, lambda: live.settled, "both readings")
        assert shown == ["no session", "one 1", "one 2"]
        live.on_changes([Change(0, "trial", "r", "")])
        assert live.settled
        gate.clear()
        live.refresh()
        pilot.app.reader = "two"
        gate.set()
        await until(pilot, lambda: live.settled, "the reading of a session that is open no more")
        assert len(shown) == 3
