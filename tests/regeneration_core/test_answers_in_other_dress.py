"""Answers in other dress than a fence: the code is found, or the candidate is invalid; never a body that does nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.regeneration.extraction import extract_body
from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice

SOURCE = b'def inc(x):\n    """Return x plus one."""\n    raise NotImplementedError\n'
INC = find_functions(SOURCE, "m.py")[0]
LINE, CODE = "return x + 1", "def inc(x):\n    return x + 1"
LONG = "def inc(x):\n    a = 1\n    b = 2\n\n    if a:\n        c = 3\n        d = 4\n        e = 5\n    f = 6\n    return x + 1"


def fence(code: str, tag: str = "python") -> str:
    return f"```{tag}\n{code}\n```"


def numbered(form: str) -> str:
    return "\n".join(form.format(n=number, line=line) for number, line in enumerate(LONG.split("\n"), 1))


READABLE = {
    "the closing fence on the code's line": f"```python\n{LINE}```",
    "that, and usage after it": f"```python\n{CODE}```\n\nUse:\n{fence('print(inc(1))')}",
    "code on the opening fence's line": f"```python {CODE}\n```",
    "attributes": f'```python title="a.py" linenums="1"\n{CODE}\n```',
    "attributes in braces": "```{.python .numberLines}\n" + CODE + "\n```",
    "a file's name": fence(CODE, "tiny.py"),
    "a misspelled tag": fence(CODE, "pyhton"),
    "tildes": f"~~~\n{CODE}\n~~~",
    "Markdown in Markdown": f"````markdown\n# It\n{fence(CODE)}\n````",
    "a quotation": "> " + fence(CODE).replace("\n", "\n> "),
    "a session": fence(">>> def inc(x):\n...     y = 1\n...\n...     return x + y\n...\n>>> inc(1)\n2", "pycon"),
    "IPython": fence("In [1]: def inc(x):\n   ...:     return x + 1\n\nIn [2]: inc(1)\nOut[2]: 2", ""),
    "JSON and words": json.dumps({"code": LINE}) + "\n\nThis adds one.",
    "words and JSON": f"Here:\n{json.dumps({'code': CODE}, indent=1)}\nDone.",
    "a list in JSON": json.dumps([{"code": LINE}]),
    "a tool's call": json.dumps({"name": "write", "arguments": json.dumps({"body": LINE})}),
    "lines in JSON": json.dumps({"code": CODE.split("\n")}),
    "a string in JSON": json.dumps(CODE),
    "another key in JSON": json.dumps({"thought": "add it", "result": CODE}),
    "reasoning in JSON": json.dumps({"code": f"<think>return 0</think>\n{CODE}"}),
    "tags of a model": f"[PYTHON]\n{LINE}\n[/PYTHON]",
    "tags that a stop sequence cut": f"[BEGIN]\n{LINE}",
    "begin and done": f"[BEGIN]\n{LINE}\n[DONE]",
    "an answer's tag": f"<answer>\n{LINE}\n</answer>",
    "tags with words": f"<explanation>\nIt adds one.\n</explanation>\n<code>\n{CODE}\n</code>",
    "a function call's tags": f"<function=write>\n<parameter=body>\n{CODE}\n</parameter>\n</function>",
    "HTML": f'<pre><code class="language-python">{CODE.replace("x + 1", "x + (1 &lt; 2)")}</code></pre>',
    "hard spaces": fence(CODE.replace("    ", "\u00a0\u00a0\u00a0\u00a0")),
    "a character of no width": fence("return\u200b x + 1"),
    "escaped line ends": CODE.replace("\n", "\\n"),
    "a diff": fence("--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n def inc(x):\n-    pass\n+    return x + 1", "diff"),
    "a diff with the docstring": fence(
        '@@ -1,3 +1,3 @@\n def inc(x):\n     """Return x plus one."""\n-    raise NotImplementedError\n+    return x + 1', "diff"
    ),
    "a patch": f'*** Begin Patch\n*** Update File: m.py\n@@\n def inc(x):\n     """Doc."""\n-    pass\n+    {LINE}\n*** End Patch',
    "quotes in place of a fence": f"'''python\n{CODE}\n'''",
    "double quotes in place of a fence": f'"""\n{LINE}\n"""',
    "a plan in a tag before the code": f"<plan>Add one.</plan>\n{CODE}",
    "a draft in a tag of any name": f"<思考>\n{fence('return x - 1')}\n</思考>\n{CODE}",
    "the fence directly behind a tag": f"<cot>\n{fence('return x - 1')}\n</cot>{fence(CODE)}",
    "a fence directly behind words": f"First {fence('return x - 1')}\nthen better: {fence(CODE)}",
    "tags on one line": f"<edit><old>raise NotImplementedError</old><new>{LINE}</new></edit>",
    "coloured HTML": "<pre><span class='k'>def</span> <span>inc</span>(x):\n    <span class='k'>return</span> x + 1\n</pre>",
    "line breaks of HTML": CODE.replace("\n", "<br>").replace("    ", "&nbsp;" * 4),
    "a diff without headers": fence("-def inc(x):\n-    pass\n+def inc(x):\n+    return x + 1", ""),
    "a correction": f"{fence(CODE.replace('+', '-'))}\nWait, that subtracts:\n{fence(CODE)}",
    "a corrected body": f"{fence('return x - 1')}\nWait, that subtracts:\n{fence(LINE)}",
    "an excerpt of it": f"{fence('y = 1' + chr(10) + 'return x + y')}\nWhat matters:\n{fence('return x + y')}",
    "a test behind it": f"{fence(LINE)}\n{fence('def test_inc(x):' + chr(10) + '    assert inc(1) == 2')}",
} | {
    f"line numbers {form!r}": shape(numbered(form))
    for form in ("{n}: {line}", "{n:>6}\t{line}", "[{n}] {line}")
    for shape in (fence,)
}  # fmt: skip


@pytest.mark.parametrize("answer", READABLE.values(), ids=READABLE)
def test_the_code_is_found(answer: str) -> None:
    found = extract_body(answer, INC, SOURCE)
    assert found.valid, found
    space: dict[str, Any] = {}
    exec(splice(SOURCE, INC, found.body or ""), space)
    assert (space["inc"](1), space["inc"](-1)) == (2, 0), found


UNREADABLE = {
    "a session that only uses it": fence(">>> inc(1)\n2", "pycon"),
    "JSON without code": json.dumps({"answer": "I cannot"}),
    "another language": fence("function inc(x) { return x + 1 }", "js"),
    "a diff of a part": fence("@@ -1 +1 @@\n-    pass\n+    foo(x)", "diff"),
    "typographic quotes": fence("return x + len(‘a’)"),
    "a word": "OK",
    "a number": "42",
    "a value": fence("x + 1"),
    "a lambda": "lambda x: x + 1",
    "a diff of several places": fence(
        '@@ -1 +1 @@\n+import os\n@@ -1,3 +2,3 @@\n def inc(x):\n     """Doc."""\n-    pass\n+    return x + 1', "diff"
    ),
    "JSON with a comment": fence('{\n  // the code\n  "code": "return x + 1"\n}', "json"),
    "another function": fence("def helper(a, b):\n    return a"),
    "a header alone": fence("def inc(x):"),
    "an empty fence": "```python\n```",
    "half a character": "return '\ud800'",
}


@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_invalid_with_a_reason(answer: str) -> None:
    found = extract_body(answer, INC, SOURCE)
    assert not found.valid, found
    assert found.reason


@pytest.mark.parametrize("body", ["pass", "...", "raise NotImplementedError", "yield x"])
def test_a_body_that_does_nothing_is_the_models_own(body: str) -> None:
    assert extract_body(fence(body), INC, SOURCE).body == body
