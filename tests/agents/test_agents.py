"""The agents with a scripted model: protocol, limits, and defects of the original implementation."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.agents import AGENTS, make_agent
from workbench.agents.agent_context import AgentContext, AgentStep, Assignment
from workbench.agents.names import agent_info, current_name
from workbench.agents.protocol import first_message
from workbench.agents.white import likely_main_file
from workbench.base.errors import UsageError
from workbench.catalog import load_cases
from workbench.models.types import Answer, ModelTimeout, Request, Usage
from workbench.repository import View


class Steps:
    def __init__(self) -> None:
        self.steps: list[AgentStep] = []

    def step(self, step: AgentStep) -> None:
        self.steps.append(step)


class Scripted:
    """Answers by a function of the number of requests so far; keeps the requests."""

    def __init__(self, answer: Callable[[int, Request], str]) -> None:
        self.answer = answer
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Answer:
        self.requests.append(request)
        text = self.answer(len(self.requests), request)
        return Answer(text, "scripted", Usage(10, 5), 0.0, 0.1, "stop")


def call(name: str, **kwargs: object) -> str:
    return f"<json>{json.dumps({'name': name, 'kwargs': kwargs})}</json>"


DONE = call("respond", readme="# Demo\n\nA demo.", metadata={"name": "demo"})


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "demo"
    for path, text in {
        "demo.py": "def main():\n    pass\n",
        "pkg/inner.py": "x = 1\n",
        "big.py": "y = 2\n" * 50_000,
        "README.md": "the old readme",
        "ground_truth/facts.toml": "secret = 1",
        ".env": "TOKEN=1",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def scripted(*answers: str) -> Scripted:
    return Scripted(lambda n, _: answers[n - 1])


def context_for(root: Path, model_client: Scripted, **options: object) -> tuple[AgentContext, Steps]:
    log = Steps()
    context = AgentContext(Assignment("demo", "A Python project."), View(root), model_client, log, model="m", **options)  # type: ignore[arg-type]
    return context, log


async def test_explore_then_respond(repository: Path) -> None:
    model_client = scripted(
        call("list_directory"), call("list_directory", path="pkg"), call("read_file", path="demo.py"), DONE
    )
    context, log = context_for(repository, model_client)
    submission = await make_agent("white").document(context)
    assert submission.readme == "# Demo\n\nA demo."
    assert submission.parsed
    assert [(s.number, s.kind, s.action, s.target) for s in log.steps] == [
        (1, "tool", "list_directory", "."),
        (2, "tool", "list_directory", "pkg"),
        (3, "tool", "read_file", "demo.py"),
        (4, "respond", "respond", "README 0.0 kB"),
    ]
    # The whole history goes along, each time two messages longer, and the temperature is the original's.
    assert [len(request.messages) for request in model_client.requests] == [2, 4, 6, 8]
    assert {request.sampling.temperature for request in model_client.requests} == {0.3}
    assert "Tool call result for 'list_directory':\n[\n  \"big.py\",\n" in model_client.requests[1].messages[-1].content


async def test_at_most_15_steps_then_an_unparsed_submission(repository: Path) -> None:
    model_client = Scripted(lambda n, _: call("list_directory"))
    context, log = context_for(repository, model_client)
    submission = await make_agent("white").document(context)
    assert (submission.readme, submission.parsed) == ("", False)
    assert len(log.steps) == len(model_client.requests) == 15
    assert "last step" in model_client.requests[-1].messages[-1].content


async def test_a_listing_has_the_same_cap_and_says_so(repository: Path) -> None:
    fonts = repository / "fonts"
    fonts.mkdir()
    for number in range(300):
        (fonts / f"{number:03}.flf").write_text("x")
    context, log = context_for(repository, scripted(call("list_directory", path="fonts"), DONE), read_limit=1800)
    await make_agent("white").document(context)
    assert log.steps[0].observation is not None
    names = json.loads(log.steps[0].observation.text)
    assert names[:2] == ["000.flf", "001.flf"]
    assert names[-1] == f"… {300 - 1800 // 7} more"
    assert len(names) == 1800 // 7 + 1
    assert len(context.listed) == 1800 // 7  # what was not shown is not known


async def test_defect_7_an_unusable_answer_is_asked_for_again(repository: Path) -> None:
    unusable = ("", "I think so.", '<json>{"name": "respond", "kwargs": {')
    context, log = context_for(repository, scripted(*unusable, call("dance"), call("read_file"), DONE))
    submission = await make_agent("white").document(context)
    assert submission.parsed
    assert [step.kind for step in log.steps] == ["invalid", "invalid", "invalid", "tool", "tool", "respond"]
    assert [step.action for step in log.steps[:3]] == ["empty answer", "no <json> tag", "bad JSON"]
    assert log.steps[3].observation is not None
    assert log.steps[3].observation.text.startswith("Error: unknown tool 'dance'")
    assert log.steps[4].observation is not None
    assert log.steps[4].observation.text == "Error: 'path' parameter is required"


async def test_a_model_that_fails_is_the_last_recorded_step(repository: Path) -> None:
    def answer(number: int, request: Request) -> str:
        if number == 2:
            raise ModelTimeout("No answer within 1 s.")
        return call("list_directory")

    context, log = context_for(repository, Scripted(answer))
    with pytest.raises(ModelTimeout):
        await make_agent("white").document(context)
    assert [(s.kind, s.action, s.problem) for s in log.steps][1:] == [("error", "timeout", "No answer within 1 s.")]
    assert log.steps[1].request is not None  # the exact messages are known all the same


def test_defect_2_what_the_agent_is_told_does_not_give_the_purpose_away() -> None:
    cases, problems = load_cases()
    assert not problems
    for case in cases:
        assert case.facts is not None
        told = set(first_message(case.name, case.agent_description).lower().split())
        for feature in (case.facts.main_purpose, case.description):
            words = {word.strip(".,") for word in feature.lower().split() if len(word) > 4}
            known = {word.strip(".,") for word in told}
            assert len(words & known) <= len(words) / 3, (case.id, words & known)


async def test_no_exploration_sees_nothing(repository: Path) -> None:
    model_client = Scripted(lambda n, _: DONE)
    context, log = context_for(repository, model_client)
    assert (await make_agent("no-exploration").document(context)).parsed
    assert [step.kind for step in log.steps] == ["respond"]
    assert "demo.py" not in "".join(message.content for message in model_client.requests[0].messages)


async def test_single_file_reads_one_file(repository: Path) -> None:
    model_client = Scripted(lambda n, _: DONE)
    context, log = context_for(repository, model_client)
    assert (await make_agent("single-file").document(context)).parsed
    assert [(s.kind, s.target) for s in log.steps] == [("tool", "demo.py"), ("respond", "README 0.0 kB")]
    assert "def main" in model_client.requests[0].messages[-1].content


async def test_the_fixed_walk_lists_plans_reads_and_writes(repository: Path) -> None:
    plan = call("plan", read=["demo.py", "pkg/inner.py", "not there"])
    context, log = context_for(repository, scripted(plan, "hm", DONE))
    assert (await make_agent("planner-1").document(context)).parsed
    assert [(s.kind, s.action, s.target) for s in log.steps] == [
        ("tool", "list_directory", "."),
        ("tool", "list_directory", "pkg"),
        ("plan", "plan", "demo.py, pkg/inner.py"),
        ("tool", "read_file", "demo.py"),
        ("tool", "read_file", "pkg/inner.py"),
        ("invalid", "no <json> tag", "asked again"),
        ("respond", "respond", "README 0.0 kB"),
    ]


async def test_the_fixed_walk_goes_on_without_a_plan(repository: Path) -> None:
    context, log = context_for(repository, scripted("no plan", DONE))
    assert (await make_agent("planner-1").document(context)).parsed
    assert ("invalid", "no plan") in [(s.kind, s.action) for s in log.steps]
    assert "demo.py" in [s.target for s in log.steps if s.action == "read_file"]


STRUCTURED = "# Demo\n" + "".join(
    f"\n## {heading}\n\n" + "- a line\n" * 9
    for heading in ("Overview", "Features", "Installation", "Usage", "Examples", "API")
)


async def test_the_planner_walks_all_folders_then_reads_then_writes(repository: Path) -> None:
    (repository / "pkg" / "deep").mkdir()
    (repository / "pkg" / "deep" / "most.py").write_text("z = 3\n")
    model_client = scripted(
        call("list_directory"),
        call("read_file", path="demo.py"),  # too early: the walk is not over
        call("list_directory", path="pkg"),
        call("list_directory", path="pkg/deep"),
        call("read_file", path="pkg/deep/most.py"),
        call("done"),
        DONE,
        call("respond", readme=STRUCTURED, metadata={"name": "demo"}),
    )
    context, log = context_for(repository, model_client)
    submission = await make_agent("planner-2").document(context)
    assert (submission.readme, submission.parsed) == (STRUCTURED, True)
    assert [(s.kind, s.action, s.target) for s in log.steps] == [
        ("tool", "list_directory", "."),
        ("invalid", "no list_directory", "asked again"),
        ("tool", "list_directory", "pkg"),
        ("tool", "list_directory", "pkg/deep"),
        ("tool", "read_file", "pkg/deep/most.py"),
        ("plan", "done", "files"),
        ("invalid", "structure", "asked again"),
        ("respond", "respond", "README 0.6 kB"),
    ]
    # Every request is the model's, in one conversation; the states have their own words.
    assert len(model_client.requests) == 8
    assert "Not listed yet: pkg" in model_client.requests[2].messages[-1].content
    assert "pkg/deep/most.py" in model_client.requests[4].messages[-1].content
    assert "at least 50 lines" in model_client.requests[6].messages[-1].content
    assert (
        "The README has 3 lines, not 50. It has no heading for overview"
        in model_client.requests[7].messages[-1].content
    )


async def test_the_planner_hands_in_a_minimal_readme_as_its_last_resort(repository: Path) -> None:
    script = {1: call("list_directory"), 2: call("done"), 3: call("read_file", path="demo.py"), 4: call("done")}
    context, log = context_for(repository, Scripted(lambda n, _: script.get(n, "I cannot.")))
    submission = await make_agent("planner-2").document(context)
    assert submission.parsed
    assert submission.readme.startswith("# demo\n\nA Python project.\n\n## Usage\n\n```bash\npython demo.py\n```")
    assert "- `demo.py`" in submission.readme
    assert submission.metadata["@type"] == "SoftwareSourceCode"  # type: ignore[index]
    assert (len(log.steps), log.steps[-1].target) == (15, "a minimal README")
    # A README without the structure is better than the last resort.
    script[5] = DONE
    context, log = context_for(repository, Scripted(lambda n, _: script.get(n, "I cannot.")))
    assert (await make_agent("planner-2").document(context)).readme == "# Demo\n\nA demo."
    assert log.steps[-1].target == "the earlier README"


@pytest.mark.parametrize("steps", [1, 2, 3, 6])
async def test_the_planner_always_hands_in_within_its_steps(repository: Path, steps: int) -> None:
    context, log = context_for(repository, Scripted(lambda n, _: call("list_directory")), max_steps=steps)
    assert (await make_agent("planner-2").document(context)).parsed
    assert len(log.steps) == steps


async def test_an_answer_that_was_cut_says_at_which_limit(repository: Path) -> None:
    class Cut(Scripted):
        async def complete(self, request: Request) -> Answer:
            return replace(await super().complete(request), finish_reason="length")

    model_client = Cut(lambda n, _: '<json>{"name": "respond", "kwargs": {"readme": "# De')
    context, log = context_for(repository, model_client, answer_tokens=700, max_steps=1)
    await make_agent("white").document(context)
    assert model_client.requests[0].sampling.max_tokens == 700
    assert "It was cut at 700 tokens, the setting answer_tokens." in str(log.steps[0].problem)


def test_a_recorded_planner_is_the_fixed_walk_and_one_asked_for_is_the_original_s() -> None:
    assert agent_info("planner").name == "planner-1"
    assert current_name("planner") == "planner-2"


def test_every_listed_agent_can_be_made() -> None:
    assert [make_agent(info.name).name for info in AGENTS] == [info.name for info in AGENTS]
    with pytest.raises(UsageError, match="Did you mean 'white'"):
        make_agent("whit")


def test_the_main_looking_file_is_found(repository: Path) -> None:
    assert likely_main_file(View(repository).files, "demo") == "demo.py"
    assert likely_main_file(View(repository).files, "other") == "big.py"
    assert likely_main_file((), "x") == ""
