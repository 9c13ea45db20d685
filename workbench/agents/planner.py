"""AEO-Bench's planner, which explores all folders, reads files and writes to a fixed structure; and a fixed walk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from workbench.agents.agent_context import AgentContext, Conversation, OutOfSteps
from workbench.agents.constrained import Knowledge, choice, grammar, literal, readable
from workbench.agents.protocol import (
    OPEN,
    RESPOND,
    SYSTEM,
    Action,
    Submission,
    UnusableAnswer,
    submission_of,
    tool_message,
)
from workbench.agents.white import is_source, knowledge_of

LEAST_LINES = 50
HEADINGS = (
    ("overview", "description", "about"),
    ("features",),
    ("installation", "install"),
    ("usage",),
    ("examples", "example"),
    ("api",),
)
"""Required sections of the README; a heading matches a section if it contains any of its words."""
_LEFT_FOR_READING = 6  # steps (of fifteen) reserved for reading and writing
_ENOUGH_FILES = 3  # limit for the embedded model, because more would not fit in its context window
_DONE = "done"

_WALK = """\
Project: {name}
{description}

First walk through all folders: list each with list_directory, beginning with ".". Read no file yet. When every folder is
listed, or those left cannot matter, answer <json>{{"name": "done", "kwargs": {{}}}}</json>."""
_READ = """\
The walk is over. These are the files:
{files}

Now read what must be known to document the project, one file an answer: what it is, how it is installed, run and called.
When you know enough, answer <json>{{"name": "done", "kwargs": {{}}}}</json>."""
_WRITE = """\
You have seen enough. Hand in now with respond. The README has at least {lines} lines and this structure:
# {name}, with a description of one paragraph below it
## Overview
## Features
## Installation
## Usage
## Examples, with code in fences
## API reference
Say only what you have seen in the repository."""


class Planner:
    """Works in three states (explore all folders → read → generate) and falls back to a minimal README."""

    name = "planner-2"

    async def document(self, context: AgentContext) -> Submission:
        """Return the submission, or one composed of the listed files if the model never submits."""
        name, description = context.assignment.name, context.assignment.description
        conversation = Conversation.begin(SYSTEM, _WALK.format(name=name, description=description))
        reserve = min(_LEFT_FOR_READING, max(2, context.max_steps // 2))
        try:
            await self._explore(context, conversation, reserve)
            files = "\n".join(path for path in context.listed if not path.endswith("/"))
            conversation.add_user(_READ.format(files=files or "(none)"))
            await self._read(context, conversation)
            conversation.add_user(_WRITE.format(lines=LEAST_LINES, name=name))
            submission = await self._generate(context, conversation)
        except OutOfSteps:
            submission = None
        return submission if submission is not None else context.hand_in(minimal(context), "a minimal README")

    async def _explore(self, context: AgentContext, conversation: Conversation, reserve: int) -> None:
        while context.steps_left > reserve and (left := _folders_left(context)):
            shape = grammar(Knowledge(context.assignment.name, folders=left, may_respond=False))
            if not await self._step(
                context, conversation, shape, "list_directory", f"Not listed yet: {', '.join(left)}"
            ):
                return

    async def _read(self, context: AgentContext, conversation: Conversation) -> None:
        while context.steps_left > 2:
            files = tuple(path for path in readable(context.listed) if path not in context.read)
            sources = tuple(path for path in files if is_source(path))
            small = context.is_constrained and len(context.read) >= _ENOUGH_FILES
            if not files or small:
                return
            shape = grammar(Knowledge(context.assignment.name, files=sources or files, may_respond=False))
            if not await self._step(context, conversation, shape, "read_file", "Read files now; folders are done."):
                return

    async def _step(
        self, context: AgentContext, conversation: Conversation, shape: str, tool: str, otherwise: str
    ) -> bool:
        """Run one step of a state; return False once the model has finished that state."""
        turn = await context.ask(conversation.messages, shape)
        outcome = turn.outcome
        if isinstance(outcome, Action) and outcome.name in (_DONE, RESPOND):
            conversation.add_assistant(turn.answer.text)
            context.note("plan", _DONE, "folders" if tool == "list_directory" else "files", turn)
            return False
        if isinstance(outcome, Action) and outcome.name != tool:
            conversation.add_assistant(turn.answer.text)
            conversation.add_user(otherwise)
            context.note("invalid", f"no {tool}", "asked again", turn, f"The agent is to use {tool} now. {otherwise}")
            return True
        context.take(conversation, turn)
        return True

    async def _generate(self, context: AgentContext, conversation: Conversation) -> Submission | None:
        """Return the model's submission, or None. If a README lacks the required structure, ask for it once more."""
        asked_again = False
        submitted: Submission | None = None
        shape = grammar(replace(knowledge_of(context, must_respond=True), files=(), folders=()))
        # The last step is reserved for the fallback, or for a README that the model submitted earlier.
        while context.steps_left > 1:
            turn = await context.ask(conversation.messages, shape)
            if not isinstance(turn.outcome, Action) or turn.outcome.name != RESPOND:
                context.take(conversation, turn, run_tools=False)
                continue
            submitted = submission_of(turn.outcome)
            lacking = lacks(submitted.readme)
            if not lacking or asked_again or context.is_constrained or context.steps_left <= 2:
                return context.submit(turn)
            asked_again = True
            conversation.add_assistant(turn.answer.text)
            conversation.add_user(f"{lacking} Hand in once more with respond, in the structure that was asked for.")
            context.note("invalid", "structure", "asked again", turn, lacking)
        return context.hand_in(submitted, "the earlier README") if submitted is not None else None


