"""``workbench docs``: what there is, and a program installed for real, from a wheel on this machine."""

from __future__ import annotations

import fcntl
import json
import zipfile

import pytest

from workbench.base.errors import UsageError
from workbench.cli import main
from workbench.documenters.program_cache import DocumentedRepository, WorkFolder, read_documented
from workbench.interop.doc_programs.installing import Installable, environment, installed, interpreter
from workbench.repository import Snapshot
from workbench.repository.functions import DefinitionKey


def wheel(folder):
    """Write the smallest wheel that there is: one module."""
    path = folder / "tinydoc-1.0-py3-none-any.whl"
    info = "tinydoc-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tinydoc.py", "VALUE = 42\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinydoc\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", f"tinydoc.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return path


@pytest.fixture
def program(home, tmp_path, monkeypatch):
    """A program in the place of RepoAgent."""

    def make(requirement, megabytes=1):
        one = Installable("repoagent", "TinyDoc", "1.0", (str(requirement),), megabytes)
        for module in ("interop.doc_programs.programs", "commands.docs"):
            monkeypatch.setattr(f"workbench.{module}.INSTALLABLE", {"repoagent": one})
        return one

    return make


@pytest.mark.slow
def test_install_list_and_remove(program, tmp_path, capsys):
    one = program(wheel(tmp_path))
    assert main(["docs", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (lines[0]["name"], lines[0]["installed"]) == ("repoagent:MODEL", False)
    assert {"original", "none", "llm:MODEL", "command:PROGRAM…"} <= {line["name"] for line in lines}
    with pytest.raises(UsageError, match=r"TinyDoc 1\.0 is not installed"):
        interpreter(one)

    # What an interrupted installation left behind is gone on with.
    (environment(one) / "lib").mkdir(parents=True)
    assert installed(one) is None
    assert main(["docs", "install", "repoagent"]) == 0
    assert "TinyDoc 1.0 is installed: " in capsys.readouterr().out
    found = installed(one)
    assert found is not None
    assert (found.version, found.packages) == ("1.0", 1)
    assert interpreter(one).is_file()
    before = (found.folder / "complete.json").stat().st_mtime_ns
    assert main(["docs", "install", "repoagent"]) == 0
    assert (found.folder / "complete.json").stat().st_mtime_ns == before
    capsys.readouterr()
    assert main(["docs"]) == 0
    assert "✓ repoagent:MODEL" in capsys.readouterr().out
    assert main(["docs", "remove", "repoagent"]) == 0
    assert installed(one) is None
    assert main(["docs", "remove", "repoagent"]) == 1


@pytest.mark.parametrize(
    ("requirement", "megabytes", "words"),
    [
        pytest.param(
            "/nowhere/none-1.0-py3-none-any.whl", 1, "TinyDoc could not be installed: ", marks=pytest.mark.slow
        ),
        ("x", 10**9, "TinyDoc takes about 1,000,000,000 MB, and "),
    ],
)
def test_an_installation_that_fails_is_one_sentence(program, capsys, requirement, megabytes, words):
    one = program(requirement, megabytes)
    assert main(["docs", "install", "repoagent"]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"workbench: {words}")
    assert installed(one) is None


def test_an_unknown_name_is_wrong_usage(home, capsys):
    assert main(["docs", "install", "docagent"]) == 2
    assert "invalid choice" in capsys.readouterr().err


@pytest.fixture
def two_kept(home, tmp_path):
    """What a program wrote about a repository, and a folder that was interrupted."""
    snapshot = Snapshot(tmp_path, "d" * 64, "word_counter", "", ())
    counts = {"function": 2, "function_documented": 2, "function_unchanged": 1, "class": 0, "module": 0, "refused": 0, "edited": 1,
              "requests": 3, "failed_requests": 0, "prompt_tokens": 10, "completion_tokens": 5, "cost_usd": 0.0, "seconds": 4.0}  # fmt: skip
    done = WorkFolder(snapshot, "repoagent-0.2.0:m", "")
    done.folder.mkdir(parents=True)
    key = ("a.py", DefinitionKey("function", "f", 1))
    done.save(DocumentedRepository({key: "Doc."}, edited={key: "edited"}, counts=counts))
    begun = WorkFolder(snapshot, "osa-0.3.4:m", "")
    begun.area.mkdir(parents=True)
    (begun.area / "half.py").write_text("x")
    return done, begun


def test_what_is_kept_is_listed_and_forgotten(two_kept, capsys):
    done, begun = two_kept
    assert main(["docs", "kept"]) == 0
    out = capsys.readouterr().out
    assert "word_counter × repoagent-0.2.0:m" in out
    assert (
        "2 of 2 functions documented · 1 of these unchanged · 1 definition left out because its code was edited · 3 requests"
        in out
    )
    assert "not finished" in out
    assert main(["docs", "kept", "--json"]) == 0
    lines = {one["name"]: one for one in map(json.loads, capsys.readouterr().out.splitlines())}
    assert lines[done.folder.name]["digest"] == "d" * 64
    assert lines[begun.folder.name]["program"] is None
    assert main(["docs", "forget", done.folder.name[:8]]) == 0
    assert not done.folder.exists()
    assert begun.folder.exists()
    assert main(["docs", "forget", "zzz"]) == 2
    assert "No cached documentation has the name 'zzz'" in capsys.readouterr().err
    with (begun.folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(["docs", "forget", "all"]) == 2
        assert "is in use by a run" in capsys.readouterr().err
    assert main(["docs", "forget", "all"]) == 0
    assert not begun.folder.exists()
    assert main(["docs", "kept"]) == 0
    assert capsys.readouterr().out.endswith("no program has documented a repository here.\n")


def test_what_an_older_version_kept_is_used_and_listed(two_kept, capsys):
    done, _ = two_kept
    place = done.folder / "docstrings.json"
    older = {
        name: value
        for name, value in json.loads(place.read_text()).items()
        if name not in ("edited", "program", "source", "digest")
    }
    place.write_text(json.dumps(older))
    assert read_documented(done.folder).texts == {("a.py", DefinitionKey("function", "f", 1)): "Doc."}
    assert main(["docs", "kept"]) == 0
    assert "by an older version" in capsys.readouterr().out
