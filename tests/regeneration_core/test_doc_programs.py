"""Other people's programs as doc systems: tiny programs that do what real ones do, well and badly, in a real sandbox."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from pathlib import Path

import pytest

from workbench.base.errors import UsageError
from workbench.documenters import DocumentationFailed, make_doc_system, parse_docs
from workbench.interop.doc_programs.command import CommandAdapter, resolve_command
from workbench.interop.doc_programs.program import DocProgram
from workbench.interop.doc_programs.programs import RepoAgent
from workbench.models.types import Answer, MissingKey, SpendLimit, Usage
from workbench.repository import Snapshot
from workbench.repository.tree import FileEntry
from workbench.sandbox.program import ProgramLimits

SOURCE = '''import os

class Shape:
    def area(self, w):
        """Old words."""
        return w * 2

def bare(x):
    return x
'''
OTHER = "def other():\n    return 3\n"
#: A program that documents every function of its folder with what the model says, or with its name.
WELL = """
import ast, json, os, pathlib, sys, urllib.request
def said(name):
    if "--ask" not in sys.argv:
        return f"Doc of {name}."
    body = json.dumps({"model": os.environ["OPENAI_MODEL"], "messages": [{"role": "user", "content": name}]}).encode()
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node):
                del node.body[0]
            node.body.insert(0, ast.Expr(ast.Constant(said(node.name))))
    path.write_text(ast.unparse(tree))
    print("documented", path.name, flush=True)
"""


class Model:
    """Answers in capitals, remembers what it was asked as a session does, or raises."""

    def __init__(self, error=None, after=10**6):
        self.asked = []
        self.known = {}
        self.error = error
        self.after = after

    async def complete(self, request):
        if request.digest in self.known:
            return Answer(self.known[request.digest], "m", Usage(1, 1), 0.0, 0.0, "stop", source="recorded")
        if self.error and len(self.asked) >= self.after:
            raise self.error
        self.asked.append(request)
        self.known[request.digest] = request.messages[-1].content.upper()
        return Answer(self.known[request.digest], "m", Usage(10, 2), 0.5, 0.0, "stop")


@pytest.fixture
def snapshot(tmp_path):
    root = tmp_path / "pristine"
    (root / "pack").mkdir(parents=True)
    (root / "m.py").write_text(SOURCE)
    (root / "pack" / "o.py").write_text(OTHER)
    files = (FileEntry("m.py", len(SOURCE)), FileEntry("pack/o.py", len(OTHER)))
    return Snapshot(root, "d" * 64, str(root), "", files)


@pytest.fixture
def program(tmp_path, home, needs_bubblewrap):
    """Make a doc system of a script."""

    def make(script, words="{folder}", model_client=None, **limits):
        file = tmp_path / "scripts" / "mydoc.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(script)
        return DocProgram(CommandAdapter(f"python {file} {words}"), model_client, ProgramLimits(**limits))

    return make


async def run(system, snapshot):
    told = []
    await system.prepare(snapshot, told.append)
    return told


async def sentence(system, snapshot):
    with pytest.raises(DocumentationFailed) as failed:
        await run(system, snapshot)
    words = str(failed.value)
    assert "\n" not in words
    assert "Traceback" not in words
    return words


async def texts(system):
    found = {}
    for path, name in (("m.py", "Shape.area"), ("m.py", "bare"), ("pack/o.py", "other")):
        found[name] = (await system.docstring(path, name, 1)).text
    return found


async def test_a_program_documents_a_copy_once_and_the_repository_stays_as_it_is(program, snapshot):
    system = program(WELL)
    told = await run(system, snapshot)
    assert await texts(system) == {"Shape.area": "Doc of area.", "bare": "Doc of bare.", "other": "Doc of other."}
    shape = await system.other_docstring("m.py", "class", "Shape", 1)
    assert shape.text is None
    assert "wrote nothing here" in shape.notes[0]
    assert (snapshot.root / "m.py").read_text() == SOURCE
    assert system.summary.startswith("3 of 3 functions documented · 0 requests")
    assert told[-1].note == system.summary
    # Kept: a second one, and one in another session, takes what is there.
    again = program(WELL)
    began = time.monotonic()
    await run(again, snapshot)
    assert await texts(again) == await texts(system)
    assert again.summary == system.summary
    assert time.monotonic() - began < 5
    # A script with another content is another program.
    other = program(WELL.replace("Doc of", "Text on"))
    await run(other, snapshot)
    assert (await texts(other))["bare"] == "Text on bare."


async def test_its_requests_go_through_the_gateway_and_a_second_start_asks_nothing_twice(program, snapshot):
    model = Model(SpendLimit("The run has spent its two dollars."), after=2)
    system = program(WELL, "{folder} --ask {model=openai/m}", model)
    assert system.needs_model
    with pytest.raises(SpendLimit, match="two dollars"):
        await run(system, snapshot)
    assert len(model.asked) == 2
    model.error = None
    await run(system, snapshot)
    assert [each.messages[-1].content for each in model.asked] == ["area", "bare", "other"] or len(model.asked) == 3
    assert {each.model for each in model.asked} == {"openai/m"}
    assert {each.purpose for each in model.asked} == {"documenter"}
    assert len({each.scope for each in model.asked}) == 1
    assert await texts(system) == {"Shape.area": "AREA", "bare": "BARE", "other": "OTHER"}
    # What the first two cost was paid before; they are counted as requests all the same.
    assert "3 requests" in system.summary


async def test_what_cannot_succeed_ends_the_program_at_once(program, snapshot):
    endless = WELL + "\nimport time\ntime.sleep(600)\n"
    careless = endless.replace("return json.load(answer)", "return 1").replace(
        "def said(name):",
        "def said(name):\n  try:\n    return ask(name)\n  except Exception:\n    return 'x'\ndef ask(name):",
    )
    system = program(
        careless, "{folder} --ask {model=openai/m}", Model(MissingKey("There is no key.", permanent=True), 0)
    )
    with pytest.raises(MissingKey, match="no key"):
        await run(system, snapshot)


async def test_its_only_network_is_the_endpoint_and_its_only_folder_the_copy(program, snapshot, tmp_path):
    secret = tmp_path / "home-of-the-user"
    secret.mkdir()
    (secret / "key.txt").write_text("sk-secret")
    listening = socket.create_server(("127.0.0.1", 0))
    script = (
        WELL
        + f"""
