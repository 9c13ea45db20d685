"""``llm:MODEL``: a model writes the docstring from the code and the rest of its file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

from workbench.documenters.fixed import RepositorySources
from workbench.documenters.types import Docstring, DocumentationFailed, DocumentationProgress
from workbench.models.defaults import LOCAL_DOCSTRING_TOKENS, is_local
from workbench.models.reasoning import split_reasoning
from workbench.models.types import Message, ModelClient, Request, Sampling
from workbench.regeneration.extraction import MAX_ANSWER
from workbench.regeneration.fences import read_blocks
from workbench.regeneration.leakage import measure_leakage
from workbench.regeneration.prompts import build_context
from workbench.repository import Snapshot
from workbench.repository.functions import (
    Definition,
    DefinitionKey,
    DefinitionKind,
    Function,
    find_functions,
    functions_by_name,
    literal_text,
    outline,
)
from workbench.repository.lines import decode, dedent, source_encoding
from workbench.repository.splicing import SpliceError, body_text, replace_docstring
from workbench.session.identity import task_id

MAX_DOCSTRING = 8000  # characters; longer texts are rejected
DOCSTRING_TOKENS = 4_096  # tokens; enough for a docstring of that length after some reasoning

_TASK = """\
Write the docstring of the Python function `{name}` from the file `{path}`.

What stands around it:

```python
{context}
```

The function:

```python
{code}
```

Say what it does, its arguments, what it returns or yields, what it raises, and every behaviour that someone who
rewrites it needs to know. Use the Google style. Do not copy the code. Answer with the docstring's text only.
"""
_OTHER_TASK = """\
Write the docstring of the Python {what} from the file `{path}`. Its outline, bodies left out:

```python
{outline}
```

Say what it is for and what someone who uses it or rewrites one of its functions needs to know. Answer with the
docstring's text only.
"""
_LITERAL = re.compile(r"(?:[rRuU]{0,2})(\"\"\"|''')(.*?)(?<!\\)\1", re.DOTALL)
_LEAD_IN = re.compile(
    r"\A(?:(?:sure|certainly|of course|okay|here(?:'s| is| are)|the docstring|below is)\b[^\n]{0,120}[:!.]\s*\n+|docstring:\s*)",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!?](?=\s)|\n")


class LlmDocs:
    """Asks a model for one docstring at a time, when it is needed."""

    needs_model = True

    def __init__(
        self, model: str, model_client: ModelClient | None, sampling: Sampling | None = None, *, sampled_as: str = ""
    ) -> None:
        """Create the doc system (default temperature: 0.3); ``sampled_as`` is the recorded model of a replay."""
        self.model = model
        self.name = f"llm:{model}"
        self._model_client = model_client
        self._local = is_local(sampled_as or model)
        most = LOCAL_DOCSTRING_TOKENS if self._local else DOCSTRING_TOKENS
        self._sampling = sampling or Sampling(temperature=0.3, max_tokens=most)
        self._asked = self._shortened = 0

    @property
    def summary(self) -> str:
        if not self._shortened:
            return ""
        return (
            f"{self.name}: {self._shortened:,} of {self._asked:,} answers were cut at the limit of "
            f"{self._sampling.max_tokens:,} tokens; their complete parts are used"
        )

    async def prepare(self, snapshot: Snapshot, report: Callable[[DocumentationProgress], None]) -> None:
        self._snapshot = snapshot.digest
        self._sources = RepositorySources(snapshot.root)

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        function, source = self._sources.function(path, qualified_name, occurrence)
        answer = await self._answered(documenter_prompt(source, function), path, qualified_name, occurrence)
        text, notes = extract_docstring(answer, function)
        if text is None:
            return Docstring(None, notes)
        try:
            replace_docstring(source, function, text)
        except SpliceError as error:
            return Docstring(None, (*notes, str(error)))
        if measure_leakage(text, body_text(source, function)).flagged:
            notes = (*notes, "the docstring contains the code")
        return Docstring(text, notes)

    async def other_docstring(self, path: str, kind: DefinitionKind, qualified_name: str, occurrence: int) -> Docstring:
        definition, source = self._sources.definition(path, DefinitionKey(kind, qualified_name, occurrence))
        prompt = other_prompt(source, definition)
        answer = await self._answered(prompt, path, f"{kind} {qualified_name}", occurrence)
        return Docstring(*extract_docstring(answer))

    async def _answered(self, prompt: tuple[Message, ...], path: str, name: str, occurrence: int) -> str:
        """Return an answer; if incomplete, only the embedded model's is used, cut to whole lines or sentences."""
        assert self._model_client is not None
        # The scope (the definition and the doc system) is the key for finding recorded answers.
        scope = task_id(self._snapshot, path, name, occurrence, f"docs:{self.name}")
        answer = await self._model_client.complete(
            Request(model=self.model, messages=prompt, purpose="documenter", sampling=self._sampling, scope=scope)
        )
        self._asked += 1
        if answer.finish_reason != "length":
            return answer.text
        ends = [end.end() for end in _ENDS.finditer(answer.text)] if self._local else []
        if not ends:
            limit = (
                f"the limit of {self._sampling.max_tokens:,} tokens" if self._sampling.max_tokens else "a token limit"
            )
            raise DocumentationFailed(f"The docstring by {self.name} was cut at {limit}, so it is not used.")
        self._shortened += 1
        return answer.text[: ends[-1]]


