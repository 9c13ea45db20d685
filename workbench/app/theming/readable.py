"""Colours that can be read: what a theme leaves open is derived from its own colours, as faint as may be and no fainter.

Contrast is that of WCAG 2.1 (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio): 1 is none, 21 is black on white.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.color import Color

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.theme import Theme

TEXT = 4.5
"""Least contrast of what is to be read."""
SECONDARY = 3.0
"""Least contrast of what may be overlooked: line numbers, names of empty tabs, what stands beside."""
_MARGIN = 0.1  # colours are rounded to 8 bits, and Textual mixes them once more
_STEPS = 40


def contrast(one: Color, other: Color) -> float:
    """Return the contrast of two opaque colours, 1 to 21."""
    darker, brighter = sorted((_luminance(one), _luminance(other)))
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in (part / 255 for part in color.rgb)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def derived(theme: Theme) -> dict[str, str]:
    """Return the variables of quiet texts, of the cursor, of a field with the focus and of what is selected in it, as ``#rrggbb``."""
    dark = theme.dark
    background = Color.parse(theme.background or ("#121212" if dark else "#e0e0e0"))
    foreground = Color.parse(theme.foreground or ("#e0e0e0" if dark else "#202020"))
    primary = Color.parse(theme.primary)
    grounds = [background, *(Color.parse(other) for other in (theme.surface, theme.panel) if other)]
    shades = [background.blend(primary, share / 20) for share in (6, 5, 4, 3, 2)]
    field = next((shade for shade in shades if contrast(foreground, shade) >= TEXT + _MARGIN), shades[-1])
    on_primary = _clearest(primary, background, foreground).hex
    return {
        "text-muted": _faintest(foreground, background, grounds, TEXT, 0.7),
        "text-dim": _faintest(foreground, background, grounds, SECONDARY + 0.5, 0.55),
        "text-faint": _faintest(foreground, background, grounds, SECONDARY, 0.3),
        "text-disabled": _faintest(foreground, background, grounds, SECONDARY, 0.3),
        "block-cursor-background": primary.hex,
        "block-cursor-foreground": on_primary,
        "primary-muted": field.hex,
        "input-selection-background": primary.hex,
        "input-selection-foreground": on_primary,
    }


def _faintest(color: Color, towards: Color, grounds: Sequence[Color], least: float, share: float) -> str:
    """Return a colour mixed with the ground, at least ``share`` of it, that has the least contrast on all grounds."""
    for step in range(round(share * _STEPS), _STEPS):
        mixed = towards.blend(color, step / _STEPS)
        if min(contrast(mixed, ground) for ground in grounds) >= least + _MARGIN:
            return mixed.hex
    return color.hex


def _clearest(ground: Color, *colors: Color) -> Color:
    """Return the first colour that can be read on a ground, else the best of them, black and white."""
    for color in colors:
        if contrast(color, ground) >= TEXT + _MARGIN:
            return color
    return max((*colors, Color(0, 0, 0), Color(255, 255, 255)), key=lambda color: contrast(color, ground))
