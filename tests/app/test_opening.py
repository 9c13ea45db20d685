"""The way to the first mode: what is painted first, and keys that come before it."""

from __future__ import annotations

from pathlib import Path

from workbench.app import WorkbenchApp
from workbench.app.opening import OpeningScreen
from workbench.base.settings import Settings


class Waiting(WorkbenchApp):
    """Stays at what is painted first until it is told to go on."""

    async def _show_first_mode(self) -> None:
        pass

    def go_on(self) -> None:
        """Go on."""
        self.call_later(super()._show_first_mode)


async def test_what_is_painted_first_names_the_session_and_keys_are_kept_for_the_mode(make_session) -> None:
    path = make_session("[bold]measured")
    app = Waiting(path, Settings(), warm_engine=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert isinstance(app.screen, OpeningScreen)
        shown = ["".join(part.text for part in strip).rstrip() for strip in app.screen._compositor.render_strips()]
        assert shown[0].strip() == "Workbench  [bold]measured.session"
        assert [line.strip() for line in shown[1:] if line.strip()] == ["Opening [bold]measured.session…"]
        assert len(list(app.screen.query("*"))) == 2  # each further widget is styled before the first frame
        await pilot.press("3")
        assert isinstance(app.screen, OpeningScreen)
        app.go_on()
        while app.current_mode != "sessions":
            await pilot.pause()


async def test_a_session_that_is_none_is_said_in_the_first_mode(tmp_path: Path) -> None:
    app = WorkbenchApp(tmp_path / "gone.session", Settings(), warm_engine=False)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        while app.is_opening or not app._notifications:
            await pilot.pause()
        assert app.current_mode == "trajectory"
        assert "gone.session" in next(iter(app._notifications)).message
