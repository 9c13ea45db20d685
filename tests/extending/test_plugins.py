"""The template of docs/extending/plugins.md, built as a wheel, installed, and used by its names; and what is broken."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from uv import find_uv_bin

from workbench.agents import make_agent
from workbench.agents.names import agent_info, current_name
from workbench.app.theming import first_theme, theme_files
from workbench.base import extension_check, extensions
from workbench.base.errors import UsageError
from workbench.base.extensions import GROUPS, load
from workbench.cli import main
from workbench.documenters.types import parse_docs
from workbench.interop.formats.importing import import_files
from workbench.orders.import_files import ImportOrder
from workbench.orders.run import resolved_judge
from workbench.plans.plan import ImportPlan
from workbench.sandbox.choose import backend_info
from workbench.session import SessionReader

ROOT = Path(__file__).resolve().parents[2]
FILE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
UV = ["--offline", "--no-config", "-q"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template's wheel; uv brings the build back end, so that no network is needed."""
    folder = tmp_path_factory.mktemp("plugin")
    for name, text in FILE.findall((ROOT / "docs" / "extending" / "plugins.md").read_text()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "tiny_plugin" / "__init__.py").touch()
    subprocess.run([find_uv_bin(), "build", "--wheel", *UV, "-o", folder / "dist", folder], check=True)
    (built,) = (folder / "dist").glob("*.whl")
    return built


