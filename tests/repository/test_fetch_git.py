"""A git revision becomes a snapshot, and nothing of the foreign repository takes effect."""

from __future__ import annotations

import functools
import http.server
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import git
import pytest

from workbench.repository import SourceUnavailable, clones, fetch, forget


@pytest.fixture(autouse=True)
def _own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in {"NAME": "A", "EMAIL": "a@example.org"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{key}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{key}", value)


@pytest.fixture
def project(tmp_path: Path) -> git.Repo:
    """A repository with a tag, two commits, an executable, links, a submodule entry, a filter and hooks."""
    folder = tmp_path / "project"
    repo = git.Repo.init(folder, initial_branch="main")
    (folder / "a.py").write_text("x = 1\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "run").write_text("#!/bin/sh\n")
    (folder / "bin" / "run").chmod(0o755)
    (folder / "alias.py").symlink_to("a.py")
    (folder / "evil").symlink_to("/etc/passwd")
    (folder / ".gitattributes").write_text("*.py filter=danger eol=crlf export-ignore\n")
    repo.git.add("-A")
    repo.git.update_index("--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    repo.git.commit("-qm", "one")
    repo.create_tag("v1", message="first")
    (folder / "a.py").write_text("x = 2\n")
    repo.git.commit("-qam", "two")
    return repo


def test_revisions(project: git.Repo, tmp_path: Path) -> None:
    folder, cache = project.working_dir, tmp_path / "cache"
    first, second = project.commit("v1").hexsha, project.head.commit.hexsha
    reported: list[str] = []
    for revision, commit, text in (
        ("v1", first, "x = 1\n"),
        ("main", second, "x = 2\n"),
        (first, first, "x = 1\n"),
        (first[:9], first, "x = 1\n"),
    ):
        snapshot = fetch(f"{folder}@{revision}", cache=cache, progress=reported.append)
        assert snapshot.revision == commit
        assert (snapshot.root / "a.py").read_bytes() == text.encode()
        assert [entry.path for entry in snapshot.files] == [".gitattributes", "a.py", "alias.py", "bin/run"]
    assert (snapshot.root / "bin" / "run").stat().st_mode & 0o100
    assert any("evil" in line and "leads out" in line for line in reported)
    assert fetch(f"{folder}/.git", cache=cache).revision == second


def test_a_local_branch_that_moved_is_fetched_again(project: git.Repo, tmp_path: Path) -> None:
    source, cache = f"{project.working_dir}@main", tmp_path / "cache"
    before = fetch(source, cache=cache)
    reported: list[str] = []
    assert fetch(source, cache=cache, progress=reported.append) == before
    assert reported == []
    project.git.commit("-qm", "three", "--allow-empty")
    after = fetch(source, cache=cache)
    assert after.revision == project.head.commit.hexsha
    assert after.digest == before.digest


def test_nothing_of_the_repository_is_run(project: git.Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "trapped"
    config = tmp_path / "gitconfig"
    config.write_text(f'[filter "danger"]\n\tsmudge = touch {trap}\n[init]\n\ttemplateDir = {tmp_path}/template\n')
    hook = tmp_path / "template" / "hooks" / "post-checkout"
    hook.parent.mkdir(parents=True)
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(0o755)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    assert fetch(f"{project.working_dir}@v1", cache=tmp_path / "cache").files
    assert not trap.exists()


def test_what_is_not_there(project: git.Repo, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for source, because in {
        f"{project.working_dir}@nope": "no branch, tag or commit 'nope'",
        f"{project.working_dir}@{'a' * 40}": "no branch, tag or commit 'aaaa",
        "git+file:///nowhere/at/all": "no git repository",
        f"git+file://{tmp_path}": "not a git repository",
        "git+https://localhost:1/a.git@v1": "cannot be reached",
    }.items():
        with pytest.raises(SourceUnavailable, match=because) as caught:
            fetch(source, cache=cache)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400


class _Quiet(http.server.SimpleHTTPRequestHandler):
    requests = 0

    def log_message(self, format: str, *args: object) -> None:
        type(self).requests += 1


@pytest.fixture
def served(project: git.Repo, tmp_path: Path) -> Iterator[str]:
    """The repository behind a plain web server on loopback."""
    bare = project.clone(tmp_path / "www" / "project.git", bare=True)
    bare.git.update_server_info()
    handler = functools.partial(_Quiet, directory=str(tmp_path / "www"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/project.git"
        server.shutdown()
        thread.join()


def test_over_http_once(served: str, project: git.Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    snapshot = fetch(f"{served}@v1", cache=tmp_path / "cache")
    assert (snapshot.root / "a.py").read_text() == "x = 1\n"
    asked = _Quiet.requests
    assert asked > 0
    assert fetch(f"{served}@v1", cache=tmp_path / "cache") == snapshot
    assert _Quiet.requests == asked
    forget(f"{served}@v1", cache=tmp_path / "cache")
    assert fetch(f"{served}@v1", cache=tmp_path / "cache") == snapshot
    assert _Quiet.requests > asked
    with pytest.raises(SourceUnavailable, match="was not found"):
        fetch(served.replace("project", "other"), cache=tmp_path / "cache")


@pytest.mark.parametrize("unsaid", [False, True], ids=["", "git is gone before its watchdog reports it"])
def test_a_server_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unsaid: bool) -> None:
    if unsaid:
        kill = git.cmd._kill_process
        monkeypatch.setattr(git.cmd, "_kill_process", lambda pid: kill(pid) and False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(clones, "_ANSWER_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(SourceUnavailable, match="did not answer within 1 seconds"):
            fetch(f"git+http://127.0.0.1:{port}/p.git@v1", cache=tmp_path / "cache")
