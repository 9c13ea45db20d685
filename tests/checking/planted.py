"""A small project whose README is true, and ten ways in which it is not; it builds without a registry."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.checking.judging import judge_parts
from workbench.checking.judging_commands import StepContext
from workbench.checking.pages import claims_of_page
from workbench.checking.steps import PlannedStep
from workbench.checking.verdicts import BlockPart, BlockVerdict
from workbench.claims.claim import CheckedClaim, Truth
from workbench.claims.page import parse_page
from workbench.claims.project import ProjectIndex

_BACKEND = """
import zipfile

NAME = "wordstat-1.2.0"

def get_requires_for_build_wheel(settings=None):
    return []

def build_wheel(folder, settings=None, metadata=None):
    name = "wordstat-1.2.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        for module in ("__init__", "counting", "cli"):
            wheel.write(f"wordstat/{module}.py")
        info = "wordstat-1.2.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: wordstat\\nVersion: 1.2.0\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: us\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\\nwordstat = wordstat.cli:main\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
"""

_FILES = {
    "backend.py": _BACKEND,
    "pyproject.toml": """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "wordstat"
version = "1.2.0"
requires-python = ">=3.10"
license = "MIT"
[project.optional-dependencies]
tables = []
[project.scripts]
wordstat = "wordstat.cli:main"
""",
    "LICENSE": "MIT License\n\nPermission is hereby granted, free of charge, to any person\n",
    "docs/guide.md": "# Guide\n\nNothing yet.\n",
    "wordstat/__init__.py": '"""Words."""\n\nfrom .counting import Counter, top_words\n\n__all__ = ["Counter", "top_words"]\n',
    "wordstat/counting.py": '''
class Counter:
    """Counts."""

    def __init__(self, limit=10):
        self.limit = limit

    def add(self, text):
        return len(text.split())


def top_words(text, limit=10):
    """Return words, most frequent first."""
    words = text.split()
    return sorted(set(words), key=lambda word: (-words.count(word), word))[:limit]
''',
    "wordstat/cli.py": """
import argparse
import pathlib
import sys


def main():
    parser = argparse.ArgumentParser(prog="wordstat")
    commands = parser.add_subparsers(dest="command", required=True)
    index = commands.add_parser("index", help="make an index")
    index.add_argument("word", nargs="+")
    report = commands.add_parser("report", help="print it")
    report.add_argument("--stopwatch", action="store_true")
    report.add_argument("--columns", type=int, default=80)
    given = parser.parse_args()
    place = pathlib.Path("words.idx")
    if given.command == "index":
        place.write_text(" ".join(given.word))
    elif not place.exists():
        sys.exit("error: nothing is indexed yet; run index before report")
    else:
        print("indexed:", place.read_text())
""",
}

README = """# wordstat

Counts words. It requires Python 3.10 or newer and is licensed under the MIT license.

## Installation

```bash
pip install wordstat[tables]
```

## Use

```bash
wordstat index alpha beta
```

```console
$ wordstat report --stopwatch
indexed: alpha beta
```

The option `--columns` sets the width (default: 80).

```python
from wordstat import Counter, top_words

counter = Counter(limit=3)
print(counter.add("one two"))
```

```pycon
>>> top_words("a b a", limit=1)
['a']
```

`top_words()` sorts by how often a word occurs. There is a [guide](docs/guide.md).

