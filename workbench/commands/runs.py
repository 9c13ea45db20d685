"""Commands that work on the runs of a session: resume, cancel, rerun, rescore and fork."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.files import expanded, read_text
from workbench.base.text import one_line
from workbench.commands.arguments import Argument, Command, plan_arguments, shared
from workbench.commands.order_command import ORDERING, carry_out, print_estimate
from workbench.commands.output import print_json, say, say_path, tell, tell_damage
from workbench.commands.summaries import order_summary, planned_trials, watch, watch_order, watch_runs
from workbench.commands.usage_results import watch_usage
from workbench.commands.watching import (
    RegenerationWatch,
    ScoreSelection,
    follow,
    position,
    requested_scores,
    showing,
    stop,
)
from workbench.orders import running
from workbench.orders.fork import Edit, ForkOrder
from workbench.orders.launching import end_of
from workbench.orders.measured import measure
from workbench.orders.ordered_asks import all_orders
from workbench.orders.regenerate import move
from workbench.orders.rerun import RerunOrder, RerunTrialOrder
from workbench.orders.rescore import RescoreOrder
from workbench.plans.plan import DocumentPlan, RegenerationPlan
from workbench.session import SessionReader
from workbench.session.pending_work import is_imported, is_rescored, unfinished
from workbench.session.session_names import is_example, resolve_session, writable_copy

# -- resume


def resume(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    with SessionReader(session) as reader:
        since = reader.last_change()
        kinds = {row.id: "import" if is_imported(row) else row.kind for row in reader.runs()}
        missing = unfinished(reader)
        code = tell_damage(reader.damage)
    if arguments.run and arguments.run not in kinds:
        raise UsageError(f"{session.name} has no run {one_line(arguments.run, 60)!r}.")
    if arguments.dry_run:
        lacking = list(running.missing_work(session, measure(session, session), arguments.run))
        for what, estimate in lacking:
            print_estimate(what, estimate, as_json=arguments.json)
        if not lacking and not arguments.json:
            say("Nothing is missing. Nothing was started.")
        return code
    if missing:
        session = writable_copy(session)
    if arguments.engine:
        move(session, arguments.engine, arguments.run)
    runs = running.resume(session, arguments.run or None)
    if arguments.detach:
        say_path(session)
        return code
    with SessionReader(session) as reader:
        held = [row.id for row in reader.runs() if row.id not in runs and reader.holder(row.id) is not None]
    if held and not arguments.run:
        tell(
            f"Already running: {', '.join(held)}. To watch: workbench open {session}. "
            f"To stop: workbench cancel {session}"
        )
    elif not runs and not arguments.json:
        say("Nothing is missing: every run of this session is done.")

    def trials() -> list[ScoreSelection]:
        with SessionReader(session) as reader:
            own = [
                ScoreSelection(row.id) for row in reader.trials() if not arguments.run or row.run_id == arguments.run
            ]
            # A rescoring run has no trials of its own but scores those of other runs.
            others = [
                one
                for row in reader.runs()
                if row.kind == "document" and arguments.run in ("", row.id) and is_rescored(row)
                for one in requested_scores(reader, row.id)
            ]
        return own + others

    mine = [key for key, kind in kinds.items() if arguments.run in ("", key) and kind == "regenerate"]
    documents = [key for key in runs if kinds[key] == "document"]
    usage = [key for key, kind in kinds.items() if arguments.run in ("", key) and kind == "usage"]
    imports = [key for key in runs if kinds[key] == "import"]
    for key in imports:
        code = max(code, _resumed_import(session, key, as_json=arguments.json))
    if documents or not (mine or imports or usage):
        code = max(code, watch_runs(session, documents, None, arguments.json, trials))
    if code == 130:
        return code
    # --json also prints the summaries of runs that were already complete.
    if watched := usage if arguments.json else [key for key in usage if key in runs]:
        code = max(code, watch_usage(session, watched, None, since, as_json=arguments.json))
    return max(code, _regenerations(arguments, session, [key for key in runs if key in mine], mine, since))


def _resumed_import(session: Path, run: str, *, as_json: bool) -> int:
    with showing(as_json) as show:
        show({"type": "run", "run": run, "session": str(session)})
        state = follow(session, run, None, show)
    if as_json:
        print_json({"type": "imported", "run": run, "state": state})
    else:
        say(end_of(run))
    return int(state != "done")


def _regenerations(
    arguments: argparse.Namespace, session: Path, resumed: list[str], every: list[str], since: int
) -> int:
    """Follow the resumed regeneration runs; --json also prints the summaries of runs that were already complete."""
    code, watch = 0, RegenerationWatch(since)
    for key in every:
        with SessionReader(session) as reader:
            row = reader.run(key)
        # A run can have several orders, each with a different k.
        for order in all_orders(row) if row is not None else ():
            if key in resumed:
                code = max(code, watch_order(session, order, None, watch, arguments.json))
                if code == 130:
                    return code
            elif arguments.json:
                print_json(order_summary(session, order))
    return code


# -- cancel


def cancel(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    with SessionReader(session) as reader:
        if arguments.run and reader.run(arguments.run) is None:
            raise UsageError(
                f"{session.name} has no run {one_line(arguments.run, 60)!r}; `workbench show {session}` lists its runs."
            )
        active = [
            row.id
            for row in reader.runs()
            if not is_example(session)
            and arguments.run in ("", row.id)
            and reader.run_state(row) in {"queued", "running", "interrupted"}
        ]
        code = tell_damage(reader.damage)
    for key in active:
        stop(session, key)
    say(f"Cancelled: {len(active)}. To go on: workbench resume {session}" if active else "Nothing was running.")
    return code


# -- rerun

_RERUN = {
    **shared("session"),
    "[item]": "a trial, task or candidate by the first characters of its id, or tasks by function name or glob; `workbench show "
    "SESSION` lists them",
    "--model MODEL": "use this model; with --samples: the evaluator to add samples of",
    "--failed": "only candidates that did not pass; without ITEM, all of these",
    "--samples M": "continue until each task has M candidates of its evaluator; if there are several, name one with --model",
    **shared("--engine"),
    **plan_arguments(RegenerationPlan, "spend_limit"),
    **ORDERING,
}


def rerun(arguments: argparse.Namespace) -> int:
    session = resolve_session(arguments.session)
    if not (arguments.item or arguments.failed or arguments.samples):
        raise UsageError("Name an item to rerun, or use --failed or --samples M.")
    with SessionReader(session) as reader:
        trials = any(row.id.startswith(arguments.item) for row in reader.trials())
        regenerated = any(row.has_candidates for row in reader.runs())
    model, spend_limit = arguments.model, arguments.spend_limit
    if regenerated and not (arguments.item and trials):
        how = {"failed": arguments.failed, "samples": arguments.samples, "engine": arguments.engine}
        candidates = RerunOrder(session, arguments.item, model=model, spend_limit=spend_limit, **how)
        since = position(session)

        def follow() -> int:
            # An interruption cancels the rerun. Candidates that it did not reach retain their verdicts, so nothing is
            # left to resume.
            advice = "" if candidates.asks else "Candidates that were not tested again keep their former verdicts."
            code = 0
            with SessionReader(candidates.session) as reader:
                kinds = {row.id: row.kind for row in reader.runs()}
            for one in candidates.orders:
                key = one if isinstance(one, str) else one.run
                if kinds[key] == "usage":
                    code = max(code, watch_usage(candidates.session, [key], None, since, as_json=arguments.json))
                    continue
                watch = RegenerationWatch(since)
                code = max(code, watch_order(candidates.session, one, None, watch, arguments.json, advice))
                if code == 130:
                    break
            return code

        return carry_out(arguments, candidates, follow)
    if arguments.failed or arguments.samples:
        raise UsageError("--failed and --samples are for regeneration runs; this session has none.")
    if arguments.engine:
        raise UsageError("--engine selects where candidates are tested; a trial has no candidates.")
    order = RerunTrialOrder(session, arguments.item, model=model, spend_limit=spend_limit)
    return carry_out(arguments, order, lambda: watch(order, arguments.json, lambda: [order.trial]))


# -- rescore

_RESCORE = {
    **shared("session"),
    "[items ITEM…]": "trials by id, its first characters, or case (default: all)",
    "--judge J[,J2]": "offline, or models (default: the best judge of this machine)",
    **plan_arguments(DocumentPlan, "rubrics", "judge_repeats", "spend_limit"),
    **ORDERING,
}


def rescore(arguments: argparse.Namespace) -> int:
    order = RescoreOrder(
        resolve_session(arguments.session),
        arguments.items,
        judges=arguments.judge,
        rubrics=arguments.rubrics,
        judge_repeats=arguments.judge_repeats,
        spend_limit=arguments.spend_limit,
    )
    return carry_out(arguments, order, lambda: watch(order, arguments.json, lambda: planned_trials(order)))


# -- fork

_FORK: dict[str, Argument] = {
    **shared("session"),
    "trial": "a trial by the first characters of its id; `workbench show SESSION` lists them",
    "--step N": ("the last step to keep; the model continues after it", {"required": True}),
    "--observation FILE": "replace the observation of that step; - reads standard input",
    "--message FILE": "replace the model's message at that step; - reads standard input",
    **plan_arguments(DocumentPlan, "model", "spend_limit", model="continue with this model (default: the trial's)"),
    **ORDERING,
}


def fork(arguments: argparse.Namespace) -> int:
    if arguments.observation and arguments.message:
        arguments.parser.error("argument --message: not allowed with argument --observation")
    what = "observation" if arguments.observation else "message" if arguments.message else ""
    edit = Edit(what, _text(arguments.observation or arguments.message)) if what else Edit()
    session, how = resolve_session(arguments.session), {"model": arguments.model, "spend_limit": arguments.spend_limit}
    order = ForkOrder(session, arguments.trial, arguments.step, edit, **how)
    return carry_out(arguments, order, lambda: watch(order, arguments.json, lambda: [order.trial]))


def _text(name: str) -> str:
    if name != "-":
        return read_text(expanded(name))
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("Standard input is not UTF-8 text.") from None


COMMANDS: dict[str, Command] = {
    "resume": (shared("session", "--run", "--engine", "--dry-run", "--detach", "--json"), resume),
    "cancel": (shared("session", "--run"), cancel),
    "rerun": (_RERUN, rerun),
    "rescore": (_RESCORE, rescore),
    "fork": (_FORK, fork),
}
