"""What a page names: code spans and blocks, never running text."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.usage.gaps import example_checks
from workbench.usage.literal import candidates
from workbench.usage.page_reader import read_page
from workbench.usage.tasks import CallTarget, Kind, UsageTask

CASES = Path(__file__).parents[2] / "test_cases"


def task(name: str, kind: Kind = "function", words: tuple[str, ...] = (), package: str = "pkg") -> UsageTask:
    return UsageTask(name, CallTarget(kind, name, "src/pkg/core.py", 1, words=words), package, ("a",), (), ())


def named(page: str, of: UsageTask) -> list[tuple[int, bool]]:
    return [(one.line, one.example) for one in read_page(page).mentions(of)]


def readme(case: str) -> str:
    return (CASES / case / "ground_truth" / "README.md").read_text()


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("It can slug a text, with slug().", []),
        ("# slug\n\nMore of slug(text).", []),
        ("Call `slug`.", [(1, False)]),
        ("Call `pkg.slug`.", [(1, False)]),
        ("Call `slug()`.", [(1, False)]),
        ("Call `slug('A b')`.", [(1, True)]),
        ("Call `slug(text)`.", [(1, False)]),
        ("Call `slug(text: str, *, separator='-') -> str`.", [(1, False)]),
        ("Call `other.slug`.", []),
        ("Call `slugs`.", []),
        ("```python\nfrom pkg import slug\n```", [(2, False)]),
        ("```python\nimport pkg as p\n\np.slug('A b')\n```", [(4, True)]),
        ("```python\nfrom pkg import slug as s\nprint(s('A b'))\n```", [(2, False), (3, True)]),
        ("```python\nfrom pkg import *\nslug('A b')\n```", [(3, True)]),
        ("```python\nimport pkg.core\npkg.core.slug('A b')\n```", [(3, True)]),
        ("```python\nfrom other import slug\nslug('A b')\n```", []),
        ("```python\ndef slug(text): ...\nslug('A b')\n```", []),
        ("```python\n# slug\nx = 'slug'\n```", []),
        ("```python\nimport pkg\nfor line in lines:\n    print(pkg.slug(line))\n```", [(4, False)]),
        ("```pycon\n>>> from pkg import slug\n>>> slug(\n...     'A b')\n'a-b'\n```", [(2, False), (3, True)]),
        ("    >>> slug('A b')\n    'a-b'\n", [(1, True)]),
        ("```\nIn [1]: slug('A b')\nOut[1]: 'a-b'\n```", [(2, True)]),
        ("```\nslug('A b')\n```", [(2, True)]),
        ("```python\nslug('A b')\nthis is no Python\n```", [(2, True)]),
        ("```text\nslug\n```", []),
        ("```js\nslug('A b')\n```", []),
        ("<p>Call <code>slug(&quot;A&quot;)</code>.</p>", [(1, True)]),
        (
            "Title\n=====\n\nCall ``slug`` or :func:`~pkg.slug`.\n\n.. code-block:: python\n\n   slug('A b')\n",
            [(4, False), (8, True)],
        ),
        ("Title\n=====\n\nLike this::\n\n   >>> pkg.slug('A b')\n   'a-b'\n", [(6, True)]),
        ("Title\n=====\n\nIt makes a slug.\n\n.. note:: slug\n", []),
        ("", []),
    ],
)
def test_a_function_is_named_in_code_alone(page: str, expected: list[tuple[int, bool]]) -> None:
    assert named(page, task("pkg.slug")) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("Call `Table.add`.", [(1, False)]),
        ("Call `.add()`.", [(1, False)]),
        ("Call `add()`.", [(1, False)]),
        ("Just `add` it.", []),
        ("Call `Other.add(1)`.", []),
        ("```python\nfrom pkg import Table\nt = Table('x')\nt.add(1)\n```", [(4, True)]),
        ("```python\nfrom pkg import Table\nTable('x').add(1)\n```", [(3, True)]),
        ("```python\nimport pkg\npkg.Table.read('x').add(1)\n```", [(3, True)]),
        ("```python\nfrom pkg import Other\nt = Other()\nt.add(1)\n```", []),
        ("```python\nfrom pkg import Table\nt = Table()\n```\n\nThen\n\n```python\nt.add(1)\n```", [(9, True)]),
    ],
)
def test_a_method_is_named_by_its_class_or_an_object_of_it(page: str, expected: list[tuple[int, bool]]) -> None:
    assert named(page, task("pkg.Table.add", "method")) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), [(28, True), (51, False), (60, True), (67, False)]),
        (("--lines",), [(34, False), (51, True)]),
        (("-l",), [(34, False), (51, True)]),
        (("--top", "--min-length"), [(39, False), (40, False), (67, True)]),
        (("-w", "-"), [(35, False)]),
        (("-lw",), [(34, False), (35, False)]),
        (("--columns",), []),
        (("count",), []),
    ],
)
def test_a_command_is_named_by_all_of_its_options(words: tuple[str, ...], expected: list[tuple[int, bool]]) -> None:
    of = UsageTask("x", CallTarget("command", "x", "word_counter.py", 1, words=words), "word-counter", ("$1",), (), ())

    assert named(readme("word_counter"), of) == expected


def test_readmes_name_the_public_names_that_they_should() -> None:
    counter, timer, generator = map(read_page, map(readme, ("word_counter", "countdown_timer", "password_generator")))

    assert all(map(counter.has, ("word-counter", "word_counter.count_lines", "word_counter.Counts.of_bytes")))
    assert not any(map(counter.has, ("word_counter.average", "word_counter.decode", "word_counter.main", "other")))
    assert all(map(timer.has, ("python -m countdown_timer", "countdown-timer", "countdown_timer.format_duration")))
    assert all(map(generator.has, ("alphabet.build_pools", "strength.check", "password_generator.generate_many")))
    assert not generator.has("alphabet.check")


def test_options_are_read_from_tables_help_and_commands_with_the_values_that_they_take() -> None:
    page = "Use `--top N`.\n\n```\nOptions:\n  -q, --quiet      Say less\n  --out FILE       Write here\n```\n"

    found = {one.name: one.value for one in read_page(page).options}

    assert found == {"--top": "N", "-q": "", "--quiet": "", "--out": "FILE"}


def test_results_are_read_from_sessions_comments_assertions_and_blocks_of_output() -> None:
    page = """\
