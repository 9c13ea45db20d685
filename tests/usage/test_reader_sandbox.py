"""The sandbox of a reader agent: it has the package, but no way to read its sources and docstrings."""

from __future__ import annotations

import asyncio
import io
import zipfile
from pathlib import Path

import pytest
from needing_sandboxes import require
from usage.project import PYTHON, own_workspace

from workbench.engine.usage_agent import PackageSandbox
from workbench.sandbox import Workspace
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.usage import reader_agent

#: In every text that must not be found; the test joins its two halves, so that it is not in a command itself.
SECRET = "zebra" + "crossing"

PACKAGE = {
    "src/pkg/__init__.py": f'''"""Texts, {SECRET}."""

from pkg.words import Point, data, slug  # {SECRET}
''',
    "src/pkg/words.py": f'''"""Words.

{SECRET}
"""

import dataclasses
import functools
from pathlib import Path


def documented(text):
    """{SECRET}"""

    def decorate(function):
        function.__doc__ = text.strip() + function.__doc__.upper()
        return function

    return decorate


@documented("")
def slug(text, separator="-"):
    """Join words, {SECRET}."""
    assert isinstance(text, str), "no text"
    return separator.join(text.lower().split())  # {SECRET}


@dataclasses.dataclass
class Point:
    """A point, {SECRET}."""

    x: int = 0
    """{SECRET}"""

    def moved(self):
        """{SECRET}"""
        return Point(self.x + 1)


async def later():
    """{SECRET}"""


def data():
    return (Path(__file__).parent / "data.json").read_text()


slug.__doc__ = """{SECRET}"""
''',
    "src/pkg/manual.py": '"""Usage: manual [--loud]"""\n\n\ndef usage():\n    return __doc__\n',
    "src/pkg/python_2.py": f'print "{SECRET}"\n',
    "src/pkg/words.pyi": f"def slug(text: str) -> str: ...  # {SECRET}\n",
    "src/pkg/fast.pyx": f"# {SECRET}\n",
    "src/pkg/guide.md": f"{SECRET}\n",
    "src/pkg/README.txt": f"{SECRET}\n",
    "src/pkg/data.json": '{"kept": true}',
    "src/pkg/__main__.py": "import sys\nfrom pkg import slug\nprint(slug(sys.argv[1]))\n",
    "src/pkg/tests/test_pkg.py": f"# {SECRET}\n",
    "src/pkg.egg-info/PKG-INFO": f"{SECRET}\n",
    "tests/test_words.py": f"# {SECRET}\n",
    "docs/use.md": f"{SECRET}\n",
    "README.md": f"{SECRET}\n",
    "setup.py": f'"""{SECRET}"""\nraise SystemExit("{SECRET}")\n',
    "pyproject.toml": f'[project]\ndescription = "{SECRET}"\n',
    ".git/config": f"{SECRET}\n",
    "build/lib/pkg/words.py": f"# {SECRET}\n",
}


def make_workspace(root: Path) -> Workspace:
    script = f"#!{PYTHON}\nimport sys\nfrom pkg.words import slug\nprint(slug(sys.argv[1]))\n"
    workspace = own_workspace(
        root,
        PACKAGE,
        ("bin/slug", script),
        ("pkg-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: pkg\nVersion: 1\n"),
        ("pkg-1.dist-info/RECORD", ""),
    )
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("pkg/words.py", PACKAGE["src/pkg/words.py"])
    (root / "src/pkg/bundle.zip").write_bytes(archive.getvalue())
    (root / "src/pkg-1.egg").write_bytes(archive.getvalue())
    return workspace


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> PackageSandbox:
    require(Bubblewrap().problem())
    folder = tmp_path_factory.mktemp("bytecode")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_CACHE_DIR", str(folder / "cache"))
        made = PackageSandbox(make_workspace(folder / "project"), ["src/pkg/words.py"], asyncio.Semaphore(2))
        asyncio.run(made.output("code", "1", {}))
    return made


