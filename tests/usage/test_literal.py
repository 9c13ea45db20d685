"""The reader that needs no model: what it finds on real and made pages, executed."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from running_probes import WORD_COUNTER, function_task, import_package, read_function, run_command, run_function

from workbench.sandbox.workbench_runner.values import encode
from workbench.usage import controls
from workbench.usage.literal import MOST_CALLS, MOST_COMMANDS, candidates, why_none
from workbench.usage.probing import chosen, probe
from workbench.usage.tasks import Call, CallTarget, UsageTask

PKG = """
import time
from datetime import date

def slug(text, separator="-", *, upper=False):
    text = separator.join(text.split())
    return text.upper() if upper else text

def cut(width, text): return text[:width]
def days(since, until): return (until - since).days
def total(*numbers): return sum(numbers)
def slow(text): time.sleep(30)
def leave(text): raise SystemExit(text)
def ask(text): return input(text)
def same(text): return Anything()
def noise(text): print(text); return text + "!"

class Anything:
    def __eq__(self, other): return True

class Table:
    def __init__(self, title, width=10): self.title, self.rows, self.width = title, [], width
    def add(self, row): self.rows.append(row); return self
    def render(self): return f"{self.title}: " + ", ".join(map(str, self.rows))
    def fit(self, text): return text[: self.width]
    @classmethod
    def read(cls, text): return cls(*text.split("|"))

class Size(int):
    pass

class Pack:
    def __init__(self, *parts): self.parts = parts
    def joined(self, sep): return sep.join(self.parts)
