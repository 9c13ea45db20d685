"""AEO-Bench's text protocol: prompts, the parser of answers, and two tools that read the repository.

An answer contains one ``<json>{"name": …, "kwargs": {…}}</json>``, or the object without the tag. A README may contain
anything, even code fences and closing tags, so the JSON decoder determines the end of the object, not the closing tag.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from workbench.base.files import is_shallow, parse_json
from workbench.base.json_answers import objects_in
from workbench.models.reasoning import split_reasoning
from workbench.repository import View, ViewError

OPEN, CLOSE = "<json>", "</json>"
TOOLS: Mapping[str, str] = {
    "list_directory": 'list_directory(path=".") gives the sorted names in a directory, "/" after directories',
    "read_file": "read_file(path) gives the text of a file",
}
RESPOND = "respond"


class CallForm(NamedTuple):
    """The calls of an agent: its tools, and the argument that ``respond`` needs."""

    tools: tuple[str, ...] = tuple(TOOLS)
    needed: str = "readme"
    submission: str = '"readme" (text) and "metadata"'
    example: str = '{"name": "read_file", "kwargs": {"path": "…"}}'


DOCUMENTING = CallForm()
CUT = "Continue exploring"
"""AEO-Bench's agents truncate the text after a tool's result at these words."""


class Closings(NamedTuple):
    """The last sentence of a tool message: one for while steps remain, one for the last step."""

    go_on: str
    hand_in: str


OWN_CLOSINGS = Closings(
    "Go on with another tool call, or hand in with respond.", "This is your last step: hand in now with respond."
)
PEER_CLOSINGS = Closings(
    f"{CUT} with another tool call, or hand in with respond.",
    f"{CUT} no further: hand in now with respond, your last step.",
)
_TOO_DEEP = "The JSON after <json> is nested too deeply."
_TAG = re.compile(re.escape(OPEN), re.IGNORECASE)
_FENCE = re.compile(r"`{3,}\s*(?:json[5c]?)?\s*\Z", re.IGNORECASE)  # a fence directly before an object
# Only whitespace and a fence with its language may come between the tag and the object.
_OPENING = re.compile(r"\s*(?:`{3,})?\s*(?:json[5c]?)?\s*\{", re.IGNORECASE)
_ARGUMENTS = ("kwargs", "arguments")
_MOST_FAILURES = 200


@dataclass(frozen=True, slots=True)
class Action:
    """The agent's action: a tool call, or ``respond`` with ``readme`` and ``metadata``."""

    name: str  # a tool's name or ``respond``
    kwargs: Mapping[str, object]  # decoded JSON
    thought: str = ""  # the text before the call
    source: str = ""  # the call's JSON, verbatim


@dataclass(frozen=True, slots=True)
class UnusableAnswer:
    """The reason why an answer has no action: ``short`` is for lists of steps, ``sentence`` for agent and user."""

    short: str
    sentence: str
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """The scored result of a trial; ``parsed`` means that the answer followed the protocol (5 points in tier 1)."""

    readme: str = ""
    metadata: object = field(default=None)
    parsed: bool = False


def parse_action(answer: str, form: CallForm = DOCUMENTING) -> Action | UnusableAnswer:
    """Parse the action in an answer. This function never raises.

    The last opening tag that is followed by a complete call wins, unless it is inside an earlier object. If there is
    none, the last JSON object that is a call or a submission wins, whether alone, in a fence or in prose. Unambiguous
    deviations are accepted: a tag in capitals, a missing closing tag, raw newlines in strings, ``arguments`` instead of
    ``kwargs``, arguments next to the name, and a submission without a name. As in AEO-Bench, malformed JSON is not
    repaired. Calls in the model's reasoning do not count.
    """
    split = split_reasoning(answer)
    if not split.finished:
        return UnusableAnswer("no answer", "The reasoning never ended, so there is no answer after it.", answer.strip())
    answer = split.answer
    chosen: tuple[Action | UnusableAnswer, int] | None = None
    failures, tag = 0, _TAG.search(answer)
    # Each failed attempt takes time proportional to the length of the answer.
    while tag is not None and failures < _MOST_FAILURES:
        outcome, end = _read_object(answer, tag.end(), form)
        failures += isinstance(outcome, UnusableAnswer)
        if chosen is None or isinstance(outcome, Action):
            chosen = outcome, tag.start()
        tag = _TAG.search(answer, max(end, tag.end()))
    if chosen is None:
        return _untagged(answer, None, form)
    outcome = replace(chosen[0], thought=answer[: chosen[1]].strip())
    return outcome if isinstance(outcome, Action) else _untagged(answer, outcome, form)


def _untagged(answer: str, problem: UnusableAnswer | None, form: CallForm) -> Action | UnusableAnswer:
    for start, end, value, strict in reversed(objects_in(answer)):
        if strict and _is_call(value, form):
            outcome = _action(value, _FENCE.sub("", answer[:start]).strip(), answer[start:end], form)
            if isinstance(outcome, Action) or problem is None:
                return outcome
    if problem is not None:
        return problem
    if not answer.strip():
        return UnusableAnswer("empty answer", "The answer was empty.")
    return UnusableAnswer("no <json> tag", "The answer has no <json>…</json> tag.", answer.strip())


