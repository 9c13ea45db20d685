"""Points that the format gave stand wherever a score stands: four reports, ``show``, the summary and the app's score pane."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from samples.sessions import add_scores, card, document_session

from workbench import cli
from workbench.app.trajectory.scores import format_note, shown_card, title
from workbench.commands.summaries import trials_summary as summary
from workbench.engine.records import SessionCallLog, SessionReplay
from workbench.models.types import Answer, Attempt, CallRecord, Message, Request, Sampling, Usage
from workbench.pages import write_report
from workbench.results.scores import card_of
from workbench.session import SessionReader, SessionWriter, create


@pytest.fixture
def shaped(tmp_path: Path) -> tuple[Path, str]:
    """A session whose first trial has 5 points by the format and whose others are free."""
    path = tmp_path / "shaped.session"
    first = document_session(path)["first"]
    whole = card(6.0)
    criteria = tuple(replace(one, given=5.0 if one.key == "json" else 0.0) for one in whole.criteria)
    writer = SessionWriter(path)
    try:
        add_scores(writer, first, replace(whole, criteria=criteria))
    finally:
        writer.close()
    return path, first


def test_every_report_says_it(shaped: tuple[Path, str]) -> None:
    path, first = shaped
    data = json.loads(str(write_report(path, "json", None)))
    trial = next(one for one in data["trials"] if one["trial"] == first)
    assert trial["given_by_format"] == 5.0
    assert {one["given_by_format"] for one in data["trials"] if one["trial"] != first} == {None}
    criteria = {one["key"]: one["given"] for one in trial["scores"][0]["criteria"]}
    assert criteria == {"json": 5.0, "usage": 0.0, "purpose": 0.0}
    rows = {row["trial"]: row for row in csv.DictReader(str(write_report(path, "csv", None)).splitlines())}
    assert rows[first]["given_by_format"] == "5.0"
    assert "5 of it by the format" in str(write_report(path, "md", None))
    assert "by the format" in str(write_report(path, "md", None)).split("Answer parses")[0]
    assert "5 of it by the format" in str(write_report(path, "html", None))


def test_show_and_the_summary_say_it(shaped: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    path, first = shaped
    assert cli.main(["show", str(path), first]) == 0
    assert "5 of it by the format" in " ".join(capsys.readouterr().out.split())
    assert [case["given_by_format"] for case in summary(path, [first])["cases"]] == [5.0]


def test_the_score_pane_says_it_in_all_and_for_each_criterion(shaped: tuple[Path, str]) -> None:
    path, first = shaped
    with SessionReader(path) as reader:
        score = next(one for one in reader.scores(first) if one.rubric == "aeo-bench")
        read = card_of(reader, score)
    assert read is not None
    free = replace(read, criteria=tuple(replace(one, given=None) for one in read.criteria))
    little = replace(free, criteria=(replace(free.criteria[0], given=1.0), *free.criteria[1:]))
    assert format_note(read).startswith("5 of these points")
    assert [item.given for item in shown_card(read).criteria] == [5.0, 0.0, 0.0]
    assert format_note(free) == ""
    # More than a tenth: what the model earned by itself comes first.
    assert title(read) == "6 / 21 own, 11 / 26"
    assert title(little) == title(free) == "11 / 26"


def _call(*, shaped: bool) -> CallRecord:
    request = Request(
        "m", (Message("user", "Go."),), "agent", Sampling(), scope=f"trial {shaped}", grammar='readme ::= "# x"'
    )
    answer = Answer("text", "m", Usage(1, 1), 0.0, 0.1, "stop", shaped=shaped)
    return CallRecord(request, 0, answer, None, (Attempt(1.0, 0.1, None),), 1.0)


def test_only_a_shape_that_a_model_was_held_to_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "calls.session"
    create(path)
    writer = SessionWriter(path)
    try:
        writer.add_run("run", "document", {})
        log = SessionCallLog(writer, "run")
        for shaped in (True, False):
            log.record(_call(shaped=shaped))
            answer = log.recall(_call(shaped=shaped).request, 0)
            assert answer is not None
            assert answer.shaped is shaped
    finally:
        writer.close()
    with SessionReader(path) as reader:
        shapes = [
            reader.text_or_none(reader.calls(f"trial {shaped}")[0].response_schema_blob, "it")
            for shaped in (True, False)
        ]
    assert shapes == ['readme ::= "# x"', None]
    found = SessionReplay(path).find(_call(shaped=True).request.digest, 0, 0)
    assert found is not None
    assert found.shaped
