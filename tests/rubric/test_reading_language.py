"""The offline judge's readings: word order, reStructuredText, and what a repository says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.claims.page import is_restructured, outline
from workbench.repository import View
from workbench.rubric.judging import JudgeRequest
from workbench.rubric.reading import ReadmeReading
from workbench.rubric.sources import KnownProject
from workbench.rubric.word_order import order

SENTENCE = "The function returns the number of words that stand in the given file."


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        (SENTENCE, 0.9, 1.0),
        ("It xtr xtr xtr xtr xtr xtr xtr xtr xtr.", 0.0, 0.0),
        ("words, lines, characters, bytes, files, totals, counts", 0.0, 0.0),
        (f"{SENTENCE} " * 8, 0.0, 0.2),
        ("这个 程序 计算 文件 中 的 单词 数量", 0.0, 0.0),  # another script is not judged
        ("file given the in stand that words of number the returns function The.", 0.0, 0.5),
    ],
)
def test_only_prose_counts_as_prose(text: str, low: float, high: float) -> None:
    assert low <= order([text]).share <= high


RST = """\
|Build Status|

Counter
=======

Counts words, see `the manual <https://example.org>`_ for more.

.. image:: x.png
   :alt: no prose

Install
-------

Use pip::

    $ pip install counter

.. code-block:: python
   :linenos:

   from counter import count
   count("a b")

* one
* two

=====  =====
a      b
=====  =====
"""


def test_restructured_text_is_read_as_such() -> None:
    assert is_restructured(RST)
    page = outline(RST)
    assert [(h.level, h.text) for h in page.headings] == [(1, "Counter"), (2, "Install")]
    assert [(f.language, f.code.strip()) for f in page.codes] == [
        ("", "$ pip install counter"),
        ("python", 'from counter import count\ncount("a b")'),
    ]
    assert page.lists == 2
    assert page.tables == 1
    for part in (*page.headings, *page.codes, *page.blocks):
        assert 0 <= part.start <= part.end <= len(RST)
    assert RST[page.headings[1].start : page.headings[1].end].startswith("Install")
    assert not any("no prose" in block.text for block in page.blocks)


@pytest.mark.parametrize(
    "text", ["# A\n\nText with `code`_ once.\n\n## B\n", "A\n===\n\nPlain.\n", "", "```\nx::\n```\n"]
)
def test_markdown_stays_markdown(text: str) -> None:
    assert not is_restructured(text)


_ROWS = [
    "a::\n",
    "\n",
    "    x\n",
    "===\n",
    "Title\n",
    ".. code:: py\n",
    "* b\n",
    "`x`_\n",
    ">>> 1\n",
    ".. \n",
    "+--+\n",
]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(_ROWS), max_size=25))
def test_any_restructured_text_is_read_to_its_end(lines: list[str]) -> None:
    page = outline("`a`_ ::\n" + "".join(lines))
    for part in (*page.headings, *page.codes, *page.blocks):
        assert 0 <= part.start <= part.end <= len(page.text)


@pytest.fixture
def view(tmp_path: Path) -> View:
    (tmp_path / "greet.py").write_text(
        '"""Greet people in several languages."""\n'
        "import argparse\n\n"
        'def make_greeting(person, *, language="en"):\n    """Return the greeting of a person in a language."""\n\n'
        'def list_languages():\n    """Return the codes of all languages that have a dictionary."""\n\n'
        'def parser():\n    p = argparse.ArgumentParser()\n    p.add_argument("--shout", help="write in capital letters")\n',
        "utf-8",
    )
    (tmp_path / "broken.py").write_text("def (:\n", "utf-8")
    (tmp_path / "README.txt").write_text("# Greet\n\nSecretword.\n", "utf-8")
    return View(tmp_path)


def reading(readme: str, view: View) -> ReadmeReading:
    return ReadmeReading(JudgeRequest("strict", (), readme, None, None, None, view, 0, 0))


def test_sources_hold_names_and_signatures(view: View) -> None:
    found = KnownProject(view, None)
    assert [name for name in ("make_greeting", "--shout", "print", "frobnicate") if found.own(name)] == [
        "make_greeting", "--shout",
    ]  # fmt: skip
    assert "secretword" not in found.vocabulary.identifiers


def test_calls_that_no_signature_allows_are_named(view: View) -> None:
    good = "# Greet\n\n```python\nfrom greet import make_greeting\nmake_greeting('Ada', language='de')\n```\n"
    assert reading(good, view).examples[1] == ()
    assert len(reading(good, view).examples[0]) == 1
    bad = reading(good.replace("language=", "tongue="), view)
    assert "make_greeting() takes no tongue" in bad.examples[1][0][0]
    assert bad.truth < reading(good, view).truth


def test_names_that_are_nowhere_lower_the_truth(view: View) -> None:
    text = "# Greet\n\nGreet a person with `make_greeting`, or list the languages with `list_languages`. {}\n"
    right, wrong = (
        reading(text.format(""), view),
        reading(text.format("The option `--whisper` is for libraries."), view),
    )
    assert right.truth == 1.0
    assert wrong.truth < 1.0
    assert [use.name for use in wrong.uses[1]] == ["--whisper"]
    assert "--whisper" in wrong.why()


def test_what_anybody_could_write_is_guessable_and_the_projects_own_is_not(view: View) -> None:
    found = reading("# greet\n\nText.\n", view)
    assert found.guessable(("python", "-m", "greet", "--help"), ())
    assert found.guessable(("python", "greet.py", "input.txt"), ())
    assert not found.guessable(("python", "greet.py", "--shout"), ())
    assert not found.guessable(("python", "greet.py", "notes.txt"), ("notes.txt",))
