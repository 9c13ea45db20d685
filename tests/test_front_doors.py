"""What a package offers is imported when it is asked for, so that threads may import its modules in any order."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = sorted(
    str(stub.parent.relative_to(ROOT / "workbench")).replace("/", ".")
    for stub in (ROOT / "workbench").rglob("*/__init__.pyi")
)

_ALONE = """
import importlib, sys
importlib.import_module(sys.argv[1])
print([name for name in sys.modules if name.startswith(sys.argv[1] + ".")])
"""
# Each of two threads begins at another end: one in the package, one in a module of it.
_TOGETHER = """
import importlib, sys, threading
import textual.app  # the standard library that the app has imported by then
package, *modules = sys.argv[1:]
sys.setswitchinterval(1e-6)
start, problems = threading.Barrier(len(modules) + 1), []

def work(what):
    start.wait()
    try:
        what()
    except BaseException as error:
        problems.append(repr(error))

def offered():
    found = importlib.import_module(package)
    for name in found.__all__:
        getattr(found, name)

jobs = [offered, *(lambda one=one: importlib.import_module(f"{package}.{one}") for one in modules)]
threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit("; ".join(problems) or 0)
"""


def run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def stubbed(package: str) -> dict[str, str]:
    tree = ast.parse((ROOT / "workbench" / package.replace(".", "/") / "__init__.pyi").read_text())
    return {
        name.name: str(node.module) for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names
    }


def test_packages_that_offer_names_do_so_by_a_stub() -> None:
    assert "session" in PACKAGES
    for package in (ROOT / "workbench").glob("*/__init__.py"):
        eager = [
            node
            for node in ast.parse(package.read_text()).body
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"workbench.{package.parent.name}.")
        ]
        assert eager == [] or package.parent.name == "app", package


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_offers_what_its_stub_says_and_imports_nothing_before(package: str) -> None:
    assert run(_ALONE, f"workbench.{package}") == "[]"
    door = __import__(f"workbench.{package}", fromlist=["x"])
    names = stubbed(package)
    assert sorted(door.__all__) == sorted(names)
    for name, module in names.items():
        assert getattr(door, name) is getattr(__import__(module, fromlist=["x"]), name)


@pytest.mark.parametrize("package", PACKAGES)
def test_threads_import_a_package_and_its_modules_in_any_order(package: str) -> None:
    modules = sorted({module.rpartition(".")[2] for module in stubbed(package).values()})
    for _ in range(3):
        run(_TOGETHER, f"workbench.{package}", *modules)


_ALWAYS_HEAVY = {"litellm", "docker", "git", "pydantic", "textual"}


@pytest.mark.parametrize(
    ("program", "heavy"),
    [
        (
            "import workbench.catalog, workbench.repository",
            {"asyncio", "httpx", "ssl", "subprocess", "tree_sitter", "tarfile"},
        ),
        (
            "import workbench.models as m; m.default_model('agent'); m.describe_models()",
            {"asyncio", "httpx", "openai", "xllamacpp"},
        ),
        ("import workbench.pages", {"httpx", "markdown_it", "rich", "sqlite3"}),
        ("from workbench.commands import doctor, show, report, installation; doctor.check_machine()", set()),
    ],
    ids=["catalog", "models", "pages", "commands"],
)
def test_a_front_door_is_cheap(program: str, heavy: set[str]) -> None:
    loaded = run(f"import sys; {program}; print(*sys.modules)").split()
    assert not (heavy | _ALWAYS_HEAVY) & set(loaded)


_SQL = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|PRAGMA|WHERE|GROUP BY|ORDER BY)\b")
_HAS_SQL = ("engine", "orders", "results", "session", "search/index.py")  # the last one has a database of its own


def sql_of(path: Path) -> list[str]:
    """Return the places of a module where SQL stands, or where a session is asked with SQL from elsewhere."""
    text = path.read_text(encoding="utf-8")
    if not _SQL.search(text) and not re.search(r"reader\.(query|rows)\(", text):
        return []
    tree = ast.parse(text)
    prose = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    found = []
    for node in ast.walk(tree):
        said = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
        if said and _SQL.search(str(node.value)):  # type: ignore[attr-defined]
            found.append(f"{path.name}:{node.lineno}")
        asks = (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("query", "rows")
        )
        if asks and ast.unparse(node.func.value).rpartition(".")[2] in ("reader", "_reader"):
            found.append(f"{path.name}:{node.lineno}")
    return found


def test_sql_stands_where_sessions_are_written_and_read_alone(tmp_path: Path) -> None:
    asking = tmp_path / "asking.py"
    asking.write_text('def count(reader):\n    """SELECT is prose here."""\n    return reader.query(f"SELECT {1}")\n')
    assert sql_of(asking) == ["asking.py:3", "asking.py:3"]
    rooms = ROOT / "workbench"
    outside = (path for path in rooms.rglob("*.py") if not str(path.relative_to(rooms)).startswith(_HAS_SQL))
    assert [place for path in outside for place in sql_of(path)] == []
