"""Two baselines that show the worth of exploration: write from the name alone, or after reading one file."""

from __future__ import annotations

from pathlib import PurePosixPath

from workbench.agents.agent_context import AgentContext, Conversation, OutOfSteps
from workbench.agents.constrained import Knowledge, grammar
from workbench.agents.protocol import SYSTEM, Submission, first_message, tool_message
from workbench.agents.white import knowledge_of
from workbench.repository import FileEntry

_NO_TOOLS = (
    "\n\nYou have no tools for this project: answer at once with respond, from what you know. "
    "Do not call list_directory or read_file."
)


async def _ask_for_submission(context: AgentContext, conversation: Conversation, shape: str) -> Submission:
    try:
        for _ in range(3):  # the prompt forbids tools; a model that still calls one gets two more chances
            submission = await context.act(conversation, shape)
            if submission is not None:
                return submission
    except OutOfSteps:
        pass
    return Submission()


class NoExploration:
    """Answers without reading anything of the repository."""

    name = "no-exploration"

    async def document(self, context: AgentContext) -> Submission:
        message = first_message(context.assignment.name, context.assignment.description)
        conversation = Conversation.begin(SYSTEM + _NO_TOOLS, message)
        context.max_steps = min(context.max_steps, 3)
        return await _ask_for_submission(
            context, conversation, grammar(Knowledge(context.assignment.name, must_respond=True))
        )


def likely_main_file(files: tuple[FileEntry, ...], name: str) -> str:
    """Return the path of the likely main file: named like the project, else the largest source nearest to the root."""
    wanted = name.lower().replace("-", "_").replace(" ", "_")
    sources = [f for f in files if f.path.endswith(".py") and "test" not in f.path.lower() and "setup.py" not in f.path]
    if not sources:
        return min(files, key=lambda f: (f.path.count("/"), f.path)).path if files else ""

    def rank(entry: FileEntry) -> tuple[bool, int, int, str]:
        path = PurePosixPath(entry.path)
        return (path.stem.lower() != wanted, entry.path.count("/"), -entry.size, entry.path)

    return min(sources, key=rank).path


class SingleFile:
    """Reads only the likely main file, then answers."""

    name = "single-file"

    async def document(self, context: AgentContext) -> Submission:
        message = first_message(context.assignment.name, context.assignment.description)
        conversation = Conversation.begin(SYSTEM + _NO_TOOLS, message)
        path = likely_main_file(context.view.files, context.assignment.name)
        if path:
            observation = context.use("read_file", path)
            conversation.add_user(f"File {path}:\n" + tool_message("read_file", observation.text, 1))
        context.max_steps = min(context.max_steps, 4)
        return await _ask_for_submission(context, conversation, grammar(knowledge_of(context, must_respond=True)))
