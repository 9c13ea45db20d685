"""The calls of the project's commands in its tests: programs, arguments, files and standard input.

Only the input of a command is recorded; its output is taken from replays.
"""

from __future__ import annotations

import builtins
import contextlib
import glob
import inspect
import io
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from configparser import ConfigParser
from types import FrameType
from typing import Any

from .values import NotLiteral, encode

FILE_BYTES, FOLDER_FILES, MOST_CALLS = 20_000, 20, 200

#: Options of Python that take a value.
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")

_LEFT_OUT = ("__pycache__", ".pytest_cache", ".git")


class CommandCalls:
    """Records commands that tests start as processes, through click's and typer's runners, or as functions."""

    def __init__(
        self, spec: dict[str, Any], is_source: Callable[[FrameType], bool], owns: Callable[[str], bool]
    ) -> None:
        self.test = ""
        self.calls: dict[str, dict[str, Any]] = {}
        self.dropped: dict[tuple[str, str, str], None] = {}
        self.scripts = _console_scripts(spec["extra_paths"])  # name -> (module, attribute)
        self._root = os.path.realpath(spec["root"])
        self._roots = [os.path.normpath(os.path.join(self._root, entry)) for entry in spec["import_roots"]]
        self._is_source = is_source
        self._owns = owns
        self.inside = 0  # commands that are being called in this process
        self._piped: dict[int, dict[str, Any]] = {}  # calls by the id of their ``Popen``
        self._originals: dict[tuple[Any, str], Any] = {}
        self._argv = list(sys.argv)
        self._input = builtins.input

    def watch(self) -> None:
        """Wrap the functions that start commands, in the modules that are already imported."""
        places: list[tuple[Any, str, Callable[[Any], Any]]] = [
            (subprocess.Popen, "__init__", self._around_popen),
            (subprocess.Popen, "communicate", self._around_communicate),
            (runpy, "run_module", self._around_run_module),
        ]
        for name in ("click.testing", "typer.testing"):
            if name in sys.modules:
                places.append((sys.modules[name].CliRunner, "invoke", self._around_invoke))
        if "click.core" in sys.modules:
            core = sys.modules["click.core"]
            places.append((vars(core).get("BaseCommand", core.Command), "main", self._around_main))
        for owner, name, around in places:
            if name in vars(owner) and (owner, name) not in self._originals:
                original = self._originals[owner, name] = vars(owner)[name]
                setattr(owner, name, around(original))

    def stop(self) -> None:
        for (owner, name), original in self._originals.items():
            setattr(owner, name, original)
        for call in self._piped.values():
            self.test = call["test"]
            self._drop(call["program"], "standard input that is written in parts")

    def program_of(self, module: str, name: str) -> str:
        """Return the program that calls a function of a module; "" if there is none."""
        for program, target in self.scripts.items():
            if target == (module, name):
                return program
        package = module.partition(".")[0]
        if name == "main" and (not self.scripts or module.endswith("__main__")) and self._has_main(package):
            return f"python -m {package}"
        return ""

    def enter(self, frame: FrameType, program: str) -> bool:
        """Record the call of an entry point's function; :meth:`leave` follows unless this returns False."""
        if self._nested(frame.f_back):
            return False
        code, values = frame.f_code, frame.f_locals
        names = code.co_varnames[: code.co_argcount + (code.co_flags & inspect.CO_VARARGS > 0)]
        argv = values[names[0]] if names else None
        if argv is None or argv is sys.argv:
            if sys.argv == self._argv:
                return False
            argv = sys.argv[1:]
        if type(argv) not in (list, tuple) or not all(isinstance(token, (str, os.PathLike)) for token in argv):
            return False
        argv = argv[1:] if argv and os.path.basename(argv[0]) == program else argv
        self._record(program, argv, os.getcwd(), _standard_input)
        self.inside += 1
        return True

    def leave(self) -> None:
        self.inside -= 1

    def _nested(self, frame: FrameType | None) -> bool:
        if self.inside:
            return True
        while frame is not None:
            if self._is_source(frame):
                return True
            frame = frame.f_back
        return False

    def _has_main(self, package: str) -> bool:
        return any(os.path.isfile(os.path.join(root, package, "__main__.py")) for root in self._roots)

    def _record(
        self, program: str, argv: Sequence[Any], cwd: str, stdin: Callable[[], str | None]
    ) -> dict[str, Any] | None:
        """Add a call now, before the command changes its files; a call without ``stdin`` so far is returned instead."""
        try:
            if builtins.input is not self._input:
                raise NotLiteral("input() is replaced")
            files = _CommandFiles(cwd, self._root)
            tokens = [files.token(os.fsdecode(token)) for token in argv]
            for token in tokens:
                encode(token), token.encode()
            files.add_folder()
            call = {"program": program, "argv": tokens, "files": files.texts, "stdin": stdin(), "test": self.test}
            if call["stdin"] is None:
                return call
            self._add(call)
        except (NotLiteral, OSError, ValueError) as problem:
            self._drop(program, str(problem))
        return None

    def _add(self, call: dict[str, Any]) -> None:
        if len(call["stdin"]) > FILE_BYTES:
            raise NotLiteral(f"a standard input of more than {FILE_BYTES // 1000} kB")
        key = json.dumps([call[name] for name in ("program", "argv", "files", "stdin")], sort_keys=True)
        if len(self.calls) < MOST_CALLS:
            self.calls.setdefault(key, call)

    def _drop(self, program: str, reason: str) -> None:
        self.dropped[program, self.test.partition("::")[0], reason] = None

    # Processes

    def _around_popen(self, original: Any) -> Any:
        signature = inspect.signature(original)

        def __init__(process: Any, *arguments: Any, **options: Any) -> None:
            call = None
            with contextlib.suppress(Exception):  # Popen itself reports invalid arguments
                call = self._started(signature.bind(process, *arguments, **options).arguments)
            original(process, *arguments, **options)
            if call is not None:
                self._piped[id(process)] = call

        return __init__

    def _started(self, options: dict[str, Any]) -> dict[str, Any] | None:
        words = options["args"]
        if isinstance(words, (str, bytes, os.PathLike)):
            text = os.fsdecode(words)
            if options.get("shell") and re.search(r"[|&;<>()$`*?\[\]{}~\n]", text):
                return None
            words = shlex.split(text) if options.get("shell") else [text]
        cwd = os.path.realpath(options.get("cwd") or os.getcwd())
        program, argv = self._program([os.fsdecode(word) for word in words], cwd)
        if not program or self._nested(sys._getframe(2)):
            return None
        stdin = options.get("stdin")

        def read() -> str | None:
            if stdin in (None, subprocess.DEVNULL):
                return ""
            if stdin == subprocess.PIPE:
                return None
            if not isinstance(getattr(stdin, "name", None), str):
                raise NotLiteral("a standard input of unknown origin")
            return _text_of(stdin.name)

        return self._record(program, argv, cwd, read)

    def _around_communicate(self, original: Any) -> Any:
        def communicate(process: Any, input: Any = None, timeout: Any = None) -> Any:
            call = self._piped.pop(id(process), None)
            if call is not None:
                try:
                    self._add({**call, "stdin": _decoded(input)})
                except (NotLiteral, ValueError) as problem:
                    self._drop(call["program"], str(problem))
            return original(process, input, timeout)

        return communicate

    def _program(self, words: list[str], cwd: str) -> tuple[str, list[str]]:
        name = os.path.basename(words[0])
        if name in self.scripts:
            return name, words[1:]
        if words[0] != sys.executable and not re.fullmatch(r"python[\d.]*(\.exe)?", name):
            return "", []
        rest = words[1:]
        while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c", "-"):
            rest = rest[2 if rest[0] in _WITH_VALUE else 1 :]
        if rest[:1] == ["-m"] and len(rest) > 1 and self._owns(rest[1]):
            return f"python -m {rest[1]}", rest[2:]
        module = self._module_of(os.path.realpath(os.path.join(cwd, rest[0]))) if rest else ""
        if not module:
            return "", []
        scripts = [name for name, (place, _) in self.scripts.items() if place == module]
        return (scripts[0] if len(scripts) == 1 else f"python -m {module}"), rest[1:]

    def _module_of(self, path: str) -> str:
        for root in sorted(self._roots, key=len, reverse=True):
            if path.startswith(root + os.sep) and path.endswith(".py"):
                name = path[len(root) + 1 : -3].replace(os.sep, ".").removesuffix(".__main__").removesuffix(".__init__")
                return name if self._owns(name) else ""
        return ""

    # In this process

    def _around_run_module(self, original: Any) -> Any:
        def run_module(mod_name: str, *arguments: Any, **options: Any) -> Any:
            as_main = "__main__" in (options.get("run_name"), *arguments[1:2])
            if not as_main or not self._owns(mod_name) or self._nested(sys._getframe(1)):
                return original(mod_name, *arguments, **options)
            name = mod_name.removesuffix(".__main__")
            return self._within(
                f"python -m {name}", sys.argv[1:], _standard_input, original, mod_name, arguments, options
            )

        return run_module

    def _around_invoke(self, original: Any) -> Any:
        def invoke(runner: Any, cli: Any, args: Any = None, input: Any = None, *more: Any, **options: Any) -> Any:
            program, words = "", list[str]()
            if not self._nested(sys._getframe(1)):
                program, words = self._program_of_command(cli)
            if not program:
                return original(runner, cli, args, input, *more, **options)
            argv = [*words, *(shlex.split(args) if isinstance(args, str) else args or ())]
            return self._within(
                program, argv, lambda: _decoded(input), original, runner, (cli, args, input, *more), options
            )

        return invoke

    def _around_main(self, original: Any) -> Any:
        def main(command: Any, args: Any = None, *more: Any, **options: Any) -> Any:
            program, words = "", list[str]()
            if not self._nested(sys._getframe(1)) and (args is not None or sys.argv != self._argv):
                program, words = self._program_of_command(command)
            if not program:
                return original(command, args, *more, **options)
            argv = [*words, *(sys.argv[1:] if args is None else args)]
            return self._within(program, argv, _standard_input, original, command, (args, *more), options)

        return main

    def _within(
        self,
        program: str,
        argv: Sequence[Any],
        stdin: Callable[[], str | None],
        original: Any,
        first: Any,
        arguments: Sequence[Any],
        options: dict[str, Any],
    ) -> Any:
        self._record(program, argv, os.getcwd(), stdin)
        self.inside += 1
        try:
            return original(first, *arguments, **options)
        finally:
            self.inside -= 1

    def _program_of_command(self, command: Any) -> tuple[str, list[str]]:
        """Return the program of a click command and, for a subcommand, the names that lead to it."""
        near = []
        modules = [name for name in list(sys.modules) if self._owns(name)]
        own = next(
            (name for name in modules if any(value is command for value in list(vars(sys.modules[name]).values()))), ""
        )
        for program, (module, attribute) in self.scripts.items():
            target: Any = sys.modules.get(module)
            for part in attribute.split("."):
                target = getattr(target, part, None)
            words = _words_to(command, target)
            if words is not None:
                return program, words
            if own.partition(".")[0] == module.partition(".")[0]:
                near.append(program)
        if len(near) == 1:  # the script's function calls the command
            return near[0], []
        package = own.partition(".")[0]
        return (f"python -m {package}", []) if own and not near and self._has_main(package) else ("", [])


