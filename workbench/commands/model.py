"""``workbench model``: whether the embedded model is here, and getting it."""

from __future__ import annotations

import argparse

from workbench.base import settings
from workbench.base.glyphs import VERDICTS
from workbench.commands.arguments import Verb
from workbench.commands.output import print_json, say, sign, tell
from workbench.models.local_files import LOCAL_NAME, install_local_model, local_model_status

DEFAULT_TAKES_WORDS = False


def run(arguments: argparse.Namespace) -> int:
    """Look, or install and look; 0 if the model can be used, else 1."""
    if arguments.verb == "install":
        install_local_model(tell)
    status = local_model_status(settings.load().local_model_path)
    if arguments.json:
        values = {"model": LOCAL_NAME, "present": status.present, "detail": status.detail}
        print_json({"type": "model", **values, "file": str(status.gguf) if status.gguf else None})
    else:
        mark = sign(VERDICTS["passed"], "present:") if status.present else sign(VERDICTS["failed"], "missing:")
        say(f"{mark} {LOCAL_NAME}: {status.detail}")
    return 0 if status.present else 1


_JSON = {"--json": "print one JSON object"}
VERBS: dict[str, Verb] = {
    "status": ("look", _JSON, run),
    "install": ("get what is missing from the package registry", _JSON, run),
}
