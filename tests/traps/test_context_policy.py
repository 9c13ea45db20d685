"""Trap: context. Policies and prompts are versioned and never change; what does not fit is reported, never cut."""

from __future__ import annotations

import hashlib

import pytest

from workbench.base.errors import UsageError
from workbench.models.types import ContextOverflow
from workbench.regeneration.prompts import POLICIES, PROMPTS, build_context, build_prompt, documented_source
from workbench.repository.functions import find_functions

SOURCE = b'''"""Module."""
import os
from a import (
    b,
)

LIMIT = 3


def first(x):
    """First."""
    SECRET_FIRST = 1
    return SECRET_FIRST


class A(Base):
    """Class A."""

    kind = "a"

    def one(self):
        def inner():
            return INNER
        return SECRET_ONE

    @cached
    def target(self, x):
        """Do it.

        Well.
        """
        SECRET_TARGET = 1
        return SECRET_TARGET

    def after(self):
        """After."""
        return SECRET_AFTER


END = 1
'''
FOUND = {f.qualified_name: f for f in find_functions(SOURCE, "pkg/m.py")}
TARGET = FOUND["A.target"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("docstring", ["Do it.\n\n        Well.\n        ", None, "Other.\n\nLines \\ here."])
@pytest.mark.parametrize("name", FOUND)
def test_the_targets_own_body_is_never_shown(policy, docstring, name):
    text = build_prompt(SOURCE, FOUND[name], docstring, policy=policy).messages[0].content
    body = {"first": "SECRET_FIRST", "A.one": "SECRET_ONE", "A.target": "SECRET_TARGET", "A.after": "SECRET_AFTER"}
    assert body.get(name, "return INNER") not in text
    if docstring and docstring.startswith("Other"):
        assert "Lines \\ here." in text


def test_signatures_1_hides_bodies_and_tells_of_what_follows():
    context = build_context(SOURCE, TARGET, "signatures-1")
    assert "SECRET" not in context.before + context.after
    assert "INNER" not in context.before
    assert "LIMIT = 3" in context.before
    assert 'def first(x):\n    """First."""\n    ...\n' in context.before
    assert 'kind = "a"' in context.before
    assert context.before.endswith('Well.\n        """')
    assert 'def after(self):\n        """After."""\n        ...' in context.after
    assert "END = 1" in context.after


def test_tail_1_counts_what_it_leaves_out():
    whole = build_prompt(SOURCE, TARGET, TARGET.docstring, policy="tail-1", window_tokens=100_000)
    assert whole.omitted_lines == 0
    cut = build_prompt(SOURCE, TARGET, TARGET.docstring, policy="tail-1", window_tokens=310, reserve_tokens=50)
    assert cut.omitted_lines > 0
    assert cut.overflow == 0
    assert "import os" in cut.messages[0].content
    assert 'Well.\n        """' in cut.messages[0].content
    assert "SECRET_FIRST" not in cut.messages[0].content


def test_overflow_is_reported_and_never_cut():
    prompt = build_prompt(SOURCE, TARGET, TARGET.docstring, window_tokens=300, reserve_tokens=100)
    assert SOURCE[: TARGET.body.start].decode() in prompt.messages[0].content
    assert prompt.overflow == prompt.tokens_estimate + 100 - 300
    with pytest.raises(ContextOverflow, match="policy"):
        prompt.require_fit()
    assert build_prompt(SOURCE, TARGET, None).require_fit().overflow == 0


def test_an_unknown_policy_is_named():
    with pytest.raises(UsageError, match="prefix-1"):
        build_prompt(SOURCE, TARGET, None, policy="x")
    with pytest.raises(UsageError, match="short-1"):
        build_prompt(SOURCE, TARGET, None, version="x")


def test_the_original_docstring_leaves_the_file_as_it_is():
    assert documented_source(SOURCE, TARGET, TARGET.docstring) == (SOURCE, TARGET)
    changed, found = documented_source(SOURCE, TARGET, "New.\n\nArgs:\n    x: y")
    assert found.docstring == "New.\n\n        Args:\n            x: y\n        "
    assert b"SECRET_TARGET" in changed


def test_bom_and_crlf_do_not_reach_the_model():
    source = b"\xef\xbb\xbf" + SOURCE.replace(b"\n", b"\r\n")
    target = next(f for f in find_functions(source, "m.py") if f.name == "target")
    for policy in POLICIES:
        text = build_prompt(source, target, target.docstring, policy=policy).messages[0].content
        assert "\r" not in text
        assert "\ufeff" not in text


#: What each published version makes of ``SOURCE``: another digest needs another name, never a new digest here.
PUBLISHED = {
    ("prefix-1", "paper-content-1"): "bde25f109a9fc37a",
    ("prefix-1", "short-1"): "81a655e0690e06ca",
    ("signatures-1", "paper-content-1"): "7838e1648e707be5",
    ("signatures-1", "short-1"): "c0c4f03da719a7ae",
    ("tail-1", "paper-content-1"): "bde25f109a9fc37a",
    ("tail-1", "short-1"): "81a655e0690e06ca",
    ("function-1", "paper-content-1"): "3ad3cc3336eaf973",
    ("function-1", "short-1"): "6963d2379e796aef",
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("version", PROMPTS)
def test_a_published_version_never_changes(policy, version):
    prompt = build_prompt(SOURCE, TARGET, TARGET.docstring, policy=policy, version=version)
    digest = hashlib.sha256(prompt.messages[0].content.encode()).hexdigest()[:16]
    assert digest == PUBLISHED[policy, version]
    assert (prompt.context_policy, prompt.prompt_version) == (policy, version)
