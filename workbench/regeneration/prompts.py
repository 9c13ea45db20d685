"""The evaluation prompt, identical for every doc system: the paper's content in our own words, or a user's own text.

A context policy selects the part of the file that the evaluator sees. A published policy never changes; a revised
policy gets a new name. The context always ends exactly where the body begins, so that the answer is a continuation.

- ``prefix-1``: the whole file up to the body, as in the paper, including the bodies of earlier functions.
- ``signatures-1``: the file with the bodies of other functions replaced by ``...``; the part after the target is
  separate.
- ``tail-1``: imports and as many whole lines before the body as fit the window; omitted lines are counted.
- ``function-1``: imports, the header lines of the enclosing classes and functions, and the function's own header.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.files import read_text
from workbench.base.text import one_line
from workbench.models.types import ContextOverflow, Message
from workbench.repository.functions import Function, find_functions, functions_by_name, outline
from workbench.repository.lines import LineKind, decode, line_start, read_lines, source_encoding
from workbench.repository.splicing import body_indent, lay_out_docstring, replace_docstring


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The part of the file shown in a prompt: ``before`` ends where the body begins, ``after`` follows the body."""

    before: str
    after: str = ""
    omitted_lines: int = 0


def estimate_tokens(text: str) -> int:
    """Return a conservative estimate of the tokens in ``text``: one per three UTF-8 bytes (code averages 3 to 4)."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


def build_context(source: bytes, function: Function, policy: str, budget: int | None = None) -> PromptContext:
    """Return the context of ``function`` in ``source``, which already contains the docstring to show.

    Only ``tail-1`` respects ``budget`` (in tokens); the other policies omit no lines and may exceed it. Raises
    UsageError if there is no such policy.
    """
    if policy not in POLICIES:
        raise UsageError(f"There is no context policy {policy!r}; choose one of {', '.join(POLICIES)}.")
    return POLICIES[policy](source, function, budget)


def _text(source: bytes) -> str:
    return re.sub(r"\r\n?", "\n", decode(source, source_encoding(source)).removeprefix("\ufeff"))


def _prefix(source: bytes, function: Function, _budget: int | None) -> PromptContext:
    return PromptContext(_text(source[: function.body.start]))


def _signatures(source: bytes, function: Function, _budget: int | None) -> PromptContext:
    before: list[bytes] = []
    after: list[bytes] = []
    position, hidden_until = 0, 0
    for other in find_functions(source, function.path):
        around = other.span.start <= function.span.start and other.span.end >= function.span.end
        if around or other.span.start < hidden_until or function.span.start < other.span.start < function.span.end:
            continue
        if other.body.start >= function.body.end and position < function.body.end:
            before.append(source[position : function.body.start])
            position = function.body.end
        part = after if other.span.start > function.span.start else before
        indent = body_indent(source, other).encode()
        part.append(source[position : other.body.start] + b"\n" + indent + b"...")
        position = hidden_until = other.body.end
    if position < function.body.end:
        before.append(source[position : function.body.start])
        position = function.body.end
    after.append(source[position:])
    return PromptContext(_text(b"".join(before)), _text(b"".join(after)).strip("\n"))


def _tail(source: bytes, function: Function, budget: int | None) -> PromptContext:
    whole = _text(source[: function.body.start])
    if budget is None or estimate_tokens(whole) <= budget:
        return PromptContext(whole)
    head = _text(source[: _head_start(source, function)])
    imports = _imports(head)
    own = whole[len(head) :]
    lines = head.split("\n")[:-1]
    room = budget - estimate_tokens(imports) - estimate_tokens(own)
    omitted = len(lines)
    while omitted > 0 and (room := room - estimate_tokens(lines[omitted - 1] + "\n")) >= 0:
        omitted -= 1
    tail = "\n".join(lines[omitted:])
    return PromptContext(f"{imports}\n# … {omitted} lines …\n{tail}\n{own}", omitted_lines=omitted)


def _function_only(source: bytes, function: Function, _budget: int | None) -> PromptContext:
    text = _text(source[: function.body.start])
    head = _text(source[: _head_start(source, function)])
    lines = _text(source).split("\n")
    around = [
        lines[item.start_line - 1]
        for item in outline(source, function.path)
        if item.start_line < function.first_line
        and item.end_line >= function.end_line
        and function.qualified_name.startswith(item.qualified_name + ".")
    ]
    parts = [_imports(head), *around]
    opening = "".join(part + "\n" for part in parts if part.strip())
    return PromptContext((opening + "\n" if opening and not around else opening) + text[len(head) :])


def _head_start(source: bytes, function: Function) -> int:
    """Return the start of the line with the first decorator or, without decorators, with the header."""
    position = function.span.start
    for _ in range(function.start_line - function.first_line + 1):
        position = line_start(source, position) - 1
    return position + 1


def _imports(text: str) -> str:
    """Return the unindented import statements, including those that span several lines."""
    imports: list[str] = []
    is_import = False
    for line in read_lines(text):
        if line.kind is LineKind.CODE:
            is_import = not line.indent and re.match(r"(?:import|from)\b", line.content) is not None
        if is_import and line.kind in (LineKind.CODE, LineKind.CONTINUATION):
            imports.append(line.text.rstrip("\n"))
    return "\n".join(imports)


POLICIES: dict[str, Callable[[bytes, Function, int | None], PromptContext]] = {
    "prefix-1": _prefix,
    "signatures-1": _signatures,
    "tail-1": _tail,
    "function-1": _function_only,
}
DEFAULT_POLICY = "prefix-1"


PROMPT_VERSION = "paper-content-1"
SHORT_PROMPT = "short-1"
DEFAULT_RESERVE = 4096  # number of tokens reserved for the answer

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
# For very small models that cannot follow a list of rules; results are not comparable with the paper's.
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
PLACEHOLDERS = ("path", "what", "name", "before", "after", "indent")
"""Names in braces that a prompt file may contain; only ``{before}`` is required."""
_PLACEHOLDER = re.compile(r"\{(" + "|".join(PLACEHOLDERS) + r")\}")
_MAX_PROMPT_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class OwnPrompt:
    """A prompt from a user's file, with :data:`PLACEHOLDERS` in braces.

    ``name`` consists of the file's name and the start of its text's SHA-256: ``mine.txt@3f2a9c1b04de``. It is part of a
    run's identity, so changing the text makes it a different prompt.
    """

    name: str
    text: str


def read_prompt(path: Path) -> OwnPrompt:
    """Read a prompt from a file. Raises UsageError if it is unreadable, too large, or lacks ``{before}``."""
    text = read_text(path, "The prompt file", most=_MAX_PROMPT_BYTES)
    if "{before}" not in text:
        raise UsageError(
            f"The prompt file {path.name} lacks the placeholder {{before}} for the code. Optional placeholders are "
            f"{', '.join('{' + name + '}' for name in PLACEHOLDERS if name != 'before')}."
        )
    return OwnPrompt(f"{one_line(path.name, 60)}@{hashlib.sha256(text.encode('utf-8')).hexdigest()[:12]}", text)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt for an evaluator."""

    messages: tuple[Message, ...]
    context_policy: str
    prompt_version: str
    tokens_estimate: int  # estimated number of tokens, rounded up generously
    overflow: int = 0  # number of tokens by which prompt and reserve exceed the window, or 0 if its size is unknown
    omitted_lines: int = 0  # number of lines that ``tail-1`` left out

    def require_fit(self) -> Prompt:
        """Return the prompt unchanged. Raises ContextOverflow if it does not fit: prompts are never truncated."""
        if self.overflow:
            raise ContextOverflow(
                f"The prompt of about {self.tokens_estimate:,} tokens exceeds the model's window by {self.overflow:,}; "
                "choose the context policy tail-1, signatures-1 or function-1, or a model with a larger window."
            )
        return self


