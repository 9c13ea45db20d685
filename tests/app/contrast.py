"""What is painted, measured: the contrast of every letter on the screen with its ground, as WCAG 2 computes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.screen import ModalScreen

from workbench.base import glyphs

TEXT, SECONDARY = 4.5, 3.0
_SECONDARY = ("text-dim", "text-faint", "text-disabled", "verdict-waiting", "seen-unopened")
_SIGNS = frozenset(glyphs.VERDICTS.values()) | frozenset(glyphs.STATES.values())


def luminance(color: Color) -> float:
    """Return the relative luminance, 0 to 1 (https://www.w3.org/TR/WCAG21/#dfn-relative-luminance)."""
    channels = (channel / 255 for channel in color.rgb)
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    """Return the ratio of contrast, 1 to 21 (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio)."""
    darker, brighter = sorted((luminance(one), luminance(other)))
    return (brighter + 0.05) / (darker + 0.05)


@dataclass(frozen=True)
class Painted:
    """Letters on the screen with their colour and their ground; signs of verdicts are letters of which 3:1 is asked."""

    color: Color
    ground: Color
    text: str
    secondary: bool

    @property
    def ratio(self) -> float:
        return contrast(self.color, self.ground)

    @property
    def readable(self) -> bool:
        return self.ratio >= (SECONDARY if self.secondary else TEXT)


def painted(app: App[int]) -> Iterator[Painted]:
    """Yield all letters of the present screen; of a dialog only its own, since what it stands over is dimmed."""
    quiet = [Color.parse(app.theme_variables[name]) for name in _SECONDARY]
    modal = app.screen if isinstance(app.screen, ModalScreen) else None
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
            yield Painted(color, ground, text.strip(), not letters or any(_same(color, one) for one in quiet))


def unreadable(app: App[int]) -> list[str]:
    """Return what has too little contrast, a line for each pair of colours."""
    found = {}
    for one in painted(app):
        if not one.readable:
            pair = f"{one.color.hex} on {one.ground.hex}"
            found.setdefault(pair, f"{app.theme}: {pair} is {one.ratio:.2f}: {one.text[:40]!r}")
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
