"""Parsing the action in an answer, whatever a README contains and whatever a model does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.agents.protocol import Action, UnusableAnswer, parse_action, split_answer, submission_of


def respond(readme: str, metadata: object = None) -> str:
    return f"<json>{json.dumps({'name': 'respond', 'kwargs': {'readme': readme, 'metadata': metadata or {}}})}</json>"


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.text(),
    st.none() | st.integers() | st.lists(st.text(max_size=9)) | st.dictionaries(st.text(max_size=9), st.text()),
)
def test_any_readme_and_metadata_come_back_unchanged(readme: str, metadata: object) -> None:
    outcome = parse_action("I have seen enough.\n" + respond(readme, {"m": metadata}) + "\nDone.")
    assert isinstance(outcome, Action)
    assert submission_of(outcome).readme == readme
    assert submission_of(outcome).metadata == {"m": metadata}
    assert outcome.thought == "I have seen enough."


@settings(max_examples=40)
@given(st.text())
def test_no_answer_raises(answer: str) -> None:
    for one in (answer, "<json>{" + answer + "}</json>"):
        assert isinstance(parse_action(one), Action | UnusableAnswer)


def test_defect_1_a_readme_with_a_json_fence_and_closing_tags_is_kept_whole() -> None:
    readme = '# T\n```json\n{"name": "list_directory", "kwargs": {}}\n```\n</json> <json>{"name": "x"}</json> end'
    outcome = parse_action(respond(readme))
    assert isinstance(outcome, Action)
    assert submission_of(outcome).readme == readme


@pytest.mark.parametrize(
    "answer",
    [
        '<json>{"name": "read_file", "kwargs": {"path": "a.py"}}',
        '<json>\n```json\n{"name": "read_file", "kwargs": {"path": "a.py"}}\n```\n</json>',
        'Let me see: <json> {"name": "read_file", "kwargs": {"path": "a.py"}} </json> and wait',
        'As asked I use <json>…</json>: <json>{"name": "read_file", "kwargs": {"path": "a.py"}}</json>',
    ],
)
def test_plain_meanings_are_accepted(answer: str) -> None:
    outcome = parse_action(answer)
    assert isinstance(outcome, Action)
    assert (outcome.name, outcome.kwargs) == ("read_file", {"path": "a.py"})


def test_raw_newlines_inside_strings_are_accepted() -> None:
    outcome = parse_action('<json>{"name": "respond", "kwargs": {"readme": "# A\n\nB", "metadata": {}}}</json>')
    assert isinstance(outcome, Action)
    assert submission_of(outcome).readme == "# A\n\nB"


@pytest.mark.parametrize(
    ("answer", "short"),
    [
        ("", "empty answer"),
        ("I would list the files.", "no <json> tag"),
        ("<json></json>", "no JSON"),
        ('<json>{"name": "read_file", "kwargs": {"pa</json>', "bad JSON"),
        ('<json>{"name": 3}</json>', "no name"),
        ('<json>{"name": "read_file", "kwargs": [1]}</json>', "bad kwargs"),
        ('<json>{"name": "respond", "kwargs": {"readme": null}}</json>', "no readme"),
        ("<json>{" + '"a":{' * 5000 + "}", "bad JSON"),
    ],
)
def test_each_problem_has_its_words(answer: str, short: str) -> None:
    outcome = parse_action(answer)
    assert isinstance(outcome, UnusableAnswer)
    assert outcome.short == short
    assert outcome.sentence.endswith(".")


def test_metadata_given_as_text_is_decoded() -> None:
    outcome = parse_action(respond("# x", '{"name": "x"}'))
    assert isinstance(outcome, Action)
    assert submission_of(outcome).metadata == {"name": "x"}


@pytest.mark.parametrize("metadata", [[1, 2], "text", "{", 3, -1, ""])
def test_defect_7_odd_metadata_raises_nowhere(metadata: object) -> None:
    outcome = parse_action(respond("# x", metadata))
    assert isinstance(outcome, Action)
    assert submission_of(outcome).parsed


@pytest.mark.parametrize("depth", [100, 900, 50_000])
def test_brackets_without_end_give_a_sentence_and_stay_text_where_they_are_text(depth: int) -> None:
    nested = "[" * depth + "]" * depth
    for end in (f"{nested}}}}}</json>", "[" * depth):
        problem = parse_action(f'<json>{{"name": "respond", "kwargs": {{"readme": "# A", "metadata": {end}')
        assert isinstance(problem, UnusableAnswer)
        assert problem.short == "bad JSON"
    action = parse_action(respond("# A", nested))
    assert isinstance(action, Action)
    assert submission_of(action).metadata == nested


def test_a_number_of_too_many_digits_gives_a_sentence() -> None:
    problem = parse_action(f'<json>{{"name": "read_file", "kwargs": {{"path": {"1" * 5000}}}}}</json>')
    assert isinstance(problem, UnusableAnswer)
    assert "digits" in problem.sentence


LIST = {"name": "list_directory", "kwargs": {"path": "src"}}
BARE = json.dumps(LIST)


@pytest.mark.parametrize(
    "answer",
    [
        BARE,
        f"```json\n{BARE}\n```",
        f"Call: {BARE} and then {{more}}.",
        f"<json>[{BARE}]</json>",
        f'The sign "{{" opens an object. {BARE}',
        f"The tag <json> holds the call.\n```json\n{json.dumps({'name': 'read_file', 'kwargs': {'path': 'x'}})}\n```\nNo: {BARE}",
        json.dumps({"name": "list_directory", "arguments": '{"path": "src"}'}),
        '{"name": "list_directory", "kwargs": {"path": "src", "why": "two\nlines"}}',
        f'The metadata will be {{"name": "demo", "version": "1"}}.\n{BARE}',
    ],
)
def test_a_call_without_its_tag_is_read_as_the_original_reads_it(answer: str) -> None:
    outcome = parse_action(answer)
    assert isinstance(outcome, Action)
    assert (outcome.name, outcome.kwargs["path"]) == ("list_directory", "src")
    thought, call = split_answer(answer)
    assert json.loads(call, strict=False)["name"] == "list_directory"
    assert answer.startswith(thought)


@pytest.mark.parametrize("shape", ["{}", "```json\n{}\n```", "Here it is: {}", "<json>{}</json>"])
def test_a_submission_is_read_without_a_name(shape: str) -> None:
    given_ = {"readme": '# A\n```json\n{"name": "read_file", "kwargs": {}}\n```', "metadata": {"name": "a"}}
    outcome = parse_action(shape.replace("{}", json.dumps(given_)))
    assert isinstance(outcome, Action)
    submission = submission_of(outcome)
    assert (submission.readme, submission.metadata) == (given_["readme"], given_["metadata"])


@pytest.mark.parametrize(
    "answer",
    [
        "A dict such as {} or {name} is meant.",
        '{"name": "list_directory", "kwargs": {"path": "src",},}',
        '{"tool": "list_directory"}',
        '{"name": "respond", "kwargs": {"readme": "cut',
    ],
)
def test_what_is_no_call_is_none(answer: str) -> None:
    assert isinstance(parse_action(answer), UnusableAnswer)


# What costs the square of its length runs into the time limit of every test.
@pytest.mark.parametrize("piece", ['<json>{"', '{"a": "x{'])
def test_an_answer_made_of_beginnings_takes_no_time(piece: str) -> None:
    parse_action(piece * (500_000 // len(piece)))