def documented_source(source: bytes, function: Function, docstring: str | None) -> tuple[bytes, Function]:
    """Return the file with ``docstring`` inserted (laid out as in PEP 257 unless unchanged), and the function."""
    if docstring == function.docstring:
        return source, function
    text = lay_out_docstring(source, function, docstring) if docstring is not None else None
    changed = replace_docstring(source, function, text)
    found = functions_by_name(changed, function.path)
    return changed, found.get((function.qualified_name, function.occurrence), function)


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
    """Return the prompt for the body of ``function``, documented by ``docstring``.

    ``policy`` is one of ``POLICIES``; ``version`` is one of ``PROMPTS`` or the name of the user's prompt ``own``.
    Docstrings of other functions are shown unchanged. Raises UsageError if there is no such policy or version.
    """
    template = own or PROMPTS.get(version, "")
    if not template:
        raise UsageError(f"There is no prompt version {version!r}; choose one of {', '.join(PROMPTS)}, or a file.")
    documented, target = documented_source(source, function, docstring)
    indent = body_indent(source, function)
    tabs = set(indent) == {"\t"}
    indent = f"{len(indent)} tab{'s' * (len(indent) > 1)}" if tabs else f"{len(indent.expandtabs(8))} spaces"
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
    # All placeholders are replaced in one pass, because the code may contain the same names in braces.
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)
