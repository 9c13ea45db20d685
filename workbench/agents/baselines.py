"""Two baselines: write from the name alone, or after one file. What exploration is worth shows beside them."""

from __future__ import annotations

from pathlib import PurePosixPath

from workbench.agents.constrained import Knowledge, grammar
from workbench.agents.desk import Conversation, Desk, OutOfSteps
from workbench.agents.protocol import SYSTEM, Submission, first_message, tool_message
from workbench.agents.white import known_to
from workbench.repository import FileEntry

_NO_TOOLS = (
    "\n\nYou have no tools for this project: answer at once with respond, from what you know. "
    "Do not call list_directory or read_file."
)


async def _hand_in(desk: Desk, conversation: Conversation, shape: str) -> Submission:
    try:
        for _ in range(3):  # tools are refused by the prompt; a model that insists gets two more chances
            submission = await desk.act(conversation, shape)
            if submission is not None:
                return submission
    except OutOfSteps:
        pass
    return Submission()


class NoExploration:
    """Answers without having seen anything of the repository."""

    name = "no-exploration"

    async def document(self, desk: Desk) -> Submission:
        """Return the submission; raises :class:`ModelError` if a request got no answer."""
        message = first_message(desk.assignment.name, desk.assignment.description)
        conversation = Conversation.begin(SYSTEM + _NO_TOOLS, message)
        desk.max_steps = min(desk.max_steps, 3)
        return await _hand_in(desk, conversation, grammar(Knowledge(desk.assignment.name, must_respond=True)))


def main_looking(files: tuple[FileEntry, ...], name: str) -> str:
    """Return the path of the file that a hasty reader would open: named like the project, else the largest source."""
    wanted = name.lower().replace("-", "_").replace(" ", "_")
    sources = [f for f in files if f.path.endswith(".py") and "test" not in f.path.lower() and "setup.py" not in f.path]
    if not sources:
        return min(files, key=lambda f: (f.path.count("/"), f.path)).path if files else ""

    def rank(entry: FileEntry) -> tuple[bool, int, int, str]:
        path = PurePosixPath(entry.path)
        return (path.stem.lower() != wanted, entry.path.count("/"), -entry.size, entry.path)

    return min(sources, key=rank).path


class SingleFile:
    """Reads the one file that looks like the main one, then answers."""

    name = "single-file"

    async def document(self, desk: Desk) -> Submission:
        """Return the submission; raises :class:`ModelError` if a request got no answer."""
        message = first_message(desk.assignment.name, desk.assignment.description)
        conversation = Conversation.begin(SYSTEM + _NO_TOOLS, message)
        path = main_looking(desk.view.files, desk.assignment.name)
        if path:
            observation = desk.use("read_file", path)
            conversation.say(f"File {path}:\n" + tool_message("read_file", observation.text, 1))
        desk.max_steps = min(desk.max_steps, 4)
        return await _hand_in(desk, conversation, grammar(known_to(desk, must_respond=True)))
