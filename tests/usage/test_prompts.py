"""The prompt for a reader, and its answer in a model's text."""

from __future__ import annotations

import pytest

from workbench.usage.page_reader import read_page
from workbench.usage.prompts import build_usage_prompt, cut_page, extract_answer, page_of_sources
from workbench.usage.tasks import Call, CallTarget, UsageTask

FUNCTION = UsageTask(
    "x", CallTarget("function", "pkg.slug", "pkg.py", 1), "pkg", ("a", "b"), (Call(("'x'", "1"), "'y'"),), ()
)
COMMAND = UsageTask("x", CallTarget("command", "x", "pkg.py", 1), "word-counter", ("$1",), (), ())
CODE = "from pkg import slug\n\n\ndef answer(a, b):\n    return slug(a, b)\n"


@pytest.mark.parametrize(
    "text",
    [
        f"```python\n{CODE}```",
        CODE,
        f"<think>Perhaps\n```python\ndef answer(): ...\n```\n</think>\n```python\n{CODE}```",
        f"[THINK]def answer(a): pass[/THINK]\n```python\n{CODE}```",
        f"Try this first:\n```python\ndef answer(a, b):\n    return None\n```\nBetter:\n```python\n{CODE}```",
        f"```python\n{CODE}```\nUse it so:\n```python\nprint(answer('x', 1))\n```",
        f"```sh\npip install pkg\n```\n\n```python\n{CODE}```",
        f"Here it is:\n\n{CODE}\nThis calls slug.",
        f"```\n{CODE}",
        f"~~~py\n{CODE}~~~",
        '{"code": ' + __import__("json").dumps(CODE) + "}",
        f"  ```python\n{'  '.join(['', *CODE.splitlines(keepends=True)])}  ```",
        "```python\n" + "\n".join(f">>> {line}" if not line.startswith(" ") else f"... {line}" for line in CODE.splitlines() if line) + "\n```",
        CODE.replace("\n", "\r\n"),
    ],
    ids=str,
)  # fmt: skip
def test_the_function_is_found_in_what_models_write(text: str) -> None:
    found = extract_answer(text, FUNCTION)

    assert found.valid
    assert [line for line in (found.body or "").splitlines() if line] == [line for line in CODE.splitlines() if line]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("I cannot.", "no Python code"),
        ("<think>Let me see", "never ended"),
        ("```python\ndef solution(a, b):\n    return a\n```", "does not define `answer`"),
        ("```python\ndef answer(a, b:\n```", "does not parse"),
        ("```python\nclass A:\n    def answer(self): pass\n```", "does not define `answer`"),
        ("(" * 100_000, ""),
    ],
)
def test_a_text_without_an_answer_says_why(text: str, part: str) -> None:
    found = extract_answer(text, FUNCTION)

    assert not found.valid
    assert part in found.reason


@pytest.mark.parametrize(
    "code",
    [
        "answer = slug\n",
        "from pkg import slug as answer\n",
        "try:\n    from pkg import answer\nexcept ImportError:\n    answer = None\n",
    ],
)
def test_other_ways_to_define_the_function(code: str) -> None:
    assert extract_answer(f"```python\n{code}```", FUNCTION).body == code


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('```sh\nword-counter --lines "$1"\n```', 'word-counter --lines "$1"'),
        ('```\n$ word-counter --lines "$1"\n3 a.txt\n```', 'word-counter --lines "$1"'),
        ('```bash\n# count\nword-counter "$1" | head -1\n```', 'word-counter "$1" | head -1'),
        ('```bash\npip install word-counter\n```\n\n```bash\nword-counter "$1"\n```', 'word-counter "$1"'),
        ('```bash\nword-counter "$1"\n```\nOutput:\n```\n3 a.txt\n```', 'word-counter "$1"'),
        ('word-counter "$1"', 'word-counter "$1"'),
        ('Run `word-counter "$1"`.', 'word-counter "$1"'),
        ('```sh\nfor f in "$1"; do word-counter "$f"; done\n```', 'for f in "$1"; do word-counter "$f"; done'),
        ('```sh\ncat "$1"\n```', 'cat "$1"'),
        ("I can't use word-counter.", None),
        ("```python\nprint(1)\n```", None),
        ("", None),
    ],
)
def test_the_command_is_found_in_what_models_write(text: str, command: str | None) -> None:
    found = extract_answer(text, COMMAND)

    assert found.body == command
    assert found.valid is (command is not None)


def test_a_prompt_has_the_page_or_says_that_there_is_none() -> None:
    page = "# pkg\n\nUse `slug`."

    shown, without = (build_usage_prompt(FUNCTION, "STATEMENT", text).messages for text in (page, ""))

    assert page in shown[1].content
    assert "STATEMENT" in shown[1].content
    assert "answer(a, b)" in shown[1].content
    assert "You have no documentation." in without[1].content
    assert "slug" not in without[1].content
    assert '"$1"' in build_usage_prompt(COMMAND, "STATEMENT", page).messages[1].content


def test_a_long_page_is_cut_to_the_window_with_a_note() -> None:
    page = "\n".join(f"line {number}" for number in range(100_000))

    prompt = build_usage_prompt(FUNCTION, "STATEMENT", page, window_tokens=8_000)

    assert prompt.require_fit().omitted_lines > 90_000
    assert f"{prompt.omitted_lines:,} more lines" in prompt.messages[1].content
    assert cut_page(page, 0)[1] == 100_000


def test_sources_become_a_page_that_names_their_definitions() -> None:
    page = page_of_sources(
        {
            "pkg.a": 'def slug(text):\n    """```x``` like::\n\n    >>> slug(2)\n    .. note:: x\n    """\n\nslug(1)\n',
            "pkg.b": "class T:\n    def add(self): ...\n" + "#\n" * 99,
        },
        60,
    )

    found = read_page(page)

    assert "pkg.a.slug" in [one.path for one in found.callables]
    assert not found.has("pkg.b.T.add")
    assert "1 more modules" in page
