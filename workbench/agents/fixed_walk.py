"""The fixed walk: list the first folders, let the model choose which files to read, read them, then write."""

from __future__ import annotations

import json

from workbench.agents.agent_context import AgentContext, Conversation, OutOfSteps
from workbench.agents.constrained import choice, grammar, literal, readable
from workbench.agents.protocol import OPEN, SYSTEM, Action, Problem, Submission, tool_message
from workbench.agents.white import knowledge_of

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
        """Return the submission; an empty, unparsed one if the agent never submitted."""
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
            problem = outcome.sentence if isinstance(outcome, Problem) else 'The answer is no plan with a list "read".'
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
