"""``regenerate --docs command:…``: another program's docstrings from the command line to the prompts, requests and all."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest

from workbench.cli import main
from workbench.session import SessionReader

pytestmark = [pytest.mark.slow, pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("needs_bubblewrap")]

PROGRAM = """
import ast, json, os, pathlib, sys, urllib.request
def said(name):
    body = json.dumps({"model": "a-name-of-its-own", "messages": [{"role": "user", "content": "Document " + name}]}).encode()
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    with urllib.request.urlopen(urllib.request.Request(sys.argv[2] + "/chat/completions", body, headers)) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]
path = pathlib.Path(sys.argv[1], "sums.py")
tree = ast.parse(path.read_text())
for node in tree.body:
    if isinstance(node, ast.FunctionDef):
        node.body[0] = ast.Expr(ast.Constant(said(node.name)))
path.write_text(ast.unparse(tree))
"""


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_program_from_the_order_to_the_prompts(repository, scripted, home, tmp_path, capsys):
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "mydoc.py").write_text(PROGRAM)
    scripted.answer = lambda body: f"{body['messages'][0]['content']}!"  # type: ignore[index]
    docs = f"command:python {tmp_path}/tool/mydoc.py {{folder}} {{base_url}} {{model=openai/doc-model}}"
    order = ["regenerate", repository, "--docs", docs, "--evaluator", "reference", "--session", "demo", "--json"]
    assert main(order) == 0
    printed = lines(capsys)
    assert (printed[-1]["docs"], printed[-1]["pass_at_k"]["1"]) == (docs, 1.0)
    told = [line["note"] for line in printed if line["type"] == "stage" and line["name"] == "documentation"]
    assert told[-1].startswith("4 of "), told
    assert " · 4 requests · " in told[-1]
    session = home / "data" / "sessions" / "demo.session"
    with SessionReader(session) as reader:
        tasks = reader.tasks(reader.runs()[0].id)
        texts = {task.qualified_name: reader.text(task.docstring_blob) for task in tasks if task.docstring_blob}
        assert texts == {name: f"Document {name}!" for name in ("add", "clamp", "shout")}
    with sqlite3.connect(session) as connection:
        calls = connection.execute(
            "SELECT purpose, model, source, count(*), count(DISTINCT scope) FROM calls"
        ).fetchall()
    assert calls == [("documenter", "openai/doc-model", "live", 4, 1)]
    assert {seen.body["model"] for seen in scripted.seen} == {"doc-model"}

    # Its recorded answers again, by a program that is run anew, and no model is asked.
    asked = len(scripted.seen)
    replayed = docs.replace("openai/doc-model", "replay:demo")
    assert main([*order[:3], replayed, *order[4:7], "again", "--json"]) == 0
    assert lines(capsys)[-1]["docs"] == docs.replace("openai/doc-model", f"replay:{session.resolve()}")
    assert len(scripted.seen) == asked
    with sqlite3.connect(home / "data" / "sessions" / "again.session") as connection:
        assert connection.execute("SELECT source, count(*) FROM calls").fetchall() == [("replay", 4)]
