"""The prompt for a writer of docstrings, with the bodies that failed under the current docstring."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.improving.attempts import Refusal
from workbench.models.types import Message
from workbench.regeneration.failure_groups import WRONG_VERDICTS, FailedTest
from workbench.regeneration.prompts import build_context
from workbench.repository.functions import Function
from workbench.repository.lines import decode, dedent, source_encoding
from workbench.session.rows import CandidateRow, TaskRow

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

_TASK = """\
Write a better docstring for the Python function `{name}` of the file `{path}`.

Around it:

```python
{context}
```

The function with its docstring as it is:

```python
{code}
```

Programmers who saw its signature and docstring, but not its body, wrote these bodies, which behave differently:

{failing}

Write a docstring from which they would write a body that behaves like the function: say every behaviour that they missed, with its
edge cases. Name only parameters and functions that exist. Do not copy or paraphrase the code line by line. At most {longest:,}
characters.
{refused}
Answer with the docstring alone, in triple quotes.
"""
#: For models with a small window, which get lost in longer texts.
_SHORT_TASK = """\
```python
{code}
```

Write a better docstring for `{name}`: what it does, its parameters, what it returns, edge cases. Do not copy the code.
{refused}
Answer with the docstring alone, in triple quotes.
"""
#: Restricts the embedded model to a single literal.
ONE_LITERAL = r'root ::= "\"\"\"" [^"\\]+ "\"\"\""'


def writer_prompt(
    source: bytes,
    function: Function,
    failing: Sequence[FailingBody],
    refused: Sequence[tuple[str, Refusal]],
    *,
    longest: int,
    short: bool = False,
) -> tuple[Message, ...]:
    """Return the messages that request a docstring.

    ``refused`` has previous ones, oldest first, with "" for answers without a docstring.
    """
    code = decode(source[function.span.start : function.span.end], source_encoding(source))
    shown = dedent("".join(f"{line}\n" for line in [*function.decorators, code])).strip().replace("\r\n", "\n")
    text = (_SHORT_TASK if short else _TASK).format(
        name=function.qualified_name.replace(".<locals>", ""),
        path=function.path,
        context="" if short else build_context(source, function, "function-1").before.strip("\n"),
        code=shown,
        failing="\n\n".join(_shown(one) for one in failing) or "(none that Python can read)",
        longest=longest,
        refused="".join(_told(docstring, refusal) for docstring, refusal in refused),
    )
    return (Message("user", text),)


def _shown(failing: FailingBody) -> str:
    return f"```python\n{failing.body.strip(chr(10))}\n```\n{failing.words}"


def _told(docstring: str, refusal: Refusal) -> str:
    before = f'\nYour docstring\n\n"""{docstring}"""\n\n' if docstring else "\nYour last answer "
    return f"{before}was refused: {refusal.reason}.\n"


MOST = 3
_LONGEST = 4_000  # maximum number of characters shown of a body


@dataclass(frozen=True, slots=True)
class FailingBody:
    """A body that an evaluator wrote from a docstring, and a description of how it differs in behaviour."""

    body: str
    words: str


def failing_bodies(
    reader: SessionReader, task: TaskRow, rows: Iterable[CandidateRow], samples: int
) -> list[FailingBody]:
    """Return at most :data:`MOST` different bodies that did not pass.

    Samples numbered from ``samples`` on are held out.
    """
    found: dict[str, FailingBody] = {}
    for row in sorted(rows, key=lambda one: one.sample):
        if row.sample >= samples or row.verdict not in WRONG_VERDICTS or len(found) == MOST:
            continue
        body = reader.text_or_none(row.body_blob, "a body") or "" if row.body_blob else ""
        tests = [FailedTest(one.test_id, one.outcome, one.message) for one in reader.failing_tests(row.id)]
        found.setdefault(body, FailingBody(body[:_LONGEST], _behaviour(row.verdict or "", tests, task.test_count)))
    return list(found.values())


def _behaviour(verdict: str, tests: list[FailedTest], of: int) -> str:
    if verdict == "invalid":
        return "The answer held no body that Python can read."
    if verdict == "timeout":
        return "It did not come to an end in time."
    if verdict == "crashed":
        return "It ended the interpreter."
    raised = sorted({test.exception for test in tests if test.exception and test.exception != "AssertionError"})
    count = f"{len(tests)} of {of} tests failed" if of else f"{len(tests)} tests failed"
    wrong = any(test.exception == "AssertionError" for test in tests)
    behaviours = " and ".join(
        filter(
            None,
            (
                "it returned or did something else than the function" if wrong or not raised else "",
                f"it raised {', '.join(raised)} where the function does not" if raised else "",
            ),
        )
    )
    return f"{count}: {behaviours}."
