"""``workbench serve-assessor``: score agents of others on request, over A2A."""

from __future__ import annotations

import argparse

SUMMARY = "assess agents of others on request, over A2A"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""


def run(arguments: argparse.Namespace) -> int:
    """Listen until told to stop; 0 then."""
    return 0
