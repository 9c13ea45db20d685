"""Where a doc system's docstrings stand: in the whole tree from which prompts are made, or in the function alone."""

from __future__ import annotations

import ast
import asyncio
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import markdown_it
import pytest
from sweeps import spread

from workbench.base.errors import UsageError
from workbench.documenters import (
    Docstring,
    DocSystem,
    DocumentationFailed,
    DocumentedFile,
    document_file,
    make_doc_system,
    parse_scope,
)
from workbench.engine.task_rows import identity
from workbench.models.types import ContextOverflow, EmptyAnswer
from workbench.regeneration.prompts import POLICIES, PROMPTS, build_prompt
from workbench.repository import Snapshot
from workbench.repository.functions import find_definitions, find_functions
from workbench.repository.splicing import without_other_texts

CASE = Path(__file__).parents[2] / "test_cases" / "word_counter" / "repository"
INSTALLED = Path(markdown_it.__file__).parent
"""A real project that every installation has."""


async def documented(root: Path, path: str, system: DocSystem) -> DocumentedFile:
    return await document_file(system, path, (root / path).read_bytes(), asyncio.Semaphore(4))


def blocks(prompt: str) -> list[str]:
    """Return the code of a prompt; the first block ends where the body is missing."""
    return re.findall(r"^```python\n(.*?)^```$", prompt, re.DOTALL | re.MULTILINE)


def docstrings(code: str, indent: str) -> list[str]:
    """Return what Python takes for docstrings in code that ends with a header."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    try:
        tree = ast.parse(f"{code}\n{indent}pass\n")
    except SyntaxError:
        # The beginning of a file may end within a try statement: the parser of the program does not mind.
        return [one.docstring for one in find_definitions(code.encode(), "m.py") if one.docstring is not None]
    return [text for node in ast.walk(tree) if isinstance(node, kinds) and (text := ast.get_docstring(node))]


@pytest.mark.parametrize(("root", "least"), [(CASE, 10), (INSTALLED, 20)], ids=["word_counter", "markdown_it"])
async def test_with_none_no_prompt_of_a_repository_has_any_docstring(root: Path, least: int) -> None:
    system, prompts, originally, parsed = make_doc_system("none"), 0, 0, 0
    await system.prepare(Snapshot(root, "d" * 64, str(root), "", ()), lambda progress: None)
    for file in spread(sorted(root.rglob("*.py")), 6 if root == INSTALLED else 1):
        path = file.relative_to(root).as_posix()
        whole = await documented(root, path, system)
        pristine = file.read_bytes()
        for function in find_functions(pristine, path):
            shown = whole.functions[function.qualified_name, function.occurrence]
            for policy in POLICIES:
                for version in PROMPTS if policy == "prefix-1" else ("paper-content-1",):
                    prompt = build_prompt(whole.source, shown, None, policy=policy, version=version).messages[0].content
                    first, *after = blocks(prompt)
                    indent = " " * (len(first.rstrip("\n").rpartition("\n")[2]) + 8)
                    left = [text for code in (first, *after) for text in docstrings(code, indent)]
                    assert left == [], f"{function.id} {policy} {version}"
                    prompts += 1
            before = build_prompt(pristine, function, None).messages[0].content
            originally += bool(docstrings(blocks(before)[0], " " * 80))
            parsed += 1
    assert parsed >= least
    # Without the scope the test would find many: it can fail.
    assert originally > parsed // 4
    assert prompts == 5 * parsed


class FunctionsOnly:
    """A doc system of before there were scopes."""

    name, needs_model = "mine", False

    async def prepare(self, snapshot: object, report: object) -> None:
        """Do nothing."""

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        return Docstring(f"{qualified_name} {occurrence}")


SOURCE = b'"""M."""\n\n\nclass A:\n    """C."""\n\n    def f(self):\n        """F."""\n        return 1\n\n\ndef g():\n    return 2\n'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_bytes(SOURCE)
    return tmp_path


async def test_what_a_system_says_nothing_about_has_no_docstring(repository: Path) -> None:
    whole = await documented(repository, "m.py", FunctionsOnly())
    found = {one.key.text: one.docstring for one in find_definitions(whole.source, "m.py")}
    assert found == {"the module": None, "A": None, "A.f": "A.f 1", "g": "g 1"}


class Refusing(FunctionsOnly):
    """Answers for everything but one function."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        if qualified_name == "g":
            raise self.error
        return Docstring("D.")


