"""Source distributions of real projects: every function takes its own body back, a stub parses."""

from __future__ import annotations

import ast
import warnings

import pytest

from workbench.repository import fetch
from workbench.repository.functions import find_functions
from workbench.repository.lines import syntax_problem
from workbench.repository.splicing import body_text, splice

PROJECTS = [
    "schema==0.7.7", "tabulate==0.9.0", "requests==2.32.3", "confection==0.1.5", "python-dotenv==1.0.1",
    "radicli==0.0.25", "mocksafe==0.11.0b0", "arithmetic-compressor==0.2", "tinyflux==0.4.1", "jsonpath-ng==1.6.1",
]  # fmt: skip


@pytest.mark.network
@pytest.mark.parametrize("project", PROJECTS)
def test_bodies_go_back_byte_for_byte_and_stubs_parse(project, tmp_path_factory):
    snapshot = fetch(project, cache=tmp_path_factory.getbasetemp() / "cache")
    count = 0
    for entry in snapshot.files:
        if not entry.path.endswith(".py"):
            continue
        source = (snapshot.root / entry.path).read_bytes()
        if syntax_problem(source) is not None:
            find_functions(source, entry.path)  # must only survive
            continue
        for number, function in enumerate(find_functions(source, entry.path)):
            assert splice(source, function, body_text(source, function)) == source, function.id
            if number % 5 == 0:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    ast.parse(splice(source, function, "pass"))
            count += 1
    assert count > 5