class _EntryPoints(ConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr


def _console_scripts(folders: Sequence[str]) -> dict[str, tuple[str, str]]:
    parser = _EntryPoints(delimiters=("=",), interpolation=None, strict=False)
    for folder in folders:
        parser.read(glob.glob(os.path.join(glob.escape(folder), "*.dist-info", "entry_points.txt")), "utf-8")
    found = {}
    for name, target in parser.items("console_scripts") if parser.has_section("console_scripts") else ():
        module, _, attribute = target.split("[")[0].strip().partition(":")
        found[name] = (module.strip(), attribute.strip())
    return found


def _words_to(command: Any, target: Any, depth: int = 4) -> list[str] | None:
    """Return the names of subcommands that lead from ``target`` to ``command``, or None if it is not a subcommand."""
    if target is command:
        return []
    commands = getattr(target, "commands", None)
    if depth and isinstance(commands, dict):
        for name, inner in commands.items():
            words = _words_to(command, inner, depth - 1)
            if words is not None:
                return [str(name), *words]
    return None


def _standard_input() -> str:
    stream: Any = sys.stdin
    stream = getattr(stream, "buffer", stream)
    if not isinstance(stream, (io.StringIO, io.BytesIO)):
        return ""
    return _decoded(stream.getvalue())


def _decoded(data: Any) -> str:
    data = data.getvalue() if isinstance(data, (io.StringIO, io.BytesIO)) else data
    data = bytes(data) if isinstance(data, (bytearray, memoryview)) else data
    data = data.decode("utf-8") if isinstance(data, bytes) else data
    if data is not None and not isinstance(data, str):
        raise NotLiteral("a standard input of unknown origin")
    return data or ""


def _text_of(path: str) -> str:
    with open(path, "rb") as file:
        data = file.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise NotLiteral(f"a file of more than {FILE_BYTES // 1000} kB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise NotLiteral("a file that is not text")
    return text


class _CommandFiles:
    """The files of a call under relative names."""

    def __init__(self, cwd: str, root: str) -> None:
        self.texts: dict[str, str] = {}
        self._cwd = os.path.realpath(cwd)
        self._root = root
        self._temporary = os.path.realpath(tempfile.gettempdir())
        self._names: dict[str, str] = {}  # path of a file or folder elsewhere -> relative name

    def token(self, token: str) -> str:
        """Return an argument with its path made relative, and add the file or folder at that path."""
        option, equals, value = token.partition("=")
        if not token.startswith("-") or not equals:
            option, equals, value = "", "", token
        path = os.path.normpath(os.path.join(self._cwd, value))
        if not value or "\0" in value or len(value) > 1000 or not self._is_ours(path):
            return token
        if os.path.isfile(path):
            self.texts[self._name(path)] = _text_of(path)
        elif os.path.isdir(path):
            if not self._add_below(path, strict=os.path.isabs(value) or path == self._root):
                return token
        elif not os.path.isabs(value) or not os.path.isdir(os.path.dirname(path)):
            return token
        keeps = not os.path.isabs(value) and ".." not in value.split("/")
        return option + equals + (value if keeps else self._name(path))

    def add_folder(self) -> None:
        """Add the small texts of the current folder if the test changed to one outside of the repository."""
        if not f"{self._cwd}{os.sep}".startswith(self._root + os.sep):
            for path in _below(self._cwd):
                with contextlib.suppress(NotLiteral, OSError):
                    self.texts[self._name(path)] = _text_of(path)

    def _is_ours(self, path: str) -> bool:
        bases = (self._cwd, self._root, self._temporary, os.path.expanduser("~"))
        return any(f"{path}{os.sep}".startswith(base.rstrip(os.sep) + os.sep) for base in bases)

    def _add_below(self, folder: str, strict: bool) -> bool:
        try:
            for path in _below(folder):
                self.texts[self._name(path)] = _text_of(path)
        except NotLiteral:
            if strict:
                raise
            return False  # a subcommand may have the same name as a folder
        return True

    def _name(self, path: str) -> str:
        for base in (self._cwd, self._root):
            if f"{path}{os.sep}".startswith(base + os.sep):
                return os.path.relpath(path, base).replace(os.sep, "/")
        for known, name in self._names.items():
            if path == known or path.startswith(known + os.sep):
                return name + path[len(known) :].replace(os.sep, "/")
        name = os.path.basename(path)
        if name in self._names.values():
            name = f"{len(self._names) + 1}/{name}"
        self._names[path] = name
        return name


def _below(folder: str) -> list[str]:
    found: list[str] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        found += [os.path.join(place, name) for name in sorted(files)]
        if len(found) > FOLDER_FILES:
            raise NotLiteral(f"a folder with more than {FOLDER_FILES} files")
    return found
