"""The process in which Python snippets run one after another; requests and answers are lines of JSON.

Standard library only. Output goes to files that process 1 made.

Before and after a snippet the state of the process is compared, to find side effects besides the snippet's own names:
every value in the environment's modules, and settings of the standard library that programs usually change. Values that
cannot be compared (extension modules, unknown types, too many objects) count as side effects.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import functools
import io
import itertools
import json
import linecache
import os
import pickle
import re
import sys
import time
import traceback
import types
from typing import Any

COROUTINE = 0x80  # inspect.CO_COROUTINE
OUT, ERR = "/tmp/.out", "/tmp/.err"


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def printed(path: str, since: int) -> tuple[str, int]:
    """Return the text printed to a file after position ``since``, and the file's new length.

    Streams are not replaced, because ``logging`` handlers keep the streams that they saw first.
    """
    flush()
    with open(path, "rb") as file:
        file.seek(since)
        data = file.read()
    return data.decode("utf-8", "replace")[-20000:], since + len(data)


ASKED: list[str] = []  # resources that snippets requested but that a sandbox lacks
RAN: list[str] = []  # other programs that snippets started


def watch(event: str, given: tuple[Any, ...]) -> None:
    """Record the use of the network or of a program, even if the snippet continues without it."""
    if event == "socket.getaddrinfo" and str(given[0]) not in ("localhost", "127.0.0.1", "::1", "", "None", "0.0.0.0"):
        ASKED.append("a network")
    elif event == "webbrowser.open":
        ASKED.append("a browser")
    elif event in ("subprocess.Popen", "os.system", "os.exec") and given[0] not in (sys.executable, None):
        RAN.append(os.fsdecode(given[0]).split()[0] if isinstance(given[0], (str, bytes)) else str(given[0]))


sys.addaudithook(watch)


def module() -> dict[str, Any]:
    made = types.ModuleType("__main__")
    sys.modules["__main__"] = made
    return made.__dict__


NAMES = module()


def described(error: BaseException, page: str) -> dict[str, Any]:
    shown = error.__traceback__
    while shown is not None and shown.tb_frame.f_code.co_filename == __file__:
        shown = shown.tb_next  # frames of this module
    frames = traceback.extract_tb(shown)
    lines = [frame.lineno for frame in frames if frame.filename == page]
    owner = getattr(error, "obj", None)
    kind = owner if isinstance(owner, (type, types.ModuleType)) else type(owner)
    name = getattr(error, "name", None)
    before = error.__cause__ or error.__context__
    code = error.code if isinstance(error, SystemExit) else None
    return {
        "type": type(error).__name__,
        "message": str(error)[:2000],
        "line": lines[-1] if lines else None,
        "place": frames[-1].filename if frames else page,
        "raised": bool(frames) and (frames[-1].line or "").startswith(("raise", "assert")),
        "before": str(before)[:2000] if before is not None else "",
        "name": name if isinstance(name, str) else None,
        "owner": getattr(kind, "__name__" if isinstance(kind, types.ModuleType) else "__module__", ""),
        "code": code if isinstance(code, (int, str)) else None,
        "text": "".join(traceback.format_exception(type(error), error, shown))[-4000:],
    }


def execute(code: str, page: str, line: int, mode: str = "exec", watch: Watch | None = None) -> None:
    tree: Any = ast.parse(code, page, mode)
    ast.increment_lineno(tree, line - 1)
    if watch is None:
        execute_tree(tree, page, mode)
        return
    # Imports run separately, so that changes to the imported modules are noticed.
    compile(tree, page, mode, dont_inherit=True)  # incomplete Python must not run partly
    groups: list[tuple[bool, list[Any]]] = []
    for node in tree.body:
        imports = isinstance(node, (ast.Import, ast.ImportFrom))
        if not groups or groups[-1][0] != imports:
            groups.append((imports, []))
        groups[-1][1].append(node)
    for imports, body in groups:
        try:
            execute_tree(ast.Interactive(body) if mode == "single" else ast.Module(body, []), page, mode)
        finally:
            watch.see(imports)


class Watch:
    """Records whether anything but imports changes the state of this process."""

    def __init__(self, last: Watch | None) -> None:
        began = time.process_time()
        self.state: Any = last.state if last is not None else State()
        if last is None:
            self.state.take()
        self.seconds = time.process_time() - began  # processor time of tracing
        self.trace = False

    def see(self, imports: bool) -> None:
        began = time.process_time()
        if imports:
            self.state.take()
        else:
            self.trace = self.trace or self.state.changed()
        self.seconds += time.process_time() - began


def execute_tree(tree: Any, page: str, mode: str) -> None:
    compiled = compile(tree, page, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if compiled.co_flags & COROUTINE:
        import asyncio  # slow to import, and few snippets need it

        asyncio.run(eval(compiled, NAMES))
    else:
        exec(compiled, NAMES)


def import_left_out(code: str, modules: list[str]) -> list[str]:
    """Import the modules of the project and standard library that a snippet uses but none imports; return their names.

    Pages omit such imports; without them, every such snippet would only raise a NameError.
    """
    import builtins

    found: list[str] = []
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError:
        return found
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    bound |= {(node.asname or node.name).split(".")[0] for node in nodes if isinstance(node, ast.alias)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for name in sorted(
        {node.id for node in nodes if isinstance(node, ast.Name)} - bound - set(NAMES) - set(dir(builtins))
    ):
        with contextlib.suppress(Exception):
            if name in modules or name in getattr(sys, "stdlib_module_names", ()):
                made = __import__(name)
                if name in called and not callable(made):
                    made = getattr(made, name)  # a function with the name of its module
                NAMES[name] = made
                found.append(name)
                continue
            for module in modules:
                value = getattr(__import__(module), name, None)
                # A module name is more likely a variable of the page: session, config.
                if value is not None and not name.startswith("_") and not isinstance(value, types.ModuleType):
                    NAMES[name] = value
                    found.append(name)
                    break
    return found


def snippet(step: dict[str, Any], watch: Watch | None) -> dict[str, Any]:
    try:
        execute(step["code"], step["page"], step["line"], "exec", watch)
    except BaseException as error:
        return {"error": described(error, step["page"])}
    return {}


def examples(step: dict[str, Any], watch: Watch | None) -> dict[str, Any]:
    import doctest  # slow to import

    found = []
    out = err = 0
    left = [(step["line"] + one.lineno, one) for one in doctest.DocTestParser().get_examples(step["code"])]
    while left:
        line, example = left.pop(0)
        error = None
        skipped = bool(example.options.get(doctest.SKIP))
        try:
            if not skipped:
                execute(example.source, step["page"], line, "single", watch)
        except BaseException as raised:
            error = described(raised, step["page"])
        got, out = printed(OUT, out)
        said, err = printed(ERR, err)
        told = {"line": line, "source": example.source, "want": example.want, "got": got, "error": error}
        found.append({**told, "stderr": said, "expected_error": example.exc_msg, "skipped": skipped})
        if error and example.exc_msg is None:
            break
    return {"examples": found, "left": [[line, example.source] for line, example in left]}


def repeat(imports: list[str]) -> None:
    if not imports:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    for one in imports:
        with contextlib.suppress(Exception):
            exec(one, NAMES)
    flush()


def watched(step: dict[str, Any]) -> bool:
    return bool(step.get("traced")) and "await" not in step["code"] and "__future__" not in step["code"]


# -- side effects

MOST = 400_000  # bytes of the pickle
#: C types whose instances never change, or whose changes no snippet can observe.
FIXED = (
    types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodWrapperType, types.CodeType, types.GenericAlias,
    types.ModuleType, re.Pattern,
)  # fmt: skip
FIXED_NAMES = {
    "lock", "RLock", "Struct", "date", "datetime", "time", "timedelta", "timezone", "Decimal", "UnionType", "TypeVar",
    "ParamSpec", "TypeVarTuple", "itemgetter", "attrgetter", "methodcaller", "weakref", "ReferenceType", "TextIOWrapper",
    "_abc_data", "_thread.lock", "_thread.RLock", "_tuplegetter", "ZoneInfo", "EncodedFile",
}  # fmt: skip
COUNTERS: tuple[type, ...] = (itertools.count, itertools.cycle, type(iter([])), type(iter(())))
STDLIB = frozenset(getattr(sys, "stdlib_module_names", ())) | {"__main__", "__mp_main__"}
#: Modules whose globals are caches, or change with every import.
NOISY = {"__main__", "__mp_main__", "sys", "linecache", "re", "_strptime", "traceback", "warnings", "sre_compile"}
HEAP_TYPE = 1 << 9


class Unsure(Exception):
    """A value cannot be compared."""


class Bounded(io.BytesIO):
    def write(self, data: Any) -> int:
        if self.tell() > MOST:
            raise Unsure
        return super().write(data)


class StatePickler(pickle.Pickler):
    """Pickles everything reachable from modules; the bytes are equal as long as nothing has changed."""

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if value is object:
            return NotImplemented
        if isinstance(value, FIXED) or kind.__name__ in FIXED_NAMES:
            return object, (), id(value)
        if isinstance(value, type) and not is_compared(value.__module__):
            return object, (), id(value)
        held: Any = contents(value, kind)
        attributes = [] if isinstance(value, (type, types.FunctionType)) else attributes_of(value, kind)
        if held is None and not attributes and not kind.__flags__ & HEAP_TYPE:
            raise Unsure  # an unknown C type
        return object, (), (id(value), held, attributes)


def contents(value: Any, kind: type) -> Any:
    """Return the contents of a value besides its attributes, or None for an unknown type."""
    if isinstance(value, type):
        names = ("__dict__", "__weakref__", "__doc__", "__abstractmethods__")
        return len(type.__subclasses__(value)), [one for one in vars(value).items() if one[0] not in names]
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell_filled(cell)]
        own = (value.__defaults__, value.__kwdefaults__, value.__dict__, cells)
        return own if is_compared(value.__module__ or "") else ()
    if isinstance(value, (dict, types.MappingProxyType)):
        return list(value.items())
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        return list(value)
    if isinstance(value, types.MethodType):
        return value.__self__, value.__func__
    if isinstance(value, (staticmethod, classmethod)):
        return (value.__func__,)
    if isinstance(value, property):
        return value.fget, value.fset, value.fdel
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    if kind.__name__ == "_lru_cache_wrapper":
        return tuple(value.cache_info())
    if kind.__name__ == "ContextVar":
        return (value.get(None),)
    return repr(value.__reduce__()) if kind in COUNTERS else () if kind is object else None


def attributes_of(value: Any, kind: type) -> list[tuple[str, Any]]:
    held = getattr(value, "__dict__", None)
    found = list(held.items()) if isinstance(held, dict) else []
    if kind.__name__ in ("Logger", "RootLogger"):
        found = [one for one in found if one[0] != "_cache"]
    for one in kind.__mro__:
        slots = one.__dict__.get("__slots__", ())
        names = [name for name in ((slots,) if isinstance(slots, str) else slots) if hasattr(value, name)]
        found += [(name, getattr(value, name)) for name in names if name not in ("__dict__", "__weakref__")]
    return found


def cell_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def is_compared(module: Any) -> bool:
    return isinstance(module, str) and module.split(".")[0] not in STDLIB


def own_modules() -> dict[str, types.ModuleType]:
    return {
        name: one for name, one in list(sys.modules.items()) if is_compared(name) and isinstance(one, types.ModuleType)
    }


def standard() -> dict[tuple[str, str], tuple[int | None, Any]]:
    """Return the standard library's globals other than modules and caches, with their lengths."""
    found = {}
    for module, one in list(sys.modules.items()):
        if is_compared(module) or module in NOISY or not isinstance(one, types.ModuleType):
            continue
        for name, value in list(vars(one).items()):
            if isinstance(value, types.ModuleType) or name.startswith("__") or name == "_" or "cache" in name.lower():
                continue
            found[module, name] = (len(value) if type(value) in (list, dict, set) else None, value)
    return found


