"""Theme files, validated with a message for each error, and an app that reloads them when they change.

Themes are cached as JSON, because importing a YAML parser would take a tenth of the time until the first paint.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.color import Color, ColorParseError
from textual.theme import Theme

from workbench.app.toolkit.workers import LatestWorker
from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.extensions import GROUPS, Plugin, installed
from workbench.base.files import Unreadable, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence


TEXT = 4.5
"""Minimum contrast ratio of normal text."""
SECONDARY = 3.0
"""Minimum contrast ratio of secondary text, such as line numbers and the names of empty tabs."""
_MARGIN = 0.1  # allows for rounding to 8 bits and for Textual's own blending
_STEPS = 40


def contrast(one: Color, other: Color) -> float:
    darker, brighter = sorted((_luminance(one), _luminance(other)))
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in (part / 255 for part in color.rgb)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def derived(theme: Theme) -> dict[str, str]:
    """Return the colours of muted text, the cursor, focused inputs and selected input text, as ``#rrggbb``."""
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
    """Return the faintest blend towards another colour that has the required contrast on all backgrounds.

    ``share`` is the minimum fraction of ``color`` in the blend; if no blend has enough contrast, ``color`` is returned.
    """
    for step in range(round(share * _STEPS), _STEPS):
        mixed = towards.blend(color, step / _STEPS)
        if min(contrast(mixed, ground) for ground in grounds) >= least + _MARGIN:
            return mixed.hex
    return color.hex


def _clearest(ground: Color, *colors: Color) -> Color:
    """Return the first colour that is readable on a background, or else the best of ``colors``, black and white."""
    for color in colors:
        if contrast(color, ground) >= TEXT + _MARGIN:
            return color
    return max((*colors, Color(0, 0, 0), Color(255, 255, 255)), key=lambda color: contrast(color, ground))


VERDICTS = ("passed", "failed", "timeout", "crashed", "invalid", "bypassed", "waiting", "running", "unscored")
SEEN = ("read", "listed", "unopened")
_COLORS = ("primary", "secondary", "accent", "foreground", "background", "surface", "panel", "boost", "success", "warning",
           "error")  # fmt: skip
_KEYS = ("name", "dark", "colors", "verdicts", "seen", "variables")
_LARGEST = 1_000_000  # maximum size of a theme file in bytes
_CACHED = 3  # version of the cache; increase it when the derived colours change
SUFFIXES = (".yaml", ".yml")


class BadTheme(WorkbenchError):
    """A theme file is invalid; the message names the file and the key."""


@dataclass(frozen=True, slots=True)
class ThemeFile:
    """A theme file; ``stamp`` changes when its content changes."""

    path: Path
    stamp: tuple[int, int]

    @classmethod
    def found(cls, path: Path) -> ThemeFile:
        status = path.stat()
        return cls(path, (status.st_mtime_ns, status.st_size))


FALLBACK = Theme(
    name="workbench-dark",
    primary="#7aa2f7",
    secondary="#7dcfff",
    accent="#e0af68",
    foreground="#c8d0e8",
    background="#14161f",
    surface="#191c27",
    panel="#232738",
    success="#9ece6a",
    warning="#e0af68",
    error="#f7768e",
)
"""The theme that is used if no theme file can be read."""


def fallback_variables(theme: Theme) -> dict[str, str]:
    """Return the variables that a theme may omit: the verdict colours and those derived from the theme's colours."""
    foreground = theme.foreground or "#e0e0e0"
    muted = Color.parse(foreground).blend(Color.parse(theme.background or "#121212"), 0.5).hex
    good, bad = theme.success or "#4ebf71", theme.error or "#ba3c5b"
    warning, hint = theme.warning or "#ffa62b", theme.accent or "#ffa62b"
    cool = theme.secondary or theme.primary
    verdicts = dict(zip(VERDICTS, (good, bad, warning, bad, hint, warning, muted, cool, warning), strict=True))
    seen = dict(zip(SEEN, (good, cool, muted), strict=True))
    return _prefixed(verdicts, seen) | derived(theme)


def _prefixed(verdicts: Mapping[str, str], seen: Mapping[str, str]) -> dict[str, str]:
    named = [("verdict", verdicts), ("seen", seen)]
    return {f"{group}-{name}": value for group, values in named for name, value in values.items()}