def other_prompt(source: bytes, definition: Definition) -> tuple[Message, ...]:
    first = source.count(b"\n", 0, definition.span.start) + 1
    last = source.count(b"\n", 0, definition.span.end) + 1
    module = definition.key.kind == "module"
    inside = [item for item in outline(source, definition.path) if module or first <= item.start_line <= last]
    least = min((item.depth for item in inside), default=0)
    lines = [f"{'    ' * (item.depth - least)}{item.signature}: ..." for item in inside]
    what = "module" if module else f"class `{definition.key.qualified_name.replace('.<locals>', '')}`"
    text = _OTHER_TASK.format(what=what, path=definition.path, outline="\n".join(lines))
    return (Message("user", text),)


def documenter_prompt(source: bytes, function: Function) -> tuple[Message, ...]:
    """Return the messages: imports and enclosing definitions, then the function without its old docstring."""
    bare = replace_docstring(source, function, None)
    target = functions_by_name(bare, function.path).get((function.qualified_name, function.occurrence))
    context = build_context(bare, target, "function-1").before if target else ""
    shown = target or function
    code = decode(bare[shown.span.start : shown.span.end] if target else b"", source_encoding(source))
    text = _TASK.format(
        name=function.qualified_name.replace(".<locals>", ""),
        path=function.path,
        context=context.strip("\n"),
        code=dedent("".join(f"{line}\n" for line in [*function.decorators, code])).strip().replace("\r\n", "\n"),
    )
    return (Message("user", text),)


def extract_docstring(answer: str, function: Function | None = None) -> tuple[str | None, tuple[str, ...]]:
    """Return the docstring in an answer (a literal, a function, a block, plain text) or None, along with notes."""
    notes: tuple[str, ...] = ()
    split = split_reasoning(answer[:MAX_ANSWER].replace("\r\n", "\n").replace("\x00", ""))
    text = split.answer.strip()
    if not text:
        return None, ("the answer is empty" if split.finished else "the model's reasoning never ended",)
    blocks = [block for block in read_blocks(text) if block.fenced]
    if blocks:
        inside = blocks[0].text.strip()
        # A fence inside a docstring is an example; one that starts the answer or contains the literal is a wrapper.
        if inside and (text.startswith(("`", "~")) or _LITERAL.search(inside) or _LEAD_IN.match(text)):
            text = inside
    from_code = _from_function(text, function) if function is not None else None
    if from_code is not None:
        text, notes = from_code, ("the docstring was inside code",)
    else:
        literal = _LITERAL.search(text)
        if literal:
            value = literal_text(literal[0])
            text = value if value is not None else literal[2]
        else:
            text = _LEAD_IN.sub("", text, count=1)
    text = inspect.cleandoc(text).strip().strip('"').strip()
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", text)
    if not text:
        return None, (*notes, "the answer contains no docstring")
    if len(text) > MAX_DOCSTRING:
        return None, (*notes, f"the docstring is longer than {MAX_DOCSTRING:,} characters")
    return text, notes


def _from_function(text: str, function: Function) -> str | None:
    if "def " not in text:
        return None
    found = find_functions(dedent(text).encode("utf-8", "replace"), function.path)
    return next((f.docstring for f in found if f.name == function.name and f.docstring is not None), None)