def world() -> dict[str, Any]:
    """Return the process state that programs usually set."""

    def of(module: str, function: Any) -> Any:
        return function(sys.modules[module]) if module in sys.modules else None

    def loggers(logging: Any) -> Any:
        named = sorted(logging.root.manager.loggerDict.items())
        each = [("", logging.root), *((name, one) for name, one in named if isinstance(one, logging.Logger))]
        return (
            logging.root.manager.disable,
            [(name, one.level, list(map(id, one.handlers)), one.propagate, one.disabled) for name, one in each],
        )

    hooks = (sys.stdin, sys.stdout, sys.stderr, sys.displayhook, sys.excepthook, *sys.meta_path, *sys.path_hooks)
    return {
        "folder": os.getcwd(),
        "variables": dict(os.environ),
        "path": list(sys.path),
        "arguments": list(sys.argv),
        "hooks": list(map(id, hooks)),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), sys.gettrace() is None, sys.getprofile() is None),
        "warnings": of("warnings", lambda module: [tuple(map(str, one)) for one in module.filters]),
        "threads": len(sys._current_frames()),
        "random": of("random", lambda module: hash(module.getstate())),
        "decimal": of("decimal", lambda module: repr(module.getcontext())),
        "locale": of("locale", lambda module: module.setlocale(module.LC_ALL)),
        "socket": of("_socket", lambda module: module.getdefaulttimeout()),
        "exit": of("atexit", lambda module: module._ncallbacks()),
        "garbage": of("gc", lambda module: module.isenabled()),
        "signals": of("signal", lambda module: [id(module.getsignal(one)) for one in sorted(module.valid_signals())]),
        "dialects": of("_csv", lambda module: module.list_dialects()),
        "logging": of("logging", loggers),
    }


