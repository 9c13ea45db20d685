"""Makes the mini-*.json with mini-swe-agent 2.4.6: its default agent and local environment.

mini-text and mini-tools have its deterministic models; mini-asked its LiteLLM model, with a server of this machine that says what it is told.
"""

import json
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel
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


class Says(BaseHTTPRequestHandler):
    """Answers each request with the next thing to say, as OpenAI's API does, and with what it used."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        number = self.server.asked = getattr(self.server, "asked", -1) + 1
        text, command = SAID[number]
        message = {"role": "assistant", "content": text, "tool_calls": called(number, command)["tool_calls"]}
        used = {"prompt_tokens": 100 + number, "completion_tokens": 20, "total_tokens": 120 + number}
        choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
        answer = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": "told",
            "choices": [choice],
            "usage": used,
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


with tempfile.TemporaryDirectory() as folder:
    Path(folder, "main.py").write_text("print('[bold]not markup[/]')\n")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Says)
    Thread(target=server.serve_forever, daemon=True).start()
    there = {"api_base": f"http://127.0.0.1:{server.server_port}/v1", "api_key": "none"}
    asked = LitellmModel(model_name="openai/told", model_kwargs=there, cost_tracking="ignore_errors")
    agent = DefaultAgent(asked, LocalEnvironment(cwd=folder), **SETTINGS)
    agent.run("main.py")
    agent.save(HERE / "mini-asked.json")
    server.shutdown()
