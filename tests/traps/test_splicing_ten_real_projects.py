"""Trap: splicing. Into every function of ten real projects goes its own body, byte for byte, and a stub, which parses.

Then anything at all goes in, and what stands around it stays byte for byte.
"""

from __future__ import annotations

import functools
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.python_syntax import parse
from workbench.regeneration.tasks import stubs
from workbench.repository import fetch
from workbench.repository.functions import Function, find_functions
from workbench.repository.lines import syntax_problem
from workbench.repository.splicing import body_text, splice

pytestmark = [pytest.mark.network, pytest.mark.slow]

PROJECTS = [
    "schema==0.7.7", "tabulate==0.9.0", "requests==2.32.3", "confection==0.1.5", "python-dotenv==1.0.1",
    "radicli==0.0.25", "mocksafe==0.11.0b0", "arithmetic-compressor==0.2", "tinyflux==0.4.1", "jsonpath-ng==1.6.1",
]  # fmt: skip


@functools.cache
def functions(project: str, cache: Path) -> tuple[tuple[bytes, Function], ...]:
    """Every function of every file that parses, with the file's bytes."""
    snapshot = fetch(project, cache=cache)
    found = []
    for entry in snapshot.files:
        if entry.path.endswith(".py"):
            source = (snapshot.root / entry.path).read_bytes()
            here = find_functions(source, entry.path)  # files that do not parse must only be survived
            if syntax_problem(source) is None:
                found += [(source, function) for function in here]
    return tuple(found)


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "cache"


@pytest.mark.parametrize("project", PROJECTS)
def test_the_original_body_goes_back_byte_for_byte(project: str, cache: Path) -> None:
    every = functions(project, cache)
    assert len(every) > 5
    for source, function in every:
        assert splice(source, function, body_text(source, function)) == source, function.id


@pytest.mark.parametrize("project", PROJECTS)
def test_every_stub_parses_and_only_the_body_changes(project: str, cache: Path) -> None:
    files: dict[tuple[str, bytes], list[Function]] = {}
    for source, function in functions(project, cache):
        files.setdefault((function.path, source), []).append(function)
    for (_, source), here in files.items():
        for layer in layers(here):
            for kind in range(max(len(stubs(function)) for function in layer)):
                stubbed(source, layer, kind)


def stubbed(source: bytes, layer: list[Function], kind: int) -> None:
    """Splice a stub into all functions of a layer, from the last to the first, so that one parse does for all of them."""
    result = source
    for function in reversed(layer):
        bodies = stubs(function)
        before = result
        result = splice(before, function, bodies[min(kind, len(bodies) - 1)])
        kept = function.docstring_span.start if function.docstring_span else function.span.start
        assert result.startswith(source[:kept]), function.id
        assert result.endswith(before[function.body.end :]), function.id
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parse(result)
    after = {function.id: function for function in find_functions(result, layer[0].path)}
    for function in layer:
        again = after[function.id]
        assert (again.signature, again.docstring) == (function.signature, function.docstring)


def layers(here: list[Function]) -> list[list[Function]]:
    """Return the functions of a file in groups of which none stands inside another, each in the order of the file."""
    found: list[list[Function]] = []
    for function in sorted(here, key=lambda each: each.span.start):
        for layer in found:
            if layer[-1].span.end <= function.span.start:
                layer.append(function)
                break
        else:
            found.append([function])
    return found


BODIES = st.one_of(
    st.text(st.sampled_from("xy=1:()[]'\"#\\ \t\n;@"), max_size=60),
    st.sampled_from(
        ["", "pass", "return 1", 'x = """\nleft\n   right\n"""\nreturn x', "if a:\n\treturn 1", "# only a comment"]
    ),
)


@given(st.integers(0, 10**6), st.integers(0, len(PROJECTS) - 1), BODIES)
@settings(max_examples=300, deadline=None)
def test_whatever_goes_in_the_rest_stays_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, number: int, project: int, body: str
) -> None:
    every = functions(PROJECTS[project], tmp_path_factory.getbasetemp() / "cache")
    source, function = every[number % len(every)]
    result = splice(source, function, body)
    assert result.endswith(source[function.body.end :])
    kept = function.docstring_span.start if function.docstring_span else function.span.start
    assert result.startswith(source[:kept])
