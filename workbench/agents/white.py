"""The white agent of AEO-Bench: explore with two tools, then write the README and its metadata."""

from __future__ import annotations

from workbench.agents.constrained import Knowledge, defined_names, grammar, readable, required_distributions
from workbench.agents.desk import Conversation, Desk, OutOfSteps
from workbench.agents.protocol import SYSTEM, Submission, first_message

_ENOUGH_FILES = 3  # a small model's window holds no more beside the conversation


def known_to(desk: Desk, *, may_respond: bool = True, must_respond: bool = False) -> Knowledge:
    """Return what the agent at ``desk`` has seen, for the shape of a small model's next answer."""
    names: list[str] = []
    dependencies: list[str] = []
    for path, text in desk.texts.items():
        if path.endswith(".py") and "test" not in path.lower():
            names.extend(defined_names(text))
        dependencies.extend(required_distributions(path, text))
    folders = [path.rstrip("/") for path in desk.listed if path.endswith("/")]
    scripts = [path for path in desk.read if path.endswith(".py")] or [
        p for p in readable(desk.listed) if p.endswith(".py")
    ]
    return Knowledge(
        title=desk.assignment.name,
        folders=tuple(folder for folder in folders if folder not in desk.listed_folders),
        files=tuple(path for path in readable(desk.listed) if path not in desk.read),
        scripts=tuple(path for path in dict.fromkeys(scripts) if "test" not in path.lower()),
        names=tuple(dict.fromkeys(names)),
        dependencies=tuple(dict.fromkeys(dependencies)),
        may_respond=may_respond,
        must_respond=must_respond,
    )


def _next_shape(desk: Desk) -> str:
    if not desk.listed_folders:
        return grammar(Knowledge(desk.assignment.name, folders=(".",), may_respond=False))
    knowledge = known_to(desk)
    sources_left = any(path.endswith(".py") for path in knowledge.files)
    enough = len(desk.read) >= _ENOUGH_FILES or desk.steps_left <= 2 or not (knowledge.files or knowledge.folders)
    read_something = any(path.endswith(".py") for path in desk.read) or not sources_left
    return grammar(known_to(desk, may_respond=enough or (read_something and len(desk.read) > 1), must_respond=enough))


class WhiteAgent:
    """Explore, then hand in; what cannot be read as a call is asked for again."""

    name = "white"

    async def document(self, desk: Desk) -> Submission:
        """Return the submission; an empty one, not parsed, if the agent never handed in.

        Raises:
            ModelError: A request got no answer.
        """
        conversation = Conversation.begin(SYSTEM, first_message(desk.assignment.name, desk.assignment.description))
        try:
            while True:
                submission = await desk.act(conversation, _next_shape(desk))
                if submission is not None:
                    return submission
        except OutOfSteps:
            return Submission()
