"""The app in a real browser: it opens, is used, and shows what runs; a second browser sees the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import PROGRAM, chromium
from engine.author import Author
from loopback.server import LoopbackServer
from served import serving

pytest.importorskip("textual_serve", reason="the extra web is not installed")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="no chromium on this machine")

PHONE = (360, 740)  # pixels; about 46 columns


async def test_a_person_looks_runs_and_takes_a_report_along(loopback_server: LoopbackServer, tmp_path: Path) -> None:
    loopback_server.answer = author = Author(stop_at=3)
    settings = {
        "WORKBENCH_BASE_URL": loopback_server.base_url,
        "WORKBENCH_AGENT_MODEL": "openai/scripted",
        "WORKBENCH_JUDGE": "offline",
    }
    (tmp_path / "home" / "state").mkdir(parents=True)
    (tmp_path / "home" / "state" / "tour-was-shown").touch()
    with serving(tmp_path / "home", **settings) as served:
        async with chromium(tmp_path / "browser") as browser:
            page = await browser.page()
            await page.open(served.address)
            await page.sees("Workbench", "countdown_timer", "example.session")
            assert page.errors == []
            # Steps of the recorded trial.
            await page.press("2")
            await page.sees("trial 3 of 3")
            page.forget()
            await page.press("H", "H")
            await page.sees("trial 1 of 3", "list_directory")
            page.forget()
            await page.press("g", "l")
            await page.sees("2 read_file")
            # A phone's width: the same place, laid out anew, and nothing wider than the screen.
            page.forget()
            await page.call("Emulation.setTouchEmulationEnabled", enabled=True)
            await page.resize(*PHONE)
            await page.sees("[Steps]")
            # A finger presses what a phone's keyboard lacks.
            page.forget()
            await page.tap("#keys [data-key=Tab]")
            await page.sees("[Step]")
            assert await page.js("document.documentElement.scrollWidth <= innerWidth")
            page.forget()
            await page.call("Emulation.setTouchEmulationEnabled", enabled=False)
            await page.resize(1200, 700)
            await page.sees("Workbench")
            # A report: the browser has the file.
            await page.press("x")
            await page.sees("Export report")
            await page.press("enter")
            await page.until(lambda: browser.downloaded, "a download")
            (report,) = browser.downloads.iterdir()
            assert report.name == "example.html"
            assert report.read_text().startswith("<!doctype html>")
            # A run that goes on: its first step is there while the second waits for its model.
            page.forget()
            await page.press("1")
            await page.sees("countdown_timer")
            await page.press("enter")
            await page.sees("openai/scripted")
            page.forget()
            await page.press("enter")
            await page.sees("running", seconds=150)
            # Another person's browser opens the session that was changed last, which is this one.
            other = await browser.page()
            await other.open(served.address)
            await other.sees("countdown_timer.session")
            await other.press("2")
            await other.sees("running")
            for one in (page, other):
                one.forget()
            author.go.set()
            await page.sees("✓ done", "respond", seconds=150)
            await other.sees("✓ done", "respond", seconds=150)


async def test_with_a_token_and_read_only(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving(home, "--host", "127.0.0.1", "--read-only") as served:
        async with chromium(tmp_path / "browser") as browser:
            bare, token = served.address.split("?token=")
            assert len(token) >= 32
            for wrong in (bare, f"{bare}?token={token[:-1]}", f"{bare}?token="):
                page = await browser.page()
                await page.open(wrong)
                assert set(page.statuses.values()) == {403}
                assert "token" in await page.js("document.body.innerText")
                assert page.painted == ""
            page = await browser.page()
            await page.open(served.address)
            await page.sees("countdown_timer", "Description for agents")
            # Each key that would change something says so, and no dialog opens.
            for keys, told in (
                (("enter",), "read-only, so it cannot start runs"),
                (("V",), "start, resume"),
                (("G", "f5"), "read-only, so it cannot fetch sources"),
                (("2", "r"), "start, resume"),
                (("*",), "stars, tags or remarks"),
            ):
                page.forget()
                await page.press(*keys)
                await page.sees(told)
            # What only shows works, the download too.
            await page.press("x")
            await page.sees("Export report")
            await page.press("enter")
            await page.until(lambda: browser.downloaded == ["example.html"], "a download")
    assert not list((home / "data").rglob("*.session"))
