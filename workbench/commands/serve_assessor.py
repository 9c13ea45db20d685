"""``workbench serve-assessor``: score agents of others on request, over A2A."""

from __future__ import annotations

import argparse

from workbench.commands.arguments import Argument, whole
from workbench.commands.output import tell
from workbench.commands.serve_agent import place
from workbench.interop.a2a.agent import check_installed
from workbench.orders.run import resolved_judge

ARGUMENTS: dict[str, Argument] = {
    "--judge JUDGE": "offline, a model, or package.module:Class of your own",
    **place(9001),
    "--at-once N": ("assessments at the same time; others wait", whole(1, 100), 1),
}


def run(arguments: argparse.Namespace) -> int:
    check_installed()
    from workbench.interop.a2a.assessor import assessor_app
    from workbench.interop.a2a.listening import Place, listen

    judge = resolved_judge(arguments.judge)
    place, found = Place.at(arguments.host, arguments.port).bound()
    tell(f"The assessor with the judge {judge} listens at {place.url}. Stop it with ctrl+c; runs under way go on.")
    listen(assessor_app(judge, place, arguments.at_once), [found])
    tell("Stopped.")
    return 0
