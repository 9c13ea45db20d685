"""What pages lack for tasks, and examples that are wrong when they are executed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_probes import WORD_COUNTER, function_task, import_package, run_command, run_function

from workbench.base import typed_json
from workbench.sandbox.workbench_runner.values import encode
from workbench.usage.gaps import Gap, example_checks, example_probe, gap_of, wrong_examples
from workbench.usage.tasks import CallTarget, UsageTask

README = (WORD_COUNTER / "ground_truth" / "README.md").read_text()
PKG = """
def slug(text, separator="-"):
    return separator.join(text.lower().split())

def show(text): return Shown(text)
def near(number): return number / 3
def load(path): return open(path).read()

class Shown:
    def __init__(self, text): self.text = text
    def __repr__(self): return f"Shown({self.text!r}) in /tmp/x at 0x7f0123456789"
"""


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import_package(PKG, tmp_path, monkeypatch)


def gap(page: str, name: str = "pkg.slug") -> Gap:
    task = function_task(name, [(("a b",), "a-b")])
    checks = example_checks(page, task)
    value = encode(run_function(example_probe(checks, task), ["other"]))
    return gap_of(page, task, wrong_examples(checks, value, task))


@pytest.mark.parametrize(
    ("page", "kind", "line"),
    [
        ("It can slug.", "unnamed", 0),
        ("# A\n\nUse `slug`.", "no example", 3),
        ("`slug(text)`\n\nThen `slug('a')`.", "stumbled", 3),
        ("```pycon\n>>> from pkg import slug\n>>> slug('A b')\n'a-b'\n>>> slug('A b')\n'A-b'\n```", "wrong example", 5),
        ("```python\nfrom pkg import slug\nslug('A b')  # -> a_b\n```", "wrong example", 3),
        ("```python\nfrom pkg import slug\nslug('A b')  # -> a-b\n```", "stumbled", 3),
        ("```python\nfrom pkg import slug\nprint(slug('A b'))  # a_b\n```", "wrong example", 3),
        ("```python\nfrom pkg import slug\nslug('A b', sep='_')\n```", "wrong example", 3),
        ("```python\nfrom pkg import slug\nassert slug('A b') == 'a-b'\n```", "stumbled", 3),
        ("```python\nfrom pkg import slug\nslug('A b')  # lower case\n```", "stumbled", 3),
        ("```python\nfrom pkg import slug\nslug(None)  # AttributeError\n```", "wrong example", 3),
        ("```python\nfrom pkg import slug\nslug(text)  # -> a_b\n```", "no example", 2),
    ],
)
def test_the_gap_of_a_function(page: str, kind: str, line: int) -> None:
    found = gap(page)

    assert (found.kind, found.line) == (kind, line)
    assert found.words
    assert typed_json.decode(Gap, json.dumps(found.to_json())) == found


def test_a_wrong_example_shows_what_the_page_says_and_what_the_program_gives() -> None:
    found = gap("# Title\n\n## Use\n\n```python\nimport pkg\npkg.slug('A b')  # -> 'A_b'\n```")

    assert found == Gap("wrong example", 7, "Use", "pkg.slug('A b')", "'A_b'", "'a-b'")


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("```pycon\n>>> pkg.show('a')\nShown('a') in /tmp/x at 0x7f9999999999\n```", "pkg.show"),
        ("```pycon\n>>> pkg.near(1)\n0.333\n```", "pkg.near"),
        ("```python\npkg.load('missing.txt')\n```", "pkg.load"),
        ("```pycon\n>>> pkg.slug(' '.join('ab' * 900))\n'a-...-b'\n```", "pkg.slug"),
    ],
)
def test_differences_between_machines_and_missing_files_are_no_wrong_examples(page: str, name: str) -> None:
    assert gap(page, name).kind == "stumbled"


@pytest.mark.parametrize(
    ("words", "change", "expected"),
    [
        ((), None, ("stumbled", 28, "")),
        ((), ("2 3 6\n", "2 3 7\n"), ("stumbled", 28, "")),  # numbers may differ
        ((), ("2 3 6\n", "two lines\n"), ("wrong example", 60, "2 3 6")),
        (("--top",), None, ("stumbled", 67, "")),
        (("--top",), ("--min-length 4", "--shortest 4"), ("wrong example", 67, "'--shortest'")),
        (("-w",), None, ("no example", 35, "")),
        (("--nothing",), None, ("unnamed", 0, "")),
    ],
)
def test_the_gap_of_a_command(
    words: tuple[str, ...], change: tuple[str, str] | None, expected: tuple[str, int, str], tmp_path: Path
) -> None:
    page = README.replace(*change) if change else README
    task = UsageTask(
        "x", CallTarget("command", "x", "word_counter.py", 1, words=words), "python -m word_counter", (), (), ()
    )

    checks = example_checks(page, task)
    result = run_command(example_probe(checks, task), WORD_COUNTER / "repository", tmp_path)
    found = gap_of(page, task, wrong_examples(checks, encode(result), task))

    assert (found.kind, found.line) == expected[:2]
    assert expected[2] in found.gives


@pytest.mark.parametrize("value", [None, "", "1", "'x'", "{'exit': 1}", "{'stdout': '(1,)\\n2'}", "'(1, 2, 3)'"])
def test_a_probe_that_failed_shows_nothing_wrong(value: str | None) -> None:
    task = function_task("pkg.slug", [(("a b",), "a-b")])
    checks = example_checks("```pycon\n>>> pkg.slug('a b')\n'ab'\n```", task)

    assert len(checks) == 1
    assert wrong_examples(checks, value, task) == []
