"""``workbench cluster``: a Dask cluster on this machine, for trying ``--engine``."""

from __future__ import annotations

import argparse

SUMMARY = "start a Dask scheduler and workers on this machine, for trying regenerate --engine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="worker processes (one per core)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="candidates side by side in each (1)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1: this machine only)")
    parser.add_argument("--port", type=int, default=8786, help="the scheduler's port (8786); 0 takes a free one")
    parser.add_argument("--json", action="store_true", help="print one JSON line when it is ready")


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted; return 0."""
    import asyncio
    import json
    import os
    import sys

    from workbench.cluster.local import is_loopback, serve
    from workbench.errors import UsageError

    workers = arguments.workers or len(os.sched_getaffinity(0))
    if workers < 1 or arguments.threads < 1 or not 0 <= arguments.port < 65536:
        raise UsageError("--workers and --threads take whole numbers of 1 or more, --port one below 65536.")
    if not is_loopback(arguments.host):
        print(
            f"workbench: whoever reaches {arguments.host} can run any program on this machine through the scheduler; "
            "see docs/cluster.md on TLS.",
            file=sys.stderr,
        )

    def ready(engine: str, pids: list[int]) -> None:
        if arguments.json:
            print(json.dumps({"engine": engine, "workers": pids}), flush=True)
            return
        print(f"A cluster of {len(pids)} worker{'s' * (len(pids) != 1)} is ready at {engine}")
        print(f"Use it with:  workbench regenerate SOURCE --engine {engine}")
        print("Ctrl-C ends it.", flush=True)

    asyncio.run(
        serve(workers=workers, threads=arguments.threads, host=arguments.host, port=arguments.port, ready=ready)
    )
    return 0
