"""The offline judge: accurate text earns, generic, looping and invented text does not; everything says why."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.catalog import Facts
from workbench.claims.claim import CheckedClaim, Claim, LookupResult, PageRange, Truth
from workbench.repository import View
from workbench.rubric import Criterion, OfflineJudge, Scorecard, rubrics, score

CASES = Path(__file__).resolve().parents[2] / "test_cases"
METADATA = {"@context": "https://schema.org", "@type": "SoftwareSourceCode", "name": "n", "description": "d"}
FACTS = Facts(
    main_purpose="Count the lines, words and characters of text files",
    dependencies=("click",),
    run_command="python wordcount.py notes.txt",
    key_features=("several files with totals", "reads standard input"),
    must_mention=("--lines", "total"),
    main_file="wordcount.py",
)
KNOWS = """# W

Count the lines, words and characters of text files. Several files are shown with totals, and `wordcount.py` reads standard
input where no file is named.

The option `--lines` shows the number of lines alone, and the row `total` is the sum of several files.
"""
GENERIC = """# Project

This project is a tool. It is a simple and useful Python project that helps users do things.

## Installation

```bash
pip install project
```

## Usage

```bash
python main.py
```

## Examples

See the examples above.
"""
LOOPING = (
    "# word counter\n\n" + "The word counter is a tool that counts words in a file. It counts words and lines. " * 60
)
INVENTED = """# wordcount

A powerful web framework with plugins for building REST APIs with a database back end and caching.

## Installation

```bash
pip install wordcount-pro flask redis
```

## Usage

```bash
python server.py --port 8080
```

## Examples

