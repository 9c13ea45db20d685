"""Locations of files: XDG folders for the user's files, and the package's own folder for bundled ones."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from workbench.base.files import expanded

_NAME = "workbench"


def _folder(variable: str, default: str) -> Path:
    chosen = os.environ.get(variable)
    return expanded(chosen) if chosen else Path(default)


def config_dir() -> Path:
    """Return the folder of ``config.toml`` (``WORKBENCH_CONFIG_DIR`` overrides XDG)."""
    return _folder("WORKBENCH_CONFIG_DIR", platformdirs.user_config_dir(_NAME))


def data_dir() -> Path:
    """Return the folder of sessions, custom cases and custom themes (``WORKBENCH_DATA_DIR`` overrides XDG)."""
    return _folder("WORKBENCH_DATA_DIR", platformdirs.user_data_dir(_NAME))


def cache_dir() -> Path:
    """Return the folder of fetched repositories and environments (``WORKBENCH_CACHE_DIR`` overrides XDG).

    It is safe to delete.
    """
    return _folder("WORKBENCH_CACHE_DIR", platformdirs.user_cache_dir(_NAME))


def state_dir() -> Path:
    """Return the folder of logs (``WORKBENCH_STATE_DIR`` overrides XDG)."""
    return _folder("WORKBENCH_STATE_DIR", platformdirs.user_state_dir(_NAME))


def sessions_dir() -> Path:
    """Return the folder of the user's session files (``WORKBENCH_SESSIONS_DIR`` overrides the data folder)."""
    return _folder("WORKBENCH_SESSIONS_DIR", str(data_dir() / "sessions"))


def trash_dir() -> Path:
    """Return the folder of deleted sessions; emptying it deletes them permanently."""
    return sessions_dir() / "trash"


def own_cases_dir() -> Path:
    return data_dir() / "test_cases"


def own_themes_dir() -> Path:
    return config_dir() / "themes"


def config_file() -> Path:
    return config_dir() / "config.toml"


def bundled(name: str) -> Path:
    """Return the bundled folder ``name`` (``test_cases``, ``themes`` or ``sessions``).

    It is next to the package in a checkout, and inside the package in a wheel.
    """
    package = Path(__file__).resolve().parents[1]
    inside = package / "_bundled" / name
    return inside if inside.is_dir() else package.parent / name
