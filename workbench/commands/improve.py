"""``workbench improve SOURCE``: better docstrings for the functions that nobody could write again from theirs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.commands.arguments import dollars, path, whole
from workbench.commands.estimating import add_estimate_arguments, settle
from workbench.commands.output import print_json, say, tell
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.engine.improvement import Improved, ImprovementPlan
    from workbench.engine.orders import Order
    from workbench.engine.plan import RegenerationPlan
    from workbench.improving import Attempt, Checkout

SUMMARY = (
    "find docstrings from which a function cannot be written again, and let a model write better ones that are tested"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("source", metavar="SOURCE", help="a case id, a folder, git URL@revision, or NAME==VERSION")
    parser.add_argument(
        "--writer", default="", metavar="MODEL", help="who writes docstrings; the model of agents unless given"
    )
    parser.add_argument(
        "--evaluator",
        default="",
        metavar="MODEL",
        help="who writes bodies from them; that of the session's run, else the default",
    )
    parser.add_argument(
        "--session", help="a session file or name; a regeneration with the original docs that it has is used"
    )
    parser.add_argument(
        "--task", action="append", default=[], metavar="PATTERN", help="only these: id, beginning, glob, or name"
    )
    parser.add_argument("--limit", type=whole(), default=0, metavar="N", help="improve at most N functions")
    parser.add_argument("--below", type=_share, default=0.5, metavar="SHARE", help="a pass@1 below this is bad (0.5)")
    parser.add_argument(
        "--samples", type=whole(), default=0, metavar="M", help="samples a function that the writer sees (3)"
    )
    parser.add_argument(
        "--held-out",
        type=whole(),
        default=5,
        metavar="M",
        help="further samples, which it never sees and which decide (5)",
    )
    parser.add_argument(
        "--attempts", type=whole(1, 20), default=2, metavar="N", help="docstrings tried for a function at most (2)"
    )
    parser.add_argument("--patch", type=path, metavar="FILE", help="where the patch is written (NAME-docstrings.patch)")
    parser.add_argument(
        "--branch", default="", metavar="NAME", help="make a branch with one commit in the checkout that SOURCE is"
    )
    parser.add_argument("--sandbox", default="", help="as for regenerate")
    parser.add_argument("--engine", default="", help="as for regenerate")
    parser.add_argument("--prompt", default="", help="as for regenerate")
    parser.add_argument("--context", default="", help="as for regenerate")
    parser.add_argument(
        "--spend-limit", type=dollars, default=0.0, metavar="USD", help="stop asking beyond this, in each run"
    )
    add_estimate_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """Improve; return 0 when every badly documented function that was tried has a better docstring, 1 when one has none."""
    from workbench.commands.damaged import look_for_damage
    from workbench.commands.improve_table import closing, print_table
    from workbench.commands.run import session_path
    from workbench.engine.improvement import Improvement, ImprovementPlan, resolved_improvement
    from workbench.engine.improvement_estimate import estimate_improvement
    from workbench.engine.plan import RegenerationPlan

    session = session_path(arguments.session)
    checkout = _checkout(arguments)
    patch = _patch_file(arguments)
    base = RegenerationPlan(
        source=arguments.source,
        evaluator=arguments.evaluator,
        samples=arguments.samples,
        tasks=tuple(arguments.task),
        sandbox=arguments.sandbox,
        engine=arguments.engine,
        prompt=arguments.prompt,
        context=arguments.context,
        spend_limit=arguments.spend_limit,
    )
    plan = resolved_improvement(
        session,
        ImprovementPlan(
            base, arguments.writer, arguments.held_out, arguments.below, arguments.attempts, arguments.limit
        ),
    )
    what = f"{arguments.source} × {plan.base.evaluator}, docstrings by {plan.writer}"
    leave = settle(arguments, what, lambda measured: estimate_improvement(measured, session, plan), into=session)
    if leave is not None:
        return leave
    damaged = look_for_damage(session)
    carrying = _Carrying(session, arguments.json)
    try:
        improved = Improvement(session, plan, carrying, _telling(arguments.json)).run()
    except KeyboardInterrupt:
        carrying.stop()
        tell(f"Interrupted; what is there is kept. Go on with the same command and --session {session}.")
        return 130
    result = closing(session, plan, improved)
    result |= _written(improved, plan, patch, checkout, arguments.branch)
    if arguments.json:
        print_json(result)
    else:
        print_table(session, improved, result)
    return max(damaged, 0 if len(improved.kept) == len(improved.tried) else 1)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError("it takes a share above 0 and up to 1")
    return value


def _patch_file(arguments: argparse.Namespace) -> Path:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", arguments.source.rstrip("/").rpartition("/")[2]).strip("-.")
    patch: Path = arguments.patch or Path(f"{name or 'improved'}-docstrings.patch")
    if patch.exists():
        raise UsageError(f"{patch} is there already; name another file with --patch.")
    if not patch.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {patch.absolute().parent} for the patch; name another file with --patch.")
    return patch


def _checkout(arguments: argparse.Namespace) -> Checkout | None:
    from workbench.improving import checkout_of

    folder = Path(arguments.source).expanduser()
    found = checkout_of(folder) if folder.is_dir() else None
    if arguments.branch:
        if found is None:
            raise UsageError("--branch needs a SOURCE that is a folder of a git checkout; a patch is written for any.")
        found.check_branch(arguments.branch)
    return found


class _Carrying:
    """Orders regenerations into a session and follows each to its end."""

    def __init__(self, session: Path, as_json: bool) -> None:
        self._session = session
        self._as_json = as_json
        self._run = ""

    def __call__(self, plan: RegenerationPlan) -> Order:
        """Return the order once it has ended.

        Raises:
            WorkbenchError: It failed, or an engine refused it.
        """
        from workbench.commands.regeneration_watching import RegenerationWatch, TerminalShow, order_end, position
        from workbench.commands.watching import follow
        from workbench.engine import launching
        from workbench.engine.improvement import failed_run
        from workbench.engine.regeneration_client import carried_out, order_regeneration

        if (known := carried_out(self._session, plan)) is not None:
            return known
        since = position(self._session)
        order = order_regeneration(self._session, plan)
        self._run = order.run
        process = launching.launch(self._session, order.run)
        terminal = None if self._as_json else TerminalShow()
        if terminal is not None:
            terminal.start()
        try:
            show = terminal or print_json
            state = follow(self._session, order.run, process, show, RegenerationWatch(since), order_end(order))
        finally:
            if terminal is not None:
                terminal.end()
        if (failed := failed_run(self._session, order, state)) is not None:
            raise failed
        return order

    def stop(self) -> None:
        """Cancel what is under way."""
        from workbench.commands.watching import stop

        if self._run:
            stop(self._session, self._run)


def _telling(as_json: bool) -> Callable[[Attempt], None]:
    from workbench.commands.improve_table import attempt_json
    from workbench.session.task_names import row_id

    def show(attempt: Attempt) -> None:
        if as_json:
            print_json(attempt_json(attempt))
        else:
            say(f"{row_id(attempt.task)}: {attempt.words}", flush=True)

    return show


def _written(
    improved: Improved, plan: ImprovementPlan, file: Path, checkout: Checkout | None, branch: str
) -> dict[str, str | None]:
    """Write what was kept: the patch first, as a branch may be refused."""
    from workbench.errors import WorkbenchError
    from workbench.improving import commit_message, patch_of
    from workbench.read_only import must_write

    told: dict[str, str | None] = {"patch": None, "branch": None, "commit": None, "problem": None}
    if not improved.kept:
        return told
    must_write("write a patch")
    ks = tuple(k for k in plan.base.k if k <= plan.held_out)
    message = commit_message(improved.kept, ks, improved.evaluator)
    file.write_bytes(patch_of(improved.changes, message, checkout.prefix if checkout is not None else ""))
    told["patch"] = str(file)
    if branch and checkout is not None:
        try:
            told |= {"commit": checkout.commit(branch, improved.changes, message), "branch": branch}
        except WorkbenchError as error:
            told["problem"] = str(error)
            tell(f"workbench: {error}")
    return told
