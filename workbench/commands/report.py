"""``workbench report SESSION``: a session, or a study of it, as Markdown, HTML, JSON, CSV, LaTeX or Parquet."""

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
    "[session]": "a session file, or the name of one; with --study that of `workbench study` unless given",
    "--study NAME": "report on this study of the session: tables, intervals, tests, rankings, figures, method; paper: "
    "the published tables",
    "--format FORMAT": f"{in_words(FORMATS)}, a plug-in's or package.module:Class; of a study "
    f"{in_words(STUDY_FORMATS)}; without it, what FILE ends in, else md",
    "-o --output FILE": ("where to write it; standard output if not given", path),
    "--metric M[,M2]": "metrics of texts in the report of a study of docs, as `workbench metrics` names them; without "
    "it the usual ones, as far as their packages are installed",
    **shared("--model-path"),
    "--item ITEM": "only this trial or task: its id or the first characters of it",
}


def run(arguments: argparse.Namespace) -> int:
    if arguments.study:
        return _study(arguments)
    if arguments.metric or arguments.model_path:
        raise UsageError("--metric and --model-path are of studies: --study NAME; of a session: workbench metrics.")
    if not arguments.session:
        raise UsageError("Name a session, or a study by --study NAME.")
    out: Path | None = arguments.output
    format = arguments.format or (format_by_name(out, FORMATS) if out else "") or "md"
    if format in STUDY_FORMATS and format not in FORMATS:
        raise UsageError(f"{format} is a format of studies: --study NAME; a session has {', '.join(FORMATS)}.")
    damage: list[Damage] = []
    written = write_report(resolve_session(arguments.session), format, out, arguments.item or None, damage=damage)
    _told(written if isinstance(written, Path) else encoded(written))
    return tell_damage(damage)


def _study(arguments: argparse.Namespace) -> int:
    # A report on a session needs nothing of this.
    from workbench.pages.study_report import write_study_report
    from workbench.studies.declaration import PAPER

    if arguments.item:
        raise UsageError("--item and --study do not go together; a study's items are in --format csv.")
    out: Path | None = arguments.output
    format = arguments.format or (format_by_name(out, STUDY_FORMATS) if out else "") or "md"
    if format == "parquet" and out is None and sys.stdout.isatty():
        raise UsageError("Parquet is no text; name a file: -o study.parquet.")
    session = None
    if arguments.session or arguments.study != PAPER:
        session = resolve_session(arguments.session or f"study-{arguments.study}")
    damaged = 0 if session is None else look_for_damage(session)
    written = write_study_report(
        session, arguments.study, format, out, metrics=arguments.metric, model=arguments.model_path
    )
    _told(written)
    return damaged


def _told(written: Path | bytes) -> None:
    if isinstance(written, Path):
        tell(f"Written: {written}")
        return
    # As bytes: a report is UTF-8 whatever the terminal's encoding is.
    sys.stdout.flush()
    sys.stdout.buffer.write(written)
    sys.stdout.buffer.flush()
