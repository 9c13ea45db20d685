"""Every theme can be read: the colours of real screens, measured; and told apart with any colour vision."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import recorded
import regeneration_app
from compared import shorter_trial
from contrast import contrast, unreadable
from regeneration_app import regeneration
from sweeps import spread
from test_literal import hostile_regeneration
from textual.color import Color
from trajectory_app import press, table_of_trials, trajectory, until

from workbench.app import theming as readable
from workbench.app.theming import VERDICTS, read_theme, theme_files

THEMES = sorted(theme_files())


def test_the_formula_is_that_of_wcag() -> None:
    black, white, grey = Color(0, 0, 0), Color(255, 255, 255), Color.parse("#777777")
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(white, grey) == pytest.approx(4.48, abs=0.005)
    assert readable.contrast(grey, white) == pytest.approx(contrast(white, grey))


def test_eight_themes_two_of_them_light() -> None:
    themes = [read_theme(file.path) for file in theme_files().values()]
    assert len(themes) >= 8
    assert sum(not theme.dark for theme in themes) >= 2
    assert {"high-contrast", "colour-blind-safe"} <= {theme.name for theme in themes}


@pytest.mark.parametrize("name", THEMES)
def test_what_a_theme_names_can_be_read_on_all_its_grounds(name: str) -> None:
    theme = read_theme(theme_files()[name].path)
    grounds = [Color.parse(ground) for ground in (theme.background, theme.surface, theme.panel)]
    variables = theme.to_color_system().generate() | theme.variables
    quiet = {"text-dim", "text-faint", "text-disabled", "verdict-waiting", "seen-unopened"}
    named = {key for key in theme.variables if key.startswith(("verdict-", "seen-"))} | {"text-muted", "foreground"}
    named |= {"primary", "accent", "secondary", "success", "warning", "error", *quiet}
    for key in sorted(named):
        ratio = min(contrast(Color.parse(variables[key]), ground) for ground in grounds)
        assert ratio >= (3.0 if key in quiet else 4.5), f"{key} {variables[key]} has {ratio:.2f}"
    least = 7 if name == "high-contrast" else 4.5
    assert contrast(Color.parse(theme.foreground), grounds[0]) >= least


def test_high_contrast_is_higher() -> None:
    theme = read_theme(theme_files()["high-contrast"].path)
    for verdict in VERDICTS:
        assert contrast(Color.parse(theme.variables[f"verdict-{verdict}"]), Color.parse(theme.background)) >= 7


# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
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
def test_the_theme_for_colour_blindness_keeps_verdicts_apart(vision: str) -> None:
    colours = read_theme(theme_files()["colour-blind-safe"].path).variables
    for one, other in itertools.combinations(("passed", "failed", "timeout", "running"), 2):
        a, b = (_lab(Color.parse(colours[f"verdict-{name}"]), vision) for name in (one, other))
        distance = sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5
        assert distance >= 15, f"{one} and {other} are {distance:.0f} apart"


# -- as it is painted


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


class Some:
    """A spread of the themes, other ones each time; ``make test-all`` takes all."""

    def __init__(self) -> None:
        self.turn = 0

    def __call__(self) -> list[str]:
        self.turn += 1
        return spread(THEMES, 8, self.turn)


async def test_a_trajectory_and_what_stands_over_it(tmp_path: Path) -> None:
    path = tmp_path / "demo.session"
    made = recorded.Recorder(path)
    made.run()
    recorded.word_counter(made, "t1")
    shorter_trial(made, "t2")
    made.writer.annotate("t1", "a remark", 1)
    made.close()
    some = Some()
    async with trajectory(path, trial="t1") as (pilot, screen):
        await press(pilot, screen, "l", "l", "s", "e")
        await look(pilot, spread(THEMES, 2))  # code, a README with evidence, scores, a step that failed, a remark
        await press(pilot, screen, "slash", *"count", "enter")
        await look(pilot, some())
        await press(pilot, screen, "L", "D")
        await look(pilot, some())
        await pilot.press("question_mark")
        await look(pilot, some())
        await pilot.press("escape")
        await pilot.press("x")
        await look(pilot, some())
        await pilot.press("escape")
        await table_of_trials(pilot)
        await pilot.press("space", "b", "f")
        await look(pilot, some())
        await pilot.press("escape")
        await look(pilot, some())
        for severity in ("information", "warning", "error"):
            pilot.app.notify("a notice", title=severity, severity=severity)
        await pilot.press("3")
        await until(pilot, lambda: pilot.app.current_mode == "sessions", "the sessions")
        await look(pilot, some())


async def test_a_regeneration(tmp_path: Path) -> None:
    path = tmp_path / "demo.session"
    hostile_regeneration(path)
    some = Some()
    async with regeneration(path) as (pilot, screen):
        await regeneration_app.press(pilot, screen, "j", "l")
        await look(pilot, spread(THEMES, 2, 1))  # those that the trajectory was not painted in
        await pilot.press("D")
        await look(pilot, some())
        await pilot.press("D", "n")
        await look(pilot, some())


@pytest.mark.parametrize("name", spread(THEMES, 4))
async def test_cases_and_the_palette(start, name: str) -> None:
    from workbench.base.settings import Settings

    async with start(settings=Settings(theme=name)) as person:
        await person.sees("word_counter")
        assert unreadable(person.app) == []
        await person.press("ctrl+p")
        await person.sees("key ⏎")
        assert unreadable(person.app) == []
