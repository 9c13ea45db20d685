"""Makes the logs of evaluations that did not come to their end with inspect-ai 0.3.285, each by a process of its own.

inspect-error: a solver raises at the second sample. inspect-cancelled: the process gets the signal of ctrl+c there. inspect-started: it is
killed there, so that the archive has its journal only. Afterwards tracebacks name no folders of the machine.
"""

import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import zipfile_zstd  # noqa: F401  teaches zipfile the compression of these archives
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import solver

HERE, MODEL = Path(__file__).parent, "mockllm/model"


@solver
def ends(how):
    async def solve(state, generate):
        if state.sample_id == "second":
            if how == "error":
                raise ValueError("the [bold]disk[/] is full")
            if how == "cancelled":
                signal.raise_signal(signal.SIGINT)
            if how == "started":
                os._exit(9)
        return await generate(state)

    return solve


@task
def document(how):
    samples = [Sample(input=f"Say hello, {name}.", target="hello", id=name) for name in ("first", "second", "third")]
    return Task(dataset=samples, solver=[ends(how)], scorer=includes())


def run(how, folder):
    said = [ModelOutput.from_content(MODEL, "hello") for _ in range(3)]
    for one in said:
        one.usage = ModelUsage(input_tokens=10, output_tokens=1, total_tokens=11)
    model = get_model(MODEL, custom_outputs=said)
    eval(
        document(how), model=model, log_dir=folder, log_format="eval", display="none", max_samples=1, log_buffer=1,
        fail_on_error=True, retry_on_error=0,
    )  # fmt: skip


def without_folders(log, to):
    """Copy an archive; members are as they were but for folders of this machine."""
    folders = {sys.prefix: "/venv", sys.base_prefix: "/python", str(HERE): "/made"}
    with zipfile.ZipFile(log) as old, zipfile.ZipFile(to, "w") as new:
        for info in old.infolist():
            text = old.read(info).decode()
            for folder, name in folders.items():
                text = text.replace(folder, name)
            new.writestr(info, text.encode())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(*sys.argv[1:])
    else:
        for how in ("error", "cancelled", "started"):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([sys.executable, __file__, how, folder], check=False)
                (log,) = Path(folder).glob("*.eval")
                without_folders(log, HERE / f"inspect-{how}.eval")
