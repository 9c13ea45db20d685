"""What an agent may see: contained by resolved path, and hidden means unreadable."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.repository import (
    NoSuchPath,
    NotAFile,
    NotAFolder,
    NotText,
    NotVisible,
    OutsideRepository,
    View,
    ViewError,
    read_text,
)

SENTINEL = "the sentinel outside"
TRUTH = "the hidden truth"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository among neighbours whose names begin like its own, with every kind of link."""
    base = tmp_path_factory.mktemp("places")
    root = base / "repo"
    outside = base / "repo-secret"
    for folder in (root / "src" / "deep", root / "ground_truth", root / "docs", root / "pkg.egg-info", outside):
        folder.mkdir(parents=True)
    (outside / "key.txt").write_text(SENTINEL)
    (root / "main.py").write_text("print('hello')\n")
    (root / "src" / "deep" / "mod.py").write_text("x = 1\n")
    for hidden in ("ground_truth/facts.toml", "docs/guide.md", "README.md", "src/ReadMe.RST", ".env", "PKG-INFO"):
        (root / hidden).write_text(TRUTH)
    (root / "pkg.egg-info" / "PKG-INFO").write_text(TRUTH)
    (root / "readme_tool.py").write_text("code\n")
    for name, target in {
        "abs": "/etc/passwd",
        "up": "../repo-secret/key.txt",
        "updir": "../repo-secret",
        "truth": "ground_truth",
        "truthfile": "ground_truth/facts.toml",
        "alias.txt": "README.md",
        "inside.py": "src/deep/mod.py",
        "deepdir": "src/deep",
        "loop": "loop",
        "chain": "updir/key.txt",
        "nothing": "missing",
    }.items():
        (root / name).symlink_to(target)
    return root


def test_visible_names_only(root: Path) -> None:
    view = View(root)
    assert view.list_directory() == ("deepdir/", "inside.py", "main.py", "readme_tool.py", "src/")
    assert [entry.path for entry in view.files] == ["inside.py", "main.py", "readme_tool.py", "src/deep/mod.py"]
    assert view.list_directory("src/") == ("deep/",)
    assert view.list_directory("deepdir") == ("mod.py",)
    assert view.files[1].size == len("print('hello')\n")


HIDDEN = (
    "ground_truth ground_truth/ ./ground_truth src/../ground_truth GROUND_TRUTH Ground_Truth/facts.toml ground_truth/facts.toml "
    "ground_truth/not/there truth truth/facts.toml truthfile alias.txt README.md readme.md src/ReadMe.RST docs docs/guide.md .env "
    ".git/config PKG-INFO pkg.egg-info/PKG-INFO deepdir/../README.md src/deep/../../.env"
)
OUTSIDE = (
    "/etc/passwd ../repo-secret/key.txt up updir updir/key.txt chain abs src/../../repo/main.py deepdir/../../README.md "
    "../repo/main.py .. / a/../../x main.py\0 deepdir/../../../repo-secret/key.txt"
)


@pytest.mark.parametrize("path", HIDDEN.split())
def test_defect_5_what_is_hidden_is_neither_listed_nor_readable(root: Path, path: str) -> None:
    view = View(root)
    with pytest.raises(NotVisible):
        view.read_file(path)
    with pytest.raises(NotVisible):
        view.list_directory(path)


@pytest.mark.parametrize("path", OUTSIDE.split())
def test_defect_5_containment_is_by_resolved_path(root: Path, path: str) -> None:
    view = View(root)
    with pytest.raises(OutsideRepository):
        view.read_file(path)
    with pytest.raises(OutsideRepository):
        view.list_directory(path)


def test_defect_6_reading_is_capped(tmp_path: Path) -> None:
    (tmp_path / "font.py").write_text("é" * 1_000_000, encoding="utf-8")
    text = View(tmp_path).read_file("font.py")
    assert (len(text.text), text.size, text.truncated) == (60_000, 2_000_000, True)
    assert set(text.text) == {"é"}
    whole = View(tmp_path).read_file("font.py", limit=1_000_000)
    assert (len(whole.text), whole.truncated) == (1_000_000, False)
    assert View(tmp_path).read_file("font.py", limit=0).text == ""


