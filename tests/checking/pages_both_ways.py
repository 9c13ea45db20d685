"""A page run in order, and with chains of it run beside it; pages made of blocks that depend on one another or not."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from planted import write_project

from workbench.checking import executing, packages, running
from workbench.checking.environment import environment_for
from workbench.checking.steps import plan_of
from workbench.checking.verdicts import BlockResult
from workbench.claims.page import Page, parse_page
from workbench.claims.project import ProjectIndex

STATEFUL = """

_KNOWN = {}


def register(name):
    if name in _KNOWN:
        raise ValueError(f"{name} is registered already")
    _KNOWN[name] = len(_KNOWN)


def registered():
    return sorted(_KNOWN)


def kept(word):
    with open("kept.txt", "a") as file:
        file.write(word)
    with open("kept.txt") as file:
        return file.read()
"""
SLOW = "import time\ntime.sleep(0.3)\n"

#: Blocks that depend on others in ways that a page shows and in ways that it does not, and such that do not.
BLOCKS = (
    ("python", f"{SLOW}from wordstat import top_words\nprint(top_words('a b a'))\n"),
    ("python", f"{SLOW}from wordstat import Counter\ncounter = Counter(limit=3)\nassert counter.limit == 3\n"),
    ("python", f"{SLOW}print(counter.limit)\n"),
    ("python", f"{SLOW}from wordstat.counting import register\nregister('one')\n"),
    ("pycon", ">>> from wordstat.counting import registered\n>>> registered()\n['one']\n"),
    (
        "pycon",
        ">>> import time\n>>> time.sleep(0.3)\n>>> from wordstat import top_words\n>>> top_words('b', 1)\n['b']\n",
    ),
    ("python", f"{SLOW}from wordstat.counting import kept\nassert kept('x') == 'x'\n"),
    ("python", f"{SLOW}import random\nrandom.seed(3)\n"),
    ("python", f"{SLOW}import wordstat\nwordstat.Counter.limit = 4\n"),
    ("python", f"{SLOW}import wordstat\nassert not hasattr(wordstat.Counter, 'limit')\n"),
    ("python", f"{SLOW}import os\nos.environ['COLUMNS'] = '30'\n"),
    ("python", f"{SLOW}from nowhere import nothing\n"),
    ("python", f"{SLOW}raise ValueError('as it is')\n"),
    ("bash", "wordstat --help\n"),
    ("bash", "wordstat index alpha\n"),
    ("console", "$ wordstat report\nindexed: alpha\n"),
    ("bash", "wordstat report --stopwach\n"),
    ("bash", "export COLUMNS=40\n"),
    ("bash", "cd docs\n"),
    ("bash", "ls *.toml\n"),
    ("bash", "mkdir -p made && cd made\n"),
    ("bash", "cat notes.txt\n"),
)


@dataclass(frozen=True, slots=True)
class Both:
    """What became of a page in order, and side by side, with how many of its runs left something out."""

    in_order: tuple[BlockResult, ...]
    side_by_side: tuple[BlockResult, ...]
    left_out: int


def stateful_project(folder: Path) -> Path:
    """Write a project whose functions leave things behind, without a README; return its folder."""
    root = write_project(folder)
    with (root / "wordstat" / "counting.py").open("a") as file:
        file.write(STATEFUL)
    return root


def page_of(blocks: Sequence[tuple[str, str]]) -> Page:
    """Return a page with a section for each block."""
    text = "\n".join(f"## Part {at}\n\n```{info}\n{code}```\n" for at, (info, code) in enumerate(blocks))
    return parse_page(text, "README.md")


def drawn(seed: int, count: int = 7) -> Page:
    """Return a page of blocks drawn at random."""
    return page_of(random.Random(seed).choices(BLOCKS, k=count))


async def run(root: Path, page: Page, *, beside: int, seconds: float = 10.0, on_known: Any = None) -> Any:
    """Run a page with so many sandboxes beside its own."""
    project = ProjectIndex(root)
    extras, others = packages.wanted([page], project)
    environment = await environment_for(project.root, project.declared, extras, others)
    room = asyncio.Semaphore(beside) if beside else None
    return await running.run_page(
        page, plan_of(page, project, environment), project, environment, seconds, on_known, room
    )


@pytest.fixture
def both_ways(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Both]:
    """Run a page both ways; what is run beside it begins at once, so that even a short page has something left out."""
    monkeypatch.setattr(executing, "_WAIT_SECONDS", 0.0)
    left_out = []
    merged = executing.Execution._merged

    def counted(self: executing.Execution, raw: Any) -> Any:
        found = merged(self, raw)
        left_out.append(sum(bool(one.get("apart")) for one in raw.values()))
        return found

    monkeypatch.setattr(executing.Execution, "_merged", counted)

    def ways(root: Path, page: Page, seconds: float = 10.0) -> Both:
        in_order = asyncio.run(run(root, page, beside=0, seconds=seconds))
        left_out.clear()
        side_by_side = asyncio.run(run(root, page, beside=2, seconds=seconds))
        return Both(in_order, side_by_side, max(left_out, default=0))

    return ways


def said(blocks: Sequence[BlockResult]) -> list[Any]:
    """Return all that was said of blocks but how long they took."""
    return [
        (one.line, one.verdict, one.reason, one.output, one.diff, one.command)
        + tuple((part.line, part.code, part.verdict, part.reason, part.output, part.diff) for part in one.parts)
        for one in blocks
    ]
