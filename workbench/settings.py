"""Settings: environment over file over defaults.

Plain dataclasses and ``tomllib`` on purpose: importing a validation library would cost the app a third of its time to
first paint.
"""

from __future__ import annotations

import difflib
import os
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from workbench import paths
from workbench.errors import UsageError

ENVIRONMENT_PREFIX = "WORKBENCH_"


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default; seconds and US dollars where not said otherwise.

    Attributes:
        theme: Name of a theme in ``themes/`` or the user's themes folder.
        agent_model: Model of the white agent; empty = hosted default if its key is there, else ``local``.
        judge: ``offline``, a model name, or empty (hosted default if its key is there, else ``offline``).
        evaluator: Evaluator model of regeneration; empty as above.
        base_url: OpenAI-compatible endpoint for ``openai/…`` models.
        local_model_path: Path of another GGUF file for the ``local`` model.
        concurrency: Requests under way at once per hosted provider.
        trials_at_once: Trials that the engine runs side by side.
        request_timeout: Seconds that one request may take.
        request_total_time: Seconds that one request may take with all its retries and waits.
        max_tries: Attempts per request.
        spend_limit: US dollars that one run may spend; 0 = no limit.
        max_steps: Steps after which an agent must have answered.
        time_limit: Seconds that one trial may take.
        read_limit: Characters that ``read_file`` returns at most.
        sandbox: Back end for model-written code; empty = strongest available.
        allow_plain_process: Whether model-written code may run without isolation.
        engine: Where candidates are tested: ``dask://HOST:PORT``; empty = on this machine.
        keymap: Binding id to key, over the app's own keys.
    """

    theme: str = "workbench-dark"
    agent_model: str = ""
    judge: str = ""
    evaluator: str = ""
    base_url: str = ""
    local_model_path: str = ""
    concurrency: int = 8
    trials_at_once: int = 4
    request_timeout: float = 180.0
    request_total_time: float = 600.0
    max_tries: int = 5
    spend_limit: float = 0.0
    max_steps: int = 15
    time_limit: float = 900.0
    read_limit: int = 60_000
    sandbox: str = ""
    allow_plain_process: bool = False
    engine: str = ""
    keymap: Mapping[str, str] = field(default_factory=dict)


def _convert(name: str, kind: object, value: object, origin: str) -> object:
    if kind is bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() in {"1", "true", "yes", "on"}:
            return True
        if str(value).lower() in {"0", "false", "no", "off", ""}:
            return False
        raise UsageError(f"{origin}: {name} must be true or false, not {value!r}.")
    if kind in (int, float):
        number = kind
        try:
            if isinstance(value, bool):
                raise ValueError
            converted = number(typing.cast("str", value))
        except (TypeError, ValueError):
            raise UsageError(f"{origin}: {name} must be a number, not {value!r}.") from None
        if converted < 0:
            raise UsageError(f"{origin}: {name} must not be negative, it is {value!r}.")
        return converted
    if kind is str:
        if not isinstance(value, str):
            raise UsageError(f"{origin}: {name} must be text, not {value!r}.")
        return value
    if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in value.values()):
        raise UsageError(f"{origin}: {name} must be a table of texts, for example [keymap] quit = 'ctrl+q'.")
    return dict(value)


def load(environment: Mapping[str, str] | None = None, file: Path | None = None) -> Settings:
    """Return the settings in force.

    Args:
        environment: Variables to read, ``os.environ`` if None.
        file: The TOML file to read, ``paths.config_file()`` if None; a missing file is an empty one.

    Raises:
        UsageError: A key is unknown or a value does not fit; the sentence names the file or variable.
    """
    environment = os.environ if environment is None else environment
    file = paths.config_file() if file is None else file
    kinds = typing.get_type_hints(Settings)
    known = {item.name for item in fields(Settings)}
    values: dict[str, object] = {}
    if file.is_file():
        try:
            written = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"The settings file {file} cannot be read: {error}.") from None
        for name, value in written.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(sorted(known))}."
                raise UsageError(f"{file}: there is no setting {name!r}.{hint}")
            values[name] = _convert(name, kinds[name], value, str(file))
    for name in known - {"keymap"}:
        variable = ENVIRONMENT_PREFIX + name.upper()
        if variable in environment:
            values[name] = _convert(name, kinds[name], environment[variable], variable)
    return Settings(**values)  # type: ignore[arg-type]
