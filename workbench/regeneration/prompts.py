"""The evaluation prompt: the paper's in our own words, or a text of one's own; the same for every doc system."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.files import read_text
from workbench.base.text import one_line
from workbench.models.types import ContextOverflow, Message
from workbench.regeneration.context import DEFAULT_POLICY, build_context, estimate_tokens
from workbench.repository.functions import Function, find_functions
from workbench.repository.splicing import body_indent, lay_out_docstring, replace_docstring

PROMPT_VERSION = "paper-content-1"
FORMER_NAMES = {"paper-1": PROMPT_VERSION}
"""What prompts were called in older sessions -> their name today; the words are the same."""
SHORT_PROMPT = "short-1"
DEFAULT_RESERVE = 4096  # tokens kept free for the answer

_TASK = """\
Below is the beginning of the Python file `{path}`. It ends with the {what} of `{name}`, whose body is missing.

```python
{before}
```
{after}
Write the continuation: the body of `{name}` and nothing else.
- Do not repeat the header or the docstring, and write no other function.
- The docstring and the code above say what the body has to do; the project's unit tests will run it.
- Keep Python's indentation: the body's statements begin with {indent}.
- Answer with exactly one Python code block.
"""
# For very small models, which cannot follow a list of rules; results are not comparable with the paper's figures.
_SHORT_TASK = """\
Complete the Python function `{name}`.

```python
{before}
```
{after}
Write only the body of `{name}`, in one Python code block.
"""
_AFTER = """
Further down, the file holds (bodies left out):

```python
{after}
```
"""


PROMPTS = {PROMPT_VERSION: _TASK, SHORT_PROMPT: _SHORT_TASK}
PLACES = ("path", "what", "name", "before", "after", "indent")
"""What is put into a prompt's text where one of these names stands in braces; only ``{before}`` must be there."""
_PLACE = re.compile(r"\{(" + "|".join(PLACES) + r")\}")
_MOST_OF_A_PROMPT = 200_000  # bytes


@dataclass(frozen=True, slots=True)
class OwnPrompt:
    """A prompt from a user's file, with :data:`PLACES` in braces.

    ``name`` is the file's name and the beginning of the SHA-256 of its text: ``mine.txt@3f2a9c1b04de``. It stands in
    identities, so another text is another prompt.
    """

    name: str
    text: str


def read_prompt(path: Path) -> OwnPrompt:
    """Return the prompt in a file. UsageError: unreadable, too large, or without a place for the code."""
    text = read_text(path, "The prompt file", most=_MOST_OF_A_PROMPT)
    if "{before}" not in text:
        raise UsageError(
            f"The prompt file {path.name} does not say where the code goes: write {{before}} there. It may also have "
            f"{', '.join('{' + place + '}' for place in PLACES if place != 'before')}."
        )
    return OwnPrompt(f"{one_line(path.name, 60)}@{hashlib.sha256(text.encode('utf-8')).hexdigest()[:12]}", text)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt for an evaluator."""

    messages: tuple[Message, ...]
    context_policy: str
    prompt_version: str
    tokens_estimate: int  # conservative
    overflow: int = 0  # tokens by which prompt and reserve exceed the window; 0 if it is unknown
    omitted_lines: int = 0  # that ``tail-1`` left out

    def require_fit(self) -> Prompt:
        """Return the prompt itself; ContextOverflow if it exceeds the window: nothing is ever truncated silently."""
        if self.overflow:
            raise ContextOverflow(
                f"The prompt of about {self.tokens_estimate:,} tokens exceeds the model's window by {self.overflow:,}; "
                "choose the context policy tail-1, signatures-1 or function-1, or a model with a larger window."
            )
        return self


def documented_source(source: bytes, function: Function, docstring: str | None) -> tuple[bytes, Function]:
    """Return the file with ``docstring`` (laid out by PEP 257 unless unchanged), and the function in it."""
    if docstring == function.docstring:
        return source, function
    text = lay_out_docstring(source, function, docstring) if docstring is not None else None
    changed = replace_docstring(source, function, text)
    identity = (function.qualified_name, function.occurrence)
    for found in find_functions(changed, function.path):
        if (found.qualified_name, found.occurrence) == identity:
            return changed, found
    return changed, function


def build_prompt(
    source: bytes,
    function: Function,
    docstring: str | None,
    *,
    policy: str = DEFAULT_POLICY,
    version: str = PROMPT_VERSION,
    own: str = "",
    window_tokens: int | None = None,
    reserve_tokens: int = DEFAULT_RESERVE,
) -> Prompt:
    """Return the prompt that asks for the body of ``function`` documented by ``docstring``.

    ``policy`` is one of ``context.POLICIES``, ``version`` one of ``PROMPTS`` or the name of the prompt ``own``.
    Docstrings of other functions are shown unchanged. ``reserve_tokens`` of the window stay free for the answer.
    UsageError: no such policy or version.
    """
    template = own or PROMPTS.get(FORMER_NAMES.get(version, version), "")
    if not template:
        raise UsageError(f"There is no prompt version {version!r}; choose one of {', '.join(PROMPTS)}, or a file.")
    documented, target = documented_source(source, function, docstring)
    indent = _in_words(body_indent(source, function))
    budget = None
    if window_tokens is not None:
        frame = _render(template, function, "", "", indent, docstring)
        budget = window_tokens - reserve_tokens - estimate_tokens(frame)
    context = build_context(documented, target, policy, budget)
    text = _render(template, function, context.before, context.after, indent, docstring)
    tokens = estimate_tokens(text)
    overflow = max(0, tokens + reserve_tokens - window_tokens) if window_tokens is not None else 0
    return Prompt((Message("user", text),), policy, version, tokens, overflow, context.omitted_lines)


def _render(template: str, function: Function, before: str, after: str, indent: str, docstring: str | None) -> str:
    values = {
        "path": function.path,
        "name": function.qualified_name.replace(".<locals>", ""),
        "what": "header and the docstring" if docstring is not None else "header",
        "before": before.rstrip("\n"),
        "after": _AFTER.format(after=after) if after.strip() else "",
        "indent": indent,
    }
    # In one pass: the code may hold braces with the same names.
    return _PLACE.sub(lambda place: values[place[1]], template)


def _in_words(indent: str) -> str:
    if set(indent) == {"\t"}:
        return f"{len(indent)} tab{'s' * (len(indent) > 1)}"
    return f"{len(indent.expandtabs(8))} spaces"
