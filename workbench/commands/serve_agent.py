"""``workbench serve-agent AGENT``: an agent of this machine for the benchmarks of others, over A2A."""

from __future__ import annotations

import argparse

from workbench.agents.names import current_name
from workbench.base import settings
from workbench.commands.arguments import Argument, asked, whole
from workbench.commands.output import tell
from workbench.interop.a2a.agent import check_installed
from workbench.orders.run import resolved
from workbench.plans.plan import DocumentPlan


def place(port: int) -> dict[str, Argument]:
    host = "this machine only unless given; others need the token in WORKBENCH_SERVE_TOKEN"
    return {
        "--port N": (f"{port} unless given; 0 takes a free one", whole(0, 65_535), port),
        "--host HOST": (host, str, "127.0.0.1"),
    }


ARGUMENTS: dict[str, Argument] = {
    "[agent]": ("white (default), planner, no-exploration, or package.module:Class", str, "white"),
    **asked(DocumentPlan, "model"),
    **place(9002),
    "--at-once N": ("messages answered at the same time", whole(1, 1000), 4),
    **asked(DocumentPlan, "spend_limit"),
}


def run(arguments: argparse.Namespace) -> int:
    check_installed()
    from workbench.interop.a2a.listening import Place, listen
    from workbench.interop.a2a.served_agent import agent_app, check_servable, gateway_for

    known = settings.load()
    agent = current_name(arguments.agent)
    check_servable(agent)
    plan = resolved(
        DocumentPlan(
            (),
            agent=agent,
            model=arguments.model,
            judge="offline",
            spend_limit=arguments.spend_limit,
            max_steps=known.max_steps,
        )
    )
    place, found = Place.at(arguments.host, arguments.port).bound()
    gateway = gateway_for(plan, known)
    tell(f"{agent} with {plan.model} listens at {place.url}; its agent is a2a:{place.url}. Stop it with ctrl+c.")
    listen(agent_app(plan, place, gateway, arguments.at_once), [found], gateway.aclose)
    tell("Stopped.")
    return 0
