"""A path is completed while it is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.app.toolkit.completion import PathSuggester, completed


def test_the_first_entry_that_begins_like_it(tmp_path: Path) -> None:
    (tmp_path / "projects" / "thing").mkdir(parents=True)
    (tmp_path / "projects" / "[b]odd").write_text("")
    (tmp_path / "projects" / "bell\x07").write_text("")
    (tmp_path / ".hidden").mkdir()
    assert completed(f"{tmp_path}/pro") == f"{tmp_path}/projects/"
    assert completed(f"{tmp_path}/projects/th") == f"{tmp_path}/projects/thing/"
    assert completed(f"{tmp_path}/projects/[") == f"{tmp_path}/projects/[b]odd"
    assert completed(f"{tmp_path}/.h") == f"{tmp_path}/.hidden/"
    assert completed(f"{tmp_path}/projects/bel") is None
    assert completed(f"{tmp_path}/") is None
    assert completed(f"{tmp_path}/nothing/x") is None
    assert completed("a\0b/c") is None


def test_the_home_folder_stays_as_it_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "papers").mkdir()
    assert completed("~/pa") == "~/papers/"


async def test_neither_urls_nor_names_are_looked_for_on_the_disk() -> None:
    assert await PathSuggester().get_suggestion("git+https://example.org/x") is None
    assert await PathSuggester().get_suggestion("requests==2.31.0") is None
