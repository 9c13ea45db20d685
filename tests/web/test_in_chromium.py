"""In a real browser: the app is used there, and a report is searched, printed and read on a phone."""

import json
from pathlib import Path

import pytest
from chromium import PROGRAM, Page, chromium
from samples.sessions import TOOL_CALL, add_scores, add_trial, card
from served import serving

from workbench.pages import write_report
from workbench.session.file import create
from workbench.session.writer import SessionWriter

pytest.importorskip("textual_serve", reason="the extra web is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PROGRAM, reason="no chromium on this machine")]

PHONE = (360, 740)  # pixels; about 46 columns


async def test_a_person_looks_on_a_screen_and_a_phone_and_takes_a_report_along(tmp_path):
    (tmp_path / "home" / "state").mkdir(parents=True)
    (tmp_path / "home" / "state" / "tour-was-shown").touch()
    with serving(tmp_path / "home") as served:
        async with chromium(tmp_path / "browser") as browser:
            page = await browser.page()
            await page.open(served.address)
            await page.sees("Workbench", "countdown_timer", "example.session")
            assert page.errors == []
            await page.press("2")
            await page.sees("trial 3 of 3")
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
            await page.call("Emulation.setTouchEmulationEnabled", enabled=False)
            await page.resize(1200, 700)
            # A report: the browser has the file.
            await page.press("x")
            await page.sees("Export report")
            await page.press("enter")
            await page.until(lambda: browser.downloaded, "a download")
            (report,) = browser.downloads.iterdir()
            assert report.name == "example.html"
            assert report.read_text().startswith("<!doctype html>")
            # Another person's browser opens the same session.
            other = await browser.page()
            await other.open(served.address)
            await other.sees("example.session")


BREAKING = "</script><script>document.title = 'broken'</script><img src=x onerror=\"document.title = 'broken'\">"


SHOWN = "[...document.querySelectorAll('section.item')].filter((one) => one.checkVisibility()).map((one) => one.id)"


def session_with_breaking_texts(path: Path) -> list[str]:
    """Write fourteen trials, more than are unfolded whole on paper; the third has a word that the others lack."""
    create(path, f"{BREAKING} name")
    names = []
    with SessionWriter(path) as writer:
        writer.add_run("run", "document", {})
        for number in range(14):
            observation = BREAKING + ("\nthe hidden\n   Needle (1+1)\x1b[31m" if number == 2 else "")
            names.append(
                add_trial(writer, "run", f"case{number}", 1, readme=f"# Title\n\n{BREAKING}\n", observation=observation)
            )
            add_scores(writer, names[-1], card(float(number % 13)))
    assert "Needle" not in TOOL_CALL
    return names


async def searched(page: Page, wanted: str) -> str:
    """Type into the field and return what is said of the matches once that stands."""
    await page.js(
        f"""new Promise((done) => {{
            const field = document.querySelector("#search input"), said = document.querySelector("#search output");
            new MutationObserver((_, watching) => {{ watching.disconnect(); done(); }}).observe(said, {{childList: true}});
            field.focus();
            field.value = {json.dumps(wanted)};
            field.dispatchEvent(new Event("input"));
        }})"""
    )
    return str(await page.js("document.querySelector('#search output').textContent"))


async def test_a_report_is_searched_printed_and_fits_a_phone(tmp_path):
    names = session_with_breaking_texts(tmp_path / "a.session")
    report = write_report(tmp_path / "a.session", "html", tmp_path / "a.html")
    assert isinstance(report, Path)
    async with chromium(tmp_path / "browser") as browser:
        page = await browser.page()
        await page.open(report.as_uri(), 390, 800)
        # Nothing of the texts ran or became an element, and nothing makes a phone scroll sideways.
        assert "name · Workbench report" in await page.js("document.title")
        assert await page.js("document.querySelectorAll('script').length") == 1
        assert await page.js("document.querySelectorAll('img').length") == 0
        assert await page.js("document.documentElement.scrollWidth <= innerWidth")
        await page.js("for (const one of document.querySelectorAll('details')) one.open = true")
        assert await page.js("document.documentElement.scrollWidth <= innerWidth")
        await page.js("for (const one of document.querySelectorAll('details.step')) one.open = false")

        # A word in a folded step: its trial stays, with its row; case and line breaks do not matter.
        assert await searched(page, "HIDDEN needle (1+1)") == "1 match in 1 of 14 trials"
        assert await page.js(SHOWN) == [f"trial-{names[2]}"]
        assert (
            await page.js("[...document.querySelectorAll('#trials tbody tr')].filter((one) => !one.hidden).length") == 1
        )
        await page.press("enter")
        assert await page.js("document.querySelector('#search output').textContent") == "1 of 1 match in 1 of 14 trials"
        assert await page.js("[...document.querySelectorAll('details.step[open]')].length") == 1
        marked = "[...CSS.highlights.get('found')].map((one) => one.toString().replace(/\\s+/g, ' ')).join()"
        assert await page.js(marked) == "hidden Needle (1+1)"
        assert await searched(page, "nowhere at all") == "0 matches in 0 of 14 trials"
        assert await page.js(SHOWN) == []
        await page.press("escape")
        assert len(await page.js(SHOWN)) == 14

        # On paper scores and evidence are unfolded, and black on white also where the screen is dark.
        await page.js("for (const one of document.querySelectorAll('details')) one.open = false")
        seen = "document.querySelector('.criteria .evidence li').checkVisibility()"
        assert not await page.js(seen)
        dark = [{"name": "prefers-color-scheme", "value": "dark"}]
        await page.call("Emulation.setEmulatedMedia", media="print", features=dark)
        assert await page.js(seen)
        colours = "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        assert await page.js(colours) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
        assert not await page.js("document.querySelector('#search').checkVisibility()")