@pytest.fixture
def site(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages beside the environment's own, for this process and those that it starts."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")])))
    extensions.installed.cache_clear()
    yield folder
    extensions.installed.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tiny_plugin", "broken_plugin")]:
        del sys.modules[name]


@pytest.fixture
def installed(site: Path, wheel: Path) -> Path:
    command = [find_uv_bin(), "pip", "install", *UV, "--no-deps", "--python", sys.executable, "--target", site, wheel]
    subprocess.run(command, check=True)
    return site


def declare(site: Path, package: str, entries: str) -> None:
    """Install a package that has nothing but its metadata."""
    folder = site / f"{package}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(entries)
    extensions.installed.cache_clear()


async def test_the_template_works_by_its_names(installed, tmp_path, capsys):
    assert main(["plugins", "--json"]) == 0
    *listed, summary = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(one["kind"], one["name"], one["problem"]) for one in listed} == {
        ("agent", "title-only", ""),
        ("judge", "generous", ""),
        ("importer", "dialogue", ""),
        ("exporter", "dialogue", ""),
        ("report format", "points", ""),
        ("theme", "forest", ""),
    }
    assert {one["package"] for one in listed} == {"tiny-workbench-plugin 0.1.0"}
    assert (summary["plugins"], summary["broken"]) == (6, 0)
    # In a session stands the path.
    path = current_name("title-only")
    assert agent_info("title-only").path == path
    assert path == "tiny_plugin.agents:TitleOnly"
    submission = await make_agent(path).document(SimpleNamespace(assignment=SimpleNamespace(name="word_counter")))
    assert submission.readme == "# word_counter\n"
    assert resolved_judge("generous") == "tiny_plugin.agents:Generous"
    assert main(["report", "example", "--format", "points"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split("\t")[0] == "word_counter"
    theme, problem = first_theme("forest")
    assert (theme.name, theme.primary, problem) == ("forest", "#7fb069", None)
    assert "forest" in theme_files()


def test_its_judge_scores(installed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("# word_counter\n")
    assert main(["score", str(tmp_path / "README.md"), "--case", "word_counter", "--judge", "generous", "--json"]) == 0
    assert "tiny_plugin.agents:Generous" in capsys.readouterr().out


def test_its_importer_reads_a_folder_and_is_named_for_what_nobody_knows(installed, tmp_path, capsys):
    talks, session = tmp_path / "talks", tmp_path / "talks.session"
    talks.mkdir()
    (talks / "a.dialogue").write_text("# talker\nuser: Hello [bold]\nagent: Good day\n")
    (talks / "b.dialogue").write_text("no head\n")
    (talks / "c.dialogue").write_text("# talker\nking: I speak\n")
    (talks / "notes.json").write_text('{"some": "thing"}')
    order = ["import", str(talks), "--session", str(session), "--format", "dialogue"]
    assert main(order) == 1
    told = capsys.readouterr()
    assert told.err.splitlines() == [
        "b.dialogue was not read completely: The importer tiny_plugin.dialogues:Dialogue failed: ValueError: "
        "the first line names no agent (dialogues.py, line 17).",
        "c.dialogue was read by tiny_plugin.dialogues:Dialogue as an invalid item: "
        "its JSON has the wrong structure: expected str matching regex '^(system|user|agent)$' at steps[0].source "
        "(item 1).",
    ]
    assert "1 imported, 2 could not be read (3 files)." in told.out
    with SessionReader(session) as reader:
        (trial,) = reader.trials()
        assert (trial.agent, trial.case_name, trial.prompt_tokens, trial.cost_usd) == ("talker", "a", 0, None)
        assert [reader.text(one.answer_blob) for one in reader.steps(trial.id)] == ["Hello [bold]", "Good day"]
        # In a session stands the path.
        assert reader.imported(trial.id).format == "tiny_plugin.dialogues:Dialogue"
    # Out in another format and in again nothing is lost, and here it is known.
    assert main(["export", str(session), "--to", "atif", "-o", str(tmp_path / "out.json")]) == 0
    assert main(["import", str(tmp_path / "out.json"), "--session", str(session)]) == 0
    assert main(["import", str(talks / "a.dialogue"), "--session", str(session), "--format", "dialogue"]) == 0
    assert capsys.readouterr().out.count("0 imported, 1 already present (1 file).") == 2
    # Its own writing of what it read is what it read.
    assert main(["export", str(session), "--to", "dialogue", "-o", str(tmp_path / "talks-again")]) == 0
    (again,) = (tmp_path / "talks-again").iterdir()
    assert again.read_text() == (talks / "a.dialogue").read_text()
    assert "Written: 1 talks to" in capsys.readouterr().out
    other = tmp_path / "other.session"
    assert main(["import", str(talks / "notes.json"), "--session", str(other)]) == 1
    assert "see docs/reference/formats.md; importers for --format: dialogue." in capsys.readouterr().err


IMPORTER = """
from workbench.interop.formats.samples import ForeignCandidate, ForeignTask
from workbench.interop.formats.trajectory import Step, ToolCall, Trajectory

class Odd:
    endings = (".odd",)
    def read(self, path):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("yield 3", "an invalid item: int is not a Trajectory, ForeignTask or ForeignCandidate (item 1)."),
        (
            "yield Trajectory(agent='a', steps=(), repeat='x')",
            "its JSON has the wrong structure: expected int, got str at repeat",
        ),
        (
            "yield Trajectory('a', [Step('agent', 't', calls=3)])",
            "its JSON has the wrong structure: expected array, got int at steps[0].calls",
        ),
        (
            "yield Trajectory('a', [Step('agent', 't')], extra={'a': 1j})",
            "complex",
        ),
        (
            "yield ForeignCandidate('T/0', 'm', 'pass', verdict='fine')",
            "crashed|invalid|bypassed|error)$' at verdict",
        ),
        ("yield ForeignTask('T/0', tests=[1])", "its JSON has the wrong structure: expected str, got int at tests[0]"),
        ("return iter(())", "odd.odd contains no odd_plugin:Odd data."),
        ("return None", "odd_plugin:Odd failed: TypeError: 'NoneType' object is not iterable"),
        ("raise SystemExit(3)", "odd_plugin:Odd failed: SystemExit: 3 (odd_plugin.py, line 8)."),
    ],
)
def test_what_an_importer_gives_is_checked_and_the_next_file_goes_on(site, tmp_path, body, said):
    (site / "odd_plugin.py").write_text(IMPORTER.format(body=body))
    sys.modules.pop("odd_plugin", None)
    (tmp_path / "odd.odd").write_text("x")
    (tmp_path / "too.odd").write_text("y")
    session = tmp_path / "odd.session"
    order = ImportOrder(session, ImportPlan((str(tmp_path),), "odd_plugin:Odd")).submit()
    tally = import_files(session, order.runs[0])
    assert (tally.done, tally.added, len(tally.problems)) == (2, 0, 2)
    assert said in tally.problems[0]
    with SessionReader(session) as reader:
        assert reader.query("SELECT count(*) FROM imported") == [(0,)]


def test_an_importer_that_cannot_be_had_writes_no_session(site, tmp_path, capsys):
    (site / "broken_plugin.py").write_text("import os\nos._exit(3)\n")
    (tmp_path / "a.odd").write_text("x")
    order = ["import", str(tmp_path / "a.odd"), "--session", str(tmp_path / "s.session"), "--format"]
    for name, said in (
        ("broken_plugin:Falls", "Importing broken_plugin:Falls ended the process (exit status 3)."),
        ("nothing", "There is no importer 'nothing'; choose atif, "),
        ("workbench.rubric:OfflineJudge", "is no importer: it lacks the attribute endings, and lacks read()."),
    ):
        assert main([*order, name]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert told.count("\n") == 1
    assert not (tmp_path / "s.session").exists()


def test_a_broken_plug_in_is_named_and_stops_nothing(site, tmp_path, capsys, monkeypatch):
    (site / "broken_plugin.py").write_text("import os\nos._exit(3)\n")
    declare(
        site,
        "broken-plugin",
        "[workbench.agents]\nfalls = broken_plugin:Falls\nBad Name = broken_plugin:Falls\n"
        "[workbench.judges]\nnowhere = no_such_module:Judge\noffline = broken_plugin:Falls\n"
        "[workbench.sandboxes]\nnoclass = broken_plugin\n"
        "[workbench.importers]\nunread = broken_plugin:Falls\n"
        "[workbench.themes]\nlost = broken_plugin\n",
    )
    assert main(["plugins"]) == 1
    said = capsys.readouterr().out
    assert "Importing broken_plugin:Falls ended the process (exit status 3)." in said
    assert "no module no_such_module in" in said
    assert "'broken_plugin' for sandbox noclass, which is not package.module:Class." in said
    assert "has no theme lost.yaml in broken_plugin." in said
    assert "'Bad Name': its name must consist of at most 64 lower-case letters" in said
    # The doctor names it; ours keep their names; the others go on.
    from workbench.commands.doctor import check_machine

    told = [(one.name, one.status, one.advice) for one in check_machine({})]
    for name in ("falls", "unread"):
        assert (name, "warning", "Repair or uninstall broken-plugin 1.0.") in told
    assert main(["report", "example"]) == 0
    assert "lost" not in theme_files()
    assert first_theme("lost")[1] is not None


def test_parts_of_the_workbench_are_plug_ins_like_any_other(home, tmp_path, capsys):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    found = {(GROUPS[one.kind], one.name): one.path for one in extensions.installed(own=True)}
    assert found == {(group, name): path for group, points in declared.items() for name, path in points.items()}
    for one in extensions.installed(own=True):
        load(one.kind, one.path, extension_check.protocol_of(one.kind))
    # A format by its name reads nothing else, and stands under that name.
    chat, rows = tmp_path / "chat.jsonl", tmp_path / "rows.jsonl"
    chat.write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    rows.write_text('{"task_id": "T/0", "completion": "pass"}\n')
    order = ["import", str(chat), str(rows), "--session", str(tmp_path / "s.session"), "--format", "openai"]
    assert main(order) == 1
    assert "rows.jsonl contains no openai data (line 1)." in capsys.readouterr().err
    with SessionReader(tmp_path / "s.session") as reader:
        (trial,) = reader.trials()
        assert reader.imported(trial.id).format == "openai"
    assert main(["export", "example", "--to", "nothing", "-o", str(tmp_path / "out")]) == 2
    assert "There is no exporter 'nothing'; choose from atif, csv, " in capsys.readouterr().err


def test_names_lead_to_paths_and_ours_come_first(site: Path) -> None:
    declare(
        site,
        "b-plugin",
        "[workbench.agents]\nwhite = other.one:White\nmine = b.one:Mine\n"
        "[workbench.doc_systems]\nmine = b.one:Docs\noriginal = b.one:Docs\n[workbench.sandboxes]\nmine = b.one:Box\n",
    )
    declare(site, "a-plugin", "[workbench.agents]\nmine = a.one:Mine\n")
    assert current_name("white") == "white"
    assert current_name("mine") == "a.one:Mine"
    assert [one.problem for one in extensions.installed() if one.package == "b-plugin 1.0" and one.name == "mine"] == [
        "a-plugin 1.0 also has that name and takes precedence",
        "",
        "",
    ]
    assert (parse_docs("mine").text, parse_docs("original").kind) == ("b.one:Docs", "original")
    assert backend_info("mine").path == "b.one:Box"
    with pytest.raises(UsageError, match=r"There is no doc system 'min'; choose .*, mine"):
        parse_docs("min")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 3", "int, not text."),
        ("return session.nothing", "failed: AttributeError: "),
    ],
)
def test_a_report_format_that_fails_is_one_sentence(site, body, said, capsys):
    (site / "broken_plugin.py").write_text(f"class Format:\n    def render(self, session):\n        {body}\n")
    assert main(["report", "example", "--format", "broken_plugin:Format"]) == 1
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert main(["report", "example", "--format", "nothing"]) == 2
    assert "There is no report format 'nothing'; choose from md, html, latex, json, csv, or package.module:Class." in (
        capsys.readouterr().err
    )
