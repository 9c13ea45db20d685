"""Makes inspect.eval and inspect.json with inspect-ai 0.3.285: two samples, a tool, a scorer, the model that says what it is told."""

import shutil
import tempfile
from pathlib import Path

from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import basic_agent, system_message
from inspect_ai.tool import tool

HERE, MODEL = Path(__file__).parent, "mockllm/model"


@tool
def read_file():
    async def execute(path: str):
        """Read a file.

        Args:
            path: Path of the file.
        """
        return f"# {path}\n" + "print('[bold]not markup[/]')\n" * 3

    return execute


@task
def document():
    samples = [
        Sample(input="What does main.py print?", target="markup", id="main"),
        Sample(input="Say hello.", target="hello", id="hello"),
    ]
    start = system_message("You answer questions about files.")
    return Task(
        dataset=samples,
        solver=basic_agent(init=start, tools=[read_file()], max_attempts=1, message_limit=12),
        scorer=includes(),
    )


def outputs():
    said = []
    for answer in ("It prints [bold]not markup[/].", "hello"):
        said.append(ModelOutput.for_tool_call(MODEL, "read_file", {"path": "main.py"}))
        said.append(ModelOutput.for_tool_call(MODEL, "submit", {"answer": answer}))
    for one in said:
        one.usage = ModelUsage(input_tokens=100, output_tokens=20, total_tokens=120, input_tokens_cache_read=10)
    return said


for form in ("eval", "json"):
    with tempfile.TemporaryDirectory() as folder:
        model = get_model(MODEL, custom_outputs=outputs())
        log = eval(document(), model=model, log_dir=folder, log_format=form, display="none", max_samples=1)[0]
        shutil.copy(log.location, HERE / f"inspect.{form}")
