"""What commands print: no string is markup, no control sequence passes, and ASCII says in words what signs would."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

import regenerated
from samples.hostile_names import FILE, FILE_SHOWN, MARKUP, NAME, SHOWN, obeyed
from samples.sessions import add_trial
from test_literal import hostile_regeneration, hostile_trial

import workbench
from workbench.base import glyphs, paths
from workbench.base.text import json_text
from workbench.cli import main
from workbench.commands.summaries import order_summary as summary
from workbench.commands.summaries import print_order, trials_parts, trials_summary
from workbench.commands.terminal import StageBars, Terminal
from workbench.commands.watching import TerminalShow
from workbench.orders.ordered_asks import last_ask
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.identity import candidate_id, trial_id

ROOM = Path(workbench.__file__).parent
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "160"}


class Ascii:
    """Standard output of a terminal whose encoding is ASCII, as the program sets it up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, action: Callable[[], object]) -> str:
        raw = io.BytesIO()
        with self._monkeypatch.context() as patched:
            patched.setenv("COLUMNS", "160")
            stream = io.TextIOWrapper(raw, "ascii", errors=glyphs.ON_ERROR)
            patched.setattr(sys, "stdout", stream)
            action()
            stream.flush()
        return raw.getvalue().decode("ascii")


@pytest.fixture
def in_ascii(monkeypatch: pytest.MonkeyPatch) -> Ascii:
    return Ascii(monkeypatch)


# -- by construction


