"""``workbench regenerate SOURCE``: write function bodies again from their documentation, and test them."""

from __future__ import annotations

import argparse
import subprocess

SUMMARY = "let an evaluator write function bodies from their docstrings, test them in a sandbox, and give pass@k"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("source", metavar="SOURCE", help="a case id, a folder, git URL@revision, or NAME==VERSION")
    parser.add_argument(
        "--docs", default="original", help="original (default), none, llm:MODEL, folder:PATH, source:SOURCE"
    )
    parser.add_argument(
        "--evaluator", default="", help="a LiteLLM name, local, reference, stub, replay:SESSION, or samples:FILE"
    )
    parser.add_argument("--samples", type=_at_least_one, default=0, metavar="M", help="candidates per task (3)")
    parser.add_argument("--k", default="1,3", help="the k of pass@k, separated by commas (1,3)")
    parser.add_argument("--limit", type=_at_least_one, default=0, metavar="N", help="only the first N tasks")
    parser.add_argument(
        "--task",
        action="append",
        default=[],
        metavar="ID",
        help="only this task: id, beginning, glob, or function name",
    )
    parser.add_argument("--session", help="a session file or name; what it has of this work is kept and completed")
    parser.add_argument("--no-controls", action="store_true", help="do not test the original and a stub on every task")
    parser.add_argument("--sandbox", default="", help="bubblewrap, docker, or process; the strongest one unless given")
    parser.add_argument(
        "--engine",
        default="",
        help="where candidates are tested: dask://HOST:PORT, or local (default); docs/cluster.md",
    )
    parser.add_argument("--prompt", default="", help="version of the prompt: paper-1, or short-1 for small models")
    parser.add_argument("--context", default="", help="context policy: prefix-1, signatures-1, tail-1, function-1")
    parser.add_argument("--spend-limit", type=float, default=0.0, metavar="USD", help="stop asking beyond this")
    parser.add_argument("--rebuild", action="store_true", help="build the tasks anew although the cache has them")
    parser.add_argument("--detach", action="store_true", help="start and leave; watch it in the app")
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow; return 0 when every candidate has a verdict, 1 if that or the self-check failed, 130 if interrupted."""
    from workbench.commands.regeneration_watching import position, watch_regeneration
    from workbench.commands.run import session_path
    from workbench.engine import client
    from workbench.engine.plan import RegenerationPlan
    from workbench.engine.regeneration_client import plan_regeneration

    session = session_path(arguments.session)
    plan = RegenerationPlan(
        source=arguments.source,
        docs=arguments.docs,
        evaluator=arguments.evaluator,
        samples=arguments.samples,
        k=numbers(arguments.k),
        tasks=tuple(arguments.task),
        limit=arguments.limit,
        controls=not arguments.no_controls,
        sandbox=arguments.sandbox,
        prompt=arguments.prompt,
        context=arguments.context,
        spend_limit=arguments.spend_limit,
        rebuild=arguments.rebuild,
        engine=arguments.engine,
    )
    since = position(session)
    key = plan_regeneration(session, plan)
    process = client.launch(session, key)
    if arguments.detach:
        print(session)
        return 0
    code = watch_regeneration(session, key, process, since, arguments.json)
    return _engines_word(process) if code == 1 else code


def _engines_word(process: subprocess.Popen[bytes] | None) -> int:
    """Return 2 if the engine found the order itself wrong (an unknown task, say), which only the built tasks show; else 1."""
    if process is None:
        return 1
    try:
        return 2 if process.wait(timeout=10) == 2 else 1
    except subprocess.TimeoutExpired:
        return 1


def _at_least_one(text: str) -> int:
    # 0 stands for "not given" in a plan, so it must not come from the user.
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it takes a whole number of 1 or more, not {text!r}")
    return int(text)


def numbers(text: str) -> tuple[int, ...]:
    """Return the whole numbers in ``1,3``.

    Raises:
        UsageError: Something in it is no number of 1 or more.
    """
    from workbench.errors import UsageError

    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and int(part) >= 1 for part in parts):
        raise UsageError(f"--k takes whole numbers of 1 or more, separated by commas, not {text!r}.")
    return tuple(int(part) for part in parts)
