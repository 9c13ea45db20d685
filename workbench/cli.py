"""The command line interface, which gives scripts and terminals everything that the app can do."""

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
from workbench.base.errors import WorkbenchError
from workbench.base.garbage_collection import collect_rarely
from workbench.base.glyphs import ON_ERROR
from workbench.commands.arguments import Command, add_verbs, check_texts, declare, with_verb
from workbench.commands.output import tell, write

EXIT_DONE, EXIT_ERRORS, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
# The summary of each command. Its module in workbench.commands defines COMMANDS, or ARGUMENTS and run, or VERBS.
COMMANDS = {
    "open": "open the app, with a session if one is named",
    "cases": "list the test cases, show one, or add a repository as a case",
    "catalog": "list the paper's repositories with published counts and those found here, show one, or check some",
    "run": "run an agent on test cases and score its READMEs",
    "score": "score a README (and its metadata) by the rubric",
    "check": "check a README: run its commands and snippets in a sandbox, and look up the names it mentions",
    "improve": "find docstrings from which a function cannot be rewritten, and let a model write and test better ones",
    "rescore": "score recorded trials with other judges or rubrics, without running an agent",
    "tasks": "build the regeneration tasks of repositories: functions whose tests pass with the original body and fail with a stub",
    "regenerate": "let a model rewrite function bodies from their docstrings, test them in a sandbox, and report pass@k",
    "usage": "measure what a reader of a README can do with its project, and list the usage tasks of a repository",
    "docs": "list the doc systems (--docs), install RepoAgent or OSA, and manage the docs that programs wrote",
    "cluster": "start a Dask scheduler and workers on this machine, to try regenerate --engine",
    "serve-agent": "serve an agent of this machine to other benchmarks, over A2A",
    "serve-assessor": "assess remote agents on request, over A2A",
    "resume": "complete the interrupted, cancelled and failed work of a session",
    "cancel": "stop the runs of a session; finished work is kept",
    "rerun": "run a trial again as its next repeat; test candidates again, or ask another model for them",
    "fork": "continue a recorded trial from one of its steps, with an edited observation or message, or another model",
    "show": "show the contents of a session: its runs and items, one item, or one step with its exact messages",
    "compare": "compare two trials, agents, tasks, samples, evaluators or runs, from one session or from two",
    "study": "execute and compare a whole experiment, a declared matrix: agents on cases, or doc systems on repositories",
    "metrics": "compute BLEU, ROUGE, completeness and others for the tasks of a session, and their correlation with pass@k",
    "plugins": "list the plug-ins of installed packages: agents, doc systems, sandboxes, judges, importers, report formats, themes",
    "report": "write a report on a session, an item or a study: Markdown, HTML, JSON, CSV; on a study also LaTeX and Parquet",
    "import": "import trajectories, samples and verdicts of other programs into a session; known ones are skipped",
    "export": "export trajectories, samples, verdicts or tables of a session for other programs",
    "serve": "serve the app to a browser, on this machine or, with --host and a token, to others",
    "pack": "copy a session into one complete file, even while a run writes it",
    "merge": "merge several sessions into a new one; they stay unchanged",
    "tag": "add or remove tags, a star or a remark on a session or one of its items",
    "doctor": "check the machine: interpreter, terminal, models and keys, sandboxes, Docker, git, disk",
    "locate": "print the folders of settings, sessions, cases, themes, caches and logs",
    "model": "check for the embedded model, or install it (about 100 MB)",
}
_MODULES = {
    "open": "open_app",
    **dict.fromkeys(("run", "score"), "cases"),
    **dict.fromkeys(("resume", "cancel", "rerun", "rescore", "fork"), "runs"),
    **dict.fromkeys(("serve", "serve-agent", "serve-assessor", "cluster"), "serving"),
    **dict.fromkeys(("pack", "merge", "tag", "import", "export"), "session_files"),
    **dict.fromkeys(("locate", "model", "plugins"), "installation"),
}


