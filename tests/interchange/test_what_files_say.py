"""What imported files say is shown, and what they do not say is not made up."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.app.trajectory.trial_state import load_trial
from workbench.cli import main
from workbench.grounding import read_trial
from workbench.interop.formats import reading
from workbench.interop.formats.chat import read_chat, to_chat
from workbench.interop.formats.exporting import trajectories_of
from workbench.interop.formats.swe_agent import read_mini
from workbench.session import SessionReader

Into = Callable[..., Any]

REASONING = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "look first"}]}
WORDS = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look around."}]}
CALL = {"type": "function_call", "call_id": "call_1", "name": "bash", "arguments": '{"command": "cat README.md"}'}
SHELL = {"type": "local_shell_call", "call_id": "call_1", "action": {"type": "exec", "command": ["cat", "README.md"]}}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "# Hello"}
PARTS = {**OUTPUT, "output": [{"type": "output_text", "text": "# Hello"}]}
USAGE = {"input_tokens": 100, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 7}}
EXTRA = {"extra": {"cost": 0.01, "timestamp": 1700000000.0}}


def mini(*messages: dict[str, Any]) -> dict[str, Any]:
    info = {"exit_status": "Submitted", "config": {"model": {"model_name": "openai/gpt-5"}}}
    opening = [{"role": "system", "content": "Help."}, {"role": "user", "content": "Read."}]
    return {"trajectory_format": "mini-swe-agent-1.1", "info": info, "messages": [*opening, *messages]}


def response(*items: dict[str, Any]) -> dict[str, Any]:
    return {"object": "response", "output": list(items), "usage": USAGE, **EXTRA}


@pytest.mark.parametrize(
    "messages",
    [
        [response(REASONING, WORDS, CALL), OUTPUT],
        [response(REASONING, WORDS, SHELL), PARTS],
        [REASONING, WORDS, {**CALL, "usage": USAGE, **EXTRA}, OUTPUT],
    ],
    ids=["whole", "shell", "items"],
)
def test_turns_of_the_responses_api_have_words_calls_outputs_and_tokens(messages: list[dict[str, Any]]) -> None:
    steps = read_mini(mini(*messages, {"role": "exit", "content": "done"})).steps
    assert [step.source for step in steps] == ["system", "user", "agent", "system"]
    turn = steps[2]
    assert (turn.text, turn.reasoning, turn.observed) == ("I look around.", "look first", "# Hello")
    assert [(call.name, call.arguments["command"]) for call in turn.calls] == [("bash", "cat README.md")]
    assert (turn.prompt_tokens, turn.completion_tokens, turn.cached_tokens, turn.cost_usd) == (100, 20, 7, 0.01)


def test_nothing_is_said_of_what_an_imported_agent_did_not_do(tmp_path: Path, into: Into) -> None:
    (tmp_path / "a.traj.json").write_text(json.dumps(mini(response(WORDS, CALL), OUTPUT)))
    session, _ = into(tmp_path / "a.traj.json")
    with SessionReader(session) as reader:
        why = read_trial(reader, reader.trials()[0])
    assert why.exploration.patterns == ()
    assert not why.exploration.complete


def test_arguments_that_are_an_object_are_shown_and_written_as_they_were() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": {"command": "ls"}}}
    line = {"messages": [{"role": "assistant", "content": "Look.", "tool_calls": [call]}]}
    trajectory = read_chat(line)
    assert trajectory.steps[0].calls[0].arguments == {"command": "ls"}
    assert to_chat(trajectory) == line


def test_scores_of_a_log_are_shown_as_its_own_and_counted_nowhere(inspect_api, made, into, capsys):
    session, _ = into(made / "inspect.json")
    with SessionReader(session) as reader:
        trial = reader.trials()[0]
        scores = next(found for name, found in trajectories_of(session) if name == trial.id).scores
        assert scores
        assert reader.scores() == []
        state = load_trial(reader, trial.id)
        assert state is not None
        assert len(state.imported_scores) == len(scores)
    for item in ([], [trial.id]):
        assert main(["show", str(session), *item]) == 0
        printed = capsys.readouterr().out
        assert "imported" in printed
        assert all(one["scorer"] in printed and one["value"] in printed for one in scores)


def test_packed_files_are_read(made: Path, into: Into, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = []
    for name in ("swe-agent.traj", "chat.jsonl", "openai--model-a.jsonl"):
        packed.append(tmp_path / f"{name}.gz")
        packed[-1].write_bytes(gzip.compress((made / name).read_bytes()))
    assert into(*packed)[1].problems == []
    session, again = into(made / "chat.jsonl", made / "openai--model-a.jsonl")
    assert (again.added, again.problems) == (0, [])
    with SessionReader(session) as reader:
        assert any(trial.case_id == "fix-a" for trial in reader.trials())
    cut, bomb = tmp_path / "cut.jsonl.gz", tmp_path / "bomb.jsonl.gz"
    cut.write_bytes(packed[1].read_bytes()[:40])
    bomb.write_bytes(gzip.compress(b" " * 3_000_000))
    monkeypatch.setattr(reading, "LARGEST_FILE", 2_000_000)
    problems = into(cut, bomb, name="other")[1].problems
    assert [one.partition(" ")[0] for one in problems] == [cut.name, bomb.name]
    assert ["truncated" in problems[0], "2,000,000" in problems[1]] == [True, True]


def test_an_import_that_reads_nothing_leaves_no_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text("{")
    session = tmp_path / "new.session"
    assert main(["import", str(tmp_path / "bad.json"), "--session", str(session)]) == 1
    assert not list(tmp_path.glob("new.session*"))
    assert str(session) not in capsys.readouterr().out


def test_many_problems_of_one_kind_are_few_sentences(tmp_path: Path, into: Into) -> None:
    entry = {"nfiles": 1, "base": [["success", [True]]], "plus": None}
    old = tmp_path / "m_eval_results.json"
    old.write_text(json.dumps({"date": "d", "hash": "h", "eval": {f"HumanEval/{n}": entry for n in range(164)}}))
    lines = tmp_path / "lines.jsonl"
    lines.write_text("{\n" * 300)
    problems = into(old, lines)[1].problems
    assert sum(one.startswith(old.name) for one in problems) == 1
    assert 1 < sum(one.startswith(lines.name) for one in problems) < 10
