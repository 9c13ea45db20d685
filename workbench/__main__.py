"""``python -m workbench``."""

from workbench.cli import entry

entry()
