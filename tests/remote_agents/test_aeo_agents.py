"""AEO-Bench's own agents, driven over A2A as the original drives them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from remote_agents.aeo_agents import FirstAgent, SecondAgent, answering, tagged
from remote_agents.rogue import serving

from workbench.agents import Submission, make_agent
from workbench.agents.agent_context import AgentContext, AgentStep, Assignment
from workbench.interop.a2a.card import fetch_card
from workbench.interop.a2a.peer import PeerClient
from workbench.models.types import CallRecord
from workbench.repository import View

FILES = {
    "demo.py": "def main():\n    pass\n",
    "setup.py": "import setuptools",
    "pkg/__init__.py": '"""Continue."""\n\n\nx = 1',
    "pkg/deep/inner.py": "y = 2\n\nz = 3",
    "README.txt": "old",
}


class Kept:
    def __init__(self) -> None:
        self.steps: list[AgentStep] = []

    def step(self, step: AgentStep) -> None:
        self.steps.append(step)

    def record(self, call: CallRecord) -> None: ...

    def recall(self, request: object, nth: int) -> None: ...


async def driven(
    agent: FirstAgent | SecondAgent, root: Path, max_steps: int = 15
) -> tuple[Submission, list[AgentStep]]:
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    kept = Kept()
    async with serving(answering(agent)) as rogue:
        model_client = PeerClient(f"a2a:{rogue.url}", kept)
        model = (await fetch_card(rogue.url)).model
        context = AgentContext(
            Assignment("demo", "A demo."), View(root), model_client, kept, model=model, max_steps=max_steps
        )
        try:
            return await make_agent(f"a2a:{rogue.url}").document(context), kept.steps
        finally:
            await model_client.aclose()


async def test_the_second_agent_sees_every_directory_and_the_files_as_they_are(tmp_path: Path) -> None:
    agent = SecondAgent()
    submission, steps = await driven(agent, tmp_path)
    assert submission.parsed
    assert agent.explored == [".", "pkg", "pkg/deep"]
    assert agent.contents == {name: text.strip() for name, text in FILES.items() if name.endswith(".py")}
    assert not [step.target for step in steps if step.observation is not None and step.observation.failed]


async def test_before_its_last_step_the_second_agent_sees_a_listing_as_it_is(tmp_path: Path) -> None:
    agent = SecondAgent()
    await driven(agent, tmp_path, max_steps=2)
    assert (agent.explored, agent.directories) == (["."], ["pkg"])
    assert agent.files == ["demo.py", "setup.py"]


@pytest.mark.parametrize(
    "dress",
    [
        tagged,
        json.dumps,
        lambda call: f"```json\n{json.dumps(call, indent=2)}\n```",
        lambda call: f"I take the next {{step}}.\n\n{json.dumps(call)}\n\nThat is it.",
        lambda call: f"<JSON>\n{json.dumps(call)}\n</JSON>",
        lambda call: json.dumps({"name": call["name"], "arguments": call["kwargs"]}),
    ],
)
async def test_the_first_agent_is_understood_in_any_dress(dress, tmp_path):
    submission, steps = await driven(FirstAgent(dress), tmp_path)
    assert [(step.kind, step.action) for step in steps] == [
        ("tool", "list_directory"),
        ("tool", "read_file"),
        ("respond", "respond"),
    ]
    assert submission.parsed
    assert submission.readme.startswith("# Demo\n\n```json")
