"""The strict rubric: headings that are headings, sections that say something, examples that could run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from workbench.base.errors import UsageError
from workbench.catalog import Facts
from workbench.rubric import Criterion, OfflineJudge, Scorecard, rubrics, score
from workbench.rubric.scorecard import NO_FACTS_POINTS

FACTS = Facts(
    main_purpose="Count words",
    run_command="python wordcount.py notes.txt",
    key_features=("totals of several files",),
    must_mention=("--top", "total", "standard input"),
    main_file="wordcount.py",
)
META = {"@context": "https://schema.org", "@type": "SoftwareSourceCode", "name": "n", "description": "d"}


async def strict(readme: str, metadata: object = None, **options: Any) -> Scorecard:
    given = {"parsed": True, "facts": FACTS, "reference_readme": None, "view": None, "judge": OfflineJudge()}
    return await score(readme, META if metadata is None else metadata, **{"rubric": "strict", **given, **options})


def pick(card: Scorecard, key: str) -> Criterion:
    return next(criterion for criterion in card.criteria if criterion.key == key)


@pytest.mark.parametrize(
    "readme", ["A client pipeline. sampled", "# T\n\n```\n## Installation\n\npip install it now please\n```\n"]
)
async def test_words_without_a_real_heading_earn_nothing(readme: str) -> None:
    found = pick(await strict(readme), "installation")
    assert (found.points, found.reason) == (0, "no heading for installation")


@pytest.mark.parametrize("heading", ["### 2. Installing", "Setup\n-----", "## Requirements:"])
async def test_real_headings_of_all_kinds_count(heading: str) -> None:
    readme = f"# T\n\n{heading}\n\nDo this to install it:\n\n```bash\npip install -e .\n```\n"
    found = pick(await strict(readme), "installation")
    assert found.points == 8
    assert found.evidence[0].line == 3
    assert readme[found.evidence[0].start : found.evidence[0].end].startswith(heading.split("\n")[0])


@pytest.mark.parametrize(
    ("body", "share"),
    [("Soon.", 0.1), ("Copy the file somewhere.", 0.5), ("word " * 20, 0.75), ("```bash\nx y\n```", 0.9)],
)
async def test_sections_need_content(body: str, share: float) -> None:
    found = pick(
        await strict(f"# T\n\n## Usage\n\n{body}\n\n## License\n\nMIT, and a good many more words than five.\n"),
        "usage",
    )
    assert found.points == pytest.approx(9 * share, abs=0.05)


@pytest.mark.parametrize(
    ("fence", "problem"),
    [
        ("```bash\npython wordcount.py a.txt\n```", None),
        ("```python\nfrom wordcount import count\ncount('a')\n```", None),
        ("```python\ndef broken(:\n```", "not valid Python"),
        ("```python\nimport flask\nflask.run()\n```", "does not use this project"),
        ("```python\nx = 1\n```", "calls nothing"),
        ("```bash\npip install wordcount\n```", "only installs"),
        ("```bash\nls -l\n```", "no command of this project"),
        ("```json\n{}\n```", "neither shell nor Python"),
        ("```bash\npython wordcount.py a.txt", "never closed"),
    ],
)
async def test_only_fences_that_could_run_are_examples(fence: str, problem: str | None) -> None:
    found = pick(await strict(f"# T\n\nText.\n\n{fence}\n"), "examples")
    if problem is None:
        assert found.points == 3.2
        assert found.reason == "1 runnable fenced example"
    else:
        assert found.points == 0
        assert problem in found.reason
        assert "line 5" in found.reason


async def test_two_runnable_examples_under_their_heading_earn_all() -> None:
    block = "```bash\npython wordcount.py a.txt\n```\n"
    assert pick(await strict(f"# T\n\n## Examples\n\n{block}\n{block}"), "examples").points == 8


@pytest.mark.parametrize(
    ("metadata", "points"),
    [
        (META, 5),
        ({**META, "@type": "Recipe"}, 3),
        ({**META, "name": 5}, 3.5),
        ({**META, "colour": "red"}, 4.5),
        ({"@context": "https://schema.org", "@type": "SoftwareSourceCode", "name": "n"}, 4),
        ({}, 0),
    ],
)
async def test_metadata_is_checked_against_the_vocabulary(metadata: object, points: float) -> None:
    assert pick(await strict("# T", metadata), "metadata").points == points


async def test_the_original_shows_the_same_findings_without_points() -> None:
    card = await strict("# T", {**META, "colour": "red"}, rubric="aeo-bench")
    (remark,) = (one for one in card.criteria if one.maximum == 0)
    assert remark.points == 0
    assert [evidence.path for evidence in remark.evidence] == ["colour"]
    assert card.tiers[1].maximum == 15


async def test_must_mention_items_are_found_as_words() -> None:
    found = pick(await strict("# T\n\nUse --TOP to see totals. Subtotally. standard\ninput"), "must_mention")
    assert found.points == 4
    missing = pick(await strict("# T\n\n--topmost, totally"), "must_mention")
    assert missing.points == 0
    assert "--top, total, standard input" in missing.reason


@pytest.mark.parametrize("rubric", ["strict", "aeo-bench"])
async def test_without_facts_what_needs_them_is_unscored(rubric: str) -> None:
    card = await strict("# T\n\nSome text.", rubric=rubric, facts=None)
    assert card.tiers[3].points is None
    assert card.out_of == sum(tier.maximum for tier in card.tiers.values()) - card.tiers[3].maximum
    assert card.tiers[4].points is not None


async def test_a_case_without_facts_gets_the_original_s_fifteen_on_request() -> None:
    common = {"facts": None, "rubric": "aeo-bench", "without_facts": NO_FACTS_POINTS}
    assert (await strict("# T\n\nx", **common)).tiers[3].points == pytest.approx(15)
    assert (await strict("", **common)).tiers[3].points == 0


async def test_facts_that_state_nothing_leave_their_criterion_unscored() -> None:
    card = await strict("# T\n\nText.", facts=replace(FACTS, main_purpose="", run_command="", key_features=()))
    assert {c.key for c in card.criteria if c.points is None} == {"purpose", "run_command", "key_features"}


async def test_an_unknown_rubric_is_refused_with_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"There is no rubric 'x'; use aeo-bench or strict\."):
        await strict("", rubric="x")


def test_rubrics_are_listed_with_their_maxima() -> None:
    assert [info.name for info in rubrics()] == ["aeo-bench", "strict"]
    for info in rubrics():
        assert info.maximum == sum(maximum for _, _, maximum in info.tiers)
        assert info.description
    # As published.
    assert [maximum for _, _, maximum in rubrics()[0].tiers] == [15, 25, 30, 30]
