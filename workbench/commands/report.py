"""``workbench report SESSION``: a report on a session or on one of its studies.

The formats are Markdown, HTML, JSON, CSV, LaTeX and Parquet.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.commands.arguments import Argument, path, shared
from workbench.commands.output import look_for_damage, tell, tell_damage
from workbench.pages import FORMATS, STUDY_FORMATS, format_by_name, in_words, write_report
from workbench.pages.writing import encoded
from workbench.session.row_reader import Damage
from workbench.session.session_names import resolve_session

ARGUMENTS: dict[str, Argument] = {
    "[session]": "a session file or name (with --study, default: that of `workbench study`)",
    "--study NAME": "report on this study of the session: tables, intervals, tests, rankings, figures, method; paper: "
    "the published tables",
    "--format FORMAT": f"{in_words(FORMATS)}, that of a plug-in, or package.module:Class; for a study "
    f"{in_words(STUDY_FORMATS)} (default: the suffix of FILE, else md)",
    "-o --output FILE": ("output file (default: standard output)", path),
    "--metric M[,M2]": "text metrics in the report on a study of docs, as for `workbench metrics` (default: those whose packages "
    "are installed)",
    **shared("--model-path"),
    "--item ITEM": "only this trial or task, by the first characters of its id",
}


def run(arguments: argparse.Namespace) -> int:
    if arguments.study:
        return _study(arguments)
    if arguments.metric or arguments.model_path:
        raise UsageError("--metric and --model-path need --study NAME; for a session use workbench metrics.")
    if not arguments.session:
        raise UsageError("Name a session, or a study with --study NAME.")
    out: Path | None = arguments.output
    format = arguments.format or (format_by_name(out, FORMATS) if out else "") or "md"
    if format in STUDY_FORMATS and format not in FORMATS:
        raise UsageError(
            f"{format} is a format of studies (--study NAME); for a session choose from {', '.join(FORMATS)}."
        )
    damage: list[Damage] = []
    written = write_report(resolve_session(arguments.session), format, out, arguments.item or None, damage=damage)
    _print(written if isinstance(written, Path) else encoded(written))
    return tell_damage(damage)


def _study(arguments: argparse.Namespace) -> int:
    # Imported here because a report on a session does not need it.
    from workbench.pages.study_report import write_study_report
    from workbench.studies.declaration import PAPER

    if arguments.item:
        raise UsageError("--item cannot be combined with --study; --format csv has the items of a study.")
    out: Path | None = arguments.output
    format = arguments.format or (format_by_name(out, STUDY_FORMATS) if out else "") or "md"
    if format == "parquet" and out is None and sys.stdout.isatty():
        raise UsageError("Parquet is a binary format; name a file, such as -o study.parquet.")
    session = None
    if arguments.session or arguments.study != PAPER:
        session = resolve_session(arguments.session or f"study-{arguments.study}")
    damaged = 0 if session is None else look_for_damage(session)
    written = write_study_report(
        session, arguments.study, format, out, metrics=arguments.metric, model=arguments.model_path
    )
    _print(written)
    return damaged


def _print(written: Path | bytes) -> None:
    if isinstance(written, Path):
        tell(f"Written: {written}")
        return
    # Write bytes, since a report is UTF-8 regardless of the terminal's encoding.
    sys.stdout.flush()
    sys.stdout.buffer.write(written)
    sys.stdout.buffer.flush()