def prints_in(source: str) -> list[str]:
    """Return what in a module writes past the two places where commands print."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="print" | "Console" | "Text" | "TextColumn" | "Progress" | "Panel" as name)):
                found.append(name)
            case ast.ImportFrom(
                module="rich.console" | "rich.text" | "rich.progress" | "rich.markup" as module, names=names
            ):
                found += [module for name in names if name.name != "OverflowMethod"]
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr"), attr="write"):
                found.append("sys.stdout.write")
            case ast.Attribute(attr="from_markup" | "dumps" as name):
                found.append(name)
    return found


def test_commands_print_in_two_places() -> None:
    for source in ("print(name)", "Console()", "sys.stderr.write(name)", "Text.from_markup(name)", "json.dumps(name)"):
        assert prints_in(source)
    may = {
        "commands/output.py": {"print", "sys.stdout.write"},
        "commands/terminal.py": {"rich.console", "rich.text", "rich.progress", "Text", "Progress"},
    }
    wrong = {}
    for path in [ROOM / "cli.py", *sorted((ROOM / "commands").glob("*.py"))]:
        name = str(path.relative_to(ROOM))
        found = set(prints_in(path.read_text(encoding="utf-8"))) - may.get(name, set())
        if found:
            wrong[name] = found
    assert wrong == {}


# -- words and letters


def test_words_for_signs() -> None:
    for line, words in {
        "✓ passed 31 · ✗ failed 12 · ↯ error 1": "passed 31 - failed 12 - error 1",
        "! crashed 2 · ∅ invalid 3 · ⧖ timeout 4": "crashed 2 - invalid 3 - timeout 4",
        "✓ 12 ✗ 3 ↯ 1": "passed 12 failed 3 error 1",
        "· waiting": "waiting",
        "  · not used": "  not used",
        "⊘ cancelled": "cancelled",
        "? unscored": "? unscored",
        "a … b – c — d × e ± f → g": "a ... b - c - d x e +/- f -> g",
        "naïve 日": "na\\xefve \\u65e5",
        "plain! text": "plain! text",
    }.items():
        assert glyphs.worded(line) == words
    assert len(set(glyphs.VERDICTS.values())) == len(glyphs.VERDICTS)
    assert glyphs.UNSCORED not in glyphs.VERDICTS.values()  # an unscored tier is not our error


def test_a_letter_for_each_sample() -> None:
    cells = "✓✗⧖!∅↯·▸⊘"
    assert glyphs.lettered(cells) == "PFTCIEWRX"
    assert glyphs.legend([cells], letters=True).startswith(
        "P passed, F failed, T timeout, C crashed, I invalid, E our error"
    )
    assert glyphs.legend(["✓↯"]) == "✓ passed, ↯ our error"
    assert len(set(glyphs.lettered(cells))) == len(cells)


def test_which_encodings_show_signs() -> None:
    assert [glyphs.shown_by(name) for name in ("utf-8", "UTF-8", "utf-16", None)] == [True] * 4
    assert [glyphs.shown_by(name) for name in ("ascii", "latin-1", "cp1252", "nonsense")] == [False] * 4


def test_doctor_in_ascii(home: Path, in_ascii: Ascii) -> None:
    shown = in_ascii(lambda: main(["doctor"]))
    assert re.search(r"^ok +workbench", shown, re.MULTILINE)
    assert "attention" in shown
    assert "-> Set LANG=C.UTF-8" in shown
    assert "?" not in shown.replace("?)", "")


def test_show_in_ascii(tmp_path: Path, in_ascii: Ascii) -> None:
    made = regenerated.Recorder(tmp_path / "a.session")
    made.run(state="running")  # and no engine holds it
    task = made.task("count_text", 0)
    made.cells(task, "✓✗⧖!∅↯·")
    made.controls([task])
    made.close()
    shown = in_ascii(lambda: main(["show", str(made.path)]))
    assert "PFTCIEW" in shown
    assert "samples: P passed, F failed, T timeout, C crashed, I invalid, E our error, W waiting" in shown
    assert "passed 1 - failed 1 - timeout 1 - crashed 1 - invalid 1 - error 1" in shown
    assert " interrupted " in shown
    assert "?" not in shown
    shown = in_ascii(lambda: main(["show", str(made.path), task]))
    assert re.findall(r"\d  ?(passed|failed|timeout|crashed|invalid|error|waiting) ", shown)[:7] == [
        "passed", "failed", "timeout", "crashed", "invalid", "error", "waiting",
    ]  # fmt: skip


def test_the_table_of_a_regeneration_in_ascii(tmp_path: Path, in_ascii: Ascii) -> None:
    made = regenerated.Recorder(tmp_path / "a.session")
    made.run(samples=6)
    prompt = last_ask(RegenerationPlan("word_counter", evaluator=regenerated.EVALUATOR)).prompt_version
    long = "a" * 200
    for place, (name, cells) in enumerate((("count_text", "✓✗⧖!∅↯"), (long, "✓✓✓"))):
        task = made.task(name, place)
        for sample, glyph in enumerate(cells):
            made.sample(task, sample, glyph, id=candidate_id(task, regenerated.EVALUATOR, prompt, sample))
        made.controls([task], stub="✓" if place else "✗")
    made.close()
    run = regenerated.RUN
    shown = in_ascii(lambda: print_order(made.path, run, summary(made.path, run)))
    assert "PFTCIE" in shown
    assert "samples: P passed, F failed, T timeout, C crashed, I invalid, E our error" in shown
    assert "SELF-CHECK FAILED: stub passes on 1 task" in shown
    assert "error 1" in shown
    assert "?" not in shown


def test_json_is_exact_in_ascii_and_obeyed_nowhere(tmp_path: Path, in_ascii: Ascii) -> None:
    path = tmp_path / "a.session"
    hostile_trial(path)
    lines = in_ascii(lambda: main(["show", str(path), "--json"])).splitlines()
    assert NAME in {json.loads(line).get("model") for line in lines}
    text = json_text({"é": NAME + "\u2028"}, ascii=False)
    assert obeyed(text) == []
    assert json.loads(text) == {"é": NAME + "\u2028"}


# -- with names that would be markup


def clean_of_controls(text: str) -> str:
    """Return a text after checking that a terminal would obey nothing in it."""
    assert obeyed(text) == []
    return text


@pytest.fixture
def trial_session(tmp_path: Path) -> Path:
    path = tmp_path / f"{FILE_SHOWN}.session"
    hostile_trial(path)
    return path


def _items(path: Path, table: str) -> list[str]:
    with SessionReader(path) as reader:
        # Only what can be an argument: one with control characters is refused before anything is looked up.
        return [str(row[0]) for row in reader.query(f"SELECT id FROM {table}") if not obeyed(str(row[0]))]


def test_show_prints_hostile_names_literally(trial_session, tmp_path, capsys):
    other = tmp_path / "other.session"
    hostile_regeneration(other)
    for session, items in (
        (trial_session, ["", *_items(trial_session, "trials"), f"{trial_id(NAME, NAME, NAME, 1)}:1"]),
        (other, ["", *_items(other, "tasks")[:1], *_items(other, "candidates")[:3]]),
    ):
        for item in items:
            assert main(["show", str(session), *([item] if item else [])]) == 0
            said = capsys.readouterr()
            assert MARKUP in clean_of_controls(said.out).replace("\n", "")
            assert said.err == ""


@pytest.mark.parametrize("format", ["md", "html"])
@pytest.mark.parametrize("kind", [hostile_trial, hostile_regeneration])
def test_reports_hold_hostile_names_literally(tmp_path: Path, format: str, kind: object) -> None:
    session, out = tmp_path / f"{FILE_SHOWN}.session", tmp_path / f"report.{format}"
    kind(session)  # type: ignore[operator]
    assert main(["report", str(session), "--format", format, "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8").replace("\r\n", "\n").replace("\r", "")
    clean_of_controls(text)
    assert ("\\[/x\\]" if format == "md" else "[/x]") in text


def test_tables_of_runs_hold_hostile_names_literally(trial_session, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "400")
    other = tmp_path / "other.session"
    hostile_regeneration(other)
    print_order(other, regenerated.RUN, summary(other, regenerated.RUN))
    assert SHOWN in clean_of_controls(capsys.readouterr().out)
    closing = trials_summary(trial_session, _items(trial_session, "trials"))
    show = TerminalShow()
    show({"type": "step", "case": NAME, "number": 1, "kind": "error", "action": NAME, "target": NAME, "problem": NAME})
    show({"type": "trial", **closing["cases"][0]})
    show({"type": "error", "sentence": NAME})
    show.console.parts(trials_parts(closing))
    said = capsys.readouterr()
    assert SHOWN in clean_of_controls(said.out)
    assert said.err == f"workbench: {SHOWN}\n"


def test_stages_and_errors_of_a_regeneration_are_literal(capsys: pytest.CaptureFixture[str]) -> None:
    show = TerminalShow()
    show({"type": "stage", "name": NAME, "state": "done", "done": 1, "total": 1, "note": NAME})
    show({"type": "error", "sentence": NAME})
    said = capsys.readouterr()
    assert SHOWN in clean_of_controls(said.out)
    assert said.err == f"workbench: {SHOWN}\n"


def test_bars_are_literal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    terminal = Terminal()
    bars = StageBars(terminal)
    bars.update(NAME, total=2, note=NAME)
    with terminal.capture() as captured:
        terminal.print(bars.progress.get_renderable())
    assert "[/x][bold[@click=app.quit]x[/]" in captured.get()
    assert obeyed(re.sub(r"\x1b\[[\d;]*m", "", captured.get())) == []


def test_errors_quote_what_was_typed_without_obeying_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        ["show", NAME], ["run", NAME], ["regenerate", NAME], ["score", NAME], ["catalog", NAME], [NAME], ["show", "x", NAME, NAME],
        ["regenerate", "x", "--samples", NAME],
    ):  # fmt: skip
        assert main(command) == 2, command
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.endswith("\n")
        clean_of_controls(said.err)


def test_cases_with_hostile_names(home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = paths.own_cases_dir() / "odd"
    folder.mkdir(parents=True)
    source = tmp_path / "[red]"
    source.mkdir()
    (source / "a.py").write_text("x = 1\n")
    # Control characters in a case's name are refused when it is read; of other words they are left out when shown.
    words = {"name": SHOWN, "description": NAME, "domain": NAME, "source": str(source)}
    (folder / "case.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in words.items()))
    (paths.own_cases_dir() / FILE).mkdir()
    (paths.own_cases_dir() / FILE / "case.toml").write_text("name = [/x]\n")
    assert main(["cases"]) == 1
    said = capsys.readouterr()
    assert "[red]" in clean_of_controls(said.out)
    assert "[/x][bold" in said.out.replace("\n", "")
    assert "[x][bold" in clean_of_controls(said.err)
    assert main(["cases", "odd"]) == 0
    assert SHOWN in clean_of_controls(capsys.readouterr().out)
    assert main(["cases", "odd", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(clean_of_controls(said.out))["description"] == NAME


def test_processes_with_another_encoding(home: Path, tmp_path: Path) -> None:
    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "workbench", *arguments]
        return subprocess.run(command, capture_output=True, check=False, env=os.environ | ASCII | environment)

    folder = home / f"säs{FILE}"
    assert run("locate", "sessions", WORKBENCH_SESSIONS_DIR=str(folder)).stdout == os.fsencode(folder) + b"\n"
    wrong = run("show", "no…thing·é")
    assert wrong.returncode == 2
    assert "no...thing" in wrong.stderr.decode("ascii") or "\\udce2" in wrong.stderr.decode("ascii")
    session = tmp_path / "odd.session"
    create(session)
    with SessionWriter(session) as writer:
        writer.add_run("run", "document", {})
        trial = add_trial(writer, "run", "alpha", 1, readme="# lone \ud800 surrogate ü")
    for encoding, shown in {
        "ascii": rb"# lone \ud800 surrogate \xfc", "utf-8": "# lone \\ud800 surrogate ü".encode(),
    }.items():  # fmt: skip
        done = run("show", str(session), trial, PYTHONIOENCODING=encoding)
        assert (done.returncode, done.stderr) == (0, b"")
        assert shown in done.stdout
