"""Commands in running text: which are taken for commands, what becomes of them, and that nothing depends on them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from planted import README, write_project

from workbench.checking.pages import check
from workbench.checking.steps import MOST, with_commands
from workbench.checking.verdicts import Checked
from workbench.claims.page import parse_page
from workbench.claims.project import ProjectIndex

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.usefixtures("needs_bubblewrap", "one_cache"),
    pytest.mark.xdist_group("checking"),
]


def checked(root: Path, text: str) -> Checked:
    (root / "README.md").write_text(text)
    return asyncio.run(check(root, [root / "README.md"]))


def commands(checked: Checked) -> list[tuple[str, str]]:
    return [(block.parts[0].code, str(block.verdict)) for block in checked.blocks if block.kind == "command"]


def test_mentions_are_no_commands(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    text = (
        "Run `wordstat`, `wordstat report --stopwatch`, `python -m wordstat.cli index a`, `python x.py`, `git commit -a`, `$ wordstat report`,"
        " `wordstat a | sort` or\n`wordstat report`.\n\n```sh\nwordstat index a\n```\n\nAgain: `wordstat index a`.\n"
    )
    page = with_commands(parse_page(text, "README.md"), project)
    assert [(code.code, code.line) for code in page.codes if code.inline] == [
        ("wordstat report --stopwatch", 1),
        ("python -m wordstat.cli index a", 1),
        ("wordstat report", 1),
    ]
    many = with_commands(parse_page("\n".join(f"- `wordstat index a{n}`" for n in range(99)), "README.md"), project)
    assert len(many.codes) == MOST


def test_they_run_after_the_blocks_and_say_what_a_program_does_not_know(tmp_path: Path) -> None:
    root = write_project(tmp_path / "project")
    said = (
        "`wordstat index omega` comes before the blocks; `wordstat report --stopwach` and `wordstat index` do not work, `wordstat index WORD`"
        " is not whole.\n"
    )
    found = checked(root, README.replace("Counts words.", f"Counts words. {said}"))
    assert commands(found) == [
        ("wordstat index omega", "works"),
        ("wordstat report --stopwach", "fails"),
        ("wordstat index", "not run"),
        ("wordstat index WORD", "not run"),
    ]
    # The session that shows what is indexed comes after the mention on the page, and knows nothing of it.
    assert [str(block.verdict) for block in found.blocks if block.kind == "session"] == ["works"]


def test_one_that_serves_takes_three_seconds_and_what_follows_goes_on(tmp_path: Path) -> None:
    root = write_project(tmp_path / "project")
    text = (root / "wordstat/cli.py").read_text()
    (root / "wordstat/cli.py").write_text(
        text.replace(
            "    place = ",
            "    if given.command == 'index' and given.word == ['ever']:\n        import time; time.sleep(99)\n    place = ",
        )
    )
    found = checked(root, "# a\n\n`wordstat index ever` and `wordstat index alpha`.\n")
    assert [verdict for _, verdict in commands(found)] == ["not run", "works"]
    assert found.blocks[0].parts[0].seconds < 8
