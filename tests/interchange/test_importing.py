"""Folders of files: what is there is skipped, what is broken is told in a sentence, and the rest goes on."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interchange.conftest import ordered

from workbench.base.errors import UsageError
from workbench.cli import main
from workbench.engine.merging import merge
from workbench.interop.formats import importing, inspect, reading, recording
from workbench.interop.formats.exporting import export, trajectories_of
from workbench.interop.formats.importing import import_files
from workbench.orders.import_files import ImportOrder
from workbench.plans.plan import ImportPlan
from workbench.search import SearchIndex, parse
from workbench.session import SessionError, SessionReader, SessionWriter, create
from workbench.session.pending_work import unfinished

Into = Callable[..., Any]


def document(number: int = 1, **more: Any) -> dict[str, Any]:
    steps = [
        {"step_id": 1, "source": "user", "message": f"task {number}"},
        {"step_id": 2, "source": "agent", "message": "done"},
    ]
    return {
        "schema_version": "ATIF-v1.8",
        "session_id": f"task-{number}",
        "agent": {"name": "a", "version": "1"},
        "steps": steps,
        **more,
    }


def folder_of(tmp_path: Path, count: int) -> list[Path]:
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:03d}.json").write_text(json.dumps(document(number)))
    return sorted(folder.iterdir())


def test_a_folder_is_one_run_and_is_skipped_the_second_time(tmp_path: Path, into: Into) -> None:
    files = folder_of(tmp_path, 5)
    session, tally = into(*files)
    assert (tally.added, tally.known, tally.problems) == (5, 0, [])
    _, again = into(*files)
    assert (again.added, again.known, again.run) == (0, 5, "")
    with SessionReader(session) as reader:
        (run,) = reader.runs()
        assert (reader.run_state(run), run.name, [one.position for one in reader.trials()]) == (
            "done",
            "import: 5 files",
            [0, 1, 2, 3, 4],
        )


def test_the_same_content_in_another_file_is_one_trial(tmp_path: Path, into: Into) -> None:
    (tmp_path / "a.json").write_text(json.dumps(document()))
    (tmp_path / "b.json").write_text(json.dumps(document(), indent=4))
    _, tally = into(tmp_path / "a.json", tmp_path / "b.json")
    assert (tally.added, tally.known) == (1, 1)


def test_an_import_that_dies_has_whole_trials_and_goes_on(tmp_path, into, monkeypatch):
    files = folder_of(tmp_path, 4)
    session = tmp_path / "session.session"
    create(session)
    real, seen = recording.put_own, []

    def dying(*arguments: Any) -> None:
        seen.append(arguments)
        if len(seen) == 3:
            raise SessionError("The disk is full.")
        real(*arguments)

    monkeypatch.setattr(recording, "put_own", dying)
    with pytest.raises(SessionError):
        import_files(session, ordered(session, files))
    monkeypatch.undo()
    with SessionReader(session) as reader:
        # The third one had its rows and steps written when it died: nothing of it is there.
        assert len(reader.trials()) == 2
        assert reader.query("SELECT count(DISTINCT trial_id), count(*) FROM steps") == [(2, 4)]
        assert [(run.state, run.error) for run in reader.runs()] == [("failed", "The disk is full.")]
    _, tally = into(*files)
    assert (tally.added, tally.known) == (2, 2)


def test_a_killed_import_stands_as_interrupted_and_the_next_one_takes_its_run_up(tmp_path: Path, into: Into) -> None:
    files = folder_of(tmp_path, 4)
    session, tally = into(*files[:2])
    with SessionWriter(session) as writer:
        writer.set_run(tally.run, state="running", finished_at=None)
    with SessionReader(session) as reader:
        (run,) = reader.runs()
        assert (reader.run_state(run), unfinished(reader)) == ("interrupted", [run])
    _, again = into(*files)
    assert (again.run, again.added, again.known) == (tally.run, 2, 2)
    with SessionReader(session) as reader:
        assert [reader.run_state(run) for run in reader.runs()] == ["done"]
        assert [one.position for one in reader.trials()] == [0, 1, 2, 3]


def test_a_cancelled_import_stops_between_two_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_REPORT_SECONDS", 0.0)
    session = tmp_path / "session.session"
    create(session)

    def cancel(tally: importing.Tally) -> None:
        if tally.added == 2 and not tally.stopped:
            with SessionWriter(session) as writer:
                writer.request(tally.run, "cancel")

    tally = import_files(session, ordered(session, folder_of(tmp_path, 6)), cancel)
    assert tally.stopped
    assert tally.added < 6
    with SessionReader(session) as reader:
        assert [run.state for run in reader.runs()] == ["cancelled"]
        assert len(reader.trials()) == tally.added


# -- bad input


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    return path


BAD: dict[str, tuple[str | bytes, str]] = {
    "empty.json": ("", "empty.json is empty."),
    "cut.json": (json.dumps(document())[:-20], "cut.json is truncated JSON."),
    "words.json": ("hello", "words.json is not JSON (Expecting value, line 1)."),
    "latin.json": (
        json.dumps(document(session_id="ä"), ensure_ascii=False).encode("latin-1"),
        "latin.json is not text in UTF-8 (byte 47).",
    ),
    "utf16.json": (json.dumps(document()).encode("utf-16"), "utf16.json is not text in UTF-8 (byte 0)."),
    "deep.json": ('{"a":' * 100_000, "deep.json is nested too deeply."),
    "deeper.json": (
        json.dumps(document(extra={"a": json.loads("[" * 90 + "]" * 90)})),
        "deeper.json is nested too deeply.",
    ),
    "newer.json": (
        json.dumps(document(schema_version="ATIF-v2.0")),
        "newer.json is ATIF-v2.0, but the workbench supports versions up to 1.8; upgrade it to read this file.",
    ),
    "gap.json": (
        json.dumps(document(steps=[{"step_id": 2, "source": "user", "message": ""}])),
        "gap.json has the step_id 2 instead of 1; step ids are consecutive.",
    ),
    "twice.json": (
        json.dumps(document(steps=[{"step_id": 1, "source": "user", "message": ""}] * 2)),
        "twice.json has the step_id 1 instead of 2; step ids are consecutive.",
    ),
    "number.json": (json.dumps(document(agent=7)), "number.json has 7 instead of an object (agent)."),
    "other.json": (
        '{"some": "thing"}',
        "other.json has no supported format; see docs/reference/formats.md.",
    ),
    "mini.json": (
        '{"trajectory_format": "mini-swe-agent-2.0", "messages": []}',
        "mini.json is mini-swe-agent-2.0; the workbench supports mini-swe-agent-1.x.",
    ),
    "role.jsonl": (
        '{"messages": [{"role": "\\u001b[31mking", "content": ""}]}',
        "role.jsonl has the role king at message 1, which the API does not have (line 1).",
    ),
    "digits.json": (
        '{"schema_version": ' + "9" * 5000 + "}",
        "digits.json is not readable JSON (Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits).",
    ),
    "junit.xml": (
        '<?xml version="1.0"?><testsuites><testsuite><testcase classname="T/0" name="sample 0"/></testsuite></testsuites>',
        "junit.xml is XML, which is not supported: JUnit does not name the text of a verdict.",
    ),
    "zip.eval": (b"PK\x03\x04 nothing", "zip.eval is a damaged or truncated archive."),
    "notes.json": (
        json.dumps(document(extra={"workbench": {"difference": {"d": {"agent": {"=": 5}}}}})),
        "notes.json has workbench data that does not match its content.",
    ),
    "card.json": (
        json.dumps(document(extra={"workbench": {"scorecards": [{"card": {"rubric": 1}}]}})),
        "card.json has an invalid scorecard.",
    ),
    "results.json": (
        '{"date": "", "eval": {"T/0": [{"solution": "", "base_status": "maybe"}]}}',
        "results.json has the status maybe at T/0; expected pass, fail or timeout.",
    ),
    "listed.json": (
        '{"date": "", "eval": {"T/0": [{"solution": "", "base_status": ["pass"]}]}}',
        "listed.json has the status ['pass'] at T/0; expected pass, fail or timeout.",
    ),
    "counted.json": (
        '{"date": "", "eval": {"T/0": [{"solution": "", "base_status": "pass", "base_fail_tests": 3}]}}',
        "counted.json has 3 instead of a list (the failing tests of T/0).",
    ),
    "roles.jsonl": (
        '{"messages": [{"role": ["user"], "content": "Hi."}]}',
        "roles.jsonl has the role ['user'] at message 1, which the API does not have (line 1).",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_with_a_file_is_one_sentence_and_the_rest_goes_on(tmp_path: Path, into: Into, name: str) -> None:
    content, sentence = BAD[name]
    good = written(tmp_path / "good.json", json.dumps(document()))
    session, tally = into(written(tmp_path / name, content), good)
    assert (tally.problems, tally.added) == ([sentence], 1)
    with SessionReader(session) as reader:
        assert [len(reader.trials()), len(reader.query("SELECT * FROM steps"))] == [1, 2]
        assert reader.query("SELECT count(*) FROM scorecards") == [(0,)]


def test_archives_that_lie_or_leave_their_place_are_refused_by_their_contents_alone(tmp_path, into, monkeypatch):
    out = archive(tmp_path / "out.eval", {"header.json": b"{}", "../../etc/passwd": b"x"})
    monkeypatch.setattr(inspect, "MOST_SAMPLE", 1_000_000)
    bomb = archive(tmp_path / "bomb.eval", {"header.json": b"{}", "samples/a_epoch_1.json": b"0" * 2_000_000})
    with zipfile.ZipFile(tmp_path / "same.eval", "w") as zipped:
        zipped.writestr("header.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            zipped.writestr("header.json", "[]")
    assert bomb.stat().st_size < 10_000
    _, tally = into(out, bomb, tmp_path / "same.eval")
    assert tally.problems == [
        "out.eval was rejected: its member ../../etc/passwd escapes the archive.",
        "bomb.eval was rejected: unpacked, a member has more than 1,000,000 bytes, or all more than 4,000,000,000.",
        "same.eval was rejected: two of its members have the same name.",
    ]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, into: Into, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_AT_ONCE", 100)
    lines = (
        json.dumps({"messages": [{"role": "user", "content": "hi"}]})
        + "\n"
        + json.dumps({"messages": [{"role": "user", "content": "x" * 200}]})
    )
    _, tally = into(written(tmp_path / "big.json", json.dumps(document())), written(tmp_path / "big.jsonl", lines))
    assert tally.added == 1
    assert tally.problems == [
        f"big.json has {(tmp_path / 'big.json').stat().st_size} bytes in one JSON document; the limit is 100.",
        "big.jsonl has a line of more than 100 bytes, line 2.",
    ]


def test_a_line_that_is_broken_is_named_and_the_others_are_read(tmp_path: Path, into: Into) -> None:
    line = json.dumps({"messages": [{"role": "user", "content": "hi"}]})
    path = written(tmp_path / "chat.jsonl", f"{line}\n{{\n\n" + line.replace("hi", "you") + "\n")
    _, tally = into(path)
    assert (tally.added, tally.problems) == (
        2,
        ["chat.jsonl is truncated JSON (line 2)."],
    )
    # Mended, the file is read again, and what was sound is there.
    path.write_text(f"{line}\n")
    assert into(path)[1].known == 1


def test_texts_that_a_terminal_would_obey_are_kept_and_never_told(tmp_path, into, capsys):
    evil = "\x1b]0;owned\x07[bold red]x[/] \ud800 \u202e"
    steps = [
        {"step_id": 1, "source": "agent", "message": evil, "model_name": evil, "tool_calls": [{"tool_call_id": "1", "function_name": evil, "arguments": {"path": evil}}],
         "observation": {"results": [{"source_call_id": "1", "content": evil}]}},
    ]  # fmt: skip
    (tmp_path / "evil.json").write_text(
        json.dumps(document(agent={"name": evil, "version": evil}, session_id=evil, steps=steps))
    )
    session, tally = into(tmp_path / "evil.json")
    assert (tally.added, tally.problems) == (1, [])
    with SessionReader(session) as reader:
        (trial,) = reader.trials()
        assert not reader.damage
        assert "\x1b" not in trial.agent + trial.case_name + reader.steps(trial.id)[0].action
    assert main(["show", str(session), trial.id]) == 0
    assert "\x1b]0" not in capsys.readouterr().out
    _, again = into(tmp_path / "evil.json")
    assert again.known == 1


def test_a_folder_without_such_files_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no file that ends in"):
        ImportOrder(tmp_path / "s.session", ImportPlan((str(tmp_path),))).resolve()


def test_the_command_tells_counts_and_the_exit_code_tells_problems(tmp_path, capsys):
    good, bad = written(tmp_path / "good.json", json.dumps(document())), written(tmp_path / "bad.json", "{")
    session = tmp_path / "s.session"
    assert main(["import", str(good), str(bad), "--session", str(session), "--json"]) == 1
    told = capsys.readouterr()
    values = json.loads(told.out)
    assert (values["added"], values["problems"]) == (1, ["bad.json is truncated JSON."])
    assert main(["import", str(good), "--session", str(session)]) == 0
    assert "0 imported, 1 already present (1 file)." in capsys.readouterr().out
    assert main(["export", str(session), "--to", "atif", "-o", str(tmp_path / "out.json")]) == 0
    assert json.loads((tmp_path / "out.json").read_text()) == document()


def test_merged_sessions_have_what_was_imported_into_each(made: Path, into: Into, tmp_path: Path) -> None:
    one, _ = into(made / "atif-full.json", made / "openai--model-a.jsonl", name="one")
    two, _ = into(made / "atif-full.json", made / "mini-text.json", made / "model-b.jsonl", name="two")
    merged = merge([one, two], tmp_path / "both.session").path
    files = [made / name for name in ("atif-full.json", "mini-text.json", "openai--model-a.jsonl", "model-b.jsonl")]
    assert import_files(merged, ordered(merged, files)).added == 0
    assert sorted(one.agent for _, one in trajectories_of(merged)) == ["full-agent", "mini-swe-agent"]
    export(merged, "atif", tmp_path / "out")
    assert json.loads((made / "atif-full.json").read_text()) in [
        json.loads(one.read_text()) for one in (tmp_path / "out").iterdir()
    ]


def test_a_foreign_trial_is_found_by_search_and_compared(made: Path, into: Into, tmp_path: Path) -> None:
    session, _ = into(made / "mini-text.json", made / "mini-tools.json", case="word_counter")
    index = SearchIndex(tmp_path / "search.db")
    with SessionReader(session) as reader:
        index.update(reader)
        trials = reader.trials()
    assert {hit.item.id for hit in index.search(parse("COMPLETE_TASK_AND_SUBMIT")).hits} == {trials[0].id}
    assert {hit.item.id for hit in index.search(parse("file:main.py")).hits} == {one.id for one in trials}
    index.close()
    assert main(["compare", f"{session}/{trials[0].id}", f"{session}/{trials[1].id}", "--json"]) == 0
