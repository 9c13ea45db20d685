"""The test cases say only what is true: their suites pass, and their facts hold where a machine can tell."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

CASES = Path(__file__).parents[2] / "test_cases"
SYNTHETIC = ("countdown_timer", "password_generator", "word_counter")
REAL = ("art_github", "dotenv_github", "pyfiglet_github")
STOP_WORDS = {"a", "an", "and", "as", "at", "by", "for", "from", "how", "in", "is", "it", "like", "of", "on", "or", "the", "to", "with"}  # fmt: skip


def read_case(case_id: str) -> dict:
    return tomllib.loads((CASES / case_id / "case.toml").read_text(encoding="utf-8"))


def read_facts(case_id: str) -> dict:
    return tomllib.loads((CASES / case_id / "ground_truth" / "facts.toml").read_text(encoding="utf-8"))


def reference(case_id: str) -> str:
    return (CASES / case_id / "ground_truth" / "README.md").read_text(encoding="utf-8")


def sources(repository: Path) -> list[Path]:
    return [path for path in sorted(repository.rglob("*.py")) if "tests" not in path.relative_to(repository).parts]


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower())) - STOP_WORDS


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    # The outer pytest's own settings must not leak into the suite under test.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def run_suite(repository: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run("-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "tests", cwd=repository)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def stub(source: str, node: ast.FunctionDef | ast.AsyncFunctionDef, body: str) -> str:
    """Replace everything but the docstring in the body of node."""
    first = node.body[1] if ast.get_docstring(node) is not None else node.body[0]
    start = min([first.lineno, *(decorator.lineno for decorator in getattr(first, "decorator_list", []))])
    lines = source.splitlines(keepends=True)
    return "".join([*lines[: start - 1], " " * first.col_offset + body + "\n", *lines[node.end_lineno :]])


@pytest.fixture
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the repository of the case that the test is parametrized with."""
    target = tmp_path / "repository"
    shutil.copytree(
        CASES / request.getfixturevalue("case_id") / "repository", target, ignore=shutil.ignore_patterns("__pycache__")
    )
    return target


@pytest.mark.parametrize("case_id", SYNTHETIC)
def test_own_suite_passes(case_id: str, repository: Path) -> None:
    done = run_suite(repository)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", done.stdout).group(1)) > 40


@pytest.mark.parametrize("case_id", SYNTHETIC)
def test_main_file_exists_and_the_run_command_runs(case_id: str, repository: Path) -> None:
    facts = read_facts(case_id)
    assert (repository / facts["main_file"]).is_file()
    python, *arguments = shlex.split(facts["run_command"])
    assert python == "python"
    target = arguments[:2] if arguments[0] == "-m" else arguments[:1]
    done = run(*target, "--help", cwd=repository)
    assert done.returncode == 0, done.stderr
    for item in facts["must_mention"]:
        if item.startswith("--"):
            assert item in done.stdout, f"{item} is no option of {case_id}"


@pytest.mark.parametrize("case_id", SYNTHETIC)
def test_options_of_the_reference_and_of_the_run_command_exist(case_id: str, repository: Path) -> None:
    facts = read_facts(case_id)
    arguments = shlex.split(facts["run_command"])[1:]
    target = arguments[:2] if arguments[0] == "-m" else arguments[:1]
    shown = run(*target, "--help", cwd=repository).stdout
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", reference(case_id) + facts["run_command"]))
    assert named
    assert sorted(option for option in named if option not in shown) == []


@pytest.mark.parametrize("case_id", SYNTHETIC)
def test_dependencies_are_declared_and_imported(case_id: str, repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[^\w.-]", line)[0] for line in project["dependencies"]}
    requirements = repository / "requirements.txt"
    if requirements.exists():
        assert requirements.read_text(encoding="utf-8").split() == project["dependencies"]
    own = {path.name.removesuffix(".py") for path in repository.iterdir()}
    imported = set()
    for path in sources(repository):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.split(".")[0])
    assert imported - set(sys.stdlib_module_names) - own == declared == set(read_facts(case_id)["dependencies"])


def test_at_least_one_synthetic_case_has_a_dependency() -> None:
    assert any(read_facts(case_id)["dependencies"] for case_id in SYNTHETIC)


@pytest.mark.parametrize("case_id", SYNTHETIC)
def test_every_function_has_a_docstring(case_id: str, repository: Path) -> None:
    missing = [
        f"{path.name}:{node.lineno} {node.name}"
        for path in sources(repository)
        for node in functions(ast.parse(path.read_text(encoding="utf-8")))
        if not ast.get_docstring(node)
    ]
    assert missing == []


@pytest.mark.parametrize("case_id", SYNTHETIC)
def test_the_repository_has_no_documentation_of_its_own(case_id: str, repository: Path) -> None:
    assert [path.name for path in repository.rglob("*") if path.suffix in {".md", ".rst"}] == []


@pytest.mark.parametrize("case_id", SYNTHETIC + REAL)
def test_the_agent_is_not_told_the_purpose(case_id: str) -> None:
    case, facts = read_case(case_id), read_facts(case_id)
    free = words(f"{case['name']} {case['domain']} {case['language']}".replace("_", " "))
    told = words(case["agent_description"].replace("_", " "))
    purpose = words(facts["main_purpose"]) - free
    assert len(purpose & told) / len(purpose) <= 0.1, purpose & told
    for feature in facts["key_features"]:
        assert feature.lower() not in case["agent_description"].lower()
    assert len(case["agent_description"].split()) <= 15


@pytest.mark.parametrize("case_id", SYNTHETIC + REAL)
def test_the_reference_says_what_the_facts_say(case_id: str) -> None:
    facts, text = read_facts(case_id), reference(case_id)
    for item in (*facts["must_mention"], *facts["dependencies"], facts["run_command"]):
        assert item in text, f"the reference README of {case_id} does not mention {item}"
    missing = words(facts["main_purpose"]) - words(text)
    assert missing == set()


@pytest.mark.parametrize("case_id", SYNTHETIC + REAL)
def test_fields(case_id: str) -> None:
    case, facts = read_case(case_id), read_facts(case_id)
    assert case["id"] == case_id
    assert case["kind"] == ("synthetic" if case_id in SYNTHETIC else "real")
    assert bool(case["source"]) == (case_id in REAL)
    assert case.get("sha256", {}).keys() == set(case["alternatives"])
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in case.get("sha256", {}).values())
    assert set(facts) == {
        "main_purpose",
        "dependencies",
        "run_command",
        "key_features",
        "must_mention",
        "main_file",
    }


@pytest.mark.parametrize("case_id", REAL)
def test_real_cases_are_pinned_to_one_release(case_id: str) -> None:
    case = read_case(case_id)
    tag = re.fullmatch(r"git\+https://github\.com/[\w-]+/[\w-]+@v([\d.]+)", case["source"]).group(1)
    assert [alternative.split("==")[1] for alternative in case["alternatives"]] == [tag]
    assert tag in case["agent_description"]