def lacks(readme: str) -> str:
    """Return sentences saying how a README falls short of the required structure, or "" if it does not."""
    lines = readme.splitlines()
    headings = " ".join(line.lstrip("# ").lower() for line in lines if line.startswith("#"))
    missing = [words[0] for words in HEADINGS if not any(word in headings for word in words)]
    problems = []
    if len(lines) < LEAST_LINES:
        problems.append(f"The README has {len(lines)} lines, not {LEAST_LINES}.")
    if missing:
        problems.append(f"It has no heading for {', '.join(missing)}.")
    return " ".join(problems)


def minimal(context: AgentContext) -> Submission:
    """Return a README composed of the listed files, for a model that never submits."""
    name, description = context.assignment.name, context.assignment.description
    files = [path for path in context.listed if not path.endswith("/")]
    shown = "\n".join(f"- `{path}`" for path in files[:40]) or "- none found"
    scripts = [path for path in files if is_source(path)]
    main = next((path for path in scripts if PurePosixPath(path).stem in (name, "main", "__main__")), "")
    run = f"\n## Usage\n\n```bash\npython {main}\n```\n" if main else ""
    metadata: Mapping[str, str] = {
        "@context": "https://schema.org",
        "@type": "SoftwareSourceCode",
        "name": name,
        "description": description,
        "programmingLanguage": "Python",
    }
    return Submission(
        f"# {name}\n\n{description}\n{run}\n## Files\n\n{shown}\n", json.loads(json.dumps(metadata)), True
    )


def _folders_left(context: AgentContext) -> tuple[str, ...]:
    found = [".", *(path.rstrip("/") for path in context.listed if path.endswith("/"))]
    return tuple(path for path in dict.fromkeys(found) if path not in context.listed_folders)


# -- the fixed walk


_MOST_FOLDERS = 6
_MOST_FILES = 5


def _plan_grammar(paths: tuple[str, ...]) -> str | None:
    if not paths:
        return None
    opening, between, end = (
        literal('<json>{"name": "plan", "kwargs": {"read": ["'),
        literal('", "'),
        literal('"]}}</json>'),
    )
    return f"root ::= {opening} path ({between} path){{0,2}} {end}\npath ::= {choice(paths)}\n"


class FixedWalk:
    """Works in fixed phases: list folders → plan → read → generate."""

    name = "planner-1"

    async def document(self, context: AgentContext) -> Submission:
        """Return the submission, or an empty, unparsed one if the agent never submitted."""
        try:
            self._walk(context)
            for path in await self._plan(context):
                if context.steps_left > 2:
                    context.use("read_file", path)
            return await self._generate(context)
        except OutOfSteps:
            return Submission()

    def _walk(self, context: AgentContext) -> None:
        waiting = ["."]
        while waiting and len(context.listed_folders) < min(_MOST_FOLDERS, context.max_steps - 4):
            observation = context.use("list_directory", waiting.pop(0))
            waiting.extend(path.rstrip("/") for path in observation.listed if path.endswith("/"))

    async def _plan(self, context: AgentContext) -> list[str]:
        paths = readable(context.listed)
        listing = "\n".join(path for path in context.listed if not path.endswith("/"))
        conversation = Conversation.begin(
            "You plan how to document a software repository.",
            f"Project: {context.assignment.name}\n{context.assignment.description}\n\nFiles:\n{listing}\n\n"
            f"Which files (at most {_MOST_FILES}) must be read to document it? Answer with "
            f'{OPEN}{{"name": "plan", "kwargs": {{"read": ["…"]}}}}</json>.',
        )
        turn = await context.ask(conversation.messages, _plan_grammar(paths))
        outcome = turn.outcome
        wanted = outcome.kwargs.get("read") if isinstance(outcome, Action) and outcome.name == "plan" else None
        if not isinstance(wanted, list):
            problem = (
                outcome.sentence if isinstance(outcome, UnusableAnswer) else 'The answer is no plan with a list "read".'
            )
            context.note("invalid", "no plan", "reads what looks central", turn, problem)
            return list(paths[:3])
        chosen = [path for path in dict.fromkeys(map(str, wanted)) if path in context.listed][:_MOST_FILES]
        context.note("plan", "plan", ", ".join(chosen) or "nothing", turn)
        return chosen or list(paths[:1])

    async def _generate(self, context: AgentContext) -> Submission:
        contents = "\n\n".join(tool_message("read_file", f"{path}:\n{text}", 2) for path, text in context.texts.items())
        known = json.dumps(context.listed, ensure_ascii=False)
        conversation = Conversation.begin(
            SYSTEM,
            f"Project: {context.assignment.name}\n{context.assignment.description}\n\nFiles: {known}\n\n{contents}\n\n"
            "You have seen enough: hand in now with respond.",
        )
        while True:
            submission = await context.act(conversation, grammar(knowledge_of(context, must_respond=True)))
            if submission is not None:
                return submission
