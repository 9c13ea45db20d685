"""The white agent of AEO-Bench: explore with two tools, then write the README and its metadata."""

from __future__ import annotations

from dataclasses import replace

from workbench.agents.constrained import (
    Knowledge,
    defined_names,
    grammar,
    options_in,
    readable,
    required_distributions,
    runnable,
)
from workbench.agents.desk import Conversation, Desk, OutOfSteps
from workbench.agents.protocol import SYSTEM, Submission, first_message

_MANIFESTS = {"pyproject.toml", "requirements.txt", "setup.cfg"}  # where dependencies are declared
_SETUP_FILES = ("setup.py", "conftest.py", "noxfile.py", "release.py")
_ENOUGH_FILES = 3  # a small model's window holds no more beside the conversation


def known_to(desk: Desk, *, may_respond: bool = True, must_respond: bool = False) -> Knowledge:
    """Return what the agent at ``desk`` has seen, for the shape of a small model's next answer."""
    names: list[str] = []
    options: list[str] = []
    dependencies: list[str] = []
    for path, text in desk.texts.items():
        if is_source(path):
            names.extend(defined_names(text))
            options.extend(options_in(text))
        dependencies.extend(required_distributions(path, text))
    folders = [path.rstrip("/") for path in desk.listed if path.endswith("/")]
    scripts = [path for path in desk.read if is_source(path)] or [p for p in readable(desk.listed) if is_source(p)]
    return Knowledge(
        title=desk.assignment.name,
        folders=tuple(folder for folder in folders if folder not in desk.listed_folders),
        files=tuple(path for path in readable(desk.listed) if path not in desk.read),
        scripts=runnable(desk.listed) or tuple(dict.fromkeys(scripts)),
        names=tuple(dict.fromkeys(names)),
        dependencies=tuple(dict.fromkeys(dependencies)),
        options=tuple(dict.fromkeys(options))[:12],
        may_respond=may_respond,
        must_respond=must_respond,
    )


def is_source(path: str) -> bool:
    """Return whether a path is Python that a user of the project would look at: no test, no set-up."""
    return path.endswith(".py") and "test" not in path.lower() and not path.endswith(_SETUP_FILES)


def _next_shape(desk: Desk) -> str:
    """Return the shape of the next answer: list the root first, then sources before tests, then hand in."""
    if not desk.listed_folders:
        return grammar(Knowledge(desk.assignment.name, folders=(".",), may_respond=False))
    knowledge = known_to(desk)
    sources = tuple(path for path in knowledge.files if is_source(path))
    folders = tuple(path for path in knowledge.folders if "test" not in path.lower())
    read_sources = [path for path in desk.read if is_source(path)]
    enough = len(desk.read) >= _ENOUGH_FILES or desk.steps_left <= 2 or not (sources or folders or knowledge.files)
    if not read_sources and not enough and (sources or folders):
        return grammar(replace(knowledge, files=sources, folders=() if sources else folders, may_respond=False))
    manifests = tuple(path for path in knowledge.files if path in _MANIFESTS)
    if manifests and not enough:
        return grammar(replace(knowledge, files=manifests, folders=(), may_respond=False))
    return grammar(replace(knowledge, may_respond=bool(read_sources) or enough, must_respond=enough))


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
