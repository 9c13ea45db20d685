"""A study as a form holds it: each mistake is named with its field, and what is declared is written and read the same."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.errors import BadField
from workbench.studies.checking import drafted, look_up, values_of
from workbench.studies.declaration import AGENTS, DOCS, Study, StudyColumn, StudyLimits, StudySettings
from workbench.studies.study_files import packaged_studies, parse_study, study_named, study_toml

AGENT_FIELDS = {
    "compare": AGENTS, "name": "mine", "cases": ("word_counter",), "agents": ("white", "planner-2"), "models": ("local",),
    "judges": ("offline",), "repeats": "3", "steps": "", "spend": "", "checks": "no", "use": "",
}  # fmt: skip
DOC_FIELDS = {
    "compare": DOCS, "name": "mine", "sources": ("word_counter",), "docs": ("none", "original"), "evaluators": ("local",),
    "samples": "3", "k": "1, 3", "tasks": "10", "spend": "2.5", "scope": "repository",
}  # fmt: skip


def reload(study: Study) -> Study:
    return parse_study(tomllib.loads(study_toml(study)), Path("study.toml"))


def test_a_form_declares_a_study() -> None:
    study = drafted(DOC_FIELDS)
    assert [column.name for column in study.columns] == ["none · local", "original · local"]
    assert (study.samples, study.k, study.limits.tasks, study.spend_limit) == (3, (1, 3), 10, 2.5)
    assert reload(study) == study
    agents = drafted(AGENT_FIELDS)
    assert (agents.repeats, agents.settings.judges, agents.limits.steps) == (3, ("offline",), 0)
    assert reload(agents) == agents
    assert (agents.settings.checks, agents.measures) == (False, ("score",))
    checked = drafted({**AGENT_FIELDS, "checks": "yes"})
    assert checked.measures == ("score", "works", "claims")
    assert values_of(reload(checked))["checks"] == "yes"


@pytest.mark.parametrize("name", [name for name in packaged_studies() if name != "paper"])
def test_a_packaged_study_passes_through_a_form_unchanged(name: str) -> None:
    study = study_named(name)
    assert drafted(values_of(study), study) == study
    look_up(replace(study, rows=tuple(row for row in study.rows if row != "all")))
    with pytest.raises(BadField, match="name of a bundled study") as refused:
        drafted({**values_of(study), "spend": "5"}, study)
    assert refused.value.field == "name"


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({**AGENT_FIELDS, "name": " "}, "name", "not empty"),
        ({**AGENT_FIELDS, "name": "a/b"}, "name", "without '/'"),
        ({**AGENT_FIELDS, "cases": ()}, "cases", "at least one"),
        ({**AGENT_FIELDS, "agents": ()}, "agents", "at least one entry"),
        ({**AGENT_FIELDS, "agents": ("planner", "planner-2")}, "agents", "'planner-2' appears twice"),
        ({**AGENT_FIELDS, "cases": tuple(f"r{n}" for n in range(6_000))}, "cases", "at most 10,000 cells"),
        ({**AGENT_FIELDS, "repeats": ""}, "repeats", "repeats must be a whole number of 1 or more, not nothing."),
        ({**AGENT_FIELDS, "spend": "-1"}, "spend", "0 or more"),
        ({**DOC_FIELDS, "k": "1, 5"}, "k", "pass@5 of 3 samples is not defined"),
        ({**DOC_FIELDS, "k": "1; 3"}, "k", "whole number"),
    ],
)  # fmt: skip
def test_each_mistake_is_one_sentence_about_its_field(fields: dict[str, object], field: str, said: str) -> None:
    with pytest.raises(BadField) as refused:
        drafted(fields)
    assert refused.value.field == field
    assert said in str(refused.value)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({**AGENT_FIELDS, "cases": ("word_counterr",)}, "cases"),
        ({**DOC_FIELDS, "sources": ("/nowhere/at/all",)}, "sources"),
    ],
)
def test_what_is_not_there_is_said_of_its_field(fields: dict[str, object], field: str) -> None:
    with pytest.raises(BadField) as refused:
        look_up(drafted(fields))
    assert refused.value.field == field


LINE = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=12).map(str.strip).filter(bool)
LINES = st.lists(LINE, min_size=1, max_size=3, unique=True).map(tuple)


@settings(max_examples=25, deadline=None)
@given(LINES, LINES, LINES, LINE, st.integers(1, 9), st.floats(0, 1000, allow_nan=False))
def test_whatever_it_holds_is_read_as_it_was_written(rows, systems, models, title, samples, dollars):
    study = Study(
        "mine", DOCS, rows, tuple(StudyColumn(one, model) for one in systems for model in models), samples=samples, k=(1,),
        spend_limit=dollars, limits=StudyLimits(tasks=samples), title=title,
        settings=StudySettings(prompt=title, tasks=rows, controls=samples > 3),
    )  # fmt: skip
    assert reload(study) == study
