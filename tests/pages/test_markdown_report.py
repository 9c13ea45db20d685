"""The Markdown report: foreign text can neither break out of its fence nor become markup in a line."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from samples.sessions import HOSTILE

from workbench.base.text import clean
from workbench.pages import write_report
from workbench.pages.markdown import fence, inline
from workbench.pages.page import PageTable, ReportPage
from workbench.pages.writing import rendered

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
MARKUP = st.lists(
    st.sampled_from(["`", "```", "````", "~~~", "\n", " ", "a", "_", "__", "*", "<b>", "</details>", "|", "\\", "&lt;", "#", "-", "1.", "23)", "[x](y)", "![i](u)", "<!--", "$", "~~", "=", "+", ">", "http://a.b", "\t"]),
    max_size=25,
).map("".join)  # fmt: skip


@settings(max_examples=40)
@given(MARKUP)
def test_a_fence_holds_exactly_the_text(text: str) -> None:
    tokens = PARSER.parse(f"before\n\n{fence(text, 'markdown')}\nafter\n")
    fences = [token for token in tokens if token.type == "fence"]
    assert len(fences) == 1
    assert fences[0].content.removesuffix("\n") == text.removesuffix("\n")
    assert [token.content for token in tokens if token.type == "inline"] == ["before", "after"]


@settings(max_examples=40)
@given(MARKUP)
@example("__a__")  # an underscore beside an underscore is not inside a word
def test_a_cell_says_its_text_and_nothing_else(text: str) -> None:
    tokens = PARSER.parse(
        "".join(rendered(ReportPage("x", (PageTable(("a", "b"), ((text, "end"),)),)), "md")).partition("\n\n")[2]
    )
    cells = [token for token in tokens if token.type == "inline"]
    assert len(cells) == 4
    shown = cells[2].children or []
    assert {token.type for token in shown} <= {"text", "text_special"}
    assert "".join(token.content for token in shown) == " ".join(clean(text).split())


@settings(max_examples=40)
@given(MARKUP)
def test_a_line_of_foreign_text_stays_a_line(text: str) -> None:
    tokens = PARSER.parse(f"{inline(text)} .")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]


def test_a_hostile_readme_is_given_back_whole_and_changes_nothing_around_it(documented):
    report = write_report(documented[0], "md", None)
    assert isinstance(report, str)
    tokens = PARSER.parse(report)
    readmes = [token.content for token in tokens if token.type == "fence" and token.info == "markdown"]
    assert readmes == [clean(HOSTILE), clean(HOSTILE)]
    raw = "".join(token.content for token in tokens if token.type in {"html_block", "html_inline"})
    assert "script" not in raw
    assert raw.count("<details>") == raw.count("</details>") > 0
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings.count("README") == 3
    assert not any("alert" in heading for heading in headings)


def test_scores_steps_and_problems_are_there(documented: tuple[Path, dict[str, str]]) -> None:
    report = write_report(documented[0], "md", None)
    assert isinstance(report, str)
    for words in ("offline judge (form and names, not truth): 11 / 26", "13.0 ± 2.8 (11.0 to 15.0) of 26", "I look first.",
                  "**✗ The model took longer than 180 s, retry.**", "read 1 of 2 files, 25 % of the bytes"):  # fmt: skip
        assert words in report


def test_a_regeneration_session_reads_as_tables(regenerated: tuple[Path, dict[str, str]]) -> None:
    report = write_report(regenerated[0], "md", None)
    assert isinstance(report, str)
    for words in ("✓✗↯✓", "| 0.67 | 1.00 |", "no test runs it", "excluded: the stub passed", "E  assert </pre>"):
        assert words in report
