import os
os.environ["NO_COLOR"]="1"
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model, ChatMessageAssistant
from inspect_ai.scorer import includes
from inspect_ai.solver import basic_agent, system_message
from inspect_ai.tool import tool

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
    return Task(dataset=[Sample(input="What does main.py print?", target="markup", id="main"), Sample(input="Say hello.", target="hello", id="hello")],
        solver=basic_agent(init=system_message("You answer questions about files."), tools=[read_file()], max_attempts=1, message_limit=12), scorer=includes())

def outputs():
    out=[]
    for answer in ("It prints [bold]not markup[/].", "hello"):
        out.append(ModelOutput.for_tool_call("mockllm/model","read_file",{"path":"main.py"}))
        out.append(ModelOutput.for_tool_call("mockllm/model","submit",{"answer":answer}))
    for o in out:
        from inspect_ai.model import ModelUsage
        o.usage=ModelUsage(input_tokens=100,output_tokens=20,total_tokens=120,input_tokens_cache_read=10)
    return out

for fmt in ("eval","json"):
    logs=eval(document(), model=get_model("mockllm/model", custom_outputs=outputs()), log_dir="out", log_format=fmt, display="none", max_samples=1)
    print(logs[0].status, logs[0].location)
