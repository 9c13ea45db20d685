"""``workbench cluster``: a Dask cluster on this machine, for trying ``--engine``."""

from __future__ import annotations

import argparse
import asyncio
import os

from workbench.commands.arguments import Argument, whole
from workbench.commands.output import print_json, say, tell

ARGUMENTS: dict[str, Argument] = {
    "--workers N": ("worker processes (one per core)", whole(1, 1000)),
    "--threads N": ("candidates side by side in each (1)", whole(1, 1000), 1),
    "--host HOST": ("address to listen on (127.0.0.1: this machine only)", str, "127.0.0.1"),
    "--port PORT": ("the scheduler's port (8786); 0 takes a free one", whole(0, 65535), 8786),
    "--json": "print one JSON line when it is ready",
}


def run(arguments: argparse.Namespace) -> int:
    from workbench.cluster.local import check_host, is_loopback, serve

    workers = arguments.workers or len(os.sched_getaffinity(0))
    check_host(arguments.host)
    if not is_loopback(arguments.host):
        tell(
            f"workbench: whoever reaches {arguments.host} can run any program on this machine through the scheduler; "
            "see docs/guides/cluster.md on TLS."
        )

    def ready(engine: str, pids: list[int]) -> None:
        if arguments.json:
            print_json({"engine": engine, "workers": pids})
            return
        say(f"A cluster of {len(pids)} worker{'s' * (len(pids) != 1)} is ready at {engine}")
        say(f"Use it with:  workbench regenerate SOURCE --engine {engine}")
        say("Ctrl-C ends it.", flush=True)

    asyncio.run(
        serve(workers=workers, threads=arguments.threads, host=arguments.host, port=arguments.port, ready=ready)
    )
    return 0
