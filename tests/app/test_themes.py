"""Themes: files that are right and wrong, and colours that can be read, as they are painted and with any colour vision."""

import itertools
import os
from pathlib import Path

import pytest
import recorded
from compared import shorter_trial
from driving import press, regeneration, trajectory, until
from rich.style import Style
from sweeps import spread
from test_literal import hostile_regeneration
from textual.app import App
from textual.color import Color
from textual.screen import ModalScreen

from workbench.app.theming import (
    FALLBACK,
    SEEN,
    VERDICTS,
    BadTheme,
    ThemeFile,
    contrast,
    first_theme,
    load_theme,
    read_theme,
    theme_files,
)
from workbench.base import glyphs, paths
from workbench.base.settings import Settings

GOOD = "name: mine\ndark: true\ncolors: {primary: '#112233'}\n"


def _write(text: str, name: str = "mine") -> Path:
    folder = paths.own_themes_dir()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("name: mine\ncolors: {primary: blurple}\n", "colors.primary"),
        ("name: mine\ncolors: {secondary: red}\n", "colors.primary is missing"),
        ("name: mine\ncolors: {primary: red, colour: red}\n", "'colour'"),
        ("name: other\ncolors: {primary: red}\n", "'other'"),
        ("name: mine\ndark: perhaps\ncolors: {primary: red}\n", "dark"),
        ("name: mine\ncolors: {primary: red\n", "line "),
        ("name: mine\ncolors: {primary: red}\nvariables: {x: 'a; b'}\n", "variables.x"),
        ("!!python/object/apply:os.system ['true']\n", "YAML"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_and_the_key(text, key):
    path = _write(text)
    with pytest.raises(BadTheme) as caught:
        read_theme(path)
    assert str(path) in str(caught.value)
    assert key in str(caught.value)


def test_the_cache_is_not_used_after_the_file_changed():
    path = _write(GOOD)
    status = path.stat()
    stamp = (status.st_mtime_ns, status.st_size)
    assert load_theme(ThemeFile(path, stamp)).primary == "#112233"
    _write(GOOD.replace("112233", "445566"))
    assert load_theme(ThemeFile(path, stamp)).primary == "#112233"  # the same stamp: from the cache
    assert load_theme(ThemeFile(path, (stamp[0] + 1, stamp[1]))).primary == "#445566"


def test_a_missing_theme_falls_back_and_says_so():
    theme, problem = first_theme("no-such-theme")
    assert theme is FALLBACK
    assert "workbench-light" in problem


def test_the_users_theme_wins_over_a_bundled_one():
    _write(GOOD.replace("mine", "workbench-dark"), "workbench-dark")
    assert first_theme("workbench-dark")[0].primary == "#112233"


async def test_a_changed_theme_shows_at_once_and_bad_files_are_one_notice(start):
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


async def test_a_theme_that_cannot_be_read_does_not_keep_the_app_from_starting(start):
    _write("name: mine\ncolors: {primary: blurple}\n")
    async with start(settings=Settings(theme="mine")) as person:
        await person.sees("blurple")
        assert person.app.theme == FALLBACK.name


async def test_no_color_is_honoured(start, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with start() as person:
        await person.sees("word_counter")
        strips = person.app.screen._compositor.render_strips()
        ground = person.app.styles.background
        shown = [part.style for strip in strips for part in strip.apply_filter(person.app._filters[-1], ground)]
        colours = [style.color.triplet for style in shown if style and style.color and style.color.triplet]
        assert colours
        assert all(len({*colour}) == 1 for colour in colours)


THEMES = sorted(theme_files())


def test_the_formula_is_that_of_wcag():
    black, white, grey = Color(0, 0, 0), Color(255, 255, 255), Color.parse("#777777")
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(white, grey) == pytest.approx(4.48, abs=0.005)


def test_what_a_theme_names_can_be_read_on_all_its_grounds():
    themes = [read_theme(file.path) for file in theme_files().values()]
    assert {"high-contrast", "colour-blind-safe"} <= {theme.name for theme in themes}
    quiet = {"text-dim", "text-faint", "text-disabled", "verdict-waiting", "seen-unopened"}
    for theme in themes:
        grounds = [Color.parse(ground) for ground in (theme.background, theme.surface, theme.panel)]
        variables = theme.to_color_system().generate() | theme.variables
        verdicts = {f"verdict-{name}" for name in VERDICTS}
        named = verdicts | {f"seen-{name}" for name in SEEN} | {"text-muted", "foreground", *quiet}
        for key in sorted(named | {"primary", "accent", "secondary", "success", "warning", "error"}):
            ratio = min(contrast(Color.parse(variables[key]), ground) for ground in grounds)
            assert ratio >= (3.0 if key in quiet else 4.5), f"{theme.name}: {key} {variables[key]} has {ratio:.2f}"
        if theme.name == "high-contrast":
            assert min(contrast(Color.parse(variables[key]), grounds[0]) for key in {*verdicts, "foreground"}) >= 7


VISIONS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def _lab(color: Color, vision: str) -> tuple[float, float, float]:
    """Return CIE L*a*b* (D65) of a colour as it is seen."""
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in (c / 255 for c in color.rgb)]
    seen = [min(1.0, max(0.0, sum(a * b for a, b in zip(row, linear, strict=True)))) for row in VISIONS[vision]]
    matrix = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    xyz = [sum(a * b for a, b in zip(row, seen, strict=True)) / w for row, w in zip(matrix, white, strict=True)]
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("vision", VISIONS)
def test_the_theme_for_colour_blindness_keeps_verdicts_apart(vision):
    colours = read_theme(theme_files()["colour-blind-safe"].path).variables
    for one, other in itertools.combinations(("passed", "failed", "timeout", "running"), 2):
        a, b = (_lab(Color.parse(colours[f"verdict-{name}"]), vision) for name in (one, other))
        distance = sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5
        assert distance >= 15, f"{one} and {other} are {distance:.0f} apart"


async def look(pilot, themes) -> None:
    """Paint the present screen in themes and measure every letter."""
    app, before = pilot.app, pilot.app.theme
    await until(pilot, lambda: set(THEMES) <= set(app.available_themes), "the themes")
    problems = []
    for name in themes:
        app.theme = name
        await pilot.pause()
        problems += unreadable(app)
    app.theme = before
    await pilot.pause()
    assert problems == []


@pytest.mark.slow
async def test_a_trajectory_and_what_stands_over_it(tmp_path):
    path = tmp_path / "demo.session"
    made = recorded.Recorder(path)
    made.run()
    recorded.word_counter(made, "t1")
    shorter_trial(made, "t2")
    made.writer.annotate("t1", "a remark", 1)
    made.close()
    async with trajectory(path, trial="t1") as (pilot, screen):
        await press(pilot, screen, "l", "l", "s", "e")
        await look(pilot, THEMES)  # code, a README with evidence, scores, a step that failed, a remark
        await press(pilot, screen, "slash", *"count", "enter", "L", "D")
        await look(pilot, spread(THEMES, 8))
        for turn, keys in enumerate((("question_mark",), ("x",), ("T",), ("space", "b", "f"), ("ctrl+p", "c"))):
            await pilot.press(*keys)
            await pilot.pause()
            await look(pilot, spread(THEMES, 8, turn))
            if keys != ("T",):
                await pilot.press("escape")
        for severity in ("information", "warning", "error"):
            pilot.app.notify("a notice", title=severity, severity=severity)
        for turn, mode in enumerate(("sessions", "cases")):
            await pilot.app.action_mode(mode)
            await until(pilot, lambda mode=mode: pilot.app.current_mode == mode, mode)
            await look(pilot, spread(THEMES, 8, turn))


async def test_a_regeneration(tmp_path):
    hostile_regeneration(tmp_path / "demo.session")
    async with regeneration(tmp_path / "demo.session") as (pilot, screen):
        await press(pilot, screen, "j", "l")
        await look(pilot, spread(THEMES, 4, 1))
        await press(pilot, screen, "D")
        await look(pilot, spread(THEMES, 8))


_SECONDARY = ("text-dim", "text-faint", "text-disabled", "verdict-waiting", "seen-unopened")


_SIGNS = frozenset(glyphs.VERDICTS.values()) | frozenset(glyphs.STATES.values())


def unreadable(app: App[int]) -> list[str]:
    """Return the letters on the screen with too little contrast to their ground, as WCAG 2 computes it; of a dialog its own alone.

    Of signs and secondary text 3:1 is required, of other text 4.5:1.
    """
    quiet = [Color.parse(app.theme_variables[name]) for name in _SECONDARY]
    modal = app.screen if isinstance(app.screen, ModalScreen) else None
    found = {}
    for y, strip in enumerate(app.screen._compositor.render_strips()):
        x = 0
        for text, style, _ in strip:
            start, x = x, x + len(text)
            letters = any(char.isalnum() for char in text)
            if style is None or not (letters or _SIGNS & set(text)):
                continue
            if modal is not None and modal.get_widget_at(min(start, app.size.width - 1), y)[0] is modal:
                continue
            color, ground = _pair(style)
            ratio, secondary = contrast(color, ground), not letters or any(_same(color, one) for one in quiet)
            if ratio < (3.0 if secondary else 4.5):
                pair = f"{color.hex} on {ground.hex}"
                found.setdefault(pair, f"{app.theme}: {pair} is {ratio:.2f}: {text.strip()[:40]!r}")
    return list(found.values())


def _pair(style: Style) -> tuple[Color, Color]:
    assert style.color is not None, "letters without a colour"
    assert style.bgcolor is not None, "letters without a ground"
    color, ground = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
    if style.dim:
        color = ground.blend(color, 0.5)
    return (ground, color) if style.reverse else (color, ground)


def _same(one: Color, other: Color) -> bool:
    return max(abs(a - b) for a, b in zip(one.rgb, other.rgb, strict=True)) <= 1
