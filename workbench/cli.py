"""The command line: everything that the app does, for scripts and terminals; each command lives in its own module."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence

from workbench import __version__
from workbench.errors import WorkbenchError

EXIT_DONE, EXIT_ERRORS, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130
# Name -> module under workbench.commands; a module has SUMMARY, add_arguments(parser) and run(arguments) -> exit code.
COMMANDS = {
    "open": "open_app",
    "cases": "cases",
    "catalog": "catalog",
    "run": "run",
    "score": "score",
    "tasks": "tasks",
    "regenerate": "regenerate",
    "cluster": "cluster",
    "resume": "resume",
    "cancel": "cancel",
    "rerun": "rerun",
    "show": "show",
    "report": "report",
    "doctor": "doctor",
    "locate": "locate",
    "model": "model",
}


class _Parser(argparse.ArgumentParser):
    """Errors are one sentence and the way to the help."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(EXIT_USAGE, f"{self.prog}: {message}. See {self.prog} --help.\n")


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; with ``only`` just that command's arguments are added, which keeps start-up short."""
    parser = _Parser(prog="workbench", description="Run documentation agents, trace them, score what they wrote.")
    parser.add_argument("--version", action="version", version=f"workbench {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, module_name in COMMANDS.items():
        if only is not None and name != only:
            commands.add_parser(name, add_help=False)
            continue
        module = importlib.import_module(f"workbench.commands.{module_name}")
        command = commands.add_parser(name, help=module.SUMMARY, description=module.SUMMARY)
        command.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
        module.add_arguments(command)
        command.set_defaults(execute=module.run)
    return parser


def _named_command(arguments: Sequence[str]) -> str | None:
    named = next((item for item in arguments if not item.startswith("-")), None)
    if named is None and not {"-h", "--help"} & set(arguments):
        return "open"
    return named if named in COMMANDS else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code.

    0 done, 1 done with errors, 2 wrong usage, 130 interrupted. An error for people is one sentence on standard error.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    only = _named_command(given)
    if only == "open" and "open" not in given:
        # `workbench` and `workbench --debug` open the app.
        given = [*given, "open"] if "--version" not in given else given
    debug = "--debug" in given or bool(os.environ.get("WORKBENCH_DEBUG"))
    try:
        parsed = build_parser(only).parse_args(given)
        return int(parsed.execute(parsed))
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else EXIT_USAGE
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away; leave quietly and keep Python from flushing into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_ERRORS
    except WorkbenchError as error:
        if debug:
            raise
        print(f"workbench: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        if debug:
            raise
        where = f" ({error.filename})" if error.filename else ""
        print(f"workbench: {error.strerror or error}{where}.", file=sys.stderr)
        return EXIT_ERRORS
    except Exception as error:
        if debug:
            raise
        print(
            f"workbench: a defect of the workbench: {type(error).__name__}: {error}. Run again with --debug and report it.",
            file=sys.stderr,
        )
        return EXIT_ERRORS


def entry() -> None:
    """Leave the process with the exit code of :func:`main`."""
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks (or a lone surrogate out of a model) becomes "?", not a crash.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(main())