class _Parser(argparse.ArgumentParser):
    """A parser that reports errors in one sentence and points to the help."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(EXIT_USAGE, f"{self.prog}: {message}. See {self.prog} --help.\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        # Messages quote the user's input, so they are printed like any other untrusted text.
        if message:
            write(message, file or sys.stderr)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser with the arguments of only one command, so that only the module of that command is imported."""
    parser = _Parser(
        prog="workbench", description="Run documentation agents, trace their steps and score their READMEs."
    )
    parser.add_argument("--version", action="version", version=f"workbench {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name != only:
            continue
        command.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
        declared, epilog = _declared(name)
        if isinstance(declared, dict):
            add_verbs(command, declared)
        else:
            arguments, execute = declared
            declare(command, arguments)
            command.set_defaults(execute=execute, parser=command)
        if epilog:
            command.formatter_class, command.epilog = argparse.RawDescriptionHelpFormatter, epilog
    return parser


def _declared(name: str) -> tuple[Command, str]:
    """Import the module of a command, and return its declaration and the end of its help."""
    module: Any = importlib.import_module(f"workbench.commands.{_MODULES.get(name, name)}")
    if hasattr(module, "COMMANDS"):
        return module.COMMANDS[name], ""
    return getattr(module, "VERBS", None) or (module.ARGUMENTS, module.run), getattr(module, "EPILOG", "")


def _named_command(arguments: Sequence[str]) -> str | None:
    named = next((item for item in arguments if not item.startswith("-")), None)
    if named is None and not {"-h", "--help"} & set(arguments):
        return "open"
    return named if named in COMMANDS else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; errors are printed to standard error in one sentence.

    The exit code is 0 on success, 1 if there were errors, 2 for wrong usage, and 130 if interrupted.
    """
    argv = list(sys.argv[1:] if arguments is None else arguments)
    if problem := check_texts(argv):
        tell(f"workbench: {problem}. See workbench --help.")
        return EXIT_USAGE
    only = _named_command(argv)
    if only == "open" and "open" not in argv:
        # `workbench` and `workbench --debug` open the app.
        argv = [*argv, "open"] if "--version" not in argv else argv
    debug = "--debug" in argv or bool(os.environ.get("WORKBENCH_DEBUG"))
    try:
        code = _executed(argv, only)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        tell("Interrupted.")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has exited, so exit quietly.
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
            f"workbench: a bug in the workbench: {type(error).__name__}: {error}. Run it again with --debug and "
            "report it."
        )
        return EXIT_ERRORS


def _executed(argv: Sequence[str], only: str | None) -> int:
    try:
        if only is not None and only in argv:
            argv = with_verb(argv, only, _declared(only)[0])
        parser = build_parser(only)
        parsed, unknown = parser.parse_known_args(argv)
        if unknown:
            # The parser of the command or verb reports these errors, so that the message points to the right help.
            getattr(parsed, "parser", parser).error(f"unrecognized arguments: {' '.join(unknown)}")
        return int(parsed.execute(parsed))
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else EXIT_USAGE


class _Unwritten(WorkbenchError):
    """Standard output cannot be written, for example because the disk is full or the terminal has closed."""


class _Output(io.FileIO):
    """Standard output that raises its own type of error, to distinguish write errors from those of other files."""

    def write(self, data: Any) -> int:
        """Write bytes and return how many were written, as `io.FileIO` does."""
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

    Without this, the next file to be opened, possibly a session, would become standard output, and messages would
    overwrite it.
    """
    closed = []
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            closed.append(number)
            # The lowest free descriptor is used, which is this one, since all lower ones are in use.
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
        tell("workbench: standard output is closed; redirect it to a file or to /dev/null.")
        sys.exit(EXIT_USAGE)
    own = sys.stdout
    if isinstance(own, io.TextIOWrapper):
        raw = _Output(own.fileno(), "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), own.encoding, line_buffering=own.line_buffering, write_through=own.write_through
        )
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal's encoding lacks (or lone surrogates) are written as ASCII escapes instead of
        # failing.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ON_ERROR)
    sys.exit(main())
