"""A study as a form holds it: each mistake is named with its field, and what is declared is written and read the same."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import BadField
from workbench.studies.checking import Draft, draft_of, drafted, look_up
from workbench.studies.declaration import AGENTS, DOCS, BadStudy, Column, Limits, Settings, Study
from workbench.studies.study_files import packaged_studies, parse_study, study_named, study_toml

AGENTS_DRAFT = Draft(
    AGENTS, "mine", ("word_counter",), ("white", "planner-2"), ("local",), ("offline",),
    {"repeats": "3", "steps": "", "spend": ""},
)  # fmt: skip
DOCS_DRAFT = Draft(
    DOCS, "mine", ("word_counter",), ("none", "original"), ("local",), (),
    {"samples": "3", "k": "1, 3", "tasks": "10", "spend": "2.5"},
)  # fmt: skip


def read_again(study: Study) -> Study:
    return parse_study(tomllib.loads(study_toml(study)), Path("study.toml"))


def with_number(draft: Draft, name: str, text: str) -> Draft:
    return replace(draft, numbers={**draft.numbers, name: text})


def test_a_form_declares_a_study() -> None:
    study = drafted(DOCS_DRAFT)
    assert [column.name for column in study.columns] == ["none · local", "original · local"]
    assert (study.samples, study.k, study.limits.tasks, study.spend_limit) == (3, (1, 3), 10, 2.5)
    assert read_again(study) == study
    agents = drafted(AGENTS_DRAFT)
    assert (agents.repeats, agents.settings.judges, agents.limits.steps) == (3, ("offline",), 0)
    assert read_again(agents) == agents
    assert (agents.settings.checks, agents.measures) == (False, ("score",))
    checked = drafted(replace(AGENTS_DRAFT, checks=True))
    assert checked.measures == ("score", "works", "claims")
    assert draft_of(read_again(checked)).checks
    assert not drafted(replace(DOCS_DRAFT, checks=True)).settings.checks, "docs have no READMEs"


@pytest.mark.parametrize("name", [name for name in packaged_studies() if name != "paper"])
def test_a_packaged_study_passes_through_a_form_unchanged(name: str) -> None:
    study = study_named(name)
    assert drafted(draft_of(study)) == study
    look_up(replace(study, rows=tuple(row for row in study.rows if row != "all")))
    with pytest.raises(BadField, match="comes with the program") as refused:
        drafted(with_number(draft_of(study), "spend", "5"))
    assert refused.value.field == "name"


@pytest.mark.parametrize(
    ("draft", "field", "said"),
    [
        (replace(AGENTS_DRAFT, name=" "), "name", "1 to 60 characters"),
        (replace(AGENTS_DRAFT, name="a/b"), "name", "without '/'"),
        (replace(AGENTS_DRAFT, rows=()), "cases", "Choose at least one of the cases."),
        (replace(DOCS_DRAFT, rows=()), "sources", "at least one"),
        (replace(AGENTS_DRAFT, systems=()), "agents", "at least one agent"),
        (replace(DOCS_DRAFT, systems=()), "docs", "at least one doc system"),
        (replace(AGENTS_DRAFT, systems=("planner", "planner-2")), "agents", "planner-2 is there twice"),
        (replace(AGENTS_DRAFT, rows=tuple(f"r{n}" for n in range(6_000))), "cases", "at most 10,000 cells"),
        (with_number(AGENTS_DRAFT, "repeats", ""), "repeats", "repeats must be a whole number of 1 or more, not nothing."),
        (with_number(AGENTS_DRAFT, "repeats", "0"), "repeats", "1 or more, not '0'"),
        (with_number(AGENTS_DRAFT, "steps", "x"), "steps", "whole number"),
        (with_number(AGENTS_DRAFT, "spend", "-1"), "spend", "0 or more"),
        (with_number(DOCS_DRAFT, "k", "1, 5"), "k", "pass@5 of 3 is not defined"),
        (with_number(DOCS_DRAFT, "k", ""), "k", "such as 1, 3"),
        (with_number(DOCS_DRAFT, "k", "1; 3"), "k", "whole number"),
        (with_number(DOCS_DRAFT, "samples", "1e9"), "samples", "whole number"),
        (with_number(DOCS_DRAFT, "tasks", "0"), "tasks", "1 or more"),
    ],
)  # fmt: skip
def test_each_mistake_is_one_sentence_about_its_field(draft: Draft, field: str, said: str) -> None:
    with pytest.raises(BadField) as refused:
        drafted(draft)
    assert refused.value.field == field
    assert said in str(refused.value)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (replace(AGENTS_DRAFT, rows=("word_counterr",)), "cases"),
        (replace(AGENTS_DRAFT, systems=("whitee",)), "agents"),
        (replace(DOCS_DRAFT, systems=("orginal",)), "docs"),
        (replace(DOCS_DRAFT, rows=("/nowhere/at/all",)), "sources"),
    ],
)
def test_what_is_not_there_is_said_of_its_field(draft: Draft, field: str) -> None:
    with pytest.raises(BadField) as refused:
        look_up(drafted(draft))
    assert refused.value.field == field


def test_columns_that_are_no_product_cannot_be_written() -> None:
    study = replace(drafted(AGENTS_DRAFT), columns=(Column("white", "local"), Column("single-file", "openai/gpt-4o")))
    with pytest.raises(BadStudy, match="each system with each model"):
        study_toml(study)


LINE = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=12).map(str.strip).filter(bool)
LINES = st.lists(LINE, min_size=1, max_size=3, unique=True).map(tuple)


@settings(max_examples=60, deadline=None)
@given(LINES, LINES, LINES, LINE, st.integers(1, 9), st.floats(0, 1000, allow_nan=False))
def test_whatever_it_holds_is_read_as_it_was_written(
    rows: tuple[str, ...], systems: tuple[str, ...], models: tuple[str, ...], title: str, samples: int, dollars: float
) -> None:
    study = Study(
        "mine", DOCS, rows, tuple(Column(one, model) for one in systems for model in models), samples=samples, k=(1,),
        spend_limit=dollars, limits=Limits(tasks=samples), title=title,
        settings=Settings(prompt=title, tasks=rows, controls=samples > 3),
    )  # fmt: skip
    assert read_again(study) == study
