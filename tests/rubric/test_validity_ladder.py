"""The offline judge tells a real README from worse documents: the validity ladder's main inequalities.

The whole ladder, with ten real projects, is ``tests/benchmarks/judge_ladder.py``.
"""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from workbench.catalog import Facts
from workbench.repository import View
from workbench.rubric import OfflineJudge, Scorecard, score
from workbench.rubric.scorecard import NO_FACTS_POINTS

TESTS = Path(__file__).resolve().parents[1]
CASES = TESTS.parent / "test_cases"
NAMES = sorted(path.parent.parent.name for path in CASES.glob("*/ground_truth/README.md"))
METADATA = {"@context": "https://schema.org", "@type": "SoftwareSourceCode", "name": "n", "description": "d"}
_RUNGS = "cut in half|sections removed|facts swapped|opening negated|filler|keywords|shuffled words|nonsense"
WITHOUT_FACTS = (*_RUNGS.split("|"), "another's README", "another's, renamed")


@pytest.fixture(scope="module")
def ladder() -> ModuleType:
    """The rungs, which live beside the script that prints the table."""
    sys.path.insert(0, str(TESTS / "benchmarks"))
    try:
        importlib.import_module("ladder_projects")
        return importlib.import_module("ladder_rungs")
    finally:
        sys.path.pop(0)


def project(ladder: ModuleType, name: str) -> Any:
    folder = CASES / name
    read = tomllib.loads((folder / "ground_truth" / "facts.toml").read_text("utf-8"))
    facts = Facts(**{key: tuple(value) if isinstance(value, list) else value for key, value in read.items()})
    repository = folder / "repository"
    view = View(repository) if repository.is_dir() else None
    called = tomllib.loads((folder / "case.toml").read_text("utf-8"))["name"]
    return ladder.Project(called, (folder / "ground_truth" / "README.md").read_text("utf-8"), facts, view)


async def judged(readme: str, of: Any, rubric: str = "aeo-bench", *, facts: bool = True) -> Scorecard:
    return await score(
        readme, METADATA, parsed=True, rubric=rubric, facts=of.facts if facts else None, reference_readme=None,
        view=of.view, judge=OfflineJudge(), without_facts=NO_FACTS_POINTS,
    )  # fmt: skip


def points(card: Scorecard) -> float:
    """The judged points, of 60."""
    tiers = [tier for number, tier in card.tiers.items() if number > 2 and tier.points is not None]
    return sum(tier.points or 0.0 for tier in tiers) * 60 / sum(tier.maximum for tier in tiers)


def slow_but(*fast: tuple[str, ...]) -> list[Any]:
    every = [(name, rubric) for name in NAMES for rubric in ("aeo-bench", "strict")]
    return [pytest.param(*one, marks=() if one in fast else pytest.mark.slow) for one in every]


@pytest.mark.parametrize(
    ("name", "rubric"), slow_but(("password_generator", "strict"), ("countdown_timer", "aeo-bench"))
)
async def test_the_real_readme_stands_above_every_rung(ladder: ModuleType, name: str, rubric: str) -> None:
    mine = project(ladder, name)
    other = project(ladder, NAMES[(NAMES.index(name) + 3) % len(NAMES)])
    real = points(await judged(mine.readme, mine, rubric))
    assert real >= 48
    for rung, made in ladder.RUNGS.items():
        got = points(await judged(made(mine, other), mine, rubric))
        assert got < real, rung
        if rung in ladder.LIMITED:
            assert got <= ladder.MOST, rung


@pytest.mark.parametrize(
    "name", ["word_counter", *(pytest.param(n, marks=pytest.mark.slow) for n in ("countdown_timer", "password_generator"))]
)  # fmt: skip
async def test_without_facts_the_repository_is_enough(ladder: ModuleType, name: str) -> None:
    mine = project(ladder, name)
    other = project(ladder, NAMES[(NAMES.index(name) + 3) % len(NAMES)])
    real = (await judged(mine.readme, mine, facts=False)).tiers[4].points or 0.0
    assert real >= 24
    for rung in WITHOUT_FACTS:
        got = (await judged(ladder.RUNGS[rung](mine, other), mine, facts=False)).tiers[4].points or 0.0
        assert got < real, rung
        if rung in ladder.LIMITED:
            assert got <= 10, rung


@pytest.mark.parametrize("name", NAMES)
async def test_one_word_under_all_the_right_headings_earns_next_to_nothing(ladder: ModuleType, name: str) -> None:
    mine = project(ladder, name)
    card = await judged(ladder.nonsense(mine, mine), mine)
    assert (card.tiers[4].points or 0.0) <= 2
    assert points(card) <= 25


async def test_every_lost_point_says_what_is_wrong(ladder: ModuleType) -> None:
    mine, other = project(ladder, "password_generator"), project(ladder, "word_counter")
    for made, key, words in (
        (ladder.another_renamed, "clarity", "names that the project does not have"),
        (ladder.opening_negated, "clarity", "opens with what it is not"),
        (ladder.filler, "clarity", "would fit any project"),
        (ladder.filler, "dependencies", "guessed"),
    ):
        lost = next(c for c in (await judged(made(mine, other), mine)).criteria if c.key == key)
        assert words in lost.reason
        assert any(e.kind == "readme" and e.start is not None for e in lost.evidence) or key != "clarity"


@pytest.mark.slow
@pytest.mark.network
async def test_two_real_projects_one_of_each_markup(ladder: ModuleType, tmp_path: Path) -> None:
    sources = importlib.import_module("ladder_projects")
    projects = sources.downloaded(("xmltodict==0.13.0", "cachetools==5.3.3"), tmp_path, held_out=False)
    for mine, other in zip(projects, reversed(projects), strict=True):
        for rubric in ("aeo-bench", "strict"):
            real = points(await judged(mine.readme, mine, rubric))
            for rung, made in ladder.RUNGS.items():
                got = points(await judged(made(mine, other), mine, rubric))
                # In cachetools nearly all swapped names belong to the examples (`fib`, `get_weather`); in xmltodict the
                # sections that are left have every name that the judge looks up.
                if (mine.name, rung) in {("cachetools", "facts swapped"), ("xmltodict", "sections removed")}:
                    assert got <= real
                    continue
                assert got < real, (mine.name, rung)
                if rung in ladder.LIMITED:
                    assert got <= ladder.MOST, (mine.name, rung)
