"""``workbench metrics SESSION``: metrics of texts beside pass@k, and how they go with it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.commands.arguments import names, path

if TYPE_CHECKING:
    from workbench.metrics.tasks import GroupMetrics

SUMMARY = "compute BLEU, ROUGE, completeness and others of a session's tasks, and how they go with pass@k"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("session", metavar="SESSION", help="a session file, or the name of one")
    parser.add_argument(
        "--run", metavar="RUN", default="", help="only this run: the first characters of its id, or its name"
    )
    parser.add_argument(
        "--metric",
        type=names,
        default=(),
        metavar="M[,M2]",
        help="bleu, rouge-1, rouge-lsum, completeness-docagent, completeness-strict, truthfulness, leakage; these unless "
        "given; also bertscore-minilm (about a second for two texts) and codebertscore (with --model-path)",
    )
    parser.add_argument("--model-path", type=path, metavar="DIR", help="the weights of codebertscore")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object for each group, with every task's values"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the metrics."""
    from workbench.commands.output import print_json
    from workbench.engine.session_names import resolve_session
    from workbench.errors import UsageError
    from workbench.metrics.packages import needed
    from workbench.metrics.tasks import USUAL, measure_run, to_json
    from workbench.session import SessionReader
    from workbench.text import one_line

    needed("scipy", "the correlations with pass@k")
    with SessionReader(resolve_session(arguments.session)) as reader:
        runs = [one for one in reader.runs() if one.kind == "regenerate"]
        meant = [one for one in runs if one.id.startswith(arguments.run.lower()) or one.name == arguments.run]
        if not meant:
            which = f" {one_line(arguments.run, 60)!r}" if arguments.run else ""
            raise UsageError(f"{reader.path.name} has no regeneration run{which}.")
        found = [
            group
            for one in meant
            for group in measure_run(reader, one.id, arguments.metric or USUAL, model=arguments.model_path)
        ]
    if not found:
        raise UsageError("No group of the session has a task with samples.")
    for group in found:
        if arguments.json:
            print_json({"type": "metrics", **to_json(group)})
        else:
            _show(group)
    return 0


def _show(group: GroupMetrics) -> None:
    from rich.table import Table

    from workbench.commands.terminal import Terminal
    from workbench.text import one_line

    terminal = Terminal(piped_width=160)
    heading = f"{group.name} · docs {group.group.docs} · run {group.run}: {group.tasks:,} tasks"
    terminal.print(one_line(heading, 300))
    rows = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("metric", "of", "tasks", "mean", "with", "Pearson", "Spearman", "Kendall"):
        rows.add_column(title, justify="right" if title in ("tasks", "mean") else "left")
    units: dict[str, None] = {}
    for one in group.columns:
        mean = "–" if one.mean is None else f"{one.mean:.3f}"
        if one.interval.low is not None and one.interval.high is not None:
            mean += f" [{one.interval.low:.3f}, {one.interval.high:.3f}]"
        first = (one.metric, one.pair, f"{len(one.values):,}", mean)
        for k, kinds in one.correlations.items():
            said = [each.words.partition(" over ") for each in kinds]
            units.update({over: None for _, _, over in said if over})
            rows.add_row(*first, f"pass@{k}", *(value for value, _, _ in said))
            first = ("", "", "", "")
    terminal.print(rows)
    over = (
        f"Intervals over {', '.join(units)}; too few of them, or values that do not vary, give none." if units else ""
    )
    for note in filter(None, (over, *group.notes)):
        terminal.print(note if note == over else f"Note: {note}.")
