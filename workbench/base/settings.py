"""The settings; the environment overrides the file, which overrides the defaults.

This deliberately uses plain dataclasses and ``tomllib``: importing a validation library would add a third to the app's
time to first paint.
"""

from __future__ import annotations

import difflib
import os
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from workbench.base import numbers, paths
from workbench.base.bindings import KEYS
from workbench.base.errors import UsageError
from workbench.base.files import Unreadable, read_text
from workbench.base.text import one_line

ENVIRONMENT_PREFIX = "WORKBENCH_"
_LARGEST = 1_000_000  # maximum size of a settings file in bytes
_YEAR = 366 * 24 * 3600.0
# Bounds of numbers; 0 is allowed where it means "no limit".
_WHOLE = {
    "concurrency": (1, 10_000),
    "trials_at_once": (1, 10_000),
    "max_tries": (1, 1_000),
    "max_steps": (1, 10_000),
    "read_limit": (1, 1_000_000_000),
    "answer_tokens": (1, 1_000_000),
}
_AMOUNTS = {
    "request_timeout": (0.0, _YEAR),
    "request_total_time": (0.0, _YEAR),
    "time_limit": (0.0, _YEAR),
    "docs_time_limit": (0.0, _YEAR),
    "spend_limit": (0.0, numbers.MOST_DOLLARS),
    "ask_above_dollars": (0.0, numbers.MOST_DOLLARS),
    "ask_above_minutes": (0.0, _YEAR / 60),
}
_MAY_BE_0 = frozenset({"spend_limit", "ask_above_dollars", "ask_above_minutes"})
_ONE_OF = {"notify": ("bell", "desktop", "off")}


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their defaults."""

    theme: str = "workbench-dark"  # name of a theme in `themes/` or in the user's themes folder
    agent: str = "white"  # name of the agent, `a2a:URL` or `package.module:Class`
    agent_model: str = ""  # model of the agent; empty = hosted default if its API key is set, else `local`
    # `offline`, a model name, `package.module:Class`, or empty (hosted default if its API key is set, else `offline`)
    judge: str = ""
    evaluator: str = ""  # evaluator model for regeneration; empty as for agent_model
    base_url: str = ""  # OpenAI-compatible endpoint for `openai/…` models
    local_model_path: str = ""  # path of a different GGUF file for the `local` model
    concurrency: int = 8  # concurrent requests per hosted provider
    trials_at_once: int = 4  # number of trials that the engine runs in parallel
    request_timeout: float = 180.0  # maximum seconds per request
    request_total_time: float = 600.0  # maximum seconds per request, including all retries and waits
    max_tries: int = 5  # maximum attempts per request
    spend_limit: float = 0.0  # maximum US dollars per run; 0 = no limit
    max_steps: int = 15  # maximum steps until an agent must have answered
    time_limit: float = 900.0  # maximum seconds per trial
    docs_time_limit: float = 4 * 3600.0  # maximum seconds for an external program to document a repository
    # Maximum number of characters returned by `read_file` and, in names, by `list_directory`; the agent and its step
    # are informed if the result was cut
    read_limit: int = 60_000
    answer_tokens: int = 4096  # maximum tokens per answer of an agent's model; a step records if its answer was cut
    # Estimated US dollars above which a run must be confirmed; 0 = never
    ask_above_dollars: float = 5.0
    ask_above_minutes: float = 60.0  # estimated minutes above which a run must be confirmed; 0 = never
    notify: str = "off"  # notification when a run ends while the app is open: `bell`, `desktop` or `off`
    sandbox: str = ""  # back end for model-written code, or `package.module:Class`; empty = strongest available
    engine: str = ""  # where candidates are tested: `dask://HOST:PORT`; empty = on this machine
    keymap: Mapping[str, str] = field(default_factory=dict)  # binding id → key, overriding the app's own keys


def _convert(name: str, kind: object, value: object, origin: str) -> object:
    if kind in (int, float):
        try:
            if kind is int:
                return numbers.whole(value, *_WHOLE[name])
            return numbers.amount(value, *_AMOUNTS[name], above=name not in _MAY_BE_0)
        except ValueError as expected:
            raise UsageError(f"{origin}: {name} must be {expected}.") from None
    if kind is str:
        if not isinstance(value, str):
            raise UsageError(f"{origin}: {name} must be text, not {_shown(value)}.")
        if not value.isprintable():
            raise UsageError(f"{origin}: {name} must be plain text, but {_shown(value)} contains control characters.")
        if name in _ONE_OF and value.strip() not in _ONE_OF[name]:
            raise UsageError(f"{origin}: {name} must be one of {', '.join(_ONE_OF[name])}, not {_shown(value)}.")
        return value.strip()
    return _keymap(name, value, origin)


def _keymap(name: str, value: object, origin: str) -> Mapping[str, str]:
    entries: dict[str, object] = {}
    for key, item in value.items() if isinstance(value, Mapping) else [(name, value)]:
        # TOML parses the unquoted key app.quit = "…" as a nested table.
        inner = {f"{key}.{last}": to for last, to in item.items()} if isinstance(item, Mapping) else {key: item}
        entries |= inner
    moved = {key: to for key, to in entries.items() if isinstance(to, str)}
    if not isinstance(value, Mapping) or len(moved) < len(entries):
        raise UsageError(f"{origin}: {name} must be a table of texts, for example [keymap] app.quit = 'ctrl+q'.")
    for key, to in moved.items():
        if key not in KEYS:
            near = [known for known in sorted(KEYS) if known.partition(".")[2] == key]
            near = near or difflib.get_close_matches(key, KEYS, 2)
            hint = f"did you mean {' or '.join(near)}?" if near else "the app's help (?) lists them."
            raise UsageError(f"{origin}: [keymap] names {_shown(key)}, which is not the id of a key; {hint}")
        if not to.isprintable() or not all(part.strip() for part in to.split(",")):
            raise UsageError(
                f"{origin}: [keymap] sets {key} to {_shown(to)}, which is not a key; use Textual's names: "
                "ctrl+q, f9, x."
            )
    return moved


def _shown(value: object) -> str:
    return one_line(repr(value), 60)


def load(environment: Mapping[str, str] | None = None, file: Path | None = None) -> Settings:
    """Load the settings; a missing file counts as empty. Raises UsageError for an unknown name or an invalid value."""
    environment = os.environ if environment is None else environment
    file = paths.config_file() if file is None else file
    kinds = typing.get_type_hints(Settings)
    known = {item.name for item in fields(Settings)}
    values: dict[str, object] = {}
    if file.exists() or file.is_symlink():
        import tomllib

        try:
            written = tomllib.loads(read_text(file, "The settings file", most=_LARGEST))
        except Unreadable:
            raise
        except (ValueError, RecursionError) as error:
            raise UsageError(f"The settings file {file} cannot be read: {one_line(str(error), 120)}.") from None
        for name, value in written.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(sorted(known))}."
                raise UsageError(f"{file}: there is no setting {_shown(name)}.{hint}")
            values[name] = _convert(name, kinds[name], value, str(file))
    for name in known - {"keymap"}:
        variable = ENVIRONMENT_PREFIX + name.upper()
        if variable in environment:
            values[name] = _convert(name, kinds[name], environment[variable], variable)
    return Settings(**values)  # type: ignore[arg-type]
