"""The paper's figures from its tables, each as printed there or in the reference of issue 11."""

from __future__ import annotations

import json
import sys

import pytest

from workbench.cli import main

pytest.importorskip("numpy")

from workbench.metrics.paper import published_paper
from workbench.pages.paper import disagreements, paper_json, paper_page
from workbench.pages.writing import rendered


@pytest.fixture(scope="module")
def paper():
    return published_paper()


def test_table_1_is_the_unweighted_mean_of_table_3(paper):
    assert len(paper.means) == 20
    assert round(max(one.off for one in paper.means), 4) == 0.0054
    off = [one for one in paper.means if f"{one.mean:.2f}" != f"{one.printed:.2f}"]
    assert [(one.system, one.setting) for one in off] == [(("RepoAgent", "qwen3-235b-a22b"), ("qwen3-235b-a22b", 3))]
    assert max(abs(one.by_tasks - one.printed) for one in paper.means) > 0.03


def test_twenty_of_28_repositories_keep_the_ranking(paper):
    assert (len(paper.keeping), paper.repositories) == (20, 28)
    assert set(paper.rankings.values()) == {(("RepoAgent",), ("OSA",), ("default",))}
    assert set(paper.taus.values()) == {1.0}
    assert min(paper.keeping_in.values()) == 20
    assert paper.whole_order["gpt-5-mini", 1] == 7


def test_one_of_the_eight_differences_does_not_exclude_zero(paper):
    assert len(paper.paired) == 8
    (unsure,) = [one for one in paper.paired if one.bootstrap[0] <= 0]
    assert (unsure.model, unsure.setting) == ("gpt-5-mini", ("gpt-5-mini", 1))
    assert [round(one, 3) for one in (unsure.difference.value, *unsure.bootstrap)] == [0.023, -0.013, 0.06]
    assert unsure.difference.repositories.words == "16 won, 2 tied, 10 lost"
    assert unsure.difference.interval.low < unsure.bootstrap[0]
    assert unsure.test.p > 0.2
    assert all(one.difference.interval.low > 0 and one.adjusted < 0.01 for one in paper.paired if one is not unsure)


def test_strata_and_sums(paper):
    assert [one.repositories for one in paper.strata] == [10, 18]
    assert paper.sums == (7563, 3350, 3094)
    said = " ".join(disagreements(paper))
    assert "sum to 3,094, the text says 2,924" in said
    assert "Table 1 prints 0.77" in said
    assert "+0.023 [−0.013, +0.060], 16 won, 2 tied, 10 lost" in said


def test_the_command_prints_all_forms(paper, capsys):
    assert main(["study", "paper", "--format", "md"]) == 0
    assert "Rankings of doc systems by setting." in capsys.readouterr().out
    assert main(["study", "paper", "--format", "md"]) == 0
    assert capsys.readouterr().out == "".join(rendered(paper_page(paper), "md"))
    assert main(["study", "paper", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(paper_json(paper)))
    assert main(["study", "unknown"]) == 2


def test_a_missing_package_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert main(["study", "paper"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "numpy" in said
    assert "docs-workbench[metrics]" in said
