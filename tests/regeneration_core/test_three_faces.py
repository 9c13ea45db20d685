"""App, command line and report show equal figures of every group, whatever a session holds: one module computes them."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from app.regenerated import RUN, Recorder
from sweeps import spread

from workbench.commands.summaries import order_summary as summary
from workbench.pages import write_report
from workbench.regeneration.outcome import GroupOutcome
from workbench.results.regeneration_runs import load_view
from workbench.results.tasks import figures_of, load_lines
from workbench.session import SessionReader
from workbench.session.groups import NO_SETTINGS, Group

KS = (1, 2, 3)
GLYPHS = "✓✓✓✗✗⧖!∅↯·▸"
_GROUPS = [
    Group("original", "openai/gpt-5-mini", "paper-1", "prefix-1", '{"temperature":1.0}'),
    Group("original", "openai/gpt-5-mini", "short-1", "prefix-1", '{"temperature":1.0}'),
    Group("original", "openai/gpt-5-mini", "paper-1", "function-1", '{"temperature":0.0}'),
    Group("original", "openai/gpt-5-mini", "paper-1", "prefix-1", '{"temperature":0.0}'),
    Group("original", "local", "short-1", "function-1", '{"max_tokens":512}'),
    Group("original", "samples:/answers.jsonl", "", "", NO_SETTINGS),
]


def random_session(path: Path, seed: int) -> list[Group]:
    """Write a run as it can stand at any moment: several groups, excluded tasks, errors, samples tested again, no row in order."""
    rng = random.Random(seed)
    recorder = Recorder(path)
    groups = rng.sample(_GROUPS, rng.randint(1, len(_GROUPS)))
    asks = [{"evaluator": one.evaluator, "samples": 4, "prompt": one.prompt, "context": one.context} for one in groups]
    recorder.run(state="done", evaluator=groups[-1].evaluator, samples=4, k=list(KS), asks=asks)
    tasks = []
    for place in range(rng.randint(1, 24)):
        more: dict[str, Any] = {"leak": rng.choice([0.0, 0.2, 0.9]), "path": f"pkg/f{rng.randint(0, 7)}.py"}
        if rng.random() < 0.15:
            more |= {"state": "excluded", "reason": "Its tests: passed with a stub."}
        tasks.append(recorder.task(f"function_{place}", place, **more))
    samples = [
        (task, group, sample)
        for group in groups
        for task in tasks
        if rng.random() < 0.9
        for sample in range(rng.choice([1, 3, 4, 4]))
    ]
    samples += [(task, Group("original", name), 0) for name in ("reference", "stub") for task in tasks]
    rng.shuffle(samples)
    with recorder.writer.transaction():
        for number, (task, group, sample) in enumerate(samples):
            control = group.is_control
            glyph = rng.choice({"reference": "✓✓✓✓✗", "stub": "✗✗✗✗✓"}.get(group.evaluator, GLYPHS))
            key = f"c{number}"
            recorder.sample(
                task, sample, glyph, group.evaluator, control=control, at=100.0 + rng.random() * 1000, id=key,
                prompt_tokens=rng.randint(0, 900), cost_usd=rng.choice([None, rng.random() / 100]),
                route=rng.choice(["hot", "warm", "cold"]), recheck=json.dumps({"agrees": rng.random() < 0.9}),
            )  # fmt: skip
            values: dict[str, object] = {"prompt": group.prompt, "context": group.context, "settings": group.settings}
            if glyph not in "·▸" and not control and rng.random() < 0.1:
                values["state"] = rng.choice(["queued", "testing"])  # tested again; the former verdict counts
            if glyph == "✓" and not control and rng.random() < 0.2:
                values |= {"plain": 0, "doubtful": "it uses os.write"}
            recorder.writer.update("candidates", {"id": key}, values)
    recorder.close()
    return groups


def in_app(path: Path, group: Group) -> dict[str, Any]:
    """Return what the model of the Regeneration mode has of a group, in the form of summaries and reports."""
    with SessionReader(path) as reader:
        view = load_view(reader, RUN, group)
        assert view is not None
        assert view.group == group
        figures = figures_of(reader, RUN, group, load_lines(reader, RUN, group, KS), KS).passing
    return GroupOutcome(group, False, view.totals, figures, (), 0).to_json()


def group_of(one: dict[str, Any]) -> Group:
    settings = json.dumps(one["settings"], sort_keys=True, separators=(",", ":"))
    return Group(one["docs"], one["evaluator"], one["prompt"] or "", one["context"] or "", settings)


@pytest.mark.parametrize("seed", spread(range(12), 4))
def test_three_faces_show_equal_figures_of_every_group(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "random.session"
    random_session(path, seed)
    closing = summary(path, RUN)
    report = json.loads(write_report(path, "json", tmp_path / "report.json").read_text())
    reported = {group_of(one): one for one in report["regenerations"][0]["evaluators"] if not one["control"]}
    summed = {group_of(one): one for one in closing["groups"] if not one["control"]}
    assert reported
    assert reported == summed
    for group, values in summed.items():
        assert in_app(path, group) | {"tasks_of_run": values["tasks_of_run"]} == values, group
    assert report["regenerations"][0]["self_check"] == closing["self_check"]
    with SessionReader(path) as reader:
        view = load_view(reader, RUN)
        counted = reader.query(
            "SELECT docs, evaluator, prompt, context, settings, sum(doubtful) FROM pass_counts GROUP BY 1, 2, 3, 4, 5"
        )
    assert {Group(*row[:5]): row[5] for row in counted} == {one: summed[one]["doubtful"] for one in summed}
    assert view is not None
    assert set(view.groups) == set(summed)
    assert view.check.to_json() == closing["self_check"]


@pytest.mark.parametrize("seed", spread(range(4), 4))
def test_the_order_of_rows_changes_nothing(tmp_path: Path, seed: int) -> None:
    """An interval that was drawn in the order of the rows differed between files of equal content."""
    path = tmp_path / "random.session"
    random_session(path, seed)
    before = summary(path, RUN)["groups"]
    recorder = Recorder.__new__(Recorder)
    from workbench.session import SessionWriter

    recorder.writer = SessionWriter(path)
    with recorder.writer.transaction() as connection:
        rows = connection.execute("SELECT * FROM candidates ORDER BY random()").fetchall()
        connection.execute("DELETE FROM candidates")
        connection.executemany(f"INSERT INTO candidates VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.execute("UPDATE tasks SET position = 1000 - position")
    recorder.close()
    assert summary(path, RUN)["groups"] == before


def test_two_prompts_of_one_evaluator_are_two_groups_with_names(tmp_path: Path) -> None:
    one, other = _GROUPS[0], _GROUPS[1]
    assert one.name([one]) == "openai/gpt-5-mini"
    assert [group.name([one, other]) for group in (one, other)] == [
        "openai/gpt-5-mini · paper-1",
        "openai/gpt-5-mini · short-1",
    ]
    hot = replace(one, settings=NO_SETTINGS)
    assert hot.name([one, hot]) == "openai/gpt-5-mini · {}"
