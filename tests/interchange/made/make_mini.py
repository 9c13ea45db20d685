"""Makes mini-text.json and mini-tools.json with mini-swe-agent 2.4.6: its default agent, local environment and deterministic models."""

import json
import tempfile
from pathlib import Path

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.test_models import (
    DeterministicModel,
    DeterministicToolcallModel,
    make_output,
    make_toolcall_output,
)

HERE = Path(__file__).parent
SAID = [
    ("I look around.", "ls"),
    ("Now the file.", "cat main.py"),
    ("A colour: ", "printf '\\033[31mred\\033[0m'"),
    ("Done.", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo '# A README'"),
]
SETTINGS = {
    "system_template": "You write READMEs.",
    "instance_template": "Document {{task}}.",
    "step_limit": 10,
    "cost_limit": 3.0,
}


def called(number: int, command: str) -> dict:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    calls = [{"id": f"call_{number}", "type": "function", "function": function}]
    return {"tool_calls": calls, "actions": [{"command": command, "tool_call_id": f"call_{number}"}]}


with tempfile.TemporaryDirectory() as folder:
    Path(folder, "main.py").write_text("print('[bold]not markup[/]')\n")
    texts = DeterministicModel(outputs=[make_output(text, [{"command": command}], cost=0.01) for text, command in SAID])
    tools = DeterministicToolcallModel(
        outputs=[make_toolcall_output(text, **called(n, command)) for n, (text, command) in enumerate(SAID)]
    )
    for model, name in ((texts, "mini-text.json"), (tools, "mini-tools.json")):
        agent = DefaultAgent(model, LocalEnvironment(cwd=folder), **SETTINGS)
        agent.run("main.py")
        agent.save(HERE / name)
