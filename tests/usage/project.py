"""A small project with a function, a method and a command, and pages about it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from workbench.sandbox import Workspace

PYTHON = Path(sys.prefix) / "bin" / "python"
SOURCES = {
    "__init__.py": """from bookwords.short import initials


def slug(text, separator="-"):
    return separator.join(text.lower().split())


class Shelf:
    def __init__(self, width):
        self.width = width

    def rows(self, books):
        return -(-books // self.width)
""",
    "short.py": """def initials(text):
    return "".join(word[0].upper() for word in text.split())
""",
    "__main__.py": """import argparse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--lines", action="store_true")
    arguments = parser.parse_args()
    with open(arguments.file, encoding="utf-8") as file:
        text = file.read()
    print(len(text.splitlines() if arguments.lines else text.split()))


if __name__ == "__main__":
    main()
""",
}
SUITE = r"""import subprocess
import sys

import pytest

from bookwords import Shelf, initials, slug


@pytest.mark.parametrize("text", ["Big Red", "a  b", "One", "the End Of It", "x Y z"])
def test_slug(text):
    assert slug(text) == "-".join(text.lower().split())


@pytest.mark.parametrize("text", ["Big Red", "a b", "One", "the end"])
def test_initials(text):
    assert initials(text)


@pytest.mark.parametrize(("width", "books"), [(3, 7), (2, 9), (5, 5), (4, 1)])
def test_rows(width, books):
    assert Shelf(width).rows(books) >= 1


@pytest.mark.parametrize("text", ["one two", "a b c\nd\n", "x\n\ny", "five little ducks\nwent out"])
@pytest.mark.parametrize("options", [[], ["--lines"]])
def test_command(tmp_path, text, options):
    file = tmp_path / "text.txt"
    file.write_text(text)
    done = subprocess.run([sys.executable, "-m", "bookwords", *options, str(file)], capture_output=True, text=True)
    assert done.stdout.strip().isdigit()
"""
README = """# bookwords

## Functions

```python
from bookwords import slug

slug("Big Red")
```

`initials` shortens a name.

## Command

```sh
python -m bookwords notes.txt
```
"""


def make_project(folder: Path, readme: str = README) -> Path:
    """Write the project, with a README, to a folder."""
    (folder / "tests").mkdir(parents=True)
    (folder / "bookwords").mkdir()
    for name, source in SOURCES.items():
        (folder / "bookwords" / name).write_text(source)
    (folder / "tests" / "test_bookwords.py").write_text(SUITE)
    (folder / "pyproject.toml").write_text('[project]\nname = "bookwords"\nversion = "1.0"\n')
    (folder / "README.md").write_text(readme)
    return folder


def own_workspace(root: Path, files: Mapping[str, str], *metadata: tuple[str, str]) -> Workspace:
    """Write the package ``pkg`` below ``src`` and return a workspace with this interpreter."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    mounts = dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_prefix).resolve()))
    return Workspace(
        root=root,
        python=PYTHON,
        mounts=tuple(mount for mount in mounts if not mount.is_relative_to("/usr")),
        import_roots=("src",),
        own_modules=("pkg",),
        metadata=metadata,
    )
