"""From recorded calls to tasks: parameters, reference answers, and forms of commands."""

from dataclasses import replace
from typing import Any

import pytest

from workbench.usage.public_names import PublicNames
from workbench.usage.recorded_calls import tasks_of_calls
from workbench.usage.statements import statement
from workbench.usage.tasks import UsageTask

SOURCE = """
import argparse
def slugify(text, sep='-', lower=True): ...
def answer(a): ...
def join(first, *parts, sep=' '): ...
class Table:
    def __init__(self, rows=(), width=80): ...
    def add(self, row): ...
    @classmethod
    def of(cls, text): ...
def main():
    commands = argparse.ArgumentParser().add_subparsers()
    count = commands.add_parser('count')
    count.add_argument('file')
    count.add_argument('--top', type=int)
    count.add_argument('-v', action='store_true')
"""


@pytest.fixture
def names(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(SOURCE)
    (tmp_path / "pkg/__main__.py").write_text("from pkg import main\nmain()\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "pkg"\n[project.scripts]\ntool = "pkg:main"\n')
    return PublicNames(tmp_path)


def parameter(name: str, default: str | None = None, kind: str = "positional") -> dict[str, Any]:
    return {"name": name, "kind": kind, "default": default}


def entry(name: str, parameters, calls, **more) -> dict[str, Any]:
    recorded = [
        {"inputs": list(inputs), "self": own, "result": result, "test": "t"} for inputs, own, result in calls
    ]  # fmt: skip
    return {
        "kind": "function", "module": "pkg", "qualname": name, "path": "pkg/__init__.py", "line": 3,
        "parameters": parameters, "constructor": None, "calls": recorded, "unliteral": {}, **more,
    }  # fmt: skip


def one_task(names, recorded) -> UsageTask:
    [task], dropped = tasks_of_calls({"callables": [recorded]}, names)
    assert not dropped
    return task


TEXT, SEP, LOWER = parameter("text"), parameter("sep", "'-'"), parameter("lower", "True")


@pytest.mark.parametrize(
    ("inputs", "answer"),
    [
        ([("'a'", "'-'", "True"), ("'b'", "'-'", "True"), ("'c'", "'-'", "True")], "answer(a):\n    return slugify(a)"),
        ([("'a'", "'_'", "True"), ("'b'", "'-'", "True"), ("'c'", "'-'", "True")], "answer(a, b):\n    return "
            "slugify(a, b)"),
        ([("'a'", "'-'", "True"), ("'b'", "'-'", "False"), ("'c'", "'-'", "True")],
         "answer(a, b):\n    return slugify(a, lower=b)"),
    ],
)  # fmt: skip
def test_parameters_that_always_have_their_default_are_left_out(names, inputs, answer):
    calls = [(texts, None, str(number)) for number, texts in enumerate(inputs)]
    task = one_task(names, entry("slugify", [TEXT, SEP, LOWER], calls))
    assert task.target.reference == f"from pkg import slugify\n\n\ndef {answer}\n"
    assert all(len(call.inputs) == len(task.parameters) for call in task.hidden)
    assert (task.id, task.target.name) == ("pkg/__init__.py::pkg.slugify", "pkg.slugify")


def test_calls_that_set_a_rarely_set_parameter_are_left_out_if_enough_others_remain(names):
    usual = [((f"'{letter}'", "'-'", "True"), None, letter) for letter in "abcdefg"]
    rare = [(("'x'", "'_'", "True"), None, "x"), (("'y'", "'-'", "False"), None, "y")]
    task = one_task(names, entry("slugify", [TEXT, SEP, LOWER], [*usual, *rare]))
    assert (task.parameters, len(task.hidden)) == (("a",), 7)
    task = one_task(names, entry("slugify", [TEXT, SEP, LOWER], [*usual[:3], *rare]))
    assert (task.parameters, len(task.hidden)) == (("a", "b", "c"), 5)


def test_variadic_parameters_are_one_input_that_is_unpacked(names):
    declared = [parameter("first"), parameter("parts", None, "variadic"), parameter("sep", "' '", "keyword")]
    calls = [
        (("'a'", "('b',)", "'x'"), None, "1"),
        (("'a'", "()", "' '"), None, "2"),
        (("'b'", "()", "' '"), None, "3"),
    ]
    task = one_task(names, entry("join", declared, calls))
    assert "return join(a, *b, sep=c)" in task.target.reference


def test_a_variadic_parameter_that_is_never_used_is_left_out(names):
    declared = [parameter("first"), parameter("parts", None, "variadic")]
    task = one_task(names, entry("join", declared, [((f"'{each}'", "()"), None, f"'{each}'") for each in "abc"]))
    assert "return join(a)" in task.target.reference


def test_methods_construct_their_object_first(names):
    made = [parameter("rows", "()"), parameter("width", "80")]
    calls = [((str(number),), ["()", str(70 + number)], str(number)) for number in range(3)]
    recorded = entry("Table.add", [parameter("row")], calls, kind="method", constructor=made)
    task = one_task(names, recorded)
    assert task.target.reference == "from pkg import Table\n\n\ndef answer(a, b):\n    return Table(width=a).add(b)\n"
    assert task.hidden[1].inputs == ("71", "1")
    of = entry("Table.of", [parameter("text")], [((f"'{each}'",), None, f"'{each}'") for each in "abc"])
    assert "return Table.of(a)" in one_task(names, of).target.reference


def test_a_function_with_the_name_of_the_answer_is_not_the_answer(names):
    task = one_task(names, entry("answer", [parameter("a")], [((str(n),), None, str(n + 1)) for n in range(3)]))
    space: dict[str, Any] = {}
    exec(
        task.target.reference.replace(
            "from pkg import answer as", "import math; math.answer = lambda n: n + 1\nfrom math import answer as"
        ),
        space,
    )
    assert space["answer"](1) == 2


@pytest.mark.parametrize(
    ("calls", "unliteral", "stage"),
    [
        ([], {"an object of type Row": 2}, "literal"),
        ([(("1",), None, "1"), (("2",), None, "2")], {}, "calls"),
        ([(("1",), None, "1"), (("1",), None, "1"), (("2",), None, "2")], {}, "calls"),
        ([((str(number),), None, "1") for number in range(4)], {}, "results"),
    ],
)
def test_what_is_no_task_has_a_stage_and_a_reason(names, calls, unliteral, stage):
    tasks, [dropped] = tasks_of_calls(
        {"callables": [entry("answer", [parameter("a")], calls, unliteral=unliteral)]}, names
    )
    assert not tasks
    assert dropped.stage == stage
    assert dropped.reason.endswith(".")


def command(*argv: str, program: str = "tool", stdin: str = "", **files: str) -> dict[str, Any]:
    texts = {name.replace("_", "."): text for name, text in files.items()}
    return {"program": program, "argv": list(argv), "files": texts, "stdin": stdin, "test": "t"}


def commands(names, *entries) -> dict[str, UsageTask]:
    tasks, _ = tasks_of_calls({"commands": entries}, names)
    return {task.target.name: task for task in tasks}


def test_values_that_vary_are_inputs_and_a_script_is_the_same_program_as_its_module(names):
    found = commands(
        names,
        command("count", "--top", "2", "a.txt", a_txt="x y"),
        command("count", "--top", "3", "b.txt", b_txt="x"),
        command("count", "--top", "3", "b.txt", b_txt="z", program="python -m pkg"),
    )
    task = found["tool count --top N FILE"]
    assert task.target.reference == 'tool count --top "$1" "$2"'
    assert task.target.words == ("count", "--top")
    assert task.hidden[0].inputs == ("'2'", "'a.txt'")
    assert task.hidden[0].files == {"a.txt": "x y"}
    assert (task.target.path, task.package) == ("pkg/__init__.py", "tool")


def test_values_that_are_always_the_same_are_inputs(names):
    found = commands(names, *(command("count", "--by=word", "a.txt", a_txt=text) for text in ("x", "y", "z")))
    assert found["tool count --by=TEXT FILE"].target.reference == 'tool count --by="$1" "$2"'


def test_forms_with_few_calls_get_the_inputs_of_others(names):
    found = commands(
        names,
        command("count", "-v", "a.txt", a_txt="x"),
        command("count", "b.txt", b_txt="y"),
        command("count", "c.txt", c_txt="z"),
    )
    task = found["tool count -v FILE"]
    assert {call.files["a.txt"] for call in task.hidden} > {"x", "y", "z"}


def test_arguments_that_a_shell_would_read_are_quoted(names):
    [task] = commands(names, *(command("--$HOME;ls", "--", "a b", stdin=text) for text in ("x", "y", "z"))).values()
    assert task.target.reference == "tool '--$HOME;ls' -- \"$1\""
    assert {call.inputs for call in task.hidden} == {("'a b'",)}
    assert task.target.name.endswith("< INPUT")


def test_the_statement_names_the_package_and_shows_two_calls(names):
    calls = [((f"'{each}'",), None, f"'{each * 2}'") for each in "abc"]
    task = one_task(names, entry("slugify", [TEXT], calls))
    text = statement(replace(task, shown=task.hidden[:2], hidden=task.hidden[2:]))
    assert "`pkg`" in text
    assert "answer('a') == 'aa'" in text
    assert "answer('b') == 'bb'" in text
    assert "'c'" not in text
    assert "slugify" not in text
