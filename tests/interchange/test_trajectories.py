"""Trajectories that other programs wrote: read, shown, written, read again, and nothing is lost or made up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atif
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base import paths
from workbench.interop.formats.atif import read_atif, to_atif
from workbench.interop.formats.chat import read_chat, to_chat
from workbench.interop.formats.exporting import export, trajectories_of
from workbench.interop.formats.inspect import sample_of
from workbench.interop.formats.trajectory import OWN
from workbench.interop.formats.values import difference, patched
from workbench.session import SessionReader, SessionWriter, read_blob

Into = Callable[..., Any]
FILES = ("atif-full.json", "mini-text.json", "mini-tools.json", "mini-asked.json", "swe-agent.traj", "chat.jsonl")
EXAMPLE = paths.bundled("sessions") / "example.session"


def digests(session: Path) -> list[str]:
    return sorted(one.digest for _, one in trajectories_of(session))


def documents(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(one.read_text()) for one in sorted(folder.iterdir())]


# -- ATIF


def test_every_field_of_a_document_that_atif_wrote_is_written_as_it_was(made: Path, into: Into, tmp_path: Path) -> None:
    session, tally = into(made / "atif-full.json")
    assert (tally.added, tally.problems) == (1, [])
    export(session, "atif", tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads((made / "atif-full.json").read_text())


def test_a_document_has_the_rows_that_the_screens_read(made: Path, into: Into) -> None:
    session, _ = into(made / "atif-full.json")
    with SessionReader(session) as reader:
        (trial,) = reader.trials()
        steps = reader.steps(trial.id)
        assert not reader.damage
        assert (trial.agent, trial.model, trial.state, trial.steps) == ("full-agent", "vendor/model-x", "done", 6)
        assert (trial.prompt_tokens, trial.completion_tokens, trial.cost_usd) == (900, 90, 0.5)
        assert [(one.kind, one.action) for one in steps] == [
            ("plan", "system"), ("plan", "user"), ("tool", "read_file, read_file"), ("tool", "delegate"), ("tool", "bash"), ("plan", "message"),
        ]  # fmt: skip
        assert [(one.prompt_tokens, one.cost_usd, bool(one.at)) for one in steps[2:5]] == [
            (500, 0.25, True),
            (400, 0.25, False),
            (None, None, False),
        ]
        assert reader.text(steps[2].answer_blob).startswith("Both are needed.\nTwo files.\n<json>")
        assert reader.text(steps[1].answer_blob) == "Look at this\n[image: a.png]"
        # b.py was called beside another file, but its result says which is its own.
        assert [(one.path, one.access, one.step) for one in reader.accessed_files(trial.id)] == [
            ("src/a.py", "listed", 5), ("src/a.py", "read", 3), ("src/b.py", "listed", 5), ("src/b.py", "read", 3),
        ]  # fmt: skip


def test_what_ran_here_holds_for_atif_and_comes_back_whole(tmp_path: Path, into: Into) -> None:
    session = tmp_path / "own.session"
    session.write_bytes(EXAMPLE.read_bytes())
    with SessionWriter(session) as writer, SessionReader(session) as reader:
        trial = next(one for one in reader.trials() if one.agent == "white")
        writer.annotate(trial.id, "Why this file? [bold]", 2)
        writer.set_labels(trial.id, "", add=["paper"])
    export(session, "atif", tmp_path / "out")
    written = documents(tmp_path / "out")
    for document in written:
        found = atif.Trajectory.model_validate(document)
        assert found.steps[0].source == "system"
        assert {one["function"]["name"] for one in found.agent.tool_definitions or ()} == {
            "list_directory",
            "read_file",
            "respond",
        }
        assert document["extra"][OWN]["scorecards"][0]["card"]["criteria"]
    other, tally = into(*sorted((tmp_path / "out").iterdir()))
    assert tally.added == 3
    export(other, "atif", tmp_path / "again")

    def by_agent(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(found, key=lambda one: one["agent"]["name"])

    assert by_agent(documents(tmp_path / "again")) == by_agent(written)
    with SessionReader(other) as reader, SessionReader(session) as before:
        mine = next(one for one in reader.trials() if one.agent == "white")
        assert [(one.text, one.step) for one in reader.annotations(mine.id)] == [("Why this file? [bold]", 2)]
        assert [one.label for one in reader.labels(mine.id)] == ["paper"]
        assert [one.action for one in reader.steps(mine.id)] == [one.action for one in before.steps(trial.id)]
        assert [one.total for one in reader.scores(mine.id)] == [one.total for one in before.scores(trial.id)]
        assert reader.text(mine.readme_blob) == before.text(trial.readme_blob)
        assert {(one.path, one.access) for one in reader.accessed_files(mine.id)} == {
            (one.path, one.access) for one in before.accessed_files(trial.id)
        }
    # And in the session that it came from, it is there already.
    _, tally = into(*sorted((tmp_path / "out").iterdir()), name="own")
    assert (tally.added, tally.known) == (0, 3)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
_OBJECTS = st.dictionaries(st.text(max_size=4), _JSON, max_size=3)


@given(_JSON, _JSON)
def test_a_difference_put_back_is_the_value(one: Any, other: Any) -> None:
    assert json.dumps(patched(one, difference(one, other)), sort_keys=True) == json.dumps(other, sort_keys=True)


@st.composite
def _documents(draw: st.DrawFn) -> dict[str, Any]:
    """Documents that the package accepts."""
    steps = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        source = draw(st.sampled_from(["system", "user", "agent"]))
        step: dict[str, Any] = {"step_id": number, "source": source, "message": draw(st.text(max_size=12))}
        if draw(st.booleans()):
            step["extra"] = draw(_OBJECTS)
        if source == "agent":
            calls = [
                {
                    "tool_call_id": f"{number}-{place}",
                    "function_name": draw(st.text(min_size=1, max_size=5)),
                    "arguments": draw(_OBJECTS),
                }
                for place in range(draw(st.integers(0, 2)))
            ]
            if calls:
                step["tool_calls"] = calls
                results = [
                    {"source_call_id": call["tool_call_id"], "content": draw(st.text(max_size=8))} for call in calls
                ]
                step["observation"] = {"results": results}
            if draw(st.booleans()):
                step["metrics"] = {
                    "prompt_tokens": draw(st.integers(0, 99)),
                    "cost_usd": draw(st.sampled_from([0.0, 0.5, 1])),
                }
            if draw(st.booleans()):
                step["reasoning_content"] = draw(st.text(max_size=6))
        steps.append(step)
    whole = {"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": steps}
    return {**whole, "extra": draw(_OBJECTS)} if draw(st.booleans()) else whole


@settings(max_examples=60, deadline=None)
@given(_documents())
def test_any_document_of_the_format_is_written_as_it_was(document: dict[str, Any]) -> None:
    atif.Trajectory.model_validate(document)
    found = read_atif(document)
    assert to_atif(found) == document
    # A sample of Inspect carries it as well, whatever is in it.
    assert sample_of(found)["metadata"][OWN]


# -- the others


def test_a_step_says_only_what_the_file_says(made: Path, into: Into) -> None:
    session, tally = into(*(made / name for name in FILES))
    assert (tally.added, tally.problems) == (7, [])
    with SessionReader(session) as reader:
        trials = {(one.agent, one.case_id): one for one in reader.trials()}
        mini = trials["mini-swe-agent", "mini-text"]
        steps = reader.steps(mini.id)
        assert [(one.action, one.target) for one in steps[2:4]] == [("bash", "ls"), ("bash", "cat main.py")]
        assert {(one.prompt_tokens, one.seconds, one.model) for one in steps} == {(None, None, None)}
        assert [one.cost_usd for one in steps] == [None, None, 0.01, 0.01, 0.01, 0.01, None]
        assert {(one.path, one.access) for one in reader.accessed_files(mini.id)} == {
            ("main.py", "listed"),
            ("main.py", "read"),
        }
        failed = trials["mini-swe-agent", "mini-tools"]
        assert (failed.state, failed.error) == ("failed", "mini-swe-agent ended with LimitsExceeded.")
        # A model that was really asked says what it used; its price is what the program wrote down.
        asked = trials["mini-swe-agent", "mini-asked"]
        assert (asked.model, asked.state, asked.prompt_tokens, asked.completion_tokens) == (
            "openai/told",
            "done",
            406,
            80,
        )
        assert [one.prompt_tokens for one in reader.steps(asked.id)][2:6] == [100, 101, 102, 103]
        swe = trials["SWE-agent", "fix-a"]
        assert (swe.model, swe.prompt_tokens, swe.completion_tokens, swe.cost_usd) == (
            "vendor/model-z",
            12000,
            345,
            0.75,
        )
        assert [one.seconds for one in reader.steps(swe.id)] == [None, None, 0.25, 0.5, 0.1]
        assert {one.path for one in reader.accessed_files(swe.id)} == {"src/a.py"}
        chat = trials["unknown", "unknown"]
        assert (chat.model, chat.cost_usd, chat.seconds, chat.started_at, chat.readme_blob) == (
            "",
            None,
            None,
            None,
            None,
        )


def test_nothing_is_lost_on_the_way_through_atif(made: Path, into: Into, tmp_path: Path) -> None:
    session, _ = into(*(made / name for name in FILES))
    export(session, "atif", tmp_path / "out")
    for document in documents(tmp_path / "out"):
        atif.Trajectory.model_validate(document)
    other, tally = into(*sorted((tmp_path / "out").iterdir()), name="other")
    assert tally.added == 7
    assert digests(other) == digests(session)
    _, tally = into(*sorted((tmp_path / "out").iterdir()))
    assert (tally.added, tally.known) == (0, 7)


def test_chat_lines_are_written_as_they_were(made: Path, into: Into, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (made / "chat.jsonl").read_text().splitlines()]
    assert [to_chat(read_chat(line)) for line in lines] == lines
    session, _ = into(made / "chat.jsonl")
    export(session, "openai", tmp_path / "out.jsonl")
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == lines


def test_accepted_trials_are_tuned_on_as_they_were_sent(tmp_path: Path) -> None:
    written = export(EXAMPLE, "openai", tmp_path / "out.jsonl", accepted=True)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    with SessionReader(EXAMPLE) as reader:
        passing = [one for one in reader.trials() if all((row.total or 0) >= 60 for row in reader.scores(one.id))]
        call = reader.call(reader.steps(passing[0].id)[-1].call_id or 0)
        assert call is not None
        sent = [{"role": role, "content": text} for role, text in reader.messages(call)]
        assert written.count == len(lines) == len(passing) < len(reader.trials())
        assert lines[0]["messages"] == [*sent, {"role": "assistant", "content": reader.text(call.answer_blob)}]


def test_a_readme_that_was_the_last_message_can_be_scored(made: Path, into: Into) -> None:
    session, _ = into(made / "mini-text.json", case="word_counter", readme_is_last_message=True)
    with SessionReader(session) as reader:
        (trial,) = reader.trials()
    assert (trial.case_id, trial.state) == ("word_counter", "done")
    assert read_blob(session, trial.readme_blob or "") == b"Done."


# -- Inspect


@pytest.mark.parametrize("name", ["inspect.eval", "inspect.json"])
def test_a_log_of_inspect_goes_in_and_out(inspect_api: Any, made: Path, into: Into, tmp_path: Path, name: str) -> None:
    session, tally = into(made / name)
    assert (tally.added, tally.problems) == (2, [])
    with SessionReader(session) as reader:
        trial = next(one for one in reader.trials() if one.case_id == "main")
        steps = reader.steps(trial.id)
        assert (trial.model, trial.prompt_tokens, trial.completion_tokens) == ("mockllm/model", 220, 40)
        assert [one.action for one in steps] == ["system", "user", "read_file", "submit"]
        assert [(one.prompt_tokens, bool(one.at)) for one in steps] == [
            (None, False),
            (None, False),
            (110, True),
            (110, True),
        ]
        assert [one.path for one in reader.accessed_files(trial.id)] == ["main.py"]
    export(session, "inspect", tmp_path / "out.eval")
    before, after = inspect_api.read_eval_log(str(made / name)), inspect_api.read_eval_log(str(tmp_path / "out.eval"))
    assert after.eval == before.eval
    assert after.results == before.results

    def by_id(log: Any) -> list[Any]:
        return sorted(
            (one.model_dump(exclude={"events", "timelines"}) for one in log.samples), key=lambda one: str(one["id"])
        )

    assert by_id(after) == by_id(before)
    other, _ = into(tmp_path / "out.eval", name="other")
    assert digests(other) == digests(session)


ENDED = {
    "error": (3, "ended with an error (ValueError('the [bold]disk[/] is full')): it has 3 of 3 samples."),
    "cancelled": (2, "was cancelled: it has 2 of 3 samples."),
    "started": (1, "was still running when this log was written: it has 1 of 3 samples."),
}


@pytest.mark.parametrize("how", ENDED)
def test_a_log_of_an_evaluation_that_did_not_end_well_gives_what_it_has(inspect_api, made, into, tmp_path, how):
    count, told = ENDED[how]
    name = f"inspect-{how}.eval"
    session, tally = into(made / name)
    assert (tally.added, tally.problems, tally.remarks) == (count, [], [f"{name} is of an evaluation that {told}"])
    with SessionReader(session) as reader:
        trials = {one.case_id: one for one in reader.trials()}
        (run,) = reader.runs()
        assert run.note == tally.remarks[0]
        assert (trials["first"].state, trials["first"].prompt_tokens, trials["first"].cost_usd) == ("done", 10, None)
        if how == "error":
            assert "the [bold]disk[/] is full" in (trials["second"].error or "")
            assert [trials[one].state for one in ("second", "third")] == ["failed", "failed"]
            assert [one.action for one in reader.steps(trials["third"].id)] == ["user"]
    # Nothing is made up on the way out: no results, and the evaluation is as unfinished as it was.
    export(session, "inspect", tmp_path / name)
    before, after = inspect_api.read_eval_log(str(made / name)), inspect_api.read_eval_log(str(tmp_path / name))
    assert (after.status, after.results, after.error) == (before.status, before.results, before.error)
    assert after.eval == before.eval
    assert {one.id: one.scores for one in after.samples} == {one.id: one.scores for one in before.samples}
    other, again = into(tmp_path / name, name="other")
    assert (digests(other), again.remarks) == (digests(session), tally.remarks)
    # Everything that is in the file is here, so it is known.
    assert into(made / name)[1].known == 1


@pytest.mark.parametrize("ending", [".eval", ".json"])
def test_what_came_from_elsewhere_is_a_log_that_inspect_reads(inspect_api, made, into, tmp_path, ending):
    session, _ = into(made / "mini-text.json")
    export(session, "inspect", tmp_path / f"out{ending}")
    log = inspect_api.read_eval_log(str(tmp_path / f"out{ending}"))
    assert (log.status, len(log.samples), log.samples[0].id) == ("success", 1, "mini-text")
    other, tally = into(tmp_path / f"out{ending}", name="other")
    assert tally.problems == []
    assert digests(other) == digests(session)


def test_scores_of_ours_stand_in_the_log(inspect_api: Any, tmp_path: Path, into: Into) -> None:
    export(EXAMPLE, "inspect", tmp_path / "out")
    logs = [inspect_api.read_eval_log(str(one)) for one in sorted((tmp_path / "out").iterdir())]
    assert sorted(len(log.samples[0].scores) for log in logs) == [2, 2, 2]
    _, tally = into(*sorted((tmp_path / "out").iterdir()))
    assert (tally.added, tally.problems) == (3, [])
    assert digests(tmp_path / "session.session") == digests(EXAMPLE)


def test_steps_that_were_copied_are_in_no_training_data(made: Path, into: Into, tmp_path: Path) -> None:
    session, _ = into(made / "atif-full.json")
    export(session, "openai", tmp_path / "out.jsonl")
    (line,) = (json.loads(one) for one in (tmp_path / "out.jsonl").read_text().splitlines())
    called = [call["function"]["name"] for message in line["messages"] for call in message.get("tool_calls", ())]
    assert called == ["read_file", "read_file", "bash"]
    assert [message["role"] for message in line["messages"][:5]] == ["system", "user", "assistant", "tool", "tool"]
