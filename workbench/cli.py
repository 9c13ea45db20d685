"""The command line interface: everything that the app does, for scripts and terminals; one module per command."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

from workbench import __version__
from workbench.base.collecting import collect_rarely
from workbench.base.errors import WorkbenchError
from workbench.base.glyphs import ON_ERROR
from workbench.commands.arguments import add_verbs, check_texts, declare, with_verb
from workbench.commands.output import tell, write

EXIT_DONE, EXIT_ERRORS, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
# What each command does. Its module under workbench.commands has ARGUMENTS and run(arguments) -> exit code, or VERBS.
COMMANDS = {
    "open": "open the app, on a session if one is named",
    "cases": "list the test cases, show one, or add a repository as a case",
    "catalog": "list the paper's repositories with published counts beside those found here, show one, or check some",
    "run": "run an agent on test cases and score what it hands in",
    "score": "score a README (and its metadata) by the rubric",
    "check": "check whether a README holds: its commands and snippets are run in a sandbox, what it names is looked up",
    "improve": "find docstrings from which a function cannot be written again, and let a model write better ones that are tested",
    "rescore": "score recorded trials anew, by other judges or rubrics; no agent is run",
    "tasks": "build the regeneration tasks of repositories: functions whose tests fail with a stub and pass as they are",
    "regenerate": "let an evaluator write function bodies from their docstrings, test them in a sandbox, and give pass@k",
    "docs": "list the doc systems (--docs), install RepoAgent or OSA, list and forget what programs wrote",
    "cluster": "start a Dask scheduler and workers on this machine, for trying regenerate --engine",
    "serve-agent": "serve an agent of this machine over A2A, for benchmarks of others",
    "serve-assessor": "assess agents of others on request, over A2A",
    "resume": "execute what is missing in a session: interrupted, cancelled and failed work",
    "cancel": "stop the runs of a session; what is done stays",
    "rerun": "run a trial once more as the next repeat; test candidates again, or let another model write them",
    "fork": "go on from a step of a recorded trial, with an edited observation or message, or with another model",
    "show": "show what a session holds: its runs and items, one item, or one step with its exact messages",
    "compare": "compare two trials, agents, tasks, samples, evaluators or runs, of one session or of two",
    "study": "a whole experiment as a declared matrix: agents on cases, doc systems on repositories; execute and compare it",
    "metrics": "compute BLEU, ROUGE, completeness and others of a session's tasks, and how they go with pass@k",
    "plugins": "list what installed packages add: agents, doc systems, sandboxes, judges, importers, report formats, themes",
    "report": "write a report on a session, an item or a study of it: Markdown, HTML, JSON, CSV; of a study also LaTeX, Parquet",
    "import": "read trajectories, samples and verdicts of other programs into a session; what it has already is skipped",
    "export": "write trajectories, samples, verdicts or tables of a session for other programs",
    "serve": "show the app in a browser, on this machine or with --host to who has the token",
    "pack": "copy a session into one complete file, also while a run writes it",
    "merge": "write a new session with all that several sessions have; they stay as they are",
    "tag": "give a session, or an item of it, tags, a star or a remark, or take them away",
    "doctor": "check the machine: interpreter, terminal, models and keys, sandboxes, Docker, git, disk",
    "locate": "say where settings, sessions, cases, themes, caches and logs are kept",
    "model": "say whether the embedded model is installed, or install it (about 100 MB)",
}
_MODULES = {"open": "open_app", "import": "import_files"}


class _Parser(argparse.ArgumentParser):
    """Reports errors as one sentence that points to the help."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(EXIT_USAGE, f"{self.prog}: {message}. See {self.prog} --help.\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        # Messages quote what the user typed, so they are printed like any other untrusted text.
        if message:
            write(message, file or sys.stderr)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; only one command's arguments are added, so that no other command is imported."""
    parser = _Parser(prog="workbench", description="Run documentation agents, trace them, score what they wrote.")
    parser.add_argument("--version", action="version", version=f"workbench {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name != only:
            continue
        module = _module(name)
        command.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
        if hasattr(module, "VERBS"):
            add_verbs(command, module.VERBS)
        else:
            declare(command, module.ARGUMENTS)
            command.set_defaults(execute=module.run, parser=command)
        if hasattr(module, "EPILOG"):
            command.formatter_class, command.epilog = argparse.RawDescriptionHelpFormatter, module.EPILOG
    return parser


def _module(command: str) -> Any:
    return importlib.import_module(f"workbench.commands.{_MODULES.get(command, command.replace('-', '_'))}")


def _named_command(arguments: Sequence[str]) -> str | None:
    named = next((item for item in arguments if not item.startswith("-")), None)
    if named is None and not {"-h", "--help"} & set(arguments):
        return "open"
    return named if named in COMMANDS else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code.

    0 done, 1 done with errors, 2 wrong usage, 130 interrupted. Errors are printed as one sentence on standard error.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if problem := check_texts(given):
        tell(f"workbench: {problem}. See workbench --help.")
        return EXIT_USAGE
    only = _named_command(given)
    if only == "open" and "open" not in given:
        # `workbench` and `workbench --debug` open the app.
        given = [*given, "open"] if "--version" not in given else given
    debug = "--debug" in given or bool(os.environ.get("WORKBENCH_DEBUG"))
    try:
        code = _executed(given, only)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        tell("Interrupted.")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has exited; exit quietly.
        _give_up_output()
        return EXIT_ERRORS
    except _Unwritten as error:
        _give_up_output()
        tell(f"workbench: {error}")
        return EXIT_ERRORS
    except WorkbenchError as error:
        if debug:
            raise
        tell(f"workbench: {error}")
        return error.exit_code
    except OSError as error:
        if debug:
            raise
        where = f" ({error.filename})" if error.filename else ""
        tell(f"workbench: {error.strerror or error}{where}.")
        return EXIT_ERRORS
    except Exception as error:
        if debug:
            raise
        tell(
            f"workbench: a defect of the workbench: {type(error).__name__}: {error}. Run again with --debug and report it."
        )
        return EXIT_ERRORS


def _executed(given: Sequence[str], only: str | None) -> int:
    try:
        if only is not None and only in given:
            given = with_verb(given, only, _module(only))
        parser = build_parser(only)
        parsed, unknown = parser.parse_known_args(given)
        if unknown:
            # Said by the parser of the command or verb, whose help is the one to read.
            getattr(parsed, "parser", parser).error(f"unrecognized arguments: {' '.join(unknown)}")
        return int(parsed.execute(parsed))
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else EXIT_USAGE


class _Unwritten(WorkbenchError):
    """Standard output cannot be written, for example because the disk is full or the terminal is gone."""


class _Output(io.FileIO):
    """Standard output whose write errors can be distinguished from those of other files."""

    def write(self, data: Any) -> int:
        """Write bytes and return their number, as in `io.FileIO`."""
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise _Unwritten(f"standard output cannot be written: {why}.") from None


def _give_up_output() -> None:
    """Redirect standard output to the null device, so that flushing it at exit does not fail."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fill_standard_streams() -> bool:
    """Open the null device for closed standard streams; return whether standard output was one of them.

    Otherwise the next opened file, possibly a session, would become standard output and be overwritten by messages.
    """
    closed = []
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            closed.append(number)
            # This gets the lowest free number, which is this one, as all below are in use.
            os.open(os.devnull, os.O_RDWR)
    if 0 in closed:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115  a descriptor
    if 1 in closed:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if 2 in closed:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    return 1 in closed


def entry() -> None:
    """Exit the process with the exit code of :func:`main`."""
    collect_rarely()
    if _fill_standard_streams():
        tell("workbench: standard output is closed, so nothing could be shown; redirect it to a file or to /dev/null.")
        sys.exit(EXIT_USAGE)
    own = sys.stdout
    if isinstance(own, io.TextIOWrapper):
        raw = _Output(own.fileno(), "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), own.encoding, line_buffering=own.line_buffering, write_through=own.write_through
        )
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal's encoding lacks (or lone surrogates) are replaced by ASCII instead of failing.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ON_ERROR)
    sys.exit(main())
