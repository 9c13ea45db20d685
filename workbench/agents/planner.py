"""Planner, explorer, generator: walk every folder, let the model say what to read, read it, then write."""

from __future__ import annotations

import json

from workbench.agents.constrained import choice, grammar, literal, readable
from workbench.agents.desk import Conversation, Desk, OutOfSteps
from workbench.agents.protocol import OPEN, SYSTEM, Action, Problem, Submission, tool_message
from workbench.agents.white import known_to

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


class Planner:
    """A state machine over the same desk: plan → explore → generate."""

    name = "planner"

    async def document(self, desk: Desk) -> Submission:
        """Return the submission; an empty one, not parsed, if the agent never handed in.

        Raises:
            ModelError: A request got no answer.
        """
        try:
            self._walk(desk)
            for path in await self._plan(desk):
                if desk.steps_left > 2:
                    desk.use("read_file", path)
            return await self._generate(desk)
        except OutOfSteps:
            return Submission()

    def _walk(self, desk: Desk) -> None:
        waiting = ["."]
        while waiting and len(desk.listed_folders) < min(_MOST_FOLDERS, desk.max_steps - 4):
            observation = desk.use("list_directory", waiting.pop(0))
            waiting.extend(path.rstrip("/") for path in observation.listed if path.endswith("/"))

    async def _plan(self, desk: Desk) -> list[str]:
        paths = readable(desk.listed)
        listing = "\n".join(path for path in desk.listed if not path.endswith("/"))
        conversation = Conversation.begin(
            "You plan how to document a software repository.",
            f"Project: {desk.assignment.name}\n{desk.assignment.description}\n\nFiles:\n{listing}\n\n"
            f"Which files (at most {_MOST_FILES}) must be read to document it? Answer with "
            f'{OPEN}{{"name": "plan", "kwargs": {{"read": ["…"]}}}}</json>.',
        )
        turn = await desk.ask(conversation.messages, _plan_grammar(paths))
        outcome = turn.outcome
        wanted = outcome.kwargs.get("read") if isinstance(outcome, Action) and outcome.name == "plan" else None
        if not isinstance(wanted, list):
            problem = outcome.sentence if isinstance(outcome, Problem) else 'The answer is no plan with a list "read".'
            desk.note("invalid", "no plan", "reads what looks central", turn, problem)
            return list(paths[:3])
        chosen = [path for path in dict.fromkeys(map(str, wanted)) if path in desk.listed][:_MOST_FILES]
        desk.note("plan", "plan", ", ".join(chosen) or "nothing", turn)
        return chosen or list(paths[:1])

    async def _generate(self, desk: Desk) -> Submission:
        seen = "\n\n".join(tool_message("read_file", f"{path}:\n{text}", 2) for path, text in desk.texts.items())
        known = json.dumps(desk.listed, ensure_ascii=False)
        conversation = Conversation.begin(
            SYSTEM,
            f"Project: {desk.assignment.name}\n{desk.assignment.description}\n\nFiles: {known}\n\n{seen}\n\n"
            "You have seen enough: hand in now with respond.",
        )
        while True:
            submission = await desk.act(conversation, grammar(known_to(desk, must_respond=True)))
            if submission is not None:
                return submission
