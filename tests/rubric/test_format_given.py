"""Points that the answer's format gave: counted from the recorded grammar, per criterion and in all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.agents.constrained import Knowledge, grammar
from workbench.catalog import Facts
from workbench.repository import View
from workbench.rubric import OfflineJudge, Scorecard, score
from workbench.rubric.judging import JudgeRequest
from workbench.rubric.scorecard import Criterion
from workbench.rubric.scoring import skeleton

CASE = Path(__file__).resolve().parents[2] / "test_cases" / "word_counter"
SHAPE = grammar(
    Knowledge(
        "word_counter",
        scripts=("word_counter.py",),
        names=("count", "main"),
        dependencies=("click",),
        options=("--lines", "--top"),
        must_respond=True,
    )
)
BY_RULE = ("json", "length", "metadata", "installation", "usage", "examples")
FACTS = Facts(
    main_purpose="Count the lines, words, characters and bytes of files or standard input, like Unix wc",
    dependencies=("click",),
    run_command="python word_counter.py notes.txt",
    key_features=("most common words",),
    must_mention=("--lines",),
    main_file="word_counter.py",
)


def nonsense() -> str:
    said = " ".join(["xtr"] * 12)
    return (
        f"# word_counter\n\nword_counter is a {said}. It {said}.\n\n## Features\n\n- Returns {said}.\n- Reads {said}.\n- Prints {said}.\n\n"
        f"## Installation\n\n```bash\npip install click\n```\n\n## Usage\n\nIt {said}.\n\n```bash\npython word_counter.py\n"
        f"python word_counter.py --lines\n```\n\n## API reference\n\n- `count`: Returns {said}.\n- `main`: Returns {said}.\n"
    )


async def judged(readme: str, shape: str | None, judge: object = None, rubric: str = "aeo-bench") -> Scorecard:
    bare = skeleton(SHAPE)
    assert bare is not None
    return await score(
        readme,
        bare[1],
        parsed=True,
        rubric=rubric,
        facts=FACTS,
        reference_readme=None,
        view=View(CASE / "repository"),
        judge=judge or OfflineJudge(),  # type: ignore[arg-type]
        shape=shape,
    )


def test_the_skeleton_is_what_the_grammar_writes_by_itself() -> None:
    bare = skeleton(SHAPE)
    assert bare is not None
    assert bare[0].startswith("# word_counter\n\nword_counter is a")
    assert "## Installation\n\n```bash\npip install click\n```" in bare[0]
    assert "- `count`: Returns" in bare[0]
    assert bare[1]["@type"] == "SoftwareSourceCode"  # type: ignore[index]


@pytest.mark.parametrize(
    "shape", ["", "{}", '{"type": "object"}', "readme ::= ", "readme ::= readme", 'readme ::= "a', 'readme ::= ("a"', "\x00"]
    + ['readme ::= "a"{999999999}', grammar(Knowledge("x", folders=(".",), may_respond=False))]
)  # fmt: skip
def test_what_is_no_such_grammar_gives_nothing_or_little(shape: str) -> None:
    found = skeleton(shape)
    assert found is None or len(found[0]) <= 1_000


async def test_the_formats_points_stand_beside_those_of_the_model() -> None:
    assert (await judged(nonsense(), None)).given is None  # a free answer
    card = await judged(nonsense(), SHAPE)
    by_key = {criterion.key: criterion for criterion in card.criteria}
    for key in BY_RULE:
        assert by_key[key].given == by_key[key].maximum
    assert card.given is not None
    assert 40 <= card.given <= (card.total or 0)
    assert all(c.given is None or 0 <= c.given <= (c.points or 0) for c in card.criteria)
    # Of the judged points prose of one word earns next to nothing: what there is, the commands gave.
    assert (card.tiers[4].points or 0) <= 2
    assert (by_key["purpose"].points or 0) <= 2
    assert Scorecard.from_json(json.loads(json.dumps(card.to_json()))) == card
    assert card.to_json()["given"] == card.given


class Model:
    """A judge that counts its requests."""

    name = "model"
    asked = 0

    async def judge_tier(self, tier: int, brief: JudgeRequest) -> list[Criterion]:
        self.asked += 1
        return [Criterion(tier, q.key, q.title, q.maximum, q.maximum, "fine", (), self.name) for q in brief.questions]


async def test_a_model_is_not_asked_about_the_skeleton() -> None:
    judge = Model()
    card = await judged(nonsense(), SHAPE, judge)
    assert judge.asked == 2
    assert card.given == 40
    assert {c.key for c in card.criteria if c.given is not None} == set(BY_RULE)
