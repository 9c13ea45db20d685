"""The HTML report: one page that loads nothing, runs only our own script, and shows hostile texts letter by letter."""

from __future__ import annotations

import base64
import hashlib
import http.server
import re
import shutil
import subprocess
import threading
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples.sessions import HOSTILE, add_trial

from workbench.pages import html as html_pages
from workbench.pages import write_report
from workbench.pages.html import rendered
from workbench.session import SessionWriter, create

VOID = {"meta", "br", "hr", "img", "input", "link"}
SCRIPT = Path(html_pages.__file__).with_name("report.js").read_text(encoding="utf-8")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page(HTMLParser):
    """What a browser would see: tags that balance, attributes, the text of everything."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_harmless(page: Page) -> None:
    for tag, attributes in page.tags:
        assert tag not in {
            "img",
            "iframe",
            "link",
            "object",
            "embed",
            "form",
            "base",
            "video",
            "audio",
            "foreignobject",
        }
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in {"src", "srcset", "action", "formaction", "background", "data", "poster"}, (tag, name)
            if name == "href":
                assert tag == "a"
                assert str(value).lower().startswith(("#", "http://", "https://", "mailto:")), value
            if name == "style":
                assert "url" not in str(value)


def assert_only_our_script_runs(html: str) -> None:
    """The one script is ours to the letter, and the policy lets nothing else run."""
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL | re.IGNORECASE)
    assert scripts == [SCRIPT]
    assert len(re.findall(r"<script", html, re.IGNORECASE)) == 1
    policy = [a["content"] for tag, a in Page(html).tags if a.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert [part.strip() for part in str(policy[0]).split(";")] == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "base-uri 'none'",
        "form-action 'none'",
        f"script-src 'sha256-{digest}'",
    ]


def page_of(session: Path, item: str | None = None) -> Page:
    html = write_report(session, "html", None, item)
    assert isinstance(html, str)
    assert_only_our_script_runs(html)
    return Page(html)


def test_a_document_session_with_hostile_texts_is_a_sound_and_harmless_page(
    documented: tuple[Path, dict[str, str]],
) -> None:
    page = page_of(documented[0])
    assert_harmless(page)
    assert "<script>alert(1)</script> Title" in page.text
    assert "demo <i>name</i>" in page.text
    assert "look <here>" in page.text
    assert "The model took longer than 180 s" in page.text
    assert "\x1b" not in page.text
    assert "\u202e" not in page.text


def test_links_inside_the_page_lead_somewhere_and_ids_are_unique(documented: tuple[Path, dict[str, str]]) -> None:
    page = page_of(documented[0])
    assert len(page.ids) == len(set(page.ids))
    inner = [str(a["href"])[1:] for tag, a in page.tags if tag == "a" and str(a["href"]).startswith("#")]
    assert inner
    assert set(inner) <= set(page.ids)
    assert {f"trial-{name}" for name in documented[1].values()} <= set(page.ids)


def test_every_criterion_stands_with_points_reason_and_evidence(documented: tuple[Path, dict[str, str]]) -> None:
    text = page_of(documented[0]).text
    for words in (
        "11 / 26",
        "8 / 26",
        "Main purpose",
        "names <b>it</b>",
        "line 1: <script>alert(5)</script>",
        "a.py:3: x",
    ):
        assert words in text


def test_one_item_leaves_the_others_out(documented: tuple[Path, dict[str, str]]) -> None:
    session, names = documented
    page = page_of(session, names["second"][:6])
    assert f"trial-{names['second']}" in page.ids
    assert f"trial-{names['first']}" not in page.ids


def test_a_regeneration_session_shows_cells_pass_at_k_failing_tests_and_dropped(
    regenerated: tuple[Path, dict[str, str]],
) -> None:
    page = page_of(regenerated[0])
    assert_harmless(page)
    for words in ("✓✗↯✓", "0.67", "tests/test_a.py::test_one", "assert '<' == 1", "E  assert </pre>", "the stub passed",
                  "no test runs it", "reference (control)", "return '</pre>' * 3"):  # fmt: skip
        assert words in page.text


def test_an_empty_session_is_a_page_too(tmp_path: Path) -> None:
    create(tmp_path / "empty.session")
    assert_harmless(page_of(tmp_path / "empty.session"))


def test_a_session_of_huge_observations_stays_a_page_that_opens(tmp_path: Path) -> None:
    session = tmp_path / "huge.session"
    create(session)
    with SessionWriter(session) as writer:
        writer.add_run("run", "document", {})
        add_trial(writer, "run", "alpha", 1, observation="x" * 1_000_000, steps=400)
    html = write_report(session, "html", None)
    assert isinstance(html, str)
    assert len(html) < 6_000_000
    assert html.count('<details class="step">') == 400
    assert "1.0 MB, cut" in html


def test_images_are_not_loaded_and_only_web_links_lead_on() -> None:
    html = rendered(HOSTILE)
    assert html is not None
    page = Page(html)
    assert_harmless(page)
    assert [a["href"] for tag, a in page.tags if tag == "a"] == ["https://example.org/a?b=1&c=2"]
    assert "tracker" in page.text
    assert all(word in page.text for word in ("js", "file", "top"))


@given(
    st.lists(
        st.sampled_from([*HOSTILE.split(" "), "[", "](", "!", "<a href=x>", "\n\n", "`", "*", "- ", "#", "|", '"']),
        max_size=40,
    )
)
def test_no_readme_gets_a_tag_or_attribute_of_its_own(pieces: list[str]) -> None:
    html = rendered(" ".join(pieces))
    assert html is not None
    assert_harmless(Page(html))


def test_a_readme_beyond_all_measure_is_shown_as_source(tmp_path: Path) -> None:
    session = tmp_path / "long.session"
    create(session)
    with SessionWriter(session) as writer:
        writer.add_run("run", "document", {})
        add_trial(writer, "run", "alpha", 1, readme="[" * 300_000)
    assert "Too long to render" in page_of(session).text


def test_our_script_does_not_end_its_own_element() -> None:
    assert "</script" not in SCRIPT.lower()
    assert "<!--" not in SCRIPT


def test_a_forks_readme_stands_against_its_parents(tmp_path: Path) -> None:
    session = tmp_path / "fork.session"
    create(session)
    with SessionWriter(session) as writer:
        writer.add_run("run", "document", {})
        first = add_trial(writer, "run", "alpha", 1, readme="# Title\n\nsame\n\n</pre><script>old()</script>\n")
        add_trial(
            writer, "run", "alpha", 2, readme="# Title\n\nsame\n\n<b>\x1b[31mnew</b>\n", parent=first, fork_step=1
        )
        add_trial(writer, "run", "alpha", 3, readme="# Title\n", parent="0" * 16, fork_step=1)
        add_trial(
            writer,
            "run",
            "alpha",
            4,
            readme="# Title\n\nsame\n\n</pre><script>old()</script>\n",
            parent=first,
            fork_step=1,
        )
    page = page_of(session)
    assert_harmless(page)
    assert "- </pre><script>old()</script>\n+ <b>new</b>\n" in page.text
    assert "README since its parent's +1 −1 lines" in page.text
    assert "Fork of trial 00000000, that is not in this session" in page.text
    assert page.text.count("README since its parent's: the same.") == 1
    assert [tag for tag, _ in page.tags if tag in {"ins", "del"}] == ["del", "ins"]


def test_a_candidates_body_stands_against_the_original(regenerated: tuple[Path, dict[str, str]]) -> None:
    page = page_of(regenerated[0])
    assert "Against the original +1 −1 lines" in page.text
    # The margin is left out on both sides: models indent as they like.
    assert "- return text.count('<')\n+ return '</pre>' * 3\n" in page.text


def test_texts_too_long_to_compare_say_so(tmp_path: Path) -> None:
    session = tmp_path / "long.session"
    create(session)
    with SessionWriter(session) as writer:
        writer.add_run("run", "document", {})
        first = add_trial(writer, "run", "alpha", 1, readme="a" * 100_001)
        add_trial(writer, "run", "alpha", 2, readme="b" * 100_001, parent=first, fork_step=1)
    assert "README since its parent's: too long to compare here." in page_of(session).text


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
        session = tmp_path / "net.session"
        create(session)
        with SessionWriter(session) as writer:
            writer.add_run("run", "document", {})
            readme = f'![p]({here}/image)\n\n<img src="{here}/html">\n\n<style>@import "{here}/css"</style>\n\n[l]({here}/link)'
            add_trial(writer, "run", "alpha", 1, readme=readme)
        report = write_report(session, "html", tmp_path / "report.html")
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