#: Each prints what it finds; ``{package}`` is the folder of the package.
WAYS = {
    "inspect.getsource": """
import inspect, pkg.words
for one in (pkg, pkg.words, pkg.slug, pkg.Point, pkg.Point.moved):
    for function in (inspect.getsource, inspect.getcomments, inspect.getdoc):
        try: print(function(one))
        except (OSError, TypeError) as error: print(error)
""",
    "__doc__": """
import pkg.words
for one in (pkg, pkg.words, pkg.slug, pkg.Point, pkg.Point.moved, pkg.words.later): print(one.__doc__)
""",
    "help": "import pkg.words; help(pkg); help(pkg.words); help(pkg.slug); help(pkg.Point)",
    "files of the package": """
import os, sys, pkg
for folder in (os.path.dirname(os.path.dirname(pkg.__file__)), "/reader", "/home"):
    for path, _, names in os.walk(folder):
        for name in names:
            if os.path.isfile(os.path.join(path, name)):
                data = open(os.path.join(path, name), "rb").read()
                print(name, data if ("zebra" + "crossing").encode() in data else "")
""",
    "get_data": """
import pkgutil, importlib.resources, pkg
for name in ("words.py", "__init__.py", "words.pyi", "guide.md", "README.txt", "bundle.zip", "../../README.md"):
    try: print(pkgutil.get_data("pkg", name))
    except OSError as error: print(type(error))
for one in importlib.resources.files("pkg").iterdir(): print(one.name, b"zebra" in one.read_bytes() if one.is_file() else "")
print(pkg.__loader__.get_source("pkg"), pkg.__spec__.origin)
""",
    "traceback": """
import linecache, traceback, pkg.words
try: pkg.slug(1)
except AssertionError: traceback.print_exc()
print(linecache.getlines(pkg.words.__file__), linecache.getlines("pkg/words.py"), linecache.getlines(pkg.slug.__code__.co_filename))
""",
    "metadata": """
import importlib.metadata as metadata
print(metadata.metadata("pkg").as_string(), metadata.files("pkg"), metadata.distribution("pkg").read_text("PKG-INFO"))
""",
    "dis": "import dis, pkg.words\ndis.dis(pkg.words); dis.dis(pkg.slug); print(pkg.slug.__code__.co_consts)",
    "code of the files": """
import marshal, pkg.words, dis
dis.dis(marshal.loads(open(pkg.words.__file__, "rb").read()[16:]))
""",
    "import of an archive": """
import sys, glob, os, pkg
for path in glob.glob(os.path.dirname(os.path.dirname(pkg.__file__)) + "/**/*.[ze][ig][pg]", recursive=True): print(path, "zebra" + "crossing")
""",
}
COMMANDS = {
    "pip show": "python -m pip show -f pkg; python -m pydoc pkg pkg.words",
    "git": "git log -p; git -C / status; find / -name '.git*' -not -path '/proc/*' -not -path '/usr/*' 2>/dev/null",
    "find": "find / -path '*/pkg/*.py' -name words.py -not -path '/proc/*' 2>/dev/null | sed 's/.*/zebra''crossing &/'",
    "grep": "grep -rl zebra''crossing / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr --exclude-dir=site-packages 2>/dev/null "
    "| sed 's/.*/zebra''crossing &/'",
    "tests": "cd /; ls -R $(dirname $PYTHONPATH) /reader /home /tmp; cat $PYTHONPATH/../tests/* $PYTHONPATH/pkg/tests/*",
    "links of processes": "ls -l /proc/self/cwd /proc/*/root; cat /proc/*/cmdline /proc/1/environ /proc/self/mountinfo | tr '\\0' '\\n'",
}
#: Parts of what each way prints, to show that it ran.
RAN = {
    "help": "slug(text, separator='-')",
    "dis": "RETURN",
    "code of the files": "slug",
    "traceback": "no text",
    "metadata": "Name: pkg",
}


@pytest.mark.parametrize(("kind", "name"), [("code", name) for name in WAYS] + [("command", name) for name in COMMANDS])
async def test_no_way_leads_to_sources_or_docstrings(
    sandbox: PackageSandbox, kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_agent, "OUTPUT_CHARACTERS", 10**7)
    output = await sandbox.output(kind, WAYS.get(name) or COMMANDS[name], {})
    assert SECRET not in output.lower(), output
    assert RAN.get(name, "") in output, output
    assert not {"SyntaxError", "No module named 'pkg'"}.intersection(output.splitlines()[-1:]), output


async def test_code_and_commands_run_with_the_package(sandbox: PackageSandbox) -> None:
    files = {"case_1/a.txt": "one"}
    assert await sandbox.output("code", "from pkg import slug\nx = slug('A b')\nx\nNone\nprint(1)", {}) == "'a-b'\n1"
    assert (
        await sandbox.output("command", "slug 'C d'; python -m pkg 'E f'; cat case_1/a.txt", files) == "c-d\ne-f\none"
    )
    assert await sandbox.output("code", "import pkg.words; pkg.words.data(), pkg.Point(1).moved()", {}) == (
        "('{\"kept\": true}', Point(x=2))"
    )
    assert "AssertionError: no text" in await sandbox.output("code", "from pkg import slug; slug(1)", {})
    assert "--loud" in await sandbox.output("code", "import pkg.manual; pkg.manual.usage()", {})


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("code", "input()", "EOFError"),
        ("code", "def", "SyntaxError"),
        ("code", "import sys; sys.exit(7)", "(Its exit status is 7.)"),
        ("code", "", "(no output)"),
        ("code", "'\\ud800'", "ud800"),
        ("code", "print('\x00')", "Error"),
        ("code", "#" * 200_000, "Error"),
        ("code", "print('a' * 9_000 + 'end')", "(5,003 characters are not shown)"),
        ("code", "import os; os.write(1, b'\\xff\\x1b[31mred')", "red"),
        ("command", "cat /etc/shadow; ls /root/.ssh; kill -9 -1; exit 9", "exit status"),
        ("command", "touch ../x /usr/x; echo a > x; ls", "x"),
        ("command", "python -c 'import urllib.request as u; u.urlopen(\"http://1.1.1.1\", timeout=2)'", "Error"),
    ],
)
async def test_odd_runs_have_an_output(sandbox: PackageSandbox, kind: str, text: str, found: str) -> None:
    output = await sandbox.output(kind, text, {})
    assert found in output
    assert len(output) < 4_200
    assert SECRET not in output


async def test_a_run_without_an_end_is_stopped(sandbox: PackageSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_agent, "SECONDS", 1)
    output = await sandbox.output("command", "echo begun; sleep 100 & sleep 100", {})
    assert output.splitlines()[0] == "begun"
    assert "stopped after" in output
