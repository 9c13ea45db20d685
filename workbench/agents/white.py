"""AEO-Bench's white agent, which explores with two tools and then writes; and two baselines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

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
from workbench.agents.protocol import SYSTEM, Submission, first_message, tool_message
from workbench.repository import FileEntry

_MANIFESTS = {"pyproject.toml", "requirements.txt", "setup.cfg"}  # files that declare dependencies
_SETUP_FILES = ("setup.py", "conftest.py", "noxfile.py", "release.py")
_ENOUGH_FILES = 3  # more would not fit in a small model's context window


def knowledge_of(context: AgentContext, *, may_respond: bool = True, must_respond: bool = False) -> Knowledge:
    """Collect what the agent has seen so far, for the grammar of a small model's next answer."""
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
    """Explores the repository and then submits; after an invalid call, the model is asked to try again."""

    name = "white"

    async def document(self, context: AgentContext) -> Submission:
        """Return the submission, or an empty, unparsed one if the agent never submitted."""
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


# -- two baselines that measure the value of exploration


_NO_TOOLS = (
    "\n\nYou have no tools for this project: answer at once with respond, from what you know. "
    "Do not call list_directory or read_file."
)


async def _ask_for_submission(context: AgentContext, conversation: Conversation, shape: str) -> Submission:
    try:
        for _ in range(3):  # the prompt forbids tools; a model that calls one anyway gets two more chances
            submission = await context.act(conversation, shape)
            if submission is not None:
                return submission
    except OutOfSteps:
        pass
    return Submission()


class NoExploration:
    """Answers without reading the repository."""

    name = "no-exploration"

    async def document(self, context: AgentContext) -> Submission:
        message = first_message(context.assignment.name, context.assignment.description)
        conversation = Conversation.begin(SYSTEM + _NO_TOOLS, message)
        context.max_steps = min(context.max_steps, 3)
        return await _ask_for_submission(
            context, conversation, grammar(Knowledge(context.assignment.name, must_respond=True))
        )


def likely_main_file(files: tuple[FileEntry, ...], name: str) -> str:
    """Return the path of the likely main file: the project's namesake, or the largest source nearest to the root."""
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
