"""The tour: followed by pressing what it says, left at any step, and never met by accident."""

from __future__ import annotations

import pytest

from workbench.app import app as whole_app
from workbench.app.app import tour_file
from workbench.base.settings import Settings


async def test_pressing_what_it_says_goes_through_it(start) -> None:
    async with start() as person:
        await person.sees("word_counter", "example.session")
        await person.app.action_tour()
        await person.sees("Tour 1 of 5 · Cases")
        before = person.app.screen.case_list.cursor
        await person.press("j")
        assert person.app.screen.case_list.cursor > before
        await person.press("k")
        assert person.app.screen.case_list.cursor == before
        await person.press("enter")
        await person.until(lambda: type(person.app.screen).__name__ == "RunDialog")
        await person.press("escape")  # the dialog's, not the tour's
        await person.sees("Tour 2 of 5 · Run")
        await person.press("U")
        await person.until(lambda: type(person.app.screen).__name__ == "RunsScreen")
        await person.app.screen.dismiss()
        await person.press("2")
        await person.sees("Tour 3 of 5 · Trajectory")
        screen = person.app.screen
        await person.until(lambda: screen.state is not None and screen.step_list.steps)
        trial = screen.state.trial.id
        await person.press("H")
        await person.until(lambda: screen.state.trial.id != trial)
        await person.press("H")
        await person.until(lambda: len(screen.step_list.steps) > 1)
        at = screen.step_list.cursor
        await person.press("h" if at > 1 else "l")
        await person.until(lambda: screen.step_list.cursor != at)
        await person.press("s")
        await person.sees("Tour 4 of 5 · Scores")
        assert screen.current_pane.id == "score"
        await person.press("j", "e")
        await person.press("4")
        await person.sees("Tour 5 of 5 · Regeneration and search")
        await person.press("ctrl+f")
        await person.until(lambda: person.app.tour.at is None)
        await person.until(lambda: type(person.app.screen).__name__ == "SearchScreen")


@pytest.mark.parametrize("step", [0, 2, 4])
async def test_escape_leaves_it_at_any_step(start, step: int) -> None:
    async with start(size=(60, 20)) as person:
        await person.sees("word_counter")
        person.app.tour.begin()
        for _ in range(step):
            person.app.tour.go_on()
        await person.sees(f"Tour {step + 1} of 5")
        await person.press("escape")
        await person.until(lambda: "Tour" not in person.screen_text)
        assert person.app.tour.at is None


async def test_it_is_in_the_palette_and_in_no_other_persons_way(start) -> None:
    async with start() as person:
        await person.sees("word_counter")
        assert person.app.tour.at is None
        assert not tour_file().exists()
        await person.press("ctrl+p")
        await person.type("tour")
        await person.sees("Tour of the app")
        await person.press("enter")
        await person.sees("Tour 1 of 5")
        assert tour_file().exists()


def test_only_a_person_who_opens_the_app_for_the_first_time_meets_it(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    begun = []
    monkeypatch.setattr(whole_app.WorkbenchApp, "run", lambda app: begun.append(app.starts_tour))
    whole_app.run_app(None, Settings())
    whole_app.run_app(tmp_path / "some.session", Settings())
    tour_file().parent.mkdir(parents=True, exist_ok=True)
    tour_file().touch()
    whole_app.run_app(None, Settings())
    assert begun == [True, False, False]