def folders() -> tuple[Path, ...]:
    return (paths.bundled("themes"), paths.own_themes_dir())


def plugin_theme(plugin: Plugin) -> Path:
    """Return the theme file of an installed package without importing the package; raises BadTheme if there is none."""
    for point in metadata.entry_points(group=GROUPS["theme"]):
        if point.dist is not None and (point.name, point.value) == (plugin.name, plugin.path):
            folder = Path(str(point.dist.locate_file(point.value.replace(".", "/"))))
            for path in (folder / f"{plugin.name}{suffix}" for suffix in SUFFIXES):
                if path.is_file():
                    return path
    raise BadTheme(f"{plugin.package} has no theme {plugin.name}.yaml in {plugin.path}.")


def _of_plugins() -> dict[str, ThemeFile]:
    found: dict[str, ThemeFile] = {}
    for plugin in installed():
        if plugin.kind == "theme" and not plugin.problem:
            # `workbench plugins` reports a missing file; other themes still work.
            with contextlib.suppress(BadTheme, OSError):
                found[plugin.name] = ThemeFile.found(plugin_theme(plugin))
    return found


def theme_files(places: tuple[Path, ...] | None = None) -> dict[str, ThemeFile]:
    """Return the theme files by name (the stem of the file).

    The user's themes override bundled ones of the same name, and those override themes of plug-ins.
    """
    found: dict[str, ThemeFile] = _of_plugins() if places is None else {}
    for place in folders() if places is None else places:
        with contextlib.suppress(OSError):
            for path in sorted(place.iterdir()):
                if path.suffix in SUFFIXES:
                    found[path.stem] = ThemeFile.found(path)
    return found


