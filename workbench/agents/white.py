"""The white agent of AEO-Bench: explore with two tools, then write the README and its metadata."""

from __future__ import annotations

from dataclasses import replace

from workbench.agents.agent_context import AgentContext, Conversation, OutOfSteps
from workbench.agents.constrained import (
    Knowledge,
    defined_names,
    grammar,
    options_in,
    readable,
    required_distributions,
    runnable,
)
from workbench.agents.protocol import SYSTEM, Submission, first_message

_MANIFESTS = {"pyproject.toml", "requirements.txt", "setup.cfg"}  # where dependencies are declared
_SETUP_FILES = ("setup.py", "conftest.py", "noxfile.py", "release.py")
_ENOUGH_FILES = 3  # a small model's context window has no room for more


def knowledge_of(context: AgentContext, *, may_respond: bool = True, must_respond: bool = False) -> Knowledge:
    """Return what the agent knows so far, for the grammar of a small model's next answer."""
    names: list[str] = []
    options: list[str] = []
    dependencies: list[str] = []
    for path, text in context.texts.items():
        if is_source(path):
            names.extend(defined_names(text))
            options.extend(options_in(text))
        dependencies.extend(required_distributions(path, text))
    folders = [path.rstrip("/") for path in context.listed if path.endswith("/")]
    scripts = [path for path in context.read if is_source(path)] or [
        p for p in readable(context.listed) if is_source(p)
    ]
    return Knowledge(
        title=context.assignment.name,
        folders=tuple(folder for folder in folders if folder not in context.listed_folders),
        files=tuple(path for path in readable(context.listed) if path not in context.read),
        scripts=runnable(context.listed) or tuple(dict.fromkeys(scripts)),
        names=tuple(dict.fromkeys(names)),
        dependencies=tuple(dict.fromkeys(dependencies)),
        options=tuple(dict.fromkeys(options))[:12],
        may_respond=may_respond,
        must_respond=must_respond,
    )


def is_source(path: str) -> bool:
    return path.endswith(".py") and "test" not in path.lower() and not path.endswith(_SETUP_FILES)


def _next_shape(context: AgentContext) -> str:
    """Return the grammar of the next answer: list the root, read sources before other files, then submit."""
    if not context.listed_folders:
        return grammar(Knowledge(context.assignment.name, folders=(".",), may_respond=False))
    knowledge = knowledge_of(context)
    sources = tuple(path for path in knowledge.files if is_source(path))
    folders = tuple(path for path in knowledge.folders if "test" not in path.lower())
    read_sources = [path for path in context.read if is_source(path)]
    enough = (
        len(context.read) >= _ENOUGH_FILES or context.steps_left <= 2 or not (sources or folders or knowledge.files)
    )
    if not read_sources and not enough and (sources or folders):
        return grammar(replace(knowledge, files=sources, folders=() if sources else folders, may_respond=False))
    manifests = tuple(path for path in knowledge.files if path in _MANIFESTS)
    if manifests and not enough:
        return grammar(replace(knowledge, files=manifests, folders=(), may_respond=False))
    return grammar(replace(knowledge, may_respond=bool(read_sources) or enough, must_respond=enough))


class WhiteAgent:
    """Explores the repository, then submits; an answer that is not a valid call is asked for again."""

    name = "white"

    async def document(self, context: AgentContext) -> Submission:
        """Return the submission; an empty, unparsed one if the agent never submitted."""
        conversation = Conversation.begin(
            SYSTEM, first_message(context.assignment.name, context.assignment.description)
        )
        try:
            while True:
                submission = await context.act(conversation, _next_shape(context))
                if submission is not None:
                    return submission
        except OutOfSteps:
            return Submission()