"""


@pytest.fixture(autouse=True)
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import_package(PKG, tmp_path, monkeypatch)


SLUG = function_task("pkg.slug", [(("a b",), "a-b"), (("c d e",), "c-d-e")])
UPPER = function_task("pkg.slug", [(("a b", "_"), "A_B"), (("c", "+"), "C")])
CUT = function_task("pkg.cut", [(("abc", 2), "ab"), (("xyz", 1), "x")])  # the inputs in another order
DAYS = function_task(
    "pkg.days", [((datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)), 2), ((datetime.date(2020, 1, 1),) * 2, 0)]
)
TOTAL = function_task("pkg.total", [(((1, 2, 3),), 6), (((),), 0)])
RENDER = function_task("pkg.Table.render", [(("A", 1), "A: 1"), (("B", 2), "B: 2")], kind="method")
FIT = function_task("pkg.Table.fit", [(("T", 2, "abc"), "ab"), (("T", 1, "abc"), "a")], kind="method")
PACK = function_task("pkg.Pack.joined", [((("a", "b"), "-"), "a-b"), ((("c",), ""), "c")], kind="method")
READ = function_task("pkg.Table.fit", [(("T", "x" * 12), "x" * 10), (("T", "ab"), "ab")], kind="method")


@pytest.mark.parametrize(
    ("page", "task", "line"),
    [
        ("`slug`", SLUG, 1),
        ("`pkg.slug(text)`", SLUG, 1),
        ("```python\nimport pkg as p\np.slug('x y')\n```", SLUG, 3),
        ("```python\nfrom pkg import *\nprint(slug('x y'))\n```", SLUG, 3),
        ("```python\ntext = 'x y'\nresult = pkg.slug(text)\n```", SLUG, 3),
        ("```pycon\n>>> pkg.slug('x y', separator='_', upper=True)\n'X_Y'\n```", UPPER, 2),
        ("`slug(text, separator=sign, upper=True)`", UPPER, 1),
        ("`cut(3, 'text')`", CUT, 1),
        ("`Pack` has `.joined(sep)`", PACK, 1),
        ("`cut`", CUT, 1),
        ("```python\nimport datetime as d\nfrom pkg import days\ndays(d.date(2001, 2, 3), d.date.today())\n```", DAYS, 4),
        ("`total(1, 2, 3)`", TOTAL, 1),
        ("```python\nfrom pkg import Table\nt = Table('x')\nt.add(5)\nt.render()\n```", RENDER, 5),
        ("```python\nfrom pkg import Table\nTable('x').add(5).render()\n```", RENDER, 3),
        ("```python\nfrom pkg import Table\nt = Table('x', 3)\nprint(t.fit('text'))\n```", FIT, 4),
        ("A `Table` has `Table.fit(text)`.", FIT, 1),
        ("A `Table` has a method `.fit(text)`.", FIT, 1),
        ("A `Table` has a method `fit()`.", READ, None),
    ],
)  # fmt: skip
def test_it_finds_calls_in_the_form_of_the_page(page: str, task: UsageTask, line: int | None) -> None:
    found = read_function(page, task)

    assert (found and found.line) == line
    if found:
        assert f"Line {line} " in found.why
        for call in task.shown:
            assert encode(run_function(found.answer_text, [eval(text) for text in call.inputs])) == call.expected


@pytest.mark.parametrize(
    "page", ["It can slug() a text.", "# slug\n", "`cut`", "`noslug`", "", "```\npip install pkg\n```"]
)
def test_it_finds_nothing_that_the_page_does_not_name_in_code(page: str) -> None:
    assert read_function(page, SLUG) is None
    assert why_none(page, candidates(page, SLUG), SLUG)


def test_candidates_that_hang_leave_ask_print_or_equal_everything_do_no_harm(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = "`slow` `leave` `ask` `same` `noise` `slug`"

    assert read_function(page, SLUG) is not None
    noisy = read_function(page, function_task("pkg.noise", [(("a",), "a!"), (("b",), "b!")]))
    assert noisy is not None
    assert noisy.answer_text.endswith("return noise(a)\n")
    assert capsys.readouterr().out == ""


def test_the_number_of_attempts_is_bounded_and_their_order_is_the_same_every_time() -> None:
    page = "\n\n".join(f"`f{number}({number}, x={number}, y={number})` `--option-{number} N`" for number in range(200))
    command = UsageTask("x", CallTarget("command", "x", "pkg.py", 1), "pkg", ("$1",), SLUG.shown, ())

    assert len(candidates(page, SLUG)) == MOST_CALLS
    assert len(candidates(page, command)) == MOST_COMMANDS
    assert candidates(page, SLUG) == candidates(page, SLUG)


# -- word_counter, by its README

README = (WORD_COUNTER / "ground_truth" / "README.md").read_text()


@pytest.mark.parametrize(
    ("name", "pairs", "line"),
    [
        ("count_lines", [(("a\nb\n",), 2), (("",), 0)], 79),
        ("average_word_length", [(("a bb",), 1.5), (("a",), 1.0)], 80),
        ("unique_words", [(("B a b",), {"a", "b"}), (("c",), {"c"})], 80),
        ("percentage", [((1, 3), 33.3), ((1, 2), 50.0)], None),
        ("is_blank", [((" ",), True), (("a",), False)], None),
    ],
)
def test_functions_of_word_counter(
    name: str, pairs: list[tuple[tuple[object, ...], object]], line: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(WORD_COUNTER / "repository")

    found = read_function(README, function_task(f"word_counter.{name}", pairs, package="word_counter"))

    assert (found and found.line) == line


def command_task(*calls: tuple[tuple[str, ...], dict[str, str], str, str]) -> UsageTask:
    shown = tuple(
        Call(tuple(map(encode, inputs)), encode({"exit": 0, "stdout": stdout}), files, stdin)
        for inputs, files, stdin, stdout in calls
    )
    letters = tuple(f"${number}" for number in range(1, len(calls[0][0]) + 1))
    return UsageTask(
        "x", CallTarget("command", "x", "word_counter.py", 1), "python -m word_counter", letters, shown, ()
    )


TEXT = {"a.txt": "one two two\n\nthree\n"}
OTHER = {"b.txt": "x y\nx w\n"}
LINES = command_task((("a.txt",), TEXT, "", "3 a.txt\n"), (("b.txt",), OTHER, "", "2 b.txt\n"))


@pytest.mark.parametrize(
    ("page", "task", "answer"),
    [
        (README, LINES, '--lines "$1"'),
        (README, command_task(((), {}, "a b\n", "1 2 4\n"), ((), {}, "c", "0 1 1\n")), ""),
        (
            README,
            command_task((("2", "a.txt"), TEXT, "", "2 two (50.0%)\n1 one (25.0%)\n"), (("1", "b.txt"), OTHER, "", "2 x (50.0%)\n")),
            '--top "$1" "$2"',
        ),
        ("`word-counter --words FILE...`, `--lines`", LINES, '--lines "$1"'),
        (README, command_task(((), {}, "a b\n", "2 -\n"), ((), {}, "c", "1 -\n")), "--words -"),
        (README, command_task(((), {}, "né\nab", "5 2\n"), ((), {}, "c", "1 1\n")), "--characters --longest"),
        ("Options: `-l`, `--verbose`", LINES, '-l "$1"'),
        ("It has lines, `words` and `wc`.", LINES, None),
        ("```console\n$ other --lines a.txt\n```", LINES, None),
    ],
)  # fmt: skip
def test_commands_of_word_counter(page: str, task: UsageTask, answer: str | None, tmp_path: Path) -> None:
    attempts = candidates(page, task)

    result = run_command(probe(attempts, task), WORD_COUNTER / "repository", tmp_path)
    found = chosen(attempts, [encode(result)], task)

    assert (found and found.answer_text) == (answer if answer is None else f"python -m word_counter {answer}".rstrip())
    assert list(tmp_path.iterdir()) == [tmp_path / "pkg.py"]


def test_a_file_that_the_program_writes_has_the_name_of_the_case() -> None:
    result = encode({"exit": 0, "stdout": "", "files": {"o.html": "x"}})
    shown = tuple(Call((encode(name),), result, {name: "x"}) for name in ("a.txt", "b.txt"))
    task = UsageTask("x", CallTarget("command", "x", "tool.py", 1), "tool", ("$1",), shown, ())
    attempts = [one.answer_text for one in candidates("```sh\ntool in.txt -o out.html\n```", task)]
    assert 'tool "$1" -o o.html' in attempts


# -- controls


def test_controls_of_functions() -> None:
    names = [("pkg", "cut", 2, 2), ("pkg", "slug", 1, 2), ("pkg", "Table", 1, 2), ("pkg", "Table.fit", 1, 1)]

    def guessed(task: UsageTask) -> str:
        attempts = controls.package(task, names)
        found = chosen(attempts, [encode(run_function(probe(attempts, task)))], task)
        return found.name if found else ""

    assert run_function(controls.stub(SLUG), ["a b"]) is None
    assert run_function(controls.table(SLUG), ["a b"]) == "a-b"
    assert run_function(controls.table(SLUG), ["a c"]) is None
    assert [guessed(task) for task in (SLUG, CUT, FIT, DAYS)] == ["pkg.slug", "pkg.cut", "pkg.Table.fit", ""]


def test_controls_of_commands(tmp_path: Path) -> None:
    table = controls.table(LINES)
    (tmp_path / "a.txt").write_text(TEXT["a.txt"])

    known = run_command(table, tmp_path, tmp_path, ["a.txt"])
    (tmp_path / "a.txt").write_text("other\n")

    assert known == {"exit": 0, "stdout": "3 a.txt\n"}
    assert run_command(table, tmp_path, tmp_path, ["a.txt"])["stdout"] == ""
    assert run_command(controls.stub(LINES), tmp_path, tmp_path, ["a.txt"]) == {"exit": 0, "stdout": ""}