```bash
wordstat report
```
"""

#: What is planted: what stands in the README, what takes its place, and the text of the line at which it has to be found.
PLANTED = {
    "wrong option": ("report --stopwatch", "report --stopwach", "report --stopwach"),
    "wrong import": (
        "from wordstat import Counter, top_words",
        "from wordstat import Countr, top_words",
        "import Countr",
    ),
    "missing extra": ("wordstat[tables]", "wordstat[tabels]", "wordstat[tabels]"),
    "wrong output": ("['a']", "['b']", ">>> top_words"),
    "dead command": ("```bash\nwordstat report\n", "```bash\nwordstat reprot\n", "wordstat reprot"),
    "renamed function": ("`top_words()` sorts", "`words_top()` sorts", "`words_top()`"),
    "wrong default": ("(default: 80)", "(default: 72)", "(default: 72)"),
    "missing file": ("docs/guide.md", "docs/handbook.md", "docs/handbook.md"),
    "wrong Python version": ("Python 3.10 or newer", "Python 3.8 or newer", "Python 3.8 or newer"),
    "missing step": ("```bash\nwordstat index alpha beta\n```\n\n", "", "wordstat report"),
}


def write_project(folder: Path) -> Path:
    """Write the project without its README; return its folder."""
    for name, content in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content.lstrip("\n"))
    return folder


def planted(names: list[str]) -> tuple[str, dict[str, int]]:
    """Return the README with some errors, and the line at which each has to be found."""
    text = README
    for name in names:
        old, new, _ = PLANTED[name]
        assert text.count(old) == 1 or name in ("missing file",), (name, text.count(old))
        text = text.replace(old, new)
    lines = text.splitlines()
    return text, {name: next(at for at, line in enumerate(lines, 1) if PLANTED[name][2] in line) for name in names}


def claims(
    root: Path, text: str, *, path: str = "README.md", helps: Mapping[str, str] | None = None
) -> list[CheckedClaim]:
    return claims_of_page(parse_page(text, path), ProjectIndex(root), helps or {})


def untrue(root: Path, text: str, **how: Any) -> list[str]:
    """Return the texts of the untrue claims of a page."""
    return [one.text for one in claims(root, text, **how) if one.lookup.truth is Truth.UNTRUE]


def context(around: str = "\0", **more: Any) -> StepContext:
    """The context of a step of ``README.md`` in a project of which every word is defined."""
    given = {
        "page": "README.md",
        "project": any_project(),
        "commands": {"wordstat"},
        "around": around,
        "before": "",
        "imported": frozenset(),
    }
    return StepContext(**{**given, **more})


def verdict_on_example(want: str, got: str, **more: Any) -> str:
    """The verdict on one example of a session that prints ``got`` where the page has ``want``."""
    code, ran = more.pop("code", ""), more.pop("ran", ())
    example = {
        "line": 1,
        "source": "f()\n",
        "want": want,
        "got": got,
        "stderr": "",
        "error": None,
        "expected_error": None,
    }
    ended = {"status": 0, "examples": [{**example, **more}], "ran": ran}
    return str(judge(PlannedStep(0, "doctest", code, 1), ended, context(f"\0{code}")).verdict)


def judge(step: PlannedStep, ended: Mapping[str, Any], context: StepContext) -> BlockPart:
    """The verdict on a step: of a session's examples the first alarm's, else the first one not run."""
    order = (BlockVerdict.FAILS, BlockVerdict.DIFFERS, BlockVerdict.NOT_RUN, BlockVerdict.WORKS)
    return min(judge_parts(step, ended, context), key=lambda one: order.index(one.verdict))


class _Any(frozenset[str]):
    def __contains__(self, name: object) -> bool:
        return True


class _Sources:
    modules = frozenset({"wordstat"})
    defined = _Any()

    def occurs(self, word: str) -> bool:
        return True

    def lacks(self, module: str, name: str) -> bool:
        return True

    def rejects(self, called: str, keyword: str) -> bool:
        return False


def any_project(**more: Any) -> Any:
    """A project whose sources have every word and definition, unless ``more`` says otherwise."""
    project = _Sources()
    vars(project).update(more)
    return project


def judged(
    code: str,
    error: dict[str, object],
    *,
    around: str = "",
    imported: tuple[str, ...] = (),
    asked: tuple[str, ...] = (),
    elsewhere: frozenset[str] = frozenset(),
    **sources: object,
) -> str:
    """Return the verdict on a snippet of Python that ended with an error."""
    raised = {
        "type": "TypeError",
        "message": "",
        "place": "README.md",
        "text": "",
        "line": 1,
        "name": None,
        "owner": "",
    }
    ended = {"status": 1, "error": {**raised, **error}, "imported": imported, "asked": asked}
    of = context(f"{around}\0{code}", project=any_project(**sources), elsewhere=elsewhere)
    return str(judge(PlannedStep(0, "python", code, 1), ended, of).verdict)
