"""Doc systems: original, none, a model, a documented copy."""

from __future__ import annotations

import asyncio

import pytest

from workbench.base.errors import UsageError
from workbench.documenters import Docstring, DocumentationFailed, make_doc_system, parse_docs
from workbench.documenters.doc_systems import document_file
from workbench.documenters.llm import extract_docstring
from workbench.models.types import Answer, Sampling, Usage
from workbench.repository import Snapshot
from workbench.repository.functions import find_functions
from workbench.session.identity import task_id

SOURCE = b'import os\n\nclass A:\n    def area(self, w):\n        """OLD DOC."""\n        return w * 2\n\ndef bare(x): return x\n'
AREA, BARE = find_functions(SOURCE, "m.py")
AREA_KEY, BARE_KEY = ("m.py", "A.area", 1), ("m.py", "bare", 1)


class Canned:
    """Answers with fixed text and keeps the requests."""

    def __init__(self, text, finish="stop"):
        self.text, self.finish = text, finish
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        return Answer(self.text, request.model, Usage(1, 1), 0.0, 0.0, self.finish)


@pytest.fixture
def snapshot(tmp_path):
    root = tmp_path / "pristine"
    root.mkdir()
    (root / "m.py").write_bytes(SOURCE)
    return Snapshot(root, "d" * 64, str(root), "", ())


async def prepared(docs, snapshot, **options):
    system = make_doc_system(docs, **options)
    await system.prepare(snapshot, lambda progress: None)
    return system


async def test_original_and_none(snapshot):
    original = await prepared("original", snapshot)
    assert (await original.docstring(*AREA_KEY)).text == "OLD DOC."
    assert (await original.docstring(*BARE_KEY)).notes
    with pytest.raises(DocumentationFailed, match=r"m.py has no function nobody \(occurrence 1\)"):
        await original.docstring("m.py", "nobody", 1)
    none = await (await prepared("none", snapshot)).docstring(*AREA_KEY)
    assert none.text is None
    assert none.digest != (await original.docstring(*AREA_KEY)).digest


async def test_a_replayed_model_is_asked_with_the_limit_of_the_recorded_one(snapshot):
    limits = []
    for docs, recorded in (("llm:local", ""), ("llm:replay:/a.session", "local"), ("llm:replay:/a.session", "a/b")):
        model_client = Canned('"""Twice."""')
        await (await prepared(docs, snapshot, model_client=model_client, sampled_as=recorded)).docstring(*AREA_KEY)
        limits.append(model_client.requests[0].sampling.max_tokens)
    assert limits == [256, 256, 4_096]


async def test_a_docstring_that_was_cut_at_the_token_limit_is_not_used_as_a_whole_one(snapshot):
    cut = Canned("Return twice the width. The width is a", "length")
    system = await prepared("llm:some/model", snapshot, model_client=cut)
    with pytest.raises(DocumentationFailed, match="cut at the limit of 4,096 tokens"):
        await system.docstring(*AREA_KEY)
    whole = await document_file(system, "m.py", SOURCE, asyncio.Semaphore())
    with pytest.raises(DocumentationFailed, match="cut"):
        whole.function(*AREA_KEY[1:])


async def test_the_embedded_model_stops_nowhere_so_what_is_whole_of_its_answer_is_used_and_counted(snapshot):
    system = await prepared(
        "llm:local", snapshot, model_client=Canned("Return twice the width. The width is a", "length")
    )
    assert system.summary == ""
    assert (await system.docstring(*AREA_KEY)).text == "Return twice the width."
    assert "1 of 1 answers were cut" in system.summary


async def test_a_model_writes_the_docstring_from_code_without_the_old_one(snapshot):
    model_client = Canned('```python\n"""Return twice the width.\n\nArgs:\n    w: The width.\n"""\n```')
    system = await prepared(
        "llm:some/model:tag", snapshot, model_client=model_client, sampling=Sampling(temperature=0.7)
    )
    assert system.needs_model
    assert model_client.requests == []
    found = await system.docstring(*AREA_KEY)
    assert found.text == "Return twice the width.\n\nArgs:\n    w: The width."
    assert system.name == "llm:some/model:tag"
    (request,) = model_client.requests
    # The scope of former versions: answers that a session has recorded are found again.
    scope = task_id("d" * 64, "m.py", "A.area", 1, "docs:llm:some/model:tag")
    assert (request.model, request.purpose, request.scope) == ("some/model:tag", "documenter", scope)
    assert request.sampling.temperature == 0.7
    prompt = request.messages[0].content
    assert "return w * 2" in prompt
    assert "OLD DOC" not in prompt
    assert "import os" in prompt


async def test_a_docstring_that_copies_the_code_is_noted(snapshot):
    (snapshot.root / "m.py").write_bytes(b"def f(a, b):\n    total = a * b + 3\n    return round(total, 2)\n")
    model_client = Canned("Does total = a * b + 3; return round(total, 2).")
    found = await (await prepared("llm:m", snapshot, model_client=model_client)).docstring("m.py", "f", 1)
    assert any("contains the code" in note for note in found.notes)


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


async def test_a_documented_copy(snapshot, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "m.py").write_bytes(SOURCE.replace(b"OLD DOC.", b"New."))
    system = await prepared(f"folder:{copy}", snapshot)
    assert await system.docstring(*AREA_KEY) == Docstring("New.")
    assert await system.docstring(*BARE_KEY) == Docstring(None, ("the copy has no docstring here",))
    (copy / "m.py").write_bytes(SOURCE.replace(b"w * 2", b"w * 3"))
    refused = await (await prepared(f"folder:{copy}", snapshot)).docstring(*AREA_KEY)
    assert refused.text is None
    assert "refused" in refused.notes[0]


async def test_a_documented_source_is_fetched_when_a_repository_is_prepared(home, snapshot, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "m.py").write_bytes(SOURCE.replace(b"OLD DOC.", b"New."))
    notes = []
    system = make_doc_system(f"source:{copy}")
    assert not (home / "cache").exists()
    await system.prepare(snapshot, lambda progress: notes.append(progress.note))
    assert notes == [f"fetching {copy}"]
    assert (await system.docstring(*AREA_KEY)).text == "New."


@pytest.mark.parametrize("text", ["", "llm:", "nothing", "folder:", "folder:/no/such/place", "llm:m", "a-b:C", "a:b:C"])
def test_unknown_doc_systems_are_refused_with_a_sentence(text):
    with pytest.raises(UsageError):
        make_doc_system(text)


@pytest.mark.parametrize(
    ("text", "kind", "rest"),
    [
        ("original", "original", ""),
        (" none ", "none", ""),
        ("llm:openai/gpt-4o", "llm", "openai/gpt-4o"),
        ("llm:replay:x", "llm", "replay:x"),
        ("llm:Model", "llm", "Model"),
        ("folder:Docs", "folder", "Docs"),
        ("source:radicli==0.0.25", "source", "radicli==0.0.25"),
        ("my_package.docs:Writer", "extension", "my_package.docs:Writer"),
        ("originals:Writer", "extension", "originals:Writer"),
    ],
)
def test_a_name_is_read_in_one_place(text, kind, rest):
    docs = parse_docs(text)
    assert (docs.kind, docs.rest) == (kind, rest)
    assert docs.text == text.strip()
