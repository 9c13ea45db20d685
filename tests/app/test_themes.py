from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench.app.theming import (
    FALLBACK,
    SEEN,
    VERDICTS,
    BadTheme,
    ThemeFile,
    first_theme,
    load_theme,
    read_theme,
    theme_files,
)
from workbench.base import paths
from workbench.base.settings import Settings

GOOD = "name: mine\ndark: true\ncolors: {primary: '#112233'}\n"


def _write(text: str, name: str = "mine") -> Path:
    folder = paths.own_themes_dir()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_at_least_four_themes_are_shipped_and_each_names_every_verdict() -> None:
    files = theme_files()
    assert len(files) >= 4
    for file in files.values():
        variables = read_theme(file.path).variables
        assert {f"verdict-{name}" for name in VERDICTS} | {f"seen-{name}" for name in SEEN} <= set(variables)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("name: mine\ncolors: {primary: blurple}\n", "colors.primary"),
        ("name: mine\ncolors: {secondary: red}\n", "colors.primary is missing"),
        ("name: mine\ncolors: {primary: red, colour: red}\n", "'colour'"),
        ("name: mine\ncolors: {primary: red}\nverdicts: {passed: 7}\n", "verdicts.passed"),
        ("name: other\ncolors: {primary: red}\n", "'other'"),
        ("name: mine\ncolours: {primary: red}\n", "'colours'"),
        ("name: mine\ndark: perhaps\ncolors: {primary: red}\n", "dark"),
        ("name: mine\ncolors: [red]\n", "colors must be a mapping"),
        ("name: mine\ncolors: {primary: red\n", "line "),
        ("- just\n- a list\n", "must be a mapping"),
        ("name: mine\ncolors: {primary: red}\nvariables: {x: 'a; b'}\n", "variables.x"),
        ("!!python/object/apply:os.system ['true']\n", "YAML"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_and_the_key(text: str, key: str) -> None:
    path = _write(text)
    with pytest.raises(BadTheme) as caught:
        read_theme(path)
    assert str(path) in str(caught.value)
    assert key in str(caught.value)


def test_the_cache_is_not_used_after_the_file_changed() -> None:
    path = _write(GOOD)
    status = path.stat()
    stamp = (status.st_mtime_ns, status.st_size)
    assert load_theme(ThemeFile(path, stamp)).primary == "#112233"
    _write(GOOD.replace("112233", "445566"))
    assert load_theme(ThemeFile(path, stamp)).primary == "#112233"  # the same stamp: from the cache
    assert load_theme(ThemeFile(path, (stamp[0] + 1, stamp[1]))).primary == "#445566"


def test_a_missing_theme_falls_back_and_says_so() -> None:
    theme, problem = first_theme("no-such-theme")
    assert theme is FALLBACK
    assert problem is not None
    assert "workbench-light" in problem


def test_the_users_theme_wins_over_a_bundled_one() -> None:
    _write(GOOD.replace("mine", "workbench-dark"), "workbench-dark")
    assert first_theme("workbench-dark")[0].primary == "#112233"


async def test_a_changed_theme_shows_at_once_and_bad_files_are_one_notice(start) -> None:
    _write(GOOD)
    _write("nonsense", "bad-one")
    _write("name: bad-two\ncolors: {}\n", "bad-two")
    async with start(settings=Settings(theme="mine")) as person:
        await person.until(lambda: "workbench-light" in person.app.available_themes)
        notices = [item.message for item in person.app._notifications if item.title == "Themes"]
        assert len(notices) == 1
        assert "bad-one.yaml" in notices[0]
        assert "bad-two.yaml" in notices[0]
        path = _write(GOOD.replace("112233", "aa0000"))
        os.utime(path, ns=(1, 1))
        await person.until(lambda: person.app.current_theme.primary == "#aa0000")


async def test_a_theme_that_cannot_be_read_does_not_keep_the_app_from_starting(start) -> None:
    _write("name: mine\ncolors: {primary: blurple}\n")
    async with start(settings=Settings(theme="mine")) as person:
        await person.sees("blurple")
        assert person.app.theme == FALLBACK.name


async def test_no_color_is_honoured(start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with start() as person:
        await person.sees("word_counter")
        styles = [
            segment.style
            for strip in person.app.screen._compositor.render_strips()
            for segment in strip.apply_filter(person.app._filters[-1], person.app.styles.background)
            if segment.style is not None and segment.style.color is not None
        ]
        assert styles
        assert all(
            style.color.triplet.red == style.color.triplet.green == style.color.triplet.blue
            for style in styles
            if style.color is not None and style.color.triplet is not None
        )
