"""The grammars for a small model: every text that they accept is a call that the protocol can parse."""

from __future__ import annotations

import pytest

from workbench.agents.constrained import Knowledge, defined_names, grammar, readable, required_distributions


def test_paths_are_choices_and_nothing_else_is() -> None:
    rules = grammar(Knowledge("x", folders=("pkg",), files=('od"d\\name.py',), may_respond=False))
    assert 'folder ::= ("pkg")' in rules
    # Quoted once for JSON and once for the grammar.
    assert 'file ::= ("od\\\\\\"d\\\\\\\\name.py")' in rules
    assert "respond" not in rules


def test_nothing_left_to_see_means_respond() -> None:
    rules = grammar(Knowledge("x", may_respond=False))
    assert "respond" in rules
    assert "list_directory" not in rules


def test_sources_come_before_tests_and_binaries_never() -> None:
    assert readable(["tests/test_a.py", "logo.png", "b.toml", "a.py", "pkg/"]) == ("a.py", "b.toml", "tests/test_a.py")


def test_names_and_requirements_are_read_from_text() -> None:
    code = "def a():\n  def b(): ...\nclass C:\n  pass\ndef _d(): ...\nasync def e(): ...\n"
    assert defined_names(code) == ("a", "C", "e")
    assert required_distributions("requirements.txt", "click>=8\n# no\nrich\n-r x\n") == ("click", "rich")
    for name, text in (
        ("pyproject.toml", '[project]\ndependencies = [\n  "click>=8.1",\n  "rich",\n]\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    click\n    rich>=1\n[x]\n"),
    ):
        assert required_distributions(name, text) == ("click", "rich")
    assert required_distributions("a.py", "click\n") == ()


@pytest.mark.nightly
@pytest.mark.model
async def test_the_embedded_model_keeps_to_it() -> None:
    from workbench.agents.protocol import Action, parse_action, submission_of
    from workbench.models import CallLimits, Gateway, Message, Request, Sampling
    from workbench.models.types import MemoryCallLog

    gateway = Gateway(MemoryCallLog(), CallLimits())
    try:
        messages = (Message("user", "Document the project demo."),)
        sampling = Sampling(temperature=0.3, max_tokens=2000)
        looking = Request(
            "local", messages, "agent", sampling, grammar=grammar(Knowledge("demo", files=("a.py",), may_respond=False))
        )
        outcome = parse_action((await gateway.complete(looking)).text)
        assert isinstance(outcome, Action)
        assert (outcome.name, outcome.kwargs) == ("read_file", {"path": "a.py"})
        writing = Request("local", messages, "agent", sampling, grammar=grammar(Knowledge("demo", scripts=("a.py",))))
        outcome = parse_action((await gateway.complete(writing)).text)
        assert isinstance(outcome, Action)
        readme = submission_of(outcome).readme
        assert readme.startswith("# demo\n\n")
        assert all(f"\n## {heading}\n" in readme for heading in ("Features", "Installation", "Usage", "API reference"))
        assert "\npython a.py" in readme
    finally:
        await gateway.aclose()
