"""The offline judge: accurate text earns, generic, looping and invented text does not; everything says why."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.errors import WorkbenchError
from workbench.repository import View
from workbench.rubric import Criterion, OfflineJudge, Scorecard, rubrics, score
from workbench.rubric.judging import UntrueClaim
from workbench.rubric.scorecard import Evidence

CASES = Path(__file__).resolve().parents[2] / "test_cases"
METADATA = {"@context": "https://schema.org", "@type": "SoftwareSourceCode", "name": "n", "description": "d"}


@dataclass(frozen=True)
class Truth:
    main_purpose: str = "Count the lines, words and characters of text files"
    dependencies: tuple[str, ...] = ("click",)
    run_command: str = "python wordcount.py notes.txt"
    key_features: tuple[str, ...] = ("several files with totals", "reads standard input")
    must_mention: tuple[str, ...] = ("--lines", "total")
    main_file: str = "wordcount.py"


@dataclass(frozen=True)
class Entry:
    path: str


@dataclass(frozen=True)
class Seen:
    files: tuple[Entry, ...]

    def read_file(self, path: str, *, limit: int | None = None) -> str:
        raise WorkbenchError(f"{path} has no text.")


VIEW = Seen((Entry("wordcount.py"), Entry("requirements.txt"), Entry("tests/test_counts.py")))

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


async def judged(
    readme: str,
    *,
    facts: Truth | None = None,
    view: Seen | View | None = VIEW,
    rubric: str = "aeo-bench",
    ref: str | None = None,
    untrue: Sequence[UntrueClaim] = (),
) -> Scorecard:
    return await score(
        readme,
        METADATA,
        parsed=True,
        rubric=rubric,
        facts=facts or Truth(),
        reference_readme=ref,
        view=view,
        judge=OfflineJudge(),
        untrue=untrue,
    )


def pick(card: Scorecard, key: str) -> Criterion:
    return next(criterion for criterion in card.criteria if criterion.key == key)


def truth_of(folder: Path) -> Truth:
    read = tomllib.loads((folder / "ground_truth" / "facts.toml").read_text("utf-8"))
    return Truth(**{key: tuple(value) if isinstance(value, list) else value for key, value in read.items()})


FOLDERS = sorted(path.parent.parent for path in CASES.glob("*/ground_truth/README.md"))


def test_there_are_cases_to_calibrate_with() -> None:
    assert len(FOLDERS) >= 6


@pytest.mark.parametrize("rubric", ["aeo-bench", "strict"])
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
async def test_the_reference_scores_high_and_the_others_well_below(folder: Path, rubric: str) -> None:
    truth = truth_of(folder)
    reference = (folder / "ground_truth" / "README.md").read_text("utf-8")

    async def total(readme: str) -> float:
        card = await judged(readme, facts=truth, view=None, rubric=rubric, ref=reference)
        assert card.total is not None
        return card.total

    best = await total(reference)
    assert best >= 85
    assert await total("") <= 10
    assert await total(GENERIC) < 60
    assert await total(LOOPING) < 30
    assert await total(INVENTED) < 60
    assert await total(reference) == best


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
async def test_another_case_s_good_readme_earns_little_accuracy(folder: Path) -> None:
    truth = truth_of(folder)
    for other in FOLDERS:
        card = await judged((other / "ground_truth" / "README.md").read_text("utf-8"), facts=truth, view=None)
        third = card.tiers[3].points
        assert third is not None
        assert third >= 24 if other == folder else third <= 20


async def test_accuracy_falls_when_facts_are_taken_out() -> None:
    whole = (
        "# wordcount\n\nCount the lines, words and characters of text files.\n\n## Installation\n\n"
        "```bash\npip install click\n```\n\n## Usage\n\n```bash\npython wordcount.py notes.txt\n```\n"
    )
    full = (await judged(whole)).tiers[3].points
    assert full == 30
    for gone in ("pip install click", "python wordcount.py notes.txt", "lines, words and characters of text files"):
        points = (await judged(whole.replace(gone, "…"))).tiers[3].points
        assert points is not None
        assert points < full - 5


@pytest.mark.parametrize(
    ("command", "low", "high"),
    [
        ("python wordcount.py notes.txt", 8, 8),
        ("$ python3 ./wordcount.py notes.txt", 8, 8),
        ("sudo python3.11 wordcount.py other.txt", 8, 8),
        ("./wordcount.py other.txt", 8, 8),
        ("uv run wordcount.py x", 8, 8),
        ("cat a | xargs python wordcount.py", 4, 5),
        ("vim wordcount.py", 4, 5),
        ("python other.py", 0, 0),
        ("wc notes.txt", 0, 0),
    ],
)
async def test_run_commands_are_compared_by_meaning(command: str, low: float, high: float) -> None:
    points = pick(await judged(f"# W\n\n## Usage\n\n```bash\n{command}\n```\n"), "run_command").points
    assert points is not None
    assert low <= points <= high


async def test_inventions_cost_points_and_are_shown_with_their_place() -> None:
    base = "# W\n\n## Installation\n\n```bash\npip install click{}\n```\n\n{}"
    clean = pick(await judged(base.format("", "")), "dependencies")
    assert clean.points == 10
    for extra, prose, word in (
        (" statslib", "", "statslib"),
        ("", "```python\nimport statslib\n```\n", "statslib"),
        ("", "It uses the statslib module.", "statslib"),
        ("\npip install -r requirements/absent.txt", "", "absent.txt"),
    ):
        readme = base.format(extra, prose)
        found = pick(await judged(readme), "dependencies")
        assert found.points == pytest.approx(7)
        assert word in found.reason
        assert any(e.kind == "readme" and word in readme[e.start : e.end] for e in found.evidence)


async def test_what_is_allowed_is_no_invention() -> None:
    readme = (
        "# W\n\n## Installation\n\n```bash\npip install -r requirements.txt\npip install -e .\npip install wordcount click"
        "\npip install pytest\n```\n\n```python\nimport sys, wordcount\nfrom click import echo\n```\n"
        "It uses the argparse module.\n\n## Tests\n\n```bash\npip install hypothesis\n```\n"
    )
    assert pick(await judged(readme), "dependencies").points == 10


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
async def test_no_dependencies_counts_in_full_only_beside_knowledge(text: str, points: float) -> None:
    """Anybody could have guessed it: alone it earns 40 % of what it earns in a README that knows its project."""
    facts = replace(Truth(), dependencies=())
    blind = pick(await judged(f"# W\n\nWords.\n\n{text}", facts=facts), "dependencies")
    assert blind.points == pytest.approx(0.4 * points)
    assert "guessed" in blind.reason
    knows = pick(await judged(f"{KNOWS}\n\n{text}", facts=facts), "dependencies").points
    assert knows is not None
    assert 0.7 * points <= knows <= points


async def test_a_readme_that_knows_its_repository_may_say_that_nothing_is_needed() -> None:
    folder = CASES / "password_generator"
    readme = (folder / "ground_truth" / "README.md").read_text("utf-8")
    found = pick(await judged(readme, facts=truth_of(folder), view=View(folder / "repository")), "dependencies")
    assert found.points == 10


async def test_it_says_offline_wherever_its_points_stand() -> None:
    card = await judged(GENERIC, rubric="strict")
    judged_lines = [c for c in card.criteria if c.tier > 2 and c.key != "must_mention"]
    assert len(judged_lines) == 7
    assert all(c.judged_by == "offline-3" and c.reason.startswith("offline judge: ") for c in judged_lines)
    assert card.judge == OfflineJudge.name == "offline-3"


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
async def test_each_fault_of_form_costs_points_and_is_named(broken, key: str, word: str) -> None:  # type: ignore[no-untyped-def]
    good = (CASES / "word_counter" / "ground_truth" / "README.md").read_text(
        "utf-8"
    ) + "\n[site](https://example.org)\n"
    before, after = pick(await judged(good), key), pick(await judged(broken(good)), key)
    assert before.points is not None
    assert after.points is not None
    assert after.points < before.points
    assert word in after.reason


PIECES = st.sampled_from(
    [
        "# ",
        "\n",
        "```",
        "```python\n",
        "```bash\n",
        "pip install ",
        "python wordcount.py",
        "click",
        "`",
        "[a](b)",
        "|a|b|\n|-|-|\n",
    ]
    + [
        "- ",
        "> ",
        "    ",
        "\r",
        "\x00",
        "\x1b[31m",
        "\ud800",
        "\u202e",
        "import x\n",
        "TODO",
        "lines words characters",
        ". ",
    ]
)
READMES = st.lists(PIECES | st.text(st.characters(exclude_categories=()), max_size=8), max_size=25).map("".join)


@settings(max_examples=150, deadline=None)
@given(
    readme=READMES,
    metadata=st.none() | st.integers() | st.lists(st.text()) | st.dictionaries(st.text(), st.text()),
    rubric=st.sampled_from(["aeo-bench", "strict"]),
    facts=st.none()
    | st.builds(Truth, *[st.text(max_size=20), st.lists(st.text(max_size=8), max_size=3).map(tuple)] * 3).map(
        lambda t: replace(Truth(), main_purpose=t.main_purpose, dependencies=t.dependencies, run_command=t.run_command)
    )
    | st.just(Truth()),
    parsed=st.booleans(),
)
async def test_nothing_raises_and_every_line_holds(  # type: ignore[no-untyped-def]
    readme: str, metadata: object, rubric: str, facts: Truth | None, parsed: bool
) -> None:
    card = await score(
        readme,
        metadata,
        parsed=parsed,
        rubric=rubric,
        facts=facts,
        reference_readme=None,
        view=VIEW,
        judge=OfflineJudge(),
    )
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
                assert evidence.start is not None
                assert evidence.end is not None
                assert 0 <= evidence.start <= evidence.end <= len(readme)


@pytest.mark.parametrize(
    "readme",
    [
        "word " * 1_000_000,
        "[" * 5_000_000,
        "# a\n" * 1_250_000,
        "* a\n" * 1_250_000,
        "|a|b|\n|-|-|\n" * 400_000,
        "İ" * 5_000_000,
    ]
    + ["```bash\npython x.py\n```\n" * 200_000, "[a](" * 1_250_000, ">" * 5_000_000, "no dependenc" * 400_000],
    ids=lambda readme: readme[:8].encode("ascii", "replace").decode(),
)
async def test_five_megabytes_are_scored_within_seconds(readme: str) -> None:
    for rubric in ("aeo-bench", "strict"):
        card = await judged(readme, rubric=rubric, ref=readme)
        assert card.total is not None
        assert card.total < 60


@pytest.mark.parametrize(
    ("kind", "key"), [("python", "dependencies"), ("option", "run_command"), ("default", "completeness")]
)
async def test_a_claim_that_is_untrue_costs_its_criterion_and_no_other(kind: str, key: str) -> None:
    readme = (CASES / "word_counter" / "ground_truth" / "README.md").read_text("utf-8")
    folder = CASES / "word_counter"
    known = {"facts": truth_of(folder), "view": View(folder / "repository")}
    claim = UntrueClaim(kind, "there is no such thing", Evidence("readme", "such", 3, 7))
    before = {c.key: c for c in (await judged(readme, **known)).criteria}
    after = {c.key: c for c in (await judged(readme, **known, untrue=[claim])).criteria}
    assert {name for name, c in after.items() if c.points != before[name].points} == {key}
    assert (after[key].points or 0) < (before[key].points or 0)
    assert "1 untrue claim: there is no such thing" in after[key].reason
    assert claim.place in after[key].evidence


async def test_a_true_sentence_in_another_ones_words_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "ver.py").write_text(
        'def bump_patch(v):\n    """Raise the patch part."""\n\n\n'
        'def next_version(v, part):\n    """Return the next version after a release, the given part raised."""\n'
    )
    said = "`bump_patch` returns the next version after a release with its part raised."
    readme = f"# ver\n\nRaises parts of versions.\n\n## Usage\n\n{said}\n\n`next_version` takes a part to raise.\n"
    found = pick(await judged(readme, facts=None, view=View(tmp_path)), "clarity")
    assert "what is said of" not in found.reason