class State:
    """The state of this process, recorded after imports."""

    def __init__(self) -> None:
        self.known: Any = None
        self.standard: dict[tuple[str, str], tuple[int | None, Any]] = {}
        self.unsure = False

    def take(self) -> None:
        try:
            self.known, self.standard = look(), standard()
        except Exception:
            self.unsure = True

    def changed(self) -> bool:
        try:
            now, known = standard(), {module for module, _ in self.standard}
            if any(key[0] in known for key in now.keys() - self.standard.keys()):
                return True
            same = all(
                key in now and now[key][1] is value and now[key][0] == length
                for key, (length, value) in self.standard.items()
            )
            return self.unsure or not same or look() != self.known
        except Exception:
            self.unsure = True
            return True


def look() -> tuple[Any, ...]:
    """Return the non-standard modules, the process state that programs usually set, and a pickle of the modules."""
    modules = own_modules()
    if any(str(getattr(one, "__file__", None) or "").endswith((".so", ".pyd")) for one in modules.values()):
        raise Unsure
    unseen = ("__builtins__", "__loader__", "__spec__", "__doc__")
    globals_of = [one for module in modules.values() for one in vars(module).items() if one[0] not in unseen]
    written = Bounded()
    StatePickler(written).dump([one for one in globals_of if not isinstance(one[1], types.ModuleType)])
    return list(modules), world(), written.getvalue()