def _read_object(answer: str, position: int, form: CallForm) -> tuple[Action | UnusableAnswer, int]:
    opening = _OPENING.match(answer, position)
    if opening is None:
        return UnusableAnswer("no JSON", "There is no JSON object right after <json>."), position
    brace = opening.end() - 1
    try:
        decoded, end = json.JSONDecoder(strict=False).raw_decode(answer, brace)
    except json.JSONDecodeError as error:
        cut = " (the answer seems to be cut off)" if error.pos >= len(answer) - 1 or "Unterminated" in error.msg else ""
        return UnusableAnswer("bad JSON", f"The JSON after <json> is not valid: {error.msg}{cut}."), position
    except RecursionError:
        return UnusableAnswer("bad JSON", _TOO_DEEP), position
    except ValueError as error:  # a number with more digits than Python will parse
        words = str(error).partition(";")[0]
        return UnusableAnswer("bad JSON", f"The JSON after <json> cannot be read: {words}."), position
    if not is_shallow(decoded):
        return UnusableAnswer("bad JSON", _TOO_DEEP), end
    return _action(decoded, "", answer[brace:end], form), end


def _is_call(value: Mapping[str, object], form: CallForm) -> bool:
    """Return whether an untagged object is a call, as opposed to other JSON that a README quotes."""
    name = value.get("name")
    if not isinstance(name, str):
        return name is None and isinstance(value.get(form.needed), str)
    return name in (*form.tools, RESPOND) or any(key in value for key in _ARGUMENTS)


def _action(value: Mapping[str, object], thought: str, source: str, form: CallForm) -> Action | UnusableAnswer:
    name = value.get("name")
    if name is None and isinstance(value.get(form.needed), str):
        return Action(RESPOND, value, thought, source)
    if not isinstance(name, str) or not name:
        return UnusableAnswer("no name", 'The JSON has no "name" with the name of a tool.', thought)
    kwargs: object = next((value[key] for key in _ARGUMENTS if key in value), None)
    if isinstance(kwargs, str):
        with contextlib.suppress(ValueError):
            kwargs = parse_json(kwargs)
    if not any(key in value for key in _ARGUMENTS):
        kwargs = {key: one for key, one in value.items() if key != "name"}
    if not isinstance(kwargs, dict):
        return UnusableAnswer("bad kwargs", 'The "kwargs" of the JSON are not an object.', thought)
    if name == RESPOND and not isinstance(kwargs.get(form.needed), str):
        needs = f'The "respond" action needs kwargs {form.submission}.'
        return UnusableAnswer(f"no {form.needed}", needs, thought)
    return Action(name, kwargs, thought, source)


def split_answer(answer: str) -> tuple[str, str]:
    """Return the text before the call in an answer, and the call's JSON, or "" if there is no call."""
    outcome = parse_action(answer)
    if isinstance(outcome, Action):
        return outcome.thought, outcome.source
    tag = _TAG.search(answer)
    if tag is None:
        return answer.strip(), ""
    rest = answer[tag.end() :]
    return answer[: tag.start()].strip(), rest.rpartition(CLOSE)[0].strip() or rest.strip()


def submission_of(action: Action) -> Submission:
    """Return the submission of a ``respond`` action; metadata passed as a JSON string is decoded if possible."""
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


def tool_message(tool: str, text: str, steps_left: int, closings: Closings = OWN_CLOSINGS) -> str:
    closing = closings.go_on if steps_left > 1 else closings.hand_in
    return f"Tool call result for '{tool}':\n{text}\n\n{closing}"


def problem_message(problem: UnusableAnswer, steps_left: int, form: CallForm = DOCUMENTING) -> str:
    closing = " This is your last step: use respond." if steps_left <= 1 else ""
    return (
        f"That could not be used. {problem.sentence} Answer again with exactly one call, such as "
        f"<json>{form.example}</json>.{closing}"
    )


# -- the two tools; failures are returned as text


@dataclass(frozen=True, slots=True)
class Observation:
    """A tool's result."""

    text: str  # the text sent to the agent
    target: str  # the requested path
    listed: tuple[str, ...] = ()  # files and directories; directories end in "/"
    read: str = ""  # the file that was read
    size: int = 0  # number of bytes returned from that file

    @property
    def failed(self) -> bool:
        return self.text.startswith("Error:")


def normal(path: str) -> str:
    """Normalize a repository path: it has no ``./`` and no trailing slash, and the root is ``.``."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in {"", "."}]
    return "/".join(parts) or "."


def use_tool(view: View, name: str, kwargs: Mapping[str, object], read_limit: int) -> Observation:
    """Run a tool and return at most ``read_limit`` characters of its result. This function never raises."""
    path = kwargs.get("path", "." if name == "list_directory" else None)
    if name not in TOOLS:
        return Observation(f"Error: unknown tool '{name}'. The tools are {', '.join(TOOLS)}.", name)
    if not isinstance(path, str) or not path.strip():
        return Observation("Error: 'path' parameter is required", "")
    try:
        if name == "list_directory":
            names = view.list_directory(path, limit=read_limit)
            base = "" if normal(path) == "." else normal(path) + "/"
            known = tuple(base + item for item in names if not item.startswith("… "))
            return Observation(json.dumps(names, indent=2, ensure_ascii=False), normal(path), listed=known)
        content = view.read_file(path, limit=read_limit)
    except ViewError as error:
        return Observation(f"Error: {error}", normal(path))
    except (ValueError, OSError) as error:
        return Observation(f"Error: {path!r} cannot be opened ({error})", normal(path))
    text = content.text
    if content.truncated:
        text += f"\n… cut after {len(content.text):,} characters; the file has {content.size:,} bytes"
    shown = len(content.text.encode("utf-8", "surrogatepass"))
    return Observation(text, normal(path), read=normal(path), size=shown)


def edited(observation: Observation, text: str) -> Observation:
    """Replace an observation's text; if it is a listing, the listed paths are replaced too."""
    if text == observation.text:
        return observation
    if not observation.listed:
        return replace(observation, text=text)
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = []
    base = "" if observation.target == "." else observation.target + "/"
    listed = tuple(base + name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
    return replace(observation, text=text, listed=listed)