async def test_a_missing_docstring_beside_the_target_is_no_prompt_of_its_own(repository: Path) -> None:
    with pytest.raises(EmptyAnswer, match="nothing came"):
        await documented(repository, "m.py", Refusing(EmptyAnswer("nothing came")))
    # What never fits the model's window has none, now and at every resume.
    whole = await documented(repository, "m.py", Refusing(ContextOverflow("too long")))
    assert whole.functions["g", 1].docstring is None
    assert whole.functions["A.f", 1].docstring == "D."
    # A system that fails at one function leaves it without a docstring, and that task out; what it gave is kept.
    whole = await documented(repository, "m.py", Refusing(DocumentationFailed("no idea")))
    assert whole.function("A.f", 1).docstring == "D."
    with pytest.raises(DocumentationFailed, match="no idea"):
        whole.function("g", 1)
    later = await document_file(
        Refusing(AssertionError("g alone")), "m.py", SOURCE, asyncio.Semaphore(), b"def g():\n    'G.'\n"
    )
    assert later.function("g", 1).docstring == "G."


TEXTS = b'''#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""M."""
"""Second."""
import os  # kept

LIMIT = 3
"""How many."""

# Says what f does,
# in two lines.
@cache
# between
def f(x):
    """F."""
    "Second of f."
    # kept: inside a body
    y = x; "beside code"
    if y:
        "alone"
    return y

f.__doc__ = "F by assignment." % 1
f.__doc__ = g.__doc__
# kept: a blank line follows

class A:
    __doc__ = """A."""
    #: kept? no definition follows
    size: int = 0
    ("Of size." " More.")
    f"{size} is evaluated"
    # Above the method.
    async def m(self): pass
    __doc__ += f"{size} more"
'''
TEXTS_GONE = b"""#!/usr/bin/env python
# -*- coding: utf-8 -*-
import os  # kept

LIMIT = 3

@cache
def f(x):
    # kept: inside a body
    y = x; pass
    if y:
        pass
    return y

f.__doc__ = g.__doc__
# kept: a blank line follows

class A:
    #: kept? no definition follows
    size: int = 0
    f"{size} is evaluated"
    async def m(self): pass
"""


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
async def test_with_docstrings_only_no_other_text_documents_the_code(tmp_path: Path, newline: bytes) -> None:
    source, system = TEXTS.replace(b"\n", newline), make_doc_system("none")
    await system.prepare(Snapshot(tmp_path, "d" * 64, "x", "", ()), lambda progress: None)
    whole = await document_file(system, "m.py", source, asyncio.Semaphore(4), scope="docstrings-only")
    assert whole.source == TEXTS_GONE.replace(b"\n", newline)
    usual = await document_file(system, "m.py", source, asyncio.Semaphore(4))
    assert all(
        text in usual.source for text in (b"How many.", b"Second of f.", b"Says what f does", b"F by assignment.")
    )
    mine = await document_file(FunctionsOnly(), "m.py", source, asyncio.Semaphore(4), scope="docstrings-only")
    assert {one.docstring for one in mine.functions.values()} == {"f 1", "A.m 1"}
    task = SimpleNamespace(path="m.py", qualified_name="f", occurrence=1, tests=())
    ids = [
        identity("s", task, "none", replace(whole, scope=scope), "bubblewrap")
        for scope in ("repository", "docstrings-only")
    ]
    assert len(set(ids)) == 2


async def test_with_docstrings_only_the_code_of_a_real_project_stays() -> None:
    class Without(ast.NodeTransformer):
        def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
            return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else node

        def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
            return None if ast.unparse(node.targets[0]).endswith("__doc__") else node

        def visit_Pass(self, node: ast.Pass) -> None:
            return None

    seen = 0
    for file in spread([*sorted(INSTALLED.rglob("*.py")), *sorted(Path(ast.__file__).parent.glob("d*.py"))], 3):
        pristine = file.read_bytes()
        assert ast.dump(Without().visit(ast.parse(without_other_texts(pristine, "m.py")))) == ast.dump(
            Without().visit(ast.parse(pristine))
        ), file
        seen += without_other_texts(pristine, "m.py") != pristine
    assert seen > 3


def test_a_scope_is_one_of_three() -> None:
    assert [parse_scope(text) for text in ("", " target ", "repository")] == ["repository", "target", "repository"]
    with pytest.raises(UsageError, match="no docs scope 'file'; choose repository, target or docstrings-only"):
        parse_scope("file")