import socket
found = []
for address in (("10.0.0.1", 80), ("127.0.0.1", 22), ("127.0.0.1", {listening.getsockname()[1]})):
    try:
        socket.create_connection(address, 1); found.append(str(address))
    except OSError: pass
for place in ({str(secret)!r} + "/key.txt", "/etc/shadow", "/etc/passwd"):
    try:
        found.append(open(place).read()[:40])
    except OSError: pass
for place in ("/usr/x", {str(snapshot.root)!r} + "/m.py", __file__):
    try:
        open(place, "a").write("#"); found.append("wrote " + place)
    except OSError: pass
found += [name for name in os.environ if name not in ("PATH", "HOME", "TMPDIR", "LANG", "TZ", "PWD") and not name.startswith(("PYTHON", "GIT_", "OPENAI_"))]
(pathlib.Path(sys.argv[1]) / "m.py").write_text('"' * 3 + "|".join(found) + '"' * 3 + chr(10) + (pathlib.Path(sys.argv[1]) / "m.py").read_text())
"""
    )
    system = program(script)
    await run(system, snapshot)
    listening.close()
    assert (await system.other_docstring("m.py", "module", "", 1)).text is None, "it reached something"
    assert (await system.docstring("m.py", "bare", 1)).text == "Doc of bare."


@pytest.mark.parametrize(
    ("script", "limits", "words"),
    [
        ("raise ValueError('my fault')", {}, "exited with status 1: ValueError: my fault. Its output is in "),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", {}, "exited with status 137: it printed nothing"),
        ("import os, time\nos.fork()\nos.setsid() if 0 else 0\ntime.sleep(600)", {"seconds": 0.6}, "did not finish within 0.6 s"),
        ("while True: print('x' * 10000)", {"output_mb": 1}, "printed more than 1 MiB"),
        ("import sys; f = open(sys.argv[1] + '/big', 'wb')\nwhile True: f.write(bytes(2**20)); f.flush()",
         {"disk_mb": 8}, "wrote more than 8 MiB into its folder"),
        ("print('I am done')", {}, "exited without writing a docstring; its last output: I am done."),
        ("import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)", {},
         "2 of its files were rejected, m.py: the documented copy does not have this file"),
        (WELL.replace('node.body.insert', 'node.name += "_"; node.body.insert'), {},
         "m.py: the code differs apart from docstrings, first at area_"),
        (WELL.replace("path.write_text(", "path.write_text('x = (' + "), {}, "m.py: the documented file does not parse"),
    ],
    ids=["crash", "killed", "children", "flood", "disk", "nothing", "deletes", "renames", "breaks"],
)  # fmt: skip
async def test_what_goes_wrong_is_one_sentence(program, snapshot, script, limits, words):
    assert words in await sentence(program(script, **limits), snapshot)


async def test_what_was_edited_is_left_out_and_counted_and_the_rest_of_its_file_is_not(program, snapshot):
    # m.py: a statement is added and the body of bare edited; o.py: its only function is renamed.
    script = WELL.replace(
        "path.write_text(ast.unparse(tree))",
        "text = ast.unparse(tree)\n"
        "    text = text.replace('return x', 'return [x]') + chr(10) + 'y = 1' if path.name == 'm.py' else text.replace('other', 'another')\n"
        "    path.write_text(text)",
    )
    system = program(script)
    await run(system, snapshot)
    assert await texts(system) == {"Shape.area": "Doc of area.", "bare": None, "other": None}
    for path, name, why in (("m.py", "bare", "its code was edited"), ("pack/o.py", "other", "the code differs")):
        assert (await system.docstring(path, name, 1)).notes[0].startswith(f"refused: {why}")
    assert "1 file left out because its code was edited" in system.summary
    assert "2 definitions left out because their code was edited" in system.summary, "the module and bare"
    again = program(script)
    await run(again, snapshot)
    assert (await again.docstring("m.py", "bare", 1)).notes == (await system.docstring("m.py", "bare", 1)).notes


async def test_a_program_that_asks_a_model_though_none_was_named(program, snapshot):
    words = await sentence(program(WELL, "{folder} --ask"), snapshot)
    assert words.startswith("The command python exited with status 1: ")
    # One that goes on regardless and writes nothing is told by its requests.
    careless = (
        WELL.replace("path.write_text", "str")
        .replace("return json.load(answer)", "return json.load(answer)")
        .replace("for path in", "try: said('x')\nexcept Exception: pass\nsys.argv.remove('--ask')\nfor path in")
    )
    words = await sentence(program(careless, "{folder} --ask"), snapshot)
    assert words.endswith("1 of its requests failed, the first: it called a model, but none was configured for it.")


async def test_cancelled_in_the_midst_it_leaves_no_process_behind(program, snapshot, tmp_path):
    system = program("import time\nprint('began', flush=True)\ntime.sleep(600)")
    began = asyncio.Event()
    work = asyncio.create_task(system.prepare(snapshot, lambda step: began.set() if "began" in step.note else None))
    await asyncio.wait_for(began.wait(), 30)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    alive = [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path).encode() in _read(p)]
    assert alive == []


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


async def test_without_a_sandbox_it_must_have_been_asked_for(program, snapshot, monkeypatch, tmp_path):
    system = program(WELL)
    monkeypatch.setattr("workbench.sandbox.program.problem", lambda: "bubblewrap is not installed.")
    words = await sentence(system, snapshot)
    assert words.endswith("bubblewrap is not installed. With --sandbox process it runs without a sandbox.")
    model = Model()
    open_ = DocProgram(
        CommandAdapter(f"python {tmp_path}/scripts/mydoc.py {{folder}} --ask {{model=openai/m}}"), model, confined=False
    )
    await run(open_, snapshot)
    assert (await texts(open_))["bare"] == "BARE"
    assert len(model.asked) == 3


# -- names


def test_a_command_is_written_out(tmp_path, monkeypatch):
    (tmp_path / "my doc.py").write_text("")
    monkeypatch.chdir(tmp_path)
    text = resolve_command("A=1 python 'my doc.py' {folder} --m {model}", "openai/m")
    assert text == f"A=1 python '{tmp_path}/my doc.py' {{folder}} --m {{model=openai/m}}"
    assert resolve_command(text, "other") == text
    command = CommandAdapter(text)
    assert command.model == "openai/m"
    assert command.name == f"command:{text}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A=1", "needs a program"),
        ("python 'x", "cannot be read"),
        ("python {fodler}", r"unknown placeholder \{fodler\}"),
        ("no-such-program-here {folder}", "There is no program 'no-such-program-here'"),
        ("python {model=a} {model=b}", "names 2 models: a, b"),
    ],
)
def test_what_is_no_command(text, words):
    with pytest.raises(UsageError, match=words):
        CommandAdapter(resolve_command(text, "m"))


def test_a_program_that_is_not_installed(home):
    def written_out(text):
        return RepoAgent.resolved(parse_docs(text), "m")

    with pytest.raises(
        UsageError, match="RepoAgent 0.2.0 is not installed; `workbench docs install repoagent` installs it"
    ):
        written_out("repoagent:local")
    with pytest.raises(UsageError, match=r"RepoAgent 9.9 is not installed \(this workbench installs 0.2.0\)"):
        written_out("repoagent-9.9:local")
    with pytest.raises(UsageError, match="needs a model, which only a run provides"):
        make_doc_system("repoagent:local")


# -- what RepoAgent and OSA leave


def test_a_record_of_repoagent_is_read_by_line_and_name(snapshot, tmp_path):
    record = tmp_path / "area" / "repository" / ".project_doc_record" / "project_hierarchy.json"
    record.parent.mkdir(parents=True)
    items = [
        {"type": "ClassDef", "name": "Shape", "code_start_line": 3, "md_content": ["first", "**Shape**: newest\n"]},
        {"type": "FunctionDef", "name": "area", "code_start_line": 4, "md_content": ["about area"]},
        {"type": "FunctionDef", "name": "bare", "code_start_line": 8, "md_content": []},
        {"type": "FunctionDef", "name": "gone", "code_start_line": 99, "md_content": ["x"]},
    ]
    record.write_text(json.dumps({"m.py": items, "pack/o.py": "odd"}))
    agent = RepoAgent("local", "0.2.0")
    written = agent.read(snapshot.root, tmp_path / "area", ["m.py", "pack/o.py"])
    found = {(path, key.kind, key.qualified_name): text for (path, key), text in written.texts.items()}
    assert found == {("m.py", "class", "Shape"): "**Shape**: newest", ("m.py", "function", "Shape.area"): "about area"}
    record.write_text("{")
    with pytest.raises(DocumentationFailed, match="left no readable record"):
        agent.read(snapshot.root, tmp_path / "area", ["m.py"])


def test_settings_of_osa_have_no_other_models():
    from workbench.interop.doc_programs.programs import _without_fallbacks

    changed = _without_fallbacks('[llm]\nfallback_models = ["a", "b"]\nrate_limit = 10\n')
    assert changed == "[llm]\nfallback_models = []\nrate_limit = 10\n"
    for odd in ("[llm]\nrate_limit = 1\n", 'fallback_models = [\n"a"]\n'):
        with pytest.raises(DocumentationFailed, match="no list fallback_models"):
            _without_fallbacks(odd)


async def test_the_examples_of_the_page(home, needs_bubblewrap, snapshot, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "guides" / "doc-systems.md").read_text()
    found = dict(re.findall(r"^```python title=(\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
    for title, code in found.items():
        (tmp_path / title).write_text(code)
    command = make_doc_system(f"command:python {tmp_path}/mydoc.py {{folder}}")
    await run(command, snapshot)
    assert await texts(command) == {"Shape.area": "Old words.", "bare": "Bare.", "other": "Other."}
    adapted = make_doc_system("textdoc:System", folders=[str(tmp_path)])
    assert adapted.name == "textdoc:System"
    await run(adapted, snapshot)
    assert await texts(adapted) == {"Shape.area": "Does area.", "bare": "Does bare.", "other": "Does other."}
    assert adapted.summary.startswith("3 of 3 functions documented")


# -- the real ones
