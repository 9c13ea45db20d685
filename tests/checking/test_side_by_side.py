"""Blocks that do not depend on each other are run side by side, and nothing else comes of it than in order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pages_both_ways import SLOW, Both, both_ways, drawn, page_of, run, said, stateful_project
from sweeps import spread

from workbench.base import paths
from workbench.checking import BlockVerdict
from workbench.checking.chains import chains_of
from workbench.checking.steps import PagePlan, PlannedStep
from workbench.claims.page import parse_page

__all__ = ["both_ways"]

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.usefixtures("needs_bubblewrap", "one_cache"),
    pytest.mark.xdist_group("checking"),
]
REPOSITORY = Path(__file__).parents[2]
CASES = REPOSITORY / "test_cases"
ALONE = [("python", f"{SLOW}from wordstat import top_words\nprint(top_words('a {at}'))\n") for at in range(6)]

Ways = Callable[..., Both]


def test_what_depends_on_nothing_is_left_out_of_the_page(tmp_path: Path, both_ways: Ways) -> None:
    found = both_ways(stateful_project(tmp_path), page_of(ALONE))
    assert said(found.side_by_side) == said(found.in_order)
    assert [one.verdict for one in found.side_by_side] == [BlockVerdict.WORKS] * 6
    assert found.left_out >= 1


_REGISTER = ("python", f"{SLOW}from wordstat.counting import register\nregister('one')\n")
_AGAIN = ("python", f"{SLOW}from wordstat.counting import register as again\nagain('one')\n")
_REGISTERED = ("pycon", ">>> from wordstat.counting import registered\n>>> registered()\n['one']\n")
_KEPT = ("python", f"{SLOW}from wordstat.counting import kept\nkept('x')\n")
_KEPT_ON = ("python", f"{SLOW}from wordstat.counting import kept\nassert kept('y') == 'xy'\n")
_WORDS = (("python", f"{SLOW}words = 'a b'\n"), ("python", f"{SLOW}assert words == 'a b'\n"))
_INDEX = (("bash", "wordstat index alpha\n"), ("console", "$ wordstat report\nindexed: alpha\n"))
_FOLDER = (("bash", "cd docs\n"), ("console", "$ ls\nguide.md\n"))
_VARIABLE = (("bash", "WORD=alpha\n"), ("bash", "test $WORD = alpha\n"))


@pytest.mark.parametrize(
    ("first", "last", "verdict"),
    [
        # What it finds was left in the project's module, which no name on the page says.
        (_REGISTER, _REGISTERED, "works"),
        # By itself it would work.
        pytest.param(_REGISTER, _AGAIN, "not run", marks=pytest.mark.slow),
        # A file of the one before, which a function of the project has written.
        pytest.param(_KEPT, _KEPT_ON, "works", marks=pytest.mark.slow),
        # Its name is bound before it.
        pytest.param(*_WORDS, "works", marks=pytest.mark.slow),
        (*_INDEX, "works"),
        pytest.param(*_FOLDER, "works", marks=pytest.mark.slow),
        pytest.param(*_VARIABLE, "works", marks=pytest.mark.slow),
    ],
)
def test_a_dependent_block_keeps_its_order(tmp_path, both_ways, first, last, verdict):
    found = both_ways(stateful_project(tmp_path), page_of([first, *ALONE[:2], last]))
    assert said(found.side_by_side) == said(found.in_order)
    assert str(found.side_by_side[-1].verdict) == verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", spread(range(8), 3))
def test_pages_of_all_kinds_of_blocks_say_the_same_both_ways(tmp_path: Path, both_ways: Ways, seed: int) -> None:
    found = both_ways(stateful_project(tmp_path), drawn(seed))
    assert said(found.side_by_side) == said(found.in_order)


@pytest.mark.slow
@pytest.mark.parametrize("case", spread(sorted(path.name for path in CASES.iterdir()), 3, 2))
def test_real_readmes_say_the_same_both_ways(tmp_path: Path, both_ways: Ways, case: str) -> None:
    own = CASES / case / "repository"
    readme = next((CASES / case / "ground_truth").glob("README*"))
    # Where the repository is not here, its README is that of another project: then most of it is not run.
    root = own if own.is_dir() else stateful_project(tmp_path)
    found = both_ways(root, parse_page(readme.read_text("utf-8"), readme.name))
    assert said(found.side_by_side) == said(found.in_order)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    ["README.md", *spread(sorted(str(one.relative_to(REPOSITORY)) for one in (REPOSITORY / "docs").rglob("*.md")), 9)],
)
def test_our_own_pages_say_the_same_both_ways(tmp_path: Path, both_ways: Ways, path: str) -> None:
    found = both_ways(stateful_project(tmp_path), parse_page((REPOSITORY / path).read_text("utf-8"), path))
    assert said(found.side_by_side) == said(found.in_order)


@pytest.mark.nightly
def test_what_takes_too_long_does_so_both_ways(tmp_path: Path, both_ways: Ways) -> None:
    root = stateful_project(tmp_path)
    page = page_of([*ALONE[:2], ("python", "import time\ntime.sleep(60)\n"), *ALONE[2:4], ("bash", "sleep 60\n")])
    found = both_ways(root, page, seconds=4.0)
    assert said(found.side_by_side) == said(found.in_order)
    assert "within the time limit" in found.side_by_side[2].reason


def test_what_is_told_while_it_runs_stays_so(tmp_path: Path, both_ways: Ways) -> None:
    told: list[dict[int, Any]] = []

    def known(blocks: Any, waiting: Any) -> None:
        told.append({at: one.verdict for at, one in enumerate(blocks) if at not in waiting})

    last = asyncio.run(run(stateful_project(tmp_path), page_of(ALONE), beside=2, on_known=known))
    assert len(told) >= 3
    assert all(one.items() <= other.items() for one, other in zip(told, told[1:], strict=False))
    assert all(last[at].verdict is verdict for at, verdict in told[-1].items())


def test_what_fails_while_it_is_told_ends_the_run(tmp_path: Path) -> None:
    """A session that could not be written any more was told of only by the next thing written."""

    def known(blocks: Any, waiting: Any) -> None:
        if len(waiting) < len(blocks):
            raise OSError("the disk is full")

    blocks = [ALONE[0], ("python", "import time\ntime.sleep(9)\n")]
    began = time.monotonic()
    with pytest.raises(OSError, match="the disk is full"):
        asyncio.run(run(stateful_project(tmp_path), page_of(blocks), beside=0, on_known=known))
    assert time.monotonic() - began < 60.0


def test_a_run_that_is_cancelled_leaves_nothing(tmp_path: Path, both_ways: Ways) -> None:
    root, page = stateful_project(tmp_path), page_of([*ALONE, ("python", "import time\ntime.sleep(9)\n")])

    async def cancelled() -> None:
        ran = asyncio.Event()
        task = asyncio.ensure_future(run(root, page, beside=2, on_known=lambda blocks, waiting: ran.set()))
        await ran.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [one for one in asyncio.all_tasks() if one is not asyncio.current_task()] == []

    asyncio.run(cancelled())
    assert list((paths.cache_dir() / "checked").glob(".run-*")) == []


def plan_of_snippets(*codes: str) -> PagePlan:
    return PagePlan([], [PlannedStep(at, "python", code, 1) for at, code in enumerate(codes)])


@pytest.mark.parametrize(
    ("codes", "chains"),
    [
        (("x = 1", "y = 2"), [(0,), (1,)]),
        (("x = 1", "x"), [(0, 1)]),
        (("x = 1", "x = 2", "y = x"), [(0, 1, 2)]),
        (("x = 1", "def f():\n    return x"), [(0, 1)]),
        (("x = 1", "x += 1"), [(0, 1)]),
        (("x = 1", "if x:\n    pass\nx = 2"), [(0, 1)]),
        (("x = 1", "x = 2\nprint(x)"), [(0,), (1,)]),
        (("x = 1", "print([x for x in 'ab'])"), [(0,), (1,)]),
        (("for x in 'ab':\n    pass", "print(x)"), [(0, 1)]),
        (("print = 1", "print(2)"), [(0, 1)]),
        (("import json", "json.dumps(1)"), [(0,), (1,)]),
        (("import json", "json = 1", "json"), [(0, 1, 2)]),
        (("x = 1", "print(globals())"), []),
        (("x = 1", "from json import *"), []),
        (("x = 1", "import json\njson.x = 1"), []),
        (("x = 1", "def f():\n    global x\n    x = 2\nf()"), []),
        (("x = 1", "import os\nos.chdir('/')", "y = 2"), [(0,)]),
        (("def f(", "x = 1"), []),
    ],
)  # fmt: skip
def test_snippets_that_share_names_are_a_chain(codes: tuple[str, ...], chains: list[tuple[int, ...]]) -> None:
    assert [one.steps for one in chains_of(plan_of_snippets(*codes))] == chains


def test_commands_are_chains_up_to_the_first_that_changes_what_follows() -> None:
    commands = ("wordstat --help", "wordstat report | sort", "cd docs", "wordstat --help")
    plan = PagePlan([], [PlannedStep(at, "shell", command, 1) for at, command in enumerate(commands)])
    assert [one.steps for one in chains_of(plan)] == [(0,), (1,)]
    for command in ("export A=1", "A=1", "wordstat report > x", "wordstat serve &", "source x", "rm x"):
        assert chains_of(PagePlan([], [PlannedStep(0, "shell", command, 1)])) == ()