def main() -> None:
    orders, answers = os.fdopen(int(sys.argv[1]), "rb"), os.fdopen(int(sys.argv[2]), "wb")
    own = os.getpid()
    sys.argv = ["README"]
    sys.path[0:1] = []
    sys.path.append(os.getcwd())
    watch: Watch | None = None
    for line in orders:
        step = json.loads(line)
        # inspect.getsource and tracebacks need the snippet here.
        shown = step["code"].splitlines()
        if step["kind"] == "doctest":
            shown = [line.lstrip()[4:] if line.lstrip().startswith((">>> ", "... ")) else "" for line in shown]
        code = "\n".join(shown)
        lines = [""] * (step["line"] - 1) + shown
        linecache.cache[step["page"]] = (0, None, [text + "\n" for text in lines], step["page"])
        repeat(step.get("before", ()))
        for number, path in ((1, OUT), (2, ERR)):
            file = os.open(path, os.O_WRONLY | os.O_APPEND)
            os.dup2(file, number)
            os.close(file)
        imported = import_left_out(code, step["modules"])
        # The state after the last snippet is still valid unless imports ran in between.
        known = watch if watch is not None and not watch.trace and not step.get("before") and not imported else None
        watch = Watch(known) if watched(step) else None
        result = examples(step, watch) if step["kind"] == "doctest" else snippet(step, watch)
        if os.getpid() != own:
            os._exit(0)  # a forked child must not answer
        result |= {"imported": imported, "asked": ASKED[:1], "ran": RAN[:1]}
        result["looking"] = watch.seconds if watch is not None else 0.0
        result["trace"] = watch is None or watch.trace or bool(imported)
        flush()
        answer = {"status": 1 if result.get("error") else 0, "timeout": False, **result}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


main()
