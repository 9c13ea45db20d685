"""Commands of pages are read in one way: words with their places, what they start, what they install."""

import pytest

from workbench.claims.page import outline
from workbench.claims.shell import command_lines, installs, lines_of, started_by, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wordstat <input file> --top 3", [["wordstat", "<input file>", "--top", "3"]]),
        ("wordstat a.txt > out.txt --top 3", [["wordstat", "a.txt", "--top", "3"]]),
        ("pip install wordstat>=1.0,<2 # the newest", [["pip", "install", "wordstat>=1.0,<2"]]),
        (r"tools\build.py --all", [[r"tools\build.py", "--all"]]),
        ("A=1 one --x \\\n  --y && two | three", [["one", "--x", "--y"], ["two"], ["three"]]),
    ],
)
def test_words_are_as_the_page_means_them_and_where_it_has_them(text: str, words: list[list[str]]) -> None:
    found = words_of(text) or []
    assert [[word.text for word in command] for command in found] == words
    assert all(text[word.start :].startswith(word.text) for command in found for word in command)


@pytest.mark.parametrize(
    ("command", "packages", "files"),
    [
        ("pip install wordstat[tables]==1.0 -r requirements.txt", ["wordstat"], ["requirements.txt"]),
        ("sudo python3 -m pip install --index-url http://127.0.0.1 Word_Stat", ["word-stat"], []),
        ("pip install -e . -c constraints.txt", [], ["constraints.txt"]),
        ("conda install -c conda-forge wordstat", ["wordstat"], []),
        ("uv add wordstat", ["wordstat"], []),
        ("uv run python -m pip install ./wheel.whl https://example.org/x.whl", [], []),
    ],
)
def test_what_is_installed(command: str, packages: list[str], files: list[str]) -> None:
    found = installs(command.split()) or []
    assert [one.package for one in found if one.package] == packages
    assert [one.file for one in found if one.file] == files


def test_other_commands_install_nothing() -> None:
    assert installs(["wordstat", "install", "x"]) is None
    assert installs(["pip", "download", "x"]) is None
    assert installs(["uv", "add", "x"], pip_only=True) is None


def test_output_is_no_command_and_continued_lines_are_one() -> None:
    readme = "# Words\n\n```console\n(venv) $ wordstat a.txt \\\n>   --top 3\nword 4\n$ wordstat --help\n```\n"
    page = outline(readme)
    assert [(one.line, one.expected) for one in lines_of(page.codes[0].code)] == [(0, "word 4"), (3, None)]
    found = [word for line in command_lines(page, page.codes[0]) for words in line.commands for word in words]
    assert [word.text for word in found] == ["wordstat", "a.txt", "--top", "3", "wordstat", "--help"]
    assert all(page.text[word.start :].startswith(word.text) for word in found)
    assert [command.words for command in started_by(page)] == [
        ("wordstat", "a.txt", "--top", "3"),
        ("wordstat", "--help"),
    ]
