"""``workbench cluster``: a Dask cluster on this machine, for trying ``--engine``."""

from __future__ import annotations

import argparse
import asyncio
import os

from workbench.commands.arguments import whole
from workbench.commands.output import print_json, say, tell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers", type=whole(1, 1_000), default=0, metavar="N", help="worker processes (one per core)"
    )
    parser.add_argument(
        "--threads", type=whole(1, 1_000), default=1, metavar="N", help="candidates side by side in each (1)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1: this machine only)")
    parser.add_argument(
        "--port", type=whole(0, 65_535), default=8786, help="the scheduler's port (8786); 0 takes a free one"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON line when it is ready")


def run(arguments: argparse.Namespace) -> int:
    from workbench.cluster.local import check_host, is_loopback, serve

    workers = arguments.workers or len(os.sched_getaffinity(0))
    check_host(arguments.host)
    if not is_loopback(arguments.host):
        tell(
            f"workbench: whoever reaches {arguments.host} can run any program on this machine through the scheduler; "
            "see docs/cluster.md on TLS."
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
