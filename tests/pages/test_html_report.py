"""The HTML report: one page that loads nothing, runs only our own script, and shows hostile texts letter by letter."""

from __future__ import annotations

import base64
import hashlib
import http.server
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages.parsed_html import ParsedHtml, assert_harmless
from samples.sessions import HOSTILE, add_trial

from workbench.pages import html as html_pages
from workbench.pages import write_report
from workbench.pages.html import rendered
from workbench.session import SessionWriter, create

SCRIPT = Path(html_pages.__file__).with_name("report.js").read_text(encoding="utf-8")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def page_of(session: Path, item: str | None = None) -> ParsedHtml:
    """A report, in which the one script is ours to the letter and the policy lets nothing else run."""
    html = write_report(session, "html", None, item)
    assert isinstance(html, str)
    page = ParsedHtml(html)
    assert re.findall(r"<script>(.*?)</script>", html, re.DOTALL | re.IGNORECASE) == [SCRIPT]
    assert len(re.findall(r"<script", html, re.IGNORECASE)) == 1
    policy = [a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert [part.strip() for part in str(policy[0]).split(";")] == [
        "default-src 'none'", "style-src 'unsafe-inline'", "base-uri 'none'", "form-action 'none'",
        f"script-src 'sha256-{digest}'",
    ]  # fmt: skip
    assert_harmless(page)
    assert not {"\x1b", "\u202e"} & set(page.text)
    return page


def session_of(path: Path, *trials: dict[str, object]) -> Path:
    """A session of trials, each a fork of the first one where it says ``fork``."""
    create(path)
    with SessionWriter(path) as writer:
        writer.add_run("run", "document", {})
        first = ""
        for repeat, one in enumerate(trials, 1):
            parent = {"parent": first, "fork_step": 1} if one.pop("fork", False) else {}
            name = add_trial(writer, "run", "alpha", repeat, **(parent | one))  # type: ignore[arg-type]
            first = first or name
    return path


def test_a_document_session_with_hostile_texts(documented: tuple[Path, dict[str, str]]) -> None:
    session, names = documented
    page = page_of(session)
    for words in ("<script>alert(1)</script> Title", "demo <i>name</i>", "look <here>", "longer than 180 s", "11 / 26", "8 / 26",
                  "Main purpose", "names <b>it</b>", "line 1: <script>alert(5)</script>", "a.py:3: x"):  # fmt: skip
        assert words in page.text
    inner = [str(a["href"])[1:] for tag, a in page.tags if tag == "a" and str(a["href"]).startswith("#")]
    assert set(inner) <= set(page.ids)
    assert {f"trial-{name}" for name in names.values()} <= {*inner, *page.ids}
    one = page_of(session, names["second"][:6])
    assert f"trial-{names['second']}" in one.ids
    assert f"trial-{names['first']}" not in one.ids


def test_a_regeneration_session(regenerated: tuple[Path, dict[str, str]]) -> None:
    page = page_of(regenerated[0])
    for words in ("✓✗↯✓", "0.67", "tests/test_a.py::test_one", "assert '<' == 1", "E  assert </pre>", "the stub passed",
                  "no test runs it", "reference (control)", "return '</pre>' * 3", "Against the original +1 −1 lines",
                  # The margin is left out on both sides: models indent as they like.
                  "- return text.count('<')\n+ return '</pre>' * 3\n"):  # fmt: skip
        assert words in page.text


def test_an_empty_session_is_a_page_too(tmp_path: Path) -> None:
    page_of(session_of(tmp_path / "empty.session"))


def test_huge_texts_stay_a_page_that_opens(tmp_path: Path) -> None:
    huge = {"observation": "x" * 1_000_000, "steps": 250}
    html = write_report(session_of(tmp_path / "huge.session", huge, {"readme": "[" * 300_000}), "html", None)
    assert isinstance(html, str)
    assert len(html) < 5_000_000
    assert html.count('<details class="step">') >= 250
    assert "1.0 MB, cut" in html
    assert "Too long to render" in html


def test_images_are_not_loaded_and_only_web_links_lead_on() -> None:
    html = rendered(HOSTILE)
    assert html is not None
    page = ParsedHtml(html)
    assert_harmless(page)
    assert [a["href"] for tag, a in page.tags if tag == "a"] == ["https://example.org/a?b=1&c=2"]
    assert all(word in page.text for word in ("tracker", "js", "file", "top"))


MARKUP = [*HOSTILE.split(" "), "[", "](", "!", "<a href=x>", "\n\n", "`", "*", "- ", "#", "|", '"']


@settings(max_examples=40)
@given(st.lists(st.sampled_from(MARKUP), max_size=40))
def test_no_readme_gets_a_tag_or_attribute_of_its_own(pieces: list[str]) -> None:
    html = rendered(" ".join(pieces))
    assert html is not None
    assert_harmless(ParsedHtml(html))


def test_a_forks_readme_stands_against_its_parents(tmp_path: Path) -> None:
    old = "# Title\n\nsame\n\n</pre><script>old()</script>\n"
    session = session_of(
        tmp_path / "fork.session",
        {"readme": old},
        {"readme": "# Title\n\nsame\n\n<b>\x1b[31mnew</b>\n", "fork": True},
        {"readme": "# Title\n", "parent": "0" * 16, "fork_step": 1},
        {"readme": old, "fork": True},
        {"readme": "a" * 100_001, "fork": True},
    )
    page = page_of(session)
    assert "- </pre><script>old()</script>\n+ <b>new</b>\n" in page.text
    assert "Changes from the parent's README +1 −1 lines" in page.text
    assert "Fork of trial 00000000, which is not in this session" in page.text
    assert page.text.count("Changes from the parent's README: the same.") == 1
    assert "Changes from the parent's README: too long to compare here." in page.text
    assert [tag for tag, _ in page.tags if tag in {"ins", "del"}] == ["del", "ins"]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_a_browser_asks_the_network_for_nothing(tmp_path: Path) -> None:
    asked: list[str] = []

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *values: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}"
        readme = (
            f'![p]({here}/image)\n\n<img src="{here}/html">\n\n<style>@import "{here}/css"</style>\n\n[l]({here}/link)'
        )
        report = write_report(
            session_of(tmp_path / "net.session", {"readme": readme}), "html", tmp_path / "report.html"
        )
        control = tmp_path / "control.html"
        control.write_text(f'<img src="{here}/control">')
        for file in (report, control):
            command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile",
                       "--virtual-time-budget=2000", "--dump-dom", Path(file).as_uri()]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
            assert "</html>" in done.stdout
        server.shutdown()
    # The control proves that a request would have been seen.
    assert asked == ["/control"]
