"""Work in threads: only the newest request counts, or all in their order; failures become sentences."""

from __future__ import annotations

import threading

from textual.app import App
from textual.pilot import Pilot
from trajectory_app import until

from workbench.app.toolkit.latest import Latest
from workbench.errors import WorkbenchError


class Small(App[None]):
    """An app that settles what its threads bring."""

    def __init__(self) -> None:
        super().__init__()
        self.unseen: list[Exception] = []

    def on_latest_finished(self, message: Latest.Finished) -> None:
        error = message.loader.settle(message)
        if error is not None:
            self.unseen.append(error)

    def on_latest_reported(self, message: Latest.Reported) -> None:
        self.on_latest_finished(message)


async def _asked(pilot: Pilot[None], loader: Latest) -> list[int]:
    """Ask for four things while the first is at work; return what was done."""
    gate, done = threading.Event(), []
    loader.ask(lambda: (gate.wait(30), 1)[1], done.append)
    for number in (2, 3, 4):
        loader.ask(lambda number=number: number, done.append)
    gate.set()
    await until(pilot, lambda: loader.idle, "all that was asked for")
    return done


async def test_of_what_waits_only_the_newest_is_done() -> None:
    async with Small().run_test() as pilot:
        assert await _asked(pilot, Latest(pilot.app, "test")) == [1, 4]


async def test_actions_are_all_done_in_their_order() -> None:
    async with Small().run_test() as pilot:
        assert await _asked(pilot, Latest(pilot.app, "test", every=True)) == [1, 2, 3, 4]


async def test_a_long_job_shows_what_it_has_and_learns_that_it_is_outdated() -> None:
    async with Small().run_test() as pilot:
        loader, gate, shown = Latest(pilot.app, "test"), threading.Event(), []

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


async def test_what_goes_wrong_is_a_sentence_and_the_next_job_is_done() -> None:
    def bad() -> None:
        raise WorkbenchError("The file is gone.")

    async with Small().run_test() as pilot:
        loader, said, done = Latest(pilot.app, "test", every=True), [], []
        loader.ask(bad, done.append, said.append)
        loader.ask(bad, done.append)
        loader.ask(lambda: 1, done.append)
        await until(pilot, lambda: loader.idle, "all")
        assert said == ["The file is gone."]
        assert [str(error) for error in pilot.app.unseen] == ["The file is gone."]
        assert done == [1]