```python
import pkg
pkg.f(1)  # -> one
pkg.f(2)  # 'two'
pkg.f(3)  # the third
pkg.f(4)
# => [4,
#     4]
assert pkg.f(5) == 'five'
print(pkg.f(6))  # six-6
```

```pycon
>>> pkg.f(7)
'seven'
>>> pkg.f(8)
```

```python
print(pkg.f(9))
```

```text
nine
```
"""
    says = {one.line: one.says for one in read_page(page).examples}

    assert says == {
        3: "one", 4: "'two'", 5: None, 6: "[4,\n    4]", 9: "'five'", 10: "six-6", 14: "'seven'", 16: None, 20: "nine",
    }  # fmt: skip


def test_a_huge_page_is_cut_and_says_so() -> None:
    page = read_page("Call `first`.\n\n" + "filler `word` text\n" * 300_000 + "\nCall `last`.\n")

    assert page.cut
    assert page.has("pkg.first")
    assert not page.has("pkg.last")


@pytest.mark.parametrize(
    "page",
    [
        "```python\n" + "(" * 5_000 + "\n```",
        "```python\nf(" + "-" * 3_000 + "1)\n```",
        "```python\n>>> f(\n  >>> g(1)\n... \n```",
        "`" * 999,
        "```\n\x00\ud800 f('\ud800')\n```",
        "```console\n$ pkg 'open\n```",
        "`f(\x07)` `from pkg import` `import` `a.` `.` `=` `>>>`",
        ">>> " * 100,
        "```python\n" + "x = f(x)\n" * 3_000 + "```",
        "```python\n" + "x = [\n" * 3_000 + "```",
        "`f(1)` " * 10_000,
        "```python\nf" + ".f()" * 900 + "\n```\n\n`f" + ".f()" * 900 + "`",
        "```python\nf(" + "1 + " * 900 + "1)\n```",
    ],
    ids=map(str, range(13)),
)
def test_strange_pages_are_read(page: str) -> None:
    read_page(page)

    assert isinstance(candidates(page, task("pkg.f")), list)
    assert isinstance(example_checks(page, task("pkg.f")), list)