def test_defect_6_listing_is_capped(tmp_path: Path) -> None:
    for number in range(1_600):
        (tmp_path / f"f{number:04}").touch()
    names = View(tmp_path).list_directory()
    assert len(names) == 501
    assert names[-1] == "… 1,100 more"
    assert len(View(tmp_path).files) == 1_600


@pytest.mark.parametrize(
    ("path", "error"),
    [("missing", NoSuchPath), ("nothing", NoSuchPath), ("loop", NoSuchPath), ("main.py/x", NoSuchPath)]
    + [("x" * 5_000, NoSuchPath), ("\ud800", NoSuchPath), ("a/" * 3_000, NoSuchPath)],
)
def test_what_is_not_there(root: Path, path: str, error: type[ViewError]) -> None:
    for method in (View(root).read_file, View(root).list_directory):
        with pytest.raises(error) as caught:
            method(path)
        str(caught.value).encode("utf-8")
        assert len(str(caught.value)) < 300


def test_the_wrong_kind(root: Path, tmp_path: Path) -> None:
    with pytest.raises(NotAFile, match="directory"):
        View(root).read_file("src")
    with pytest.raises(NotAFolder):
        View(root).list_directory("main.py")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotAFile):
        View(tmp_path).read_file("pipe")
    assert View(tmp_path).list_directory() == ()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("naïve\r\n".encode(), "naïve\r\n"),
        (b"\xef\xbb\xbfbom", "bom"),
        ("utf-16 ü".encode("utf-16"), "utf-16 ü"),
        (b"caf\xe9", "café"),
        (b"\x00\x01\x02", None),
        (b"\x89PNG\r\n\x1a\n\x00", None),
        (bytes(range(1, 32)) * 20 + b"\xff", None),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, text: str | None) -> None:
    (tmp_path / "file").write_bytes(data)
    if text is None:
        with pytest.raises(NotText, match="binary"):
            View(tmp_path).read_file("file")
    else:
        assert View(tmp_path).read_file("file").text == text


def test_a_whole_snapshot_is_browsed_but_never_left(root: Path) -> None:
    assert read_text(root, "README.md").text == TRUTH
    assert read_text(root, "ground_truth/facts.toml", limit=3).text == TRUTH[:3]
    for path in ("up", "updir/key.txt", "../repo-secret/key.txt", "/etc/passwd"):
        with pytest.raises(OutsideRepository):
            read_text(root, path)


def test_patterns_of_a_case(tmp_path: Path) -> None:
    for path in ("a/keep.py", "a/b/gen.py", "top.txt", "sub/top.txt", "docs/x.md", "docs2/conf.py", "README.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")

    def seen(*patterns: str) -> set[str]:
        return {entry.path for entry in View(tmp_path, hidden=patterns).files}

    everything = seen()
    assert everything - seen("/top.txt") == {"top.txt"}
    assert everything - seen("top.txt") == {"top.txt", "sub/top.txt"}
    assert everything - seen("a/**/gen.py") == {"a/b/gen.py"}
    assert everything - seen("docs/") == {"docs/x.md"}
    assert everything - seen("*.py", "!keep.py") == {"a/b/gen.py", "docs2/conf.py"}
    assert everything - seen("docs/", "!docs/x.md") == {"docs/x.md"}
    assert everything - seen("TOP.TX?") == {"top.txt", "sub/top.txt"}


_parts = st.sampled_from(
    [
        "",
        *[
            "..",
            ".",
            "src",
            "deep",
            "up",
            "updir",
            "truth",
            "truthfile",
            "chain",
            "deepdir",
            "abs",
            "loop",
            "key.txt",
            "ground_truth",
            "facts.toml",
            "README.md",
        ],
    ]
    + ["alias.txt", "repo", "repo-secret", "main.py", "mod.py", "etc", "passwd"]
) | st.text(max_size=4)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(parts=st.lists(_parts, max_size=8), lead=st.sampled_from(["", "/", "./", "//"]))
def test_no_path_reads_outside_or_hidden(root: Path, parts: list[str], lead: str) -> None:
    view = View(root)
    path = lead + "/".join(parts)
    with contextlib.suppress(ViewError):
        assert view.read_file(path).text in {"print('hello')\n", "x = 1\n", "code\n"}
    with contextlib.suppress(ViewError):
        assert not {"key.txt", "facts.toml", "README.md", "repo/", "passwd"} & set(view.list_directory(path))
