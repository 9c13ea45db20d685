"""AEO-Bench's text protocol: the agent's prompts, and how its answers are parsed.

An answer contains one ``<json>{"name": …, "kwargs": {…}}</json>``. A README may contain anything, even code fences and
closing tags, so a JSON decoder starts at the opening tag and no closing tag is searched for.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.files import is_shallow, parse_json
from workbench.models.reasoning import split_reasoning

OPEN, CLOSE = "<json>", "</json>"
TOOLS: Mapping[str, str] = {
    "list_directory": 'list_directory(path=".") gives the sorted names in a directory, "/" after directories',
    "read_file": "read_file(path) gives the text of a file",
}
RESPOND = "respond"
GO_ON = "Go on with another tool call, or hand in with respond."
HAND_IN_NOW = "This is your last step: hand in now with respond."
_TOO_DEEP = "The JSON after <json> is nested too deeply."


@dataclass(frozen=True, slots=True)
class Action:
    """The agent's action: a tool call, or ``respond`` with ``readme`` and ``metadata``.

    Attributes:
        name: A tool's name or ``respond``.
        kwargs: Its arguments, decoded JSON.
        thought: The text before the tag.
    """

    name: str
    kwargs: Mapping[str, object]
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an answer contains no action: ``short`` for a list of steps, ``sentence`` for the agent and the user."""

    short: str
    sentence: str
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """The result of a trial, which is scored; ``parsed``: the answer followed the protocol (5 points in tier 1)."""

    readme: str = ""
    metadata: object = field(default=None)
    parsed: bool = False


def parse_action(answer: str) -> Action | Problem:
    """Parse the action in an answer.

    Common deviations with a clear meaning are accepted: a Markdown fence inside the tag, a missing closing tag, raw
    newlines inside JSON strings, text after the closing tag. The last opening tag followed by a complete object wins,
    unless it lies inside an earlier object. A call that the model only considered in its reasoning is none.

    Args:
        answer: The model's text.

    Returns:
        The action, or the problem with the answer. Never raises.
    """
    split = split_reasoning(answer)
    if not split.finished:
        return Problem("no answer", "The reasoning never ended, so there is no answer after it.", answer.strip())
    answer = split.answer
    start = answer.find(OPEN)
    if start < 0:
        if not answer.strip():
            return Problem("empty answer", "The answer was empty.")
        return Problem("no <json> tag", "The answer has no <json>…</json> tag.", answer.strip())
    thought = answer[:start].strip()
    problem = Problem("no JSON", "There is no JSON object after <json>.", thought)
    found: Action | None = None
    while start >= 0:
        outcome, end = _read_object(answer, start + len(OPEN), answer[:start].strip())
        if isinstance(outcome, Action):
            found = outcome
        elif found is None:
            problem = outcome
        start = answer.find(OPEN, max(end, start + len(OPEN)))
    return found or problem


def _read_object(answer: str, position: int, thought: str) -> tuple[Action | Problem, int]:
    brace = answer.find("{", position)
    # Only white space and a fence with its language may come between the tag and the object.
    between = answer[position:brace].strip().removeprefix("```").strip().lower() if brace >= 0 else "?"
    if brace < 0 or between not in {"", "json"}:
        return Problem("no JSON", "There is no JSON object right after <json>.", thought), position
    try:
        decoded, end = json.JSONDecoder(strict=False).raw_decode(answer, brace)
    except json.JSONDecodeError as error:
        cut = " (the answer seems to be cut off)" if error.pos >= len(answer) - 1 or "Unterminated" in error.msg else ""
        return Problem("bad JSON", f"The JSON after <json> is not valid: {error.msg}{cut}.", thought), position
    except RecursionError:
        return Problem("bad JSON", _TOO_DEEP, thought), position
    except ValueError as error:  # a number with more digits than Python parses
        words = str(error).partition(";")[0]
        return Problem("bad JSON", f"The JSON after <json> cannot be read: {words}.", thought), position
    if not is_shallow(decoded):
        return Problem("bad JSON", _TOO_DEEP, thought), end
    name, kwargs = decoded.get("name"), decoded.get("kwargs", {})
    if not isinstance(name, str) or not name:
        return Problem("no name", 'The JSON has no "name" with the name of a tool.', thought), end
    if not isinstance(kwargs, dict):
        return Problem("bad kwargs", 'The "kwargs" of the JSON are not an object.', thought), end
    if name == RESPOND and not isinstance(kwargs.get("readme"), str):
        return Problem("no readme", 'The "respond" action needs kwargs "readme" (text) and "metadata".', thought), end
    return Action(name, kwargs, thought), end


def submission_of(action: Action) -> Submission:
    """Return the submission of a ``respond`` action; metadata given as JSON text is decoded if possible."""
    readme, metadata = action.kwargs.get("readme"), action.kwargs.get("metadata")
    if isinstance(metadata, str):
        with contextlib.suppress(ValueError):
            metadata = parse_json(metadata)
    return Submission(readme if isinstance(readme, str) else "", metadata, True)


SYSTEM = """You are a documentation agent. You look into a software repository and write its README and its metadata.

You can use these tools:
- list_directory(path="."): the sorted names in a directory; directories end in "/".
- read_file(path): the text of one file.
And to hand in your work:
- respond(readme, metadata): your finished README (Markdown text) and metadata (JSON object).

Every answer of yours holds exactly one call, as JSON between tags:
<json>{"name": "list_directory", "kwargs": {"path": "."}}</json>

The README has a title, a description, the features, how to install it, how to use it with examples, and an API reference.
The metadata is a schema.org object with "@context": "https://schema.org", "@type": "SoftwareSourceCode", "name",
"description" and "programmingLanguage".
Look at the repository before you write; say only what you have seen in it."""


def first_message(name: str, description: str) -> str:
    """Return the first message of a trial; ``description`` must not reveal the ground truth."""
    tools = "\n".join(f"- {line}" for line in TOOLS.values())
    return (
        f"Document this project.\n\nProject: {name}\nDescription: {description}\n\nTools:\n{tools}\n\n"
        f'Call a tool with <json>{{"name": …, "kwargs": {{…}}}}</json>. When you know enough, hand in with '
        f'<json>{{"name": "respond", "kwargs": {{"readme": "# …", "metadata": {{…}}}}}}</json>.\n'
        "Begin by listing the root directory."
    )


def tool_message(tool: str, text: str, steps_left: int) -> str:
    """Return the message that reports a tool's result to the agent."""
    return f"Tool call result for '{tool}':\n{text}\n\n{GO_ON if steps_left > 1 else HAND_IN_NOW}"


def problem_message(problem: Problem, steps_left: int) -> str:
    """Return the message that asks again after an unusable answer."""
    closing = " This is your last step: use respond." if steps_left <= 1 else ""
    return (
        f"That could not be used. {problem.sentence} Answer again with exactly one call, such as "
        f'<json>{{"name": "read_file", "kwargs": {{"path": "…"}}}}</json>.{closing}'
    )