def read_theme(path: Path) -> Theme:
    """Return the theme in a YAML file; raises BadTheme if it cannot be read or a key is invalid."""
    import yaml

    try:
        values = yaml.load(read_text(path, most=_LARGEST), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except Unreadable as problem:
        raise BadTheme(str(problem)) from None
    except (RecursionError, ValueError) as problem:
        raise BadTheme(f"{path}: is not valid YAML ({type(problem).__name__}).") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise BadTheme(f"{path}{where}: is not valid YAML ({getattr(error, 'problem', None) or error}).") from None
    return checked(values, path)


def checked(values: object, path: Path) -> Theme:
    if not isinstance(values, dict):
        raise BadTheme(f"{path}: must be a mapping with the keys name, dark, colors, verdicts.")
    for key in values:
        if key not in _KEYS:
            raise BadTheme(f"{path}: there is no key {key!r}; known keys are {', '.join(_KEYS)}.")
    name = values.get("name", path.stem)
    if name != path.stem:
        raise BadTheme(f"{path}: name is {name!r} but the file is called {path.stem!r}; make them the same.")
    dark = values.get("dark", True)
    if not isinstance(dark, bool):
        raise BadTheme(f"{path}: dark must be true or false, not {dark!r}.")
    colors = _colors(values, "colors", _COLORS, path)
    if "primary" not in colors:
        raise BadTheme(f"{path}: colors.primary is missing; every theme needs it.")
    theme = Theme(name=path.stem, dark=dark, **colors)  # type: ignore[arg-type]
    named = _prefixed(_colors(values, "verdicts", VERDICTS, path), _colors(values, "seen", SEEN, path))
    variables = _section(values, "variables", path)
    for key, value in variables.items():
        if not isinstance(value, str) or any(mark in value for mark in "{};"):
            raise BadTheme(f"{path}: variables.{key} must be text such as a colour, not {value!r}.")
    return replace(theme, variables=fallback_variables(theme) | named | {str(k): str(v) for k, v in variables.items()})


def _section(values: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    section = values.get(key) or {}
    if not isinstance(section, dict):
        raise BadTheme(f"{path}: {key} must be a mapping of names to colours.")
    return section


def _colors(values: Mapping[str, Any], key: str, known: tuple[str, ...], path: Path) -> dict[str, str]:
    section = _section(values, key, path)
    for name, value in section.items():
        if name not in known:
            raise BadTheme(f"{path}: {key} has no {name!r}; known are {', '.join(known)}.")
        try:
            Color.parse(value)
        except (ColorParseError, AttributeError, TypeError):
            raise BadTheme(
                f"{path}: {key}.{name} is not a colour: {value!r}; write it as '#rrggbb' or as a name such as 'red'."
            ) from None
    return section


# -- the cache


def load_theme(file: ThemeFile) -> Theme:
    """Return the theme in a file, cached until the file changes; raises BadTheme if it is invalid."""
    cached = paths.cache_dir() / "themes" / f"{file.path.stem}.json"
    content: dict[str, Any] = {"version": _CACHED, "file": str(file.path), "stamp": list(file.stamp)}
    # Ignore a missing or invalid cache.
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        stored = json.loads(cached.read_text(encoding="utf-8"))
        values = stored.pop("theme")
        if stored == content:
            return Theme(**values)
    theme = read_theme(file.path)
    content["theme"] = {key: getattr(theme, key) for key in ("name", "dark", "variables", *_COLORS)}
    with contextlib.suppress(OSError):
        cached.parent.mkdir(parents=True, exist_ok=True)
        fresh = cached.with_suffix(".new")
        fresh.write_text(json.dumps(content), encoding="utf-8")
        fresh.replace(cached)
    return theme


def first_theme(name: str) -> tuple[Theme, str | None]:
    """Return the chosen theme, or the fallback and an error message; reads only one file."""
    for place in reversed(folders()):
        for suffix in SUFFIXES:
            try:
                return load_theme(ThemeFile.found(place / f"{name}{suffix}")), None
            except BadTheme as error:
                return FALLBACK, str(error)
            except OSError:
                continue
    if name == FALLBACK.name:
        return FALLBACK, None
    if name in (offered := _of_plugins()):
        try:
            return load_theme(offered[name]), None
        except BadTheme as error:
            return FALLBACK, str(error)
    return FALLBACK, f"There is no theme {name!r}; available themes are {', '.join(theme_files())}."


# -- the app: loads one theme before the first paint and the others after it, and reloads themes that change

POLL_SECONDS = 1.0


class ThemedApp(App[int]):
    """An app that loads, registers and reloads themes."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        for own in tuple(self.available_themes):
            # Textual's own themes lack verdict colours, and their contrast is not checked.
            self.unregister_theme(own)
        self._theme_files: dict[str, ThemeFile] = {}
        self._reading_themes = LatestWorker(self, "themes")
        first, self._theme_problem = first_theme(theme)
        self.register_theme(first)
        # Set the theme without calling watchers, which would parse all styles again before the first paint.
        self.set_reactive(App.theme, first.name)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the verdict colours and derived colours, or nothing for themes from files, which have them already."""
        theme = self.current_theme or FALLBACK
        return {} if "text-dim" in theme.variables else fallback_variables(theme)

    def start_themes(self) -> None:
        self._read_themes()
        self.set_interval(POLL_SECONDS, self._read_themes)
        if self._theme_problem:
            self.notify(self._theme_problem, title="Theme", severity="warning", timeout=12)

    def _read_themes(self) -> None:
        known = self._theme_files

        def work() -> tuple[dict[str, ThemeFile], list[Theme], list[str]]:
            files, themes, problems = theme_files(), [], []
            for name, file in files.items():
                if known.get(name) != file:
                    try:
                        themes.append(load_theme(file))
                    except BadTheme as error:
                        problems.append(str(error))
            return files, themes, problems

        self._reading_themes.ask(work, lambda found: self._has_read_themes(*found))

    def _has_read_themes(self, files: dict[str, ThemeFile], themes: Sequence[Theme], problems: Sequence[str]) -> None:
        gone, self._theme_files = set(self._theme_files) - set(files), files
        for theme in themes:
            self.register_theme(theme)
        for name in gone - {self.theme, FALLBACK.name}:
            self.unregister_theme(name)
        if any(theme.name == self.theme for theme in themes):
            self._watch_theme(self.theme)
        if problems:
            self.notify("\n".join(problems), title="Themes", severity="warning", timeout=12)

    def action_next_theme(self) -> None:
        names = sorted(self.available_themes)
        self.theme = names[(names.index(self.theme) + 1) % len(names)]
