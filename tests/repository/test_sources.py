"""What a user may name as a repository, and what is refused before anything is fetched."""

from __future__ import annotations

from pathlib import Path

import git
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.repository import BadSource, Source, parse_source

PIN = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://host.example/a/b.git@v1.2", Source("git", "https://host.example/a/b.git", "v1.2")),
        ("git+https://host.example/a/b@feature/x", Source("git", "https://host.example/a/b", "feature/x")),
        ("https://host.example/a/b", Source("git", "https://host.example/a/b")),
        ("https://host.example/@a/b.git", Source("git", "https://host.example/@a/b.git")),
        ("ssh://git@host.example:2222/a/b.git", Source("git", "ssh://git@host.example:2222/a/b.git")),
        ("git@host.example:a/b.git@main", Source("git", "git@host.example:a/b.git", "main")),
        ("git+file:///srv/b.git@v1", Source("git", "file:///srv/b.git", "v1")),
        ("python-dotenv==1.1.1", Source("sdist", "python-dotenv", "1.1.1")),
        (f"art == 6.5#sha256={PIN}", Source("sdist", "art", "6.5", PIN)),
        ("/nowhere/a-1.0.tar.gz", Source("archive", "/nowhere/a-1.0.tar.gz")),
        (f"/nowhere/a-1.0.zip#sha256={PIN.upper()}", Source("archive", "/nowhere/a-1.0.zip", sha256=PIN)),
        ("/nowhere/folder", Source("folder", "/nowhere/folder")),
        ("/nowhere/bare.git", Source("git", "file:///nowhere/bare.git")),
    ],
)
def test_each_form_is_read(text: str, expected: Source) -> None:
    assert parse_source(text) == expected
    assert parse_source(str(expected)) == expected


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "The repository is missing"),
        ("--upload-pack=touch /tmp/x", "looks like an option"),
        ("ext::sh -c 'touch /tmp/x'", "runs programs"),
        ("fd::17", "runs programs"),
        ("git+ext://x/y", "must start with"),
        ("git://host.example/a.git", "must start with"),
        ("ftp://host.example/a.git", "must start with"),
        ("ssh://-oProxyCommand=x/a.git", "not a complete URL"),
        ("ssh://-l@host.example/a.git", "not a complete URL"),
        ("https://user:secret@host.example/a.git", "credential helper"),
        ("https://token@host.example/a.git", "credential helper"),
        ("https://host.example/a.git@--upload-pack=x", "not a branch"),
        ("https://host.example/a.git@a..b", "not a branch"),
        ("https://host.example/a.git@a:b", "not a branch"),
        ("https://host.example", "not a complete URL"),
        ("https://host.example:port/a", "not a complete URL"),
        ("file://elsewhere/a.git", "another machine"),
        ("requests", "requests==VERSION"),
        ("art==6.5#sha256=1234", "64 hexadecimal digits"),
        ("a\nb", "control characters"),
        ("what is this?", "not an existing folder"),
    ],
)
def test_the_rest_is_refused_with_a_reason(text: str, because: str) -> None:
    with pytest.raises(BadSource, match=because) as caught:
        parse_source(text)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "token" not in str(caught.value)


def test_what_exists_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git.Repo.init(tmp_path / "project")
    (tmp_path / "odd@name").mkdir()
    (tmp_path / "file.txt").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert parse_source("project") == Source("folder", str(tmp_path / "project"))
    assert parse_source("project/.git") == Source("git", f"file://{tmp_path}/project/.git")
    assert parse_source("project@v1") == Source("git", f"file://{tmp_path}/project", "v1")
    assert parse_source("odd@name") == Source("folder", str(tmp_path / "odd@name"))
    with pytest.raises(BadSource, match="single file"):
        parse_source("file.txt")


_hosts = st.from_regex(r"[a-z][a-z0-9]{0,8}\.example", fullmatch=True)
_paths = st.from_regex(r"(/[A-Za-z0-9_~+@.-]{1,8}){1,3}", fullmatch=True).filter(lambda p: not p.endswith("@"))
_revisions = st.from_regex(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,6}/)?[A-Za-z0-9_-]{1,8}", fullmatch=True) | st.just("")
_names = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,10}[A-Za-z0-9])?", fullmatch=True)
_versions = st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}((a|b|rc)[0-9])?", fullmatch=True)
_folders = st.text(
    st.characters(min_codepoint=32, exclude_characters="/\x7f", exclude_categories=["Cs", "Cc"]), min_size=1
)


@given(
    st.builds(lambda h, p, r: f"https://{h}{p}" + (f"@{r}" if r else ""), _hosts, _paths, _revisions)
    | st.builds(lambda n, v: f"{n}=={v}", _names, _versions)
    | st.builds(lambda f: f"/nowhere/{f}", _folders)
    | st.text()
)
def test_what_is_written_down_reads_as_the_same_source(text: str) -> None:
    try:
        source = parse_source(text)
    except BadSource:
        return
    assert parse_source(str(source)) == source
    assert source.name