```python
from statslib import Server
Server().start(port=8080)
```
"""


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    """A repository of which only the names of files are known."""
    root = tmp_path_factory.mktemp("repository")
    (root / "tests").mkdir()
    for path in ("wordcount.py", "requirements.txt", "tests/test_counts.py"):
        (root / path).touch()
    return View(root)


async def judged(
    readme: str,
    view: View | None,
    *,
    facts: Facts | None = FACTS,
    rubric: str = "aeo-bench",
    ref: str | None = None,
    untrue: Sequence[CheckedClaim] = (),
) -> Scorecard:
    return await score(
        readme, METADATA, parsed=True, rubric=rubric, facts=facts, reference_readme=ref, view=view, judge=OfflineJudge(),
        untrue=untrue,
    )  # fmt: skip


def pick(card: Scorecard, key: str) -> Criterion:
    return next(criterion for criterion in card.criteria if criterion.key == key)


def case(name: str) -> tuple[str, Facts]:
    """The reference README of a case and its facts."""
    folder = CASES / name / "ground_truth"
    read = tomllib.loads((folder / "facts.toml").read_text("utf-8"))
    facts = Facts(**{key: tuple(value) if isinstance(value, list) else value for key, value in read.items()})
    return (folder / "README.md").read_text("utf-8"), facts


@pytest.mark.parametrize(("name", "rubric"), [("pyfiglet_github", "aeo-bench"), ("word_counter", "strict")])
async def test_the_reference_scores_high_and_the_others_well_below(name: str, rubric: str) -> None:
    reference, facts = case(name)

    async def total(readme: str) -> float:
        return (await judged(readme, None, facts=facts, rubric=rubric, ref=reference)).total or 0.0

    assert await total(reference) >= 85
    for readme, most in (("", 10), (GENERIC, 60), (LOOPING, 30), (INVENTED, 60)):
        assert await total(readme) < most + 0.1, readme[:20]


async def test_accuracy_falls_when_facts_are_taken_out(view: View) -> None:
    whole = (
        "# wordcount\n\nCount the lines, words and characters of text files.\n\n## Installation\n\n"
        "```bash\npip install click\n```\n\n## Usage\n\n```bash\npython wordcount.py notes.txt\n```\n"
    )
    assert (await judged(whole, view)).tiers[3].points == 30
    for gone in ("pip install click", "python wordcount.py notes.txt", "lines, words and characters of text files"):
        points = (await judged(whole.replace(gone, "…"), view)).tiers[3].points
        assert points is not None
        assert points < 25


@pytest.mark.parametrize(
    ("command", "low", "high"),
    [
        ("$ python3 ./wordcount.py notes.txt", 8, 8),
        ("sudo python3.11 wordcount.py other.txt", 8, 8),
        ("uv run wordcount.py x", 8, 8),
        ("cat a | xargs python wordcount.py", 4, 5),
        ("vim wordcount.py", 4, 5),
        ("python other.py", 0, 0),
    ],
)
async def test_run_commands_are_compared_by_meaning(view: View, command: str, low: float, high: float) -> None:
    points = pick(await judged(f"# W\n\n## Usage\n\n```bash\n{command}\n```\n", view), "run_command").points
    assert points is not None
    assert low <= points <= high


async def test_a_file_that_is_hidden_from_agents_is_there(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "wordcount.py").touch()
    readme = "# W\n\n## Usage\n\n```bash\npython wordcount.py notes.txt\npython {}.py\n```\n"
    there, gone = [
        pick(await judged(readme.format(name), View(tmp_path)), "run_command") for name in ("docs/wordcount", "absent")
    ]
    assert (there.points, gone.points) == (8, 6)
    assert "'python absent.py' runs a file that does not exist" in gone.reason


async def test_inventions_cost_points_and_are_shown_with_their_place(view: View) -> None:
    base = "# W\n\n## Installation\n\n```bash\npip install click{}\n```\n\n{}"
    assert pick(await judged(base.format("", ""), view), "dependencies").points == 10
    for extra, prose, word in (
        (" statslib", "", "statslib"),
        ("", "```python\nimport statslib\n```\n", "statslib"),
        ("", "It uses the statslib module.", "statslib"),
        ("\npip install -r requirements/absent.txt", "", "absent.txt"),
    ):
        readme = base.format(extra, prose)
        found = pick(await judged(readme, view), "dependencies")
        assert found.points == pytest.approx(7)
        assert word in found.reason
        assert any(e.kind == "readme" and word in readme[e.start : e.end] for e in found.evidence)


async def test_what_is_allowed_is_no_invention(view: View) -> None:
    readme = (
        "# W\n\n## Installation\n\n```bash\npip install -r requirements.txt\npip install -e .\npip install wordcount click"
        "\npip install pytest\n```\n\n```python\nimport sys, wordcount\nfrom click import echo\n```\n"
        "It uses the argparse module.\n\n## Tests\n\n```bash\npip install hypothesis\n```\n"
    )
    assert pick(await judged(readme, view), "dependencies").points == 10


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("It needs only the standard library.", 10),
        ("There are no external dependencies.", 10),
        ("## Installation\n\n```bash\npip install wordcount\n```\n", 9),
        ("## Installation\n\nCopy it.\n", 6),
        ("Nice.", 2),
    ],
)
async def test_no_dependencies_counts_in_full_only_beside_knowledge(view: View, text: str, points: float) -> None:
    """Anybody could have guessed it: alone it earns 40 % of what it earns in a README that knows its project."""
    facts = replace(FACTS, dependencies=())
    blind = pick(await judged(f"# W\n\nWords.\n\n{text}", view, facts=facts), "dependencies")
    assert blind.points == pytest.approx(0.4 * points)
    assert "guessed" in blind.reason
    knows = pick(await judged(f"{KNOWS}\n\n{text}", view, facts=facts), "dependencies").points
    assert knows is not None
    assert 0.7 * points <= knows <= points


async def test_it_says_offline_wherever_its_points_stand(view: View) -> None:
    card = await judged(GENERIC, view, rubric="strict")
    lines = [c for c in card.criteria if c.tier > 2 and c.key != "must_mention"]
    assert len(lines) == 7
    assert all(c.judged_by == card.judge and c.reason.startswith("offline judge: ") for c in lines)


@pytest.mark.parametrize(
    ("broken", "key", "word"),
    [
        (lambda t: t + "\n```bash\npython wordcount.py\n", "formatting", "never closed"),
        (lambda t: t.replace("## Usage", "##### Usage"), "formatting", "level jump"),
        (lambda t: t + "\nTODO: write this for <your project>.\n", "clarity", "placeholders"),
        (lambda t: t + ("\nThe same sentence is said here again and again by the model." * 40), "clarity", "repeats"),
        (lambda t: t.split("## Usage")[0], "completeness", "no section on usage"),
        (lambda t: t.replace("(https://example.org)", "()"), "formatting", "broken"),
    ],
)
async def test_each_fault_of_form_costs_points_and_is_named(view, broken, key, word):
    good = case("word_counter")[0] + "\n[site](https://example.org)\n"
    before, after = pick(await judged(good, view), key), pick(await judged(broken(good), view), key)
    assert (after.points or 0) < (before.points or 0)
    assert word in after.reason


_PIECES = ["# ", "\n", "```", "```python\n", "```bash\n", "pip install ", "python wordcount.py", "click", "`", "[a](b)",
           "|a|b|\n|-|-|\n", "- ", "> ", "    ", "\r", "\x00", "\x1b[31m", "\ud800", "\u202e", "import x\n", "TODO",
           "lines words characters", ". "]  # fmt: skip
READMES = st.lists(st.sampled_from(_PIECES) | st.text(st.characters(exclude_categories=()), max_size=8), max_size=25)
WORDS = st.lists(st.text(max_size=8), max_size=3).map(tuple)
TEXT = st.text(max_size=20)


@settings(max_examples=60, deadline=None)
@given(
    readme=READMES.map("".join),
    metadata=st.none() | st.integers() | st.lists(st.text()) | st.dictionaries(st.text(), st.text()),
    rubric=st.sampled_from(["aeo-bench", "strict"]),
    facts=st.none() | st.just(FACTS) | st.builds(Facts, TEXT, WORDS, TEXT, WORDS, WORDS, st.just("wordcount.py")),
    parsed=st.booleans(),
)
async def test_nothing_raises_and_every_line_holds(view, readme, metadata, rubric, facts, parsed):
    card = await score(
        readme, metadata, parsed=parsed, rubric=rubric, facts=facts, reference_readme=None, view=view, judge=OfflineJudge()
    )  # fmt: skip
    (listed,) = [info for info in rubrics() if info.name == rubric]
    assert [tier.maximum for tier in card.tiers.values()] == [maximum for _, _, maximum in listed.tiers]
    for criterion in card.criteria:
        assert criterion.points is None or 0 <= criterion.points <= criterion.maximum
        assert criterion.reason
        criterion.reason.encode("utf-8")
        for evidence in criterion.evidence:
            evidence.text.encode("utf-8")
            assert "\x1b" not in evidence.text
            if evidence.kind == "readme":
                assert 0 <= (evidence.start or 0) <= (evidence.end or 0) <= len(readme)


# What costs the square of a README's length runs into the time limit of every test.
@pytest.mark.parametrize("piece", ["[", "```bash\npython x.py\n```\n"])
async def test_a_megabyte_is_scored_within_seconds(view: View, piece: str) -> None:
    readme = piece * (1_000_000 // len(piece))
    assert ((await judged(readme, view, rubric="strict", ref=readme)).total or 0) < 60


@pytest.mark.parametrize(
    ("kind", "key"), [("python", "dependencies"), ("option", "run_command"), ("default", "completeness")]
)
async def test_a_claim_that_is_untrue_costs_its_criterion_and_no_other(kind: str, key: str) -> None:
    readme, facts = case("word_counter")
    view = View(CASES / "word_counter" / "repository")
    claim = Claim(kind, "such", PageRange(1), LookupResult(Truth.UNTRUE, "there is no such thing"))
    before = {c.key: c for c in (await judged(readme, view, facts=facts)).criteria}
    after = {c.key: c for c in (await judged(readme, view, facts=facts, untrue=[claim])).criteria}
    assert {name for name, c in after.items() if c.points != before[name].points} == {key}
    assert (after[key].points or 0) < (before[key].points or 0)
    assert "1 untrue claim: there is no such thing" in after[key].reason
    assert any((one.line, one.text) == (1, readme.splitlines()[0]) for one in after[key].evidence)
