"""Figures of a session: readable with one trial as with five thousand, with all of them counted, and caption in words."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from app.regenerated import Recorder
from samples.sessions import add_scores, add_trial, card

from workbench.pages import session_figures
from workbench.pages.page import Heat, Histograms, Strips
from workbench.pages.svg import MOST_COLUMNS, heat, histograms, strips
from workbench.results.contents import Contents, read_contents
from workbench.rubric.scorecard import Criterion, Scorecard
from workbench.session import SessionReader, SessionWriter, create


def contents_of(path: Path) -> Contents:
    with SessionReader(path) as reader:
        return read_contents(reader)


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    """100 trials of three agents, every tenth a fork of the one before; some without a score or with an unscored tier."""
    path = tmp_path_factory.mktemp("figures") / "trials.session"
    rng, parent = random.Random(1), ""
    agents = {"white": 0.78, "planner-2": 0.66, "single-file": 0.5}
    create(path)
    with SessionWriter(path) as writer, writer.transaction():
        writer.add_run("run", "document", {})
        for number in range(100):
            fork = number % 10 == 9
            agent = list(agents)[(number - fork) % 3]
            origin = {"parent": parent, "fork_step": 2} if fork else {}
            parent = add_trial(writer, "run", "alpha", number, agent=agent, steps=1, **origin)
            unscored = rng.random() < 0.05
            criteria = [
                Criterion(tier, f"c{tier}", "", round(maximum * min(1.0, max(0.0, rng.gauss(agents[agent], 0.2))), 1), maximum, "")
                for tier, maximum in ((1, 15.0), (2, 25.0), (3, 30.0), (4, 30.0))
            ]  # fmt: skip
            criteria[2] = replace(criteria[2], points=None) if unscored else criteria[2]
            if rng.random() > 0.04:
                add_scores(writer, parent, Scorecard("aeo-bench", "offline-4", tuple(criteria)))
    return contents_of(path)


def drawn(html: str) -> ElementTree.Element:
    found = re.search(r"<svg.*</svg>", html, re.DOTALL)
    assert found
    return ElementTree.fromstring(found[0])


def counted(words: str) -> int:
    """The number of trials in ``2 good · 1 poor``."""
    numbers = re.findall(r"([\d,]+) (?:good|middling|poor|unscored)", words)
    return sum(int(number.replace(",", "")) for number in numbers)


@pytest.mark.parametrize("count", [1, 40])
def test_few_trials_are_a_matrix_with_names_and_numbers(some: Contents, count: int) -> None:
    few = replace(some, trials=some.trials[:count])
    figure = session_figures.points_by_trial(few)
    assert isinstance(figure, Heat)
    assert figure.headings == ("T1 structural", "T2 sections", "T3 accuracy", "T4 quality", "total")
    assert len(figure.rows) == count
    first = figure.rows[0][1][-1]
    assert few.trials[0].main is not None
    assert first.text == f"{few.trials[0].main.total:g} / {few.trials[0].main.out_of:g}"
    image = drawn(heat(figure))
    assert image.get("role") == "img"
    assert counted(re.findall(r"Total: [^.]*", image.get("aria-label") or "")[0]) == count
    tones = {rect.get("class") for rect in image.iter("rect")}
    assert tones <= {"good", "warn", "bad", "none"}


@pytest.mark.parametrize("times", [1, 50])
def test_many_trials_are_columns_without_names_and_it_is_said(some: Contents, times: int) -> None:
    many = replace(some, trials=some.trials * times)
    figure = session_figures.points_by_trial(many)
    assert isinstance(figure, Strips)
    each = -(-100 * times // MOST_COLUMNS)
    caption = "A column is a trial" if each == 1 else f"A column is the mean of {each} trials"
    assert caption in figure.caption
    assert [row.label for row in figure.rows][0] == "total"
    for row in figure.rows:
        assert len(row.columns) <= MOST_COLUMNS
        assert counted(row.text) == 100 * times
    totals = [column[0] for column in figure.rows[0].columns if column is not None]
    assert totals == sorted(totals, reverse=True)
    html = strips(figure)
    assert float(drawn(html).get("width") or 0) < 1200
    assert len(html) < 60_000


def test_the_distribution_counts_every_scored_trial_but_no_fork(some: Contents) -> None:
    times = 3
    many = replace(some, trials=some.trials * times)
    figure = session_figures.distribution_of_points(many)
    assert isinstance(figure, Histograms)
    mains = [trial.main for trial in many.trials if trial.main is not None and not trial.row.parent]
    scored = sum(score.points is not None for score in mains)
    assert f"{len(mains) - scored:,} trials with points of fewer tiers excluded" in figure.caption
    assert sum(one.count for row in figure.rows for one, _ in row.bins) == scored
    assert f"{10 * times} forks of recorded trials excluded" in figure.caption
    assert {row.label for row in figure.rows} == {"white", "planner-2", "single-file"}
    numbers = [
        int((text.text or "0").replace(",", ""))
        for text in drawn(histograms(figure)).iter("text")
        if text.get("class") == "count"
    ]
    assert sum(numbers) == scored


def test_a_session_without_scores_has_no_figure(tmp_path: Path) -> None:
    create(tmp_path / "bare.session")
    with SessionWriter(tmp_path / "bare.session") as writer:
        writer.add_run("run", "document", {})
        add_trial(writer, "run", "alpha", 1)
    contents = contents_of(tmp_path / "bare.session")
    assert session_figures.points_by_trial(contents) is None
    assert session_figures.distribution_of_points(contents) is None


def test_an_unscored_tier_is_no_zero_and_hostile_names_are_text(tmp_path: Path) -> None:
    create(tmp_path / "odd.session")
    with SessionWriter(tmp_path / "odd.session") as writer:
        writer.add_run("run", "document", {})
        for case, points in (("</svg><script>x</script>\x1b[31m", None), ("beta", 0.0)):
            add_scores(writer, add_trial(writer, "run", case, 1, agent='"><img src=x>'), card(points))
    figure = session_figures.points_by_trial(contents_of(tmp_path / "odd.session"))
    assert isinstance(figure, Heat)
    third = [cells[2] for _, cells in figure.rows]
    assert [(cell.share, cell.text, cell.tone) for cell in third] == [(None, "?", ""), (0.0, "0 / 12", "bad")]
    image = drawn(heat(figure))
    assert any("</svg><script>" in (text.text or "") for text in image.iter("text"))
    assert not list(image.iter("script"))


@pytest.mark.parametrize(("count", "kind"), [(20, Heat), (60, Histograms)])
def test_pass_at_k_by_task(tmp_path: Path, count: int, kind: type) -> None:
    made, rng = Recorder(tmp_path / "tasks.session"), random.Random(1)
    made.run(evaluator="model-0", samples=4)
    with made.writer.transaction():
        for number in range(count):
            task = made.task(f"function_{number}", number)
            for who in (0, 1):
                made.cells(task, "".join(rng.choices("✓✗", k=4)), evaluator=f"model-{who}")
    made.close()
    ((_, outcome),) = contents_of(tmp_path / "tasks.session").regenerations
    figure = session_figures.pass_at_k_by_task(outcome)
    assert isinstance(figure, kind)
    assert f"{count} task" in figure.description
    if isinstance(figure, Histograms):
        assert [row.label for row in figure.rows] == [f"model-{who} pass@{k}" for who in (0, 1) for k in (1, 3)]
        assert all(sum(one.count for one, _ in row.bins) == count for row in figure.rows)
        assert drawn(histograms(figure)).get("aria-label")
    else:
        assert len(figure.rows) == count
        lines = [line for line in outcome.lines if line.task.id == outcome.tasks[0].id]
        shares = [cell.share for cell in figure.rows[0][1]]
        assert shares == [line.result.at(k) for line in lines for k in (1, 3)]
