"""Claims that are wrong are untrue, and what looks like them and may be right is not."""

from __future__ import annotations

import asyncio
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from planted import README, claims, write_project

from workbench.checking import check
from workbench.checking.environment import CheckEnvironment
from workbench.checking.packages import install_verdict
from workbench.claims.claim import Truth
from workbench.claims.project import ProjectIndex

CODE = """
import threading

from elsewhere import Base


class EventEmitter:
    def __init__(self):
        self.handlers = []

    def emit(self, loud=True, encoding="utf-8", depth=None, marks=("a",)):
        return loud


class Loud(EventEmitter):
    def shout(self): ...


class Field:
    width = threading.local()

    def __init__(self, width=0): ...


class Worker(threading.Thread, Base):
    def begin(self): ...

"""
OPTIONS = """
import argparse, click

parser = argparse.ArgumentParser()
parser.add_argument("--verbose", action="store_true")
parser.add_argument("--no-color", action="store_true")
parser.add_argument("--mode", default="fast")


@click.option("--cache/--no-cache", default=True)
def main(cache): ...
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = write_project(tmp_path / "project")
    (made / "wordstat/events.py").write_text(CODE)
    (made / "wordstat/lazy.py").write_text(
        "class Lazy:\n    def __getattr__(self, name): ...\n    def load(self): ...\n"
    )
    (made / "wordstat/options.py").write_text(OPTIONS)
    return made


def said(root: Path, text: str, kind: str) -> list[tuple[str, str, str]]:
    return [(one.text, str(one.lookup.truth), one.lookup.nearest) for one in claims(root, text) if one.kind == kind]


@pytest.mark.parametrize(
    ("span", "truth", "nearest"),
    [
        ("EventEmitter.emit()", "true", ""),
        ("Loud.emit()", "true", ""),
        ("EventEitter.emit()", "untrue", "EventEmitter"),
        ("Loud.handelrs()", "untrue", "handlers"),
        ("wrodstat.top_words()", "untrue", "wordstat"),
        ("wordstat.events.EventEitter.emit()", "untrue", "EventEmitter"),
        ("wordstat.evetns.EventEmitter", "untrue", "events"),
        ("wordstat.elsewhere.EventEmitter", "undecided", ""),
        # The last part is there, and is another's.
        ("TextReporter.emit()", "undecided", ""),
        # It may be inherited of a base that is not here, or made.
        ("Worker.beginn()", "undecided", ""),
        ("Lazy.laod()", "undecided", ""),
        ("emitter.emit()", "true", ""),
    ],
)
def test_every_part_of_a_dotted_name_counts(root: Path, span: str, truth: str, nearest: str) -> None:
    ((_, *found),) = said(root, f"Call `{span}` then.", "name")
    assert found == [truth, nearest]


def test_names_of_the_page_are_what_it_says_they_are(root: Path) -> None:
    code = "```python\nimport wordstat.events as ev\nfrom wordstat.events import EventEmitter as Bus\nemitter = Bus()\n```\n"
    text = f"{code}\nUse `ev.EventEmitter`, `ev.EventEitter`, `Bus.emit()`, `Bus.handelrs` and `emitter.emti()`.\n"
    found = {name: truth for name, truth, _ in said(root, text, "name")}
    assert found == {"EventEmitter": "true", "ev.EventEmitter": "true", "EventEitter": "untrue", "Bus.emit()": "true", "handelrs": "untrue"}  # fmt: skip


@pytest.mark.parametrize(
    ("row", "truth"),
    [
        ("- `loud` (default: `False`)", "untrue"),
        ("- `loud` (default: `true`)", "true"),
        ("- `loud`: defaults to `None`", "untrue"),
        ("The parameter `loud` of `emit()` defaults to `False`.", "untrue"),
        ("- `loud`: on by default, default `on`", "true"),
        ("- `loud`: default `off`", "undecided"),
        ("- `encoding`: defaults to `'latin-1'`", "untrue"),
        ('- `encoding`: defaults to "current locale"', "undecided"),
        # None stands for what is worked out.
        ("- `depth`: defaults to `3`", "undecided"),
        ("- `depth`: defaults to `None`", "true"),
        ("| name | default |\n|---|---|\n| `loud` | `False` |", "untrue"),
        ("Give `--verbose` (default: `False`).", "true"),
        ("Give `--verbose` (default: `True`).", "untrue"),
        ("Give `--no-color` (default: `True`).", "undecided"),
        ("Give `--cache` (default: `False`).", "untrue"),
    ],
)
def test_defaults_have_types(root: Path, row: str, truth: str) -> None:
    assert [truth for _, truth, _ in said(root, f"`EventEmitter.emit()`:\n\n{row}\n", "default")] == [truth]


@pytest.mark.parametrize(
    "row",
    ["- `width` of `Field`: default `None`", "- `loud`: default `False` if it is night", "- `find(text, loud=False)` finds quietly", "- `loud`: the default was `False`", "`--verbose` sets `log=True`, whose default is `True`"],
)  # fmt: skip
def test_a_default_on_a_condition_or_in_a_call_is_not_untrue(root: Path, row: str) -> None:
    (root / "wordstat/find.py").write_text("def find(text, loud=True): ...\n")
    assert "untrue" not in {truth for _, truth, _ in said(root, f"`EventEmitter.emit()`:\n\n{row}\n", "default")}


@pytest.mark.parametrize(
    ("declared", "text", "truth"),
    [
        (">=3.6", "Requires Python 3.99.", "untrue"),
        (">=3.6", "It needs Python 3.8+.", "undecided"),
        (">=3.6,<3.12", "It requires Python 3.13 or newer.", "untrue"),
        (">=3.6", "Building the docs is only possible with Python 3.99+.", "undecided"),
        (">=3.8", "- **Python**: 3.6+", "untrue"),
        (">=3.8", "Requires-Python: >=3.6", "untrue"),
    ],
)
def test_a_python_that_nobody_can_have_is_untrue(root: Path, declared: str, text: str, truth: str) -> None:
    (root / "pyproject.toml").write_text(
        f'[project]\nname = "wordstat"\nversion = "1"\nrequires-python = "{declared}"\n'
    )
    assert [truth for _, truth, _ in said(root, text, "python")] == [truth]


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("```sh\npip install tabular-data\n```", "true"),
        ("```sh\npip install wordstatt-tools wordstat\n```", "undecided"),
        ("```sh\npip install tabulardata wordstat\n```", "untrue"),
        ("```sh\npip install counted-words\n```", "untrue"),
        # It is not all that the page installs, or code of the page or a list of the repository names it.
        ("```sh\npip install counted-words\nconda install wordstat\n```", "undecided"),
        ("```sh\npip install counted-words\n```\n```python\nimport counted_words\n```", "undecided"),
        ("```sh\npip install documented-words\n```", "undecided"),
        ("```sh\npip install your-plugin\n```", "undecided"),
    ],
)
def test_packages_are_the_projects_or_those_that_it_names(root: Path, text: str, truth: str) -> None:
    declared = (root / "pyproject.toml").read_text().replace("tables = []", 'tables = ["tabular-data"]')
    (root / "pyproject.toml").write_text(declared)
    (root / "docs/requirements.txt").write_text("documented-words\n")
    assert said(root, text, "dependency")[0][1] == truth


def test_what_the_repository_names_nowhere_does_not_work_because_a_page_installs_it(root: Path) -> None:
    here = Path("/environment")
    installed = frozenset({"requests", "wordstat", "documented-words", "pytest"})
    environment = CheckEnvironment(here, here, installed, frozenset(), frozenset(), False)
    (root / "docs/requirements.txt").write_text("documented-words\n")
    project = ProjectIndex(root)
    for command, verdict in (
        ("pip install requests", "not run"),
        ("pip install wordstat requests", "not run"),
        ("pip install wordstat documented-words pytest", "works"),
    ):
        assert install_verdict(command, project, environment)[0] == verdict, command
    found = claims(root, "```sh\npip install requests wordstat\n```")
    assert [(one.text, one.lookup.reason) for one in found if one.lookup.truth is Truth.UNDECIDED] == [
        ("requests", "the repository does not mention requests")
    ]


def test_a_package_that_the_registry_does_not_have_fails(root: Path) -> None:
    here = Path("/environment")
    environment = CheckEnvironment(here, here, frozenset(), frozenset(), frozenset(), False, frozenset({"no-such"}))
    project = ProjectIndex(root)
    for command, verdict in (
        ("pip install no_such", "fails"),
        ("pip install wordstat No.Such", "fails"),
        ("pip install --index-url http://127.0.0.1 no-such", "not run"),
        ("pip install other", "not run"),
        ("pip install wordstat", "works"),
    ):
        assert install_verdict(command, project, environment)[0] == verdict, command


@pytest.fixture
def empty_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A registry on the loopback interface that has no package."""
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        server.RequestHandlerClass.do_GET = lambda handler: handler.send_error(404)  # type: ignore[attr-defined]
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://127.0.0.1:{server.server_port}/simple")
        yield
        server.shutdown()


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.usefixtures("needs_bubblewrap", "one_cache", "empty_registry")
@pytest.mark.xdist_group("checking")
def test_what_installs_nothing_is_told_at_its_line(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    text = README + "\n```bash\npip install no-such-words\n```\n\n## Changelog\n\n```bash\npip install nor-these\n```\n"
    (root / "README.md").write_text(text)
    found = asyncio.run(check(root, [root / "README.md"]))
    line = text.splitlines().index("pip install no-such-words") + 1
    assert [(alarm.line, str(alarm.reason)) for alarm in found.alarms] == [
        (line, "there is no package no-such-words in the registry")
    ]
