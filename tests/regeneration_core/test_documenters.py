"""Doc systems: original, none, a model, a documented copy."""

from __future__ import annotations

import pytest

from workbench.documenters import DocumentContext, extract_docstring, parse_documenter
from workbench.documenters.llm import documenter_prompt
from workbench.errors import UsageError
from workbench.models.types import Answer, Sampling, Usage
from workbench.repository.functions import find_functions

SOURCE = b'import os\n\nclass A:\n    def area(self, w):\n        """OLD DOC."""\n        return w * 2\n\ndef bare(x): return x\n'
AREA, BARE = find_functions(SOURCE, "m.py")


class Canned:
    """Answers with fixed text and keeps the requests."""

    def __init__(self, text):
        self.text = text
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        return Answer(self.text, request.model, Usage(1, 1), 0.0, 0.0, "stop")


@pytest.fixture
def context(tmp_path):
    (tmp_path / "m.py").write_bytes(SOURCE)
    return DocumentContext(tmp_path, scope="task-1")


async def test_original_and_none(context):
    original = await parse_documenter("original").document(AREA, SOURCE, context)
    assert (original.text, original.source) == ("OLD DOC.", "original")
    assert (await parse_documenter("original").document(BARE, SOURCE, context)).notes
    none = await parse_documenter("none").document(AREA, SOURCE, context)
    assert none.text is None
    assert none.digest != original.digest


async def test_a_model_writes_the_docstring_from_code_without_the_old_one(context):
    asker = Canned('```python\n"""Return twice the width.\n\nArgs:\n    w: The width.\n"""\n```')
    documenter = parse_documenter("llm:some/model:tag", asker=asker, sampling=Sampling(temperature=0.7))
    found = await documenter.document(AREA, SOURCE, context)
    assert found.text == "Return twice the width.\n\nArgs:\n    w: The width."
    assert found.source == documenter.name == "llm:some/model:tag"
    (request,) = asker.requests
    assert (request.model, request.purpose, request.scope) == ("some/model:tag", "documenter", "task-1")
    assert request.sampling.temperature == 0.7
    prompt = request.messages[0].content
    assert "return w * 2" in prompt
    assert "OLD DOC" not in prompt
    assert "import os" in prompt


async def test_a_docstring_that_copies_the_code_is_noted(context):
    source = b"def f(a, b):\n    total = a * b + 3\n    return round(total, 2)\n"
    (function,) = find_functions(source, "m.py")
    found = await parse_documenter("llm:m", asker=Canned("Does total = a * b + 3; return round(total, 2).")).document(
        function, source, context
    )
    assert any("carries the code" in note for note in found.notes)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Return it.", "Return it."),
        ('"""Return it."""', "Return it."),
        ("'''Return it.'''", "Return it."),
        ('Here is the docstring:\n\n"""Return it."""\n\nIt is good.', "Return it."),
        ("Sure, here it is:\n\nReturn it.", "Return it."),
        ('```python\ndef area(self, w):\n    """Return it."""\n    return w * 2\n```', "Return it."),
        ("```\nReturn it.\n```", "Return it."),
        ("<think>hm</think>Return it.", "Return it."),
        ('"""\n    Return it.\n\n    Args:\n        w: W.\n    """', "Return it.\n\nArgs:\n    w: W."),
        ("Return it.\n\nExample:\n\n```python\narea(2)\n```", "Return it.\n\nExample:\n\n```python\narea(2)\n```"),
        (r'"""Match \d+."""', r"Match \d+."),
        ('"Return it."', "Return it."),
    ],
)
def test_docstrings_are_extracted(answer, text):
    assert extract_docstring(answer, AREA)[0] == text


@pytest.mark.parametrize("answer", ["", "   ", "<think>never ends", '""""""', "x" * 20_000])
def test_answers_without_a_docstring_say_why(answer):
    text, notes = extract_docstring(answer, AREA)
    assert text is None
    assert notes


async def test_a_documented_copy(context, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "m.py").write_bytes(SOURCE.replace(b"OLD DOC.", b"New."))
    documenter = parse_documenter(f"folder:{copy}")
    assert (await documenter.document(AREA, SOURCE, context)).text == "New."
    missing = await documenter.document(BARE, SOURCE, context)
    assert (missing.text, missing.notes) == (None, ("the copy has no docstring here",))
    (copy / "m.py").write_bytes(SOURCE.replace(b"w * 2", b"w * 3"))
    refused = await parse_documenter(f"folder:{copy}").document(AREA, SOURCE, context)
    assert refused.text is None
    assert "refused" in refused.notes[0]


@pytest.mark.parametrize("text", ["", "llm:", "nothing", "folder:", "folder:/no/such/place", "llm:m"])
def test_unknown_doc_systems_are_refused_with_a_sentence(text):
    with pytest.raises(UsageError):
        parse_documenter(text)


def test_the_prompt_shows_one_line_functions():
    assert "def bare(x): return x" in documenter_prompt(SOURCE, BARE)[0].content
