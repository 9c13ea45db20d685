"""Wrong command lines, files and surroundings, each with the exit code and words of the one sentence that refuses it.

Every line runs in a folder with the files of :func:`prepare`, and must leave no new file.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench import session

Arguments = tuple[str, ...]


@dataclass(frozen=True)
class Wrong:
    """One invocation: by ``arguments``, or by a shell that has the program as ``$W``."""

    arguments: Arguments  # ``~CWD`` stands for the folder
    words: Arguments
    code: int = 2
    settings: str | bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    shell: str = ""

    @property
    def id(self) -> str:
        parts = [*(f"{name}={value[:24]}" for name, value in self.environment.items()), *self.arguments]
        if isinstance(self.settings, str):
            parts.append(f"[{self.settings[:30]}]")
        return " ".join(ascii(part)[1:-1][:48] for part in parts) or self.shell[:60]


def prepare(folder: Path) -> None:
    """Make the files that the table names."""
    (folder / "README.md").write_text("# A project\n\nIt does things.\n")
    (folder / "folder").mkdir()
    (folder / "folder" / "main.py").write_text("x = 1\n")
    (folder / "hollow").mkdir()
    (folder / "prose").mkdir()
    (folder / "prose" / "notes.txt").write_text("No code here.\n")
    (folder / "empty").touch()
    (folder / "binary").write_bytes(bytes(range(256)) * 40)
    (folder / "latin1").write_bytes("caf\xe9\n".encode("latin-1"))
    (folder / "notes.txt").write_text("no session\n" * 40)
    (folder / "fake.session").write_text("no session\n" * 40)
    (folder / "deep.json").write_text("[" * 50_000 + "]" * 50_000)
    (folder / "deep.jsonl").write_text('{"task_id": "a", "completion": ' + "[" * 50_000 + "]" * 50_000 + "}\n")
    (folder / "numbers.jsonl").write_text('{"task_id": 1, "completion": 2}\n')
    (folder / "text.jsonl").write_text("this is text\n")
    (folder / "rows.jsonl").write_text('{"schema_version": 1}\n')
    (folder / "newer.jsonl").write_text('{"schema_version": 99}\n')
    (folder / "endless.jsonl").write_text('{"schema_version": 1e400}\n')
    (folder / "list.jsonl").write_text("[1, 2]\n")
    os.mkfifo(folder / "pipe")
    (folder / "piped").mkdir()
    os.mkfifo(folder / "piped" / "case.toml")
    for name, text in CASES.items():
        (folder / name).mkdir()
        (folder / name / "case.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with (folder / "huge").open("wb") as file:
        file.truncate(2_000_000_000)
    with socket.socket(socket.AF_UNIX) as made:
        # A socket's name is short: it is given relative to the folder.
        made.bind("socket")
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    session.create(folder / "own.session")


CASES: Mapping[str, str | bytes] = {
    "case-of-all": 'id = "all"\nsource = "."\n',
    "case-of-escapes": 'id = "good"\nname = "a\\u001b[31m"\nsource = "."\n',
    "case-of-brackets": "x = " + "[" * 50_000 + "]" * 50_000,
    "case-of-nothing": "",
    "case-in-latin1": "name = 'caf\xe9'\n".encode("latin-1"),
    "case-with-typo": 'nmae = "x"\nsource = "."\n',
}

EXAMPLE = "example"
RUN: Arguments = ("run", "word_counter", "--model", "local", "--judge", "offline")
REGENERATE: Arguments = ("regenerate", "word_counter", "--evaluator", "reference")
LONG = "x" * 300

# -- numbers: one option of each kind with every text that is no number for it, the others with three of them

NOT_WHOLE = ("0", "-1", "2.7", "nan", "inf", "1e400", "1e3", "1_000", "0x10", "two", "٣", "9" * 30, "1,2", "+")
NOT_DOLLARS = ("-1", "nan", "inf", "1e400", "1_000", "much", "1e7", "0x10", "٣", "$2", "1,5")
WHOLE_OPTIONS: tuple[tuple[Arguments, str], ...] = (
    (RUN, "--repeats"),
    (RUN, "--judge-repeats"),
    (REGENERATE, "--samples"),
    (REGENERATE, "--limit"),
    (("tasks", "word_counter"), "--limit"),
    (("tasks", "show", "rows.jsonl"), "--limit"),
    (("tasks", "build", "word_counter"), "--workers"),
    (("rerun", EXAMPLE), "--samples"),
    (("cluster",), "--workers"),
    (("cluster",), "--threads"),
    (("score", "README.md"), "--judge-repeats"),
)
NUMBERS = (
    *(
        Wrong((*order, f"{option}={text}"), (option, "whole number"))
        for number, (order, option) in enumerate(WHOLE_OPTIONS)
        for text in (NOT_WHOLE[number::6] if number else NOT_WHOLE)
    ),
    *(
        Wrong((*order, f"--spend-limit={text}"), ("--spend-limit", "number"))
        for order, texts in ((RUN, NOT_DOLLARS), (REGENERATE, NOT_DOLLARS[::5]))
        for text in texts
    ),
    *(
        Wrong((*REGENERATE, f"--k={text}"), ("--k takes whole numbers of 1 or more",))
        for text in (*NOT_WHOLE[:3], "1,,3", "1;3", ",")
    ),
    *(
        Wrong(("cluster", f"--port={text}"), ("--port", "whole number"))
        for text in ("-1", "65536", "http", "80.5", "nan")
    ),
)

# -- models

NO_MODEL: tuple[tuple[str, Arguments], ...] = (
    ("nosuch/model", ("no provider 'nosuch'", "openai")),
    ("opnai/gpt-4o", ("no provider 'opnai'", "did you mean openai")),
    ("antropic/claude", ("did you mean anthropic",)),
    ("gpt-nope", ("There is no provider", "PROVIDER/NAME")),
    ("openai/", ("names a provider but no model",)),
    ("/x", ("no provider",)),
    ("Local", ("it is called local",)),
    ("local/other", ("it is called local",)),
    ("openai/gpt-4o", ("needs a key: set OPENAI_API_KEY",)),
    ("gpt-4o", ("needs a key: set OPENAI_API_KEY",)),
    ("anthropic/x", ("needs a key: set ANTHROPIC_API_KEY",)),
    (" openai/x", ("No model is set",)),
    ("openai/" + LONG, ("is not a valid model name",)),
    ("openai/\u202e", ("is not a valid model name",)),
    ("", ("is empty",)),
    ("openai/a\x1b[31m", ("control characters",)),
)
MODELS = (
    *(Wrong((*RUN[:2], "--judge", "offline", "--model", name), words) for name, words in NO_MODEL),
    *(
        Wrong((*order, name), words)
        for name, words in (NO_MODEL[0], NO_MODEL[8], NO_MODEL[-2])
        for order in (
            (*RUN[:4], "--judge"),
            (*REGENERATE[:2], "--evaluator"),
            ("score", "README.md", "--judge"),
        )
    ),
    Wrong((*REGENERATE, "--docs", "llm:nosuch/model"), ("no provider 'nosuch'",)),
)

# -- settings and environment

NOT_SETTING = ("nan", "inf", "-1", "2.7", "1e400", "", " ", "many", "1_0", "9" * 30)
SETTINGS = (
    *(
        Wrong(RUN, (f"WORKBENCH_{name.upper()}", "must be"), environment={f"WORKBENCH_{name.upper()}": text})
        for name, texts in (
            ("concurrency", (*NOT_SETTING, "0")),
            ("max_steps", NOT_SETTING[::4]),
            ("time_limit", NOT_SETTING[:3]),
        )
        for text in texts
    ),
    *(
        Wrong(RUN, (name, "must be"), settings=f"{name} = {value}\n")
        for name in ("trials_at_once", "request_timeout")
        for value in ("inf", "nan", "-1", "0", "true", '"x"', "[]")
    ),
    Wrong(RUN, ("no setting", "allow_plain_process"), settings="allow_plain_process = true\n"),
    Wrong(RUN, ("judge", "must be text"), settings="judge = 3\n"),
    Wrong(RUN[:2], ("no provider",), settings='agent_model = "nosuch/model"\njudge = "offline"\n'),
    Wrong(REGENERATE, ("There is no engine",), settings='engine = "tcp://x"\n'),
    Wrong(RUN, ("no setting 'concurency'", "Did you mean 'concurrency'"), settings="concurency = 3\n"),
    Wrong(RUN, ("cannot be read",), settings="this is no TOML"),
    Wrong(RUN, ("cannot be read",), settings="x = " + "[" * 50_000),
    Wrong(RUN, ("not text in UTF-8",), settings=b"\xff\xfe\x00"),
    Wrong(RUN, ("bytes",), settings=b"#" * 1_500_000),
    Wrong(RUN, ("regeneration.zoom",), settings="[keymap]\nzoom = 'z'\n"),
    Wrong(RUN, ("not the id of a key",), settings="[keymap]\napp.nosuch = 'z'\n"),
    Wrong(RUN, ("table of texts",), settings="keymap = 'x'\n"),
    Wrong(RUN, ("sets app.quit to",), settings="[keymap]\napp.quit = ''\n"),
    Wrong(RUN, ("is not a regular file",), environment={"WORKBENCH_LOCAL_MODEL_PATH": "pipe"}),
    Wrong(RUN, ("is not a GGUF file",), environment={"WORKBENCH_LOCAL_MODEL_PATH": "README.md"}),
    Wrong(("locate",), ("home folder",), environment={"WORKBENCH_DATA_DIR": "~nosuchuser/x"}),
    Wrong(RUN, ("folder of logs", "cannot be created"), 1, environment={"WORKBENCH_STATE_DIR": "/dev/null/x"}),
    Wrong(RUN, ("cannot be created",), 1, environment={"WORKBENCH_DATA_DIR": "/dev/null/x"}),
    Wrong(("cases", "--add", "folder"), ("cannot be written",), 1, environment={"WORKBENCH_DATA_DIR": "/dev/null/x"}),
)

# -- sessions: one command with every text that names none, the others with some of them

NO_SESSION: tuple[tuple[str, Arguments], ...] = (
    ("", ("is empty",)),
    ("  ", ("is empty",)),
    (".", ("names a folder",)),
    ("..", ("names a folder",)),
    ("/", ("names a folder",)),
    ("a/..", ("names a folder",)),
    ("own.session/", ("names a folder",)),
    (LONG, ("too long",)),
    ("a\nb", ("control characters",)),
    ("a\x1b[31m", ("control characters",)),
    ("\udcff", ("broken characters",)),
    ("~nosuchuser/x", ("home folder",)),
    (".session", ("no name before its extension",)),
)
NOT_THERE: tuple[tuple[str, Arguments], ...] = (
    ("nosuch", ("There is no session",)),
    ("folder", ("is a folder",)),
    ("~CWD", ("is a folder",)),
    ("pipe", ("is a pipe",)),
    ("/dev/zero", ("is a device",)),
    ("socket", ("is a socket",)),
    ("loop", ("There is no session",)),
    ("dangling", ("There is no session",)),
    ("[/x]", ("There is no session",)),
)
READERS = ("show", "report", "resume", "cancel", "rerun")
SESSIONS = (
    *(
        Wrong((command, text, *(("x",) if command == "rerun" else ())), words)
        for number, command in enumerate(READERS)
        for text, words in (*NO_SESSION, *NOT_THERE)[number :: 9 if number else 1]
    ),
    *(Wrong((*order, "--session", text), words) for order in (RUN, REGENERATE) for text, words in NO_SESSION[::6]),
    *(
        Wrong((*order, "--session", text), words, code)
        for order in (RUN, REGENERATE)
        for text, words, code in (
            ("~CWD", ("is a folder",), 2),
            ("./folder", ("is a folder",), 2),
            ("/dev/null/x/y.session", ("cannot be created",), 1),
            ("./fake.session", ("is not a workbench session",), 1),
        )
    ),
    *(
        Wrong((command, "fake.session", *more), ("not a workbench session",), 1)
        for command, *more in (("show",), ("report",), ("resume",), ("cancel",), ("rerun", "x"))
    ),
    *(
        Wrong((*RUN[:2], "--model", f"replay:{text}", "--judge", "offline"), words)
        for text, words in (
            ("", ("is empty",)),
            ("nosuch", ("no session",)),
            ("pipe", ("is a pipe",)),
            ("own", ("no recorded trials",)),
        )
    ),
    *(
        Wrong((*REGENERATE[:2], "--evaluator", f"replay:{text}"), words)
        for text, words in (
            ("", ("is empty",)),
            ("nosuch", ("no session",)),
            ("own", ("no evaluator's answers",)),
            ("~CWD", ("is a folder",)),
        )
    ),
    Wrong((*RUN[:4], "--judge", "replay:"), ("is empty",)),
    Wrong(("score", "README.md", "--judge", "replay:example"), ("no recording of this document",)),
)

# -- items and runs of a session

ITEMS = (
    *(
        Wrong((command, EXAMPLE, option, ""), ("is empty",))
        for command, option in (("cancel", "--run"), ("resume", "--run"), ("report", "--item"))
    ),
    *(
        Wrong((command, EXAMPLE, option, "nosuch"), ("has no",))
        for command, option in (("cancel", "--run"), ("resume", "--run"), ("report", "--item"))
    ),
    Wrong(("show", EXAMPLE, ""), ("is empty",)),
    Wrong(("show", EXAMPLE, "nosuch"), ("has no item",)),
    Wrong(("show", EXAMPLE, "nosuch:1"), ("has no item",)),
    Wrong(("rerun", EXAMPLE), ("Name an item",)),
    Wrong(("rerun", EXAMPLE, "nosuch"), ("example.session has no",)),
    Wrong(("rerun", "own.session", "--failed"), ("are for regeneration runs",)),
    Wrong(("rerun", EXAMPLE, "*", "--model", "nosuch/model"), ("no provider",)),
    Wrong(("rerun", EXAMPLE, "*", "--engine", "dask://nowhere"), ("There is no engine",)),
    Wrong(("resume", "own.session", "--engine", "dask://127.0.0.1:8786"), ("no regeneration run",)),
    Wrong(("resume", "own.session", "--engine", "tcp://x"), ("There is no engine",)),
    Wrong(("report", EXAMPLE, "--format", "pdf"), ("There is no report format",)),
    Wrong(("import", "README.md", "--format", "nosuch:Class"), ("There is no importer", "no module nosuch")),
    Wrong(("report", EXAMPLE, "-o", "folder"), ("is a folder",)),
    Wrong(("report", EXAMPLE, "-o", "own.session"), ("is a session file",)),
    Wrong(("report", EXAMPLE, "-o", "~nosuchuser/x"), ("home folder",)),
    Wrong(("report", EXAMPLE, "-o", "nowhere/x.md"), ("does not exist",), 1),
)

# -- files that are not what they seem

NOT_READ: tuple[tuple[str, Arguments], ...] = (
    ("nowhere", ("cannot be read", "does not exist")),
    ("folder", ("is a folder",)),
    ("pipe", ("is a pipe", "save")),
    ("socket", ("is a socket",)),
    ("/dev/zero", ("is a device",)),
    ("/dev/null", ("is a device",)),
    ("huge", ("2,000,000,000 bytes",)),
    ("loop", ("cannot be read",)),
    ("dangling", ("does not exist",)),
    ("README.md/x", ("does not exist",)),
    (LONG, ("cannot be read",)),
)
FILES = (
    *(Wrong(("score", name, "--judge", "offline"), words) for name, words in (*NOT_READ, ("binary", ("binary file",)))),
    *(Wrong(("score", "README.md", "--judge", "offline", "--metadata", name), words) for name, words in NOT_READ[::4]),
    *(
        Wrong((*REGENERATE[:2], "--evaluator", f"samples:{name}"), words)
        for name, words in (
            *NOT_READ[1::4],
            ("", ("is a folder",)),
            ("binary", ("line 1", "not JSON")),
            ("latin1", ("not text in UTF-8",)),
            ("empty", ("is empty",)),
            ("text.jsonl", ("line 1", "not JSON")),
            ("numbers.jsonl", ("line 1", "as strings")),
            ("deep.jsonl", ("line 1", "nested")),
            ("list.jsonl", ("line 1", "task_id")),
        )
    ),
    *(
        Wrong(("tasks", "show", name), words)
        for name, words in (
            ("nowhere", ("no dataset",)),
            ("folder", ("is not a dataset",)),
            ("pipe", ("is a pipe",)),
            ("/dev/zero", ("is a device",)),
            ("socket", ("is a socket",)),
            ("binary", ("not text in UTF-8",)),
            ("text.jsonl", ("not JSON",)),
            ("rows.jsonl", ("not a row of a dataset",)),
            ("endless.jsonl", ("not a row of a dataset",)),
            ("list.jsonl", ("not a row of a dataset",)),
            ("newer.jsonl", ("newer version",)),
            ("deep.jsonl", ("nested",)),
        )
    ),
    Wrong(("score", "README.md", "--rubric", "nosuch"), ("no rubric",)),
    Wrong(("score", "README.md", "--case", "nosuch"), ("no test case",)),
)

# -- names that nothing has

NAMES = (
    Wrong(("run", ""), ("is empty",)),
    Wrong(("run", "nosuch", *RUN[2:]), ("no test case",)),
    Wrong(("run", "word_countr", *RUN[2:]), ("did you mean word_counter",)),
    Wrong(("run", "/nowhere/at/all", *RUN[2:]), ("does not exist",)),
    Wrong(("run", "pipe", *RUN[2:]), ("is a pipe",)),
    Wrong(("run", "./hollow", *RUN[2:]), ("contains no files",)),
    Wrong(("regenerate", "./prose", *REGENERATE[2:]), ("contains no Python file",)),
    Wrong(("run", "ftp://x/y", *RUN[2:]), ("https",)),
    Wrong(("run", "ext::sh -c x", *RUN[2:]), ("runs programs",)),
    Wrong(("run", "README.md", *RUN[2:]), ("single file",)),
    Wrong(("run", "./piped", *RUN[2:]), ("case.toml", "is a pipe"), 1),
    Wrong(("run", "./case-of-all", *RUN[2:]), ("every case",), 1),
    Wrong(("run", "./case-of-escapes", *RUN[2:]), ("control characters",), 1),
    Wrong(("run", "./case-of-brackets", *RUN[2:]), ("not valid TOML",), 1),
    Wrong(("run", "./case-with-typo", *RUN[2:]), ("did you mean 'name'",), 1),
    Wrong((*RUN, "--agent", "nobody"), ("no agent",)),
    Wrong((*RUN, "--agent", ""), ("is empty",)),
    Wrong((*RUN, "--nosuch"), ("unrecognized",)),
    Wrong((*REGENERATE[:1], "file:///nowhere.git", *REGENERATE[2:], "--session", ""), ("is empty",)),
    *(Wrong((*REGENERATE, option, "nosuch"), ("no", "nosuch")) for option in ("--sandbox", "--docs", "--engine")),
    *(
        Wrong((*REGENERATE[:2], "--evaluator", evaluator, *wrong), (why,))
        for evaluator in ("local",)
        for wrong, why in (
            (("--prompt", "nosuch"), "no prompt version"),
            (("--prompt", "hollow"), "is a folder"),
            (("--context", "nosuch"), "no context policy"),
        )
    ),
    Wrong(("metrics", EXAMPLE, "--model-path", "nosuch"), ("there is no folder",)),
    *(
        Wrong((*REGENERATE, option, ""), (f"for {option} is empty",))
        for option in ("--sandbox", "--engine", "--prompt", "--context", "--task", "--k")
    ),
    *(Wrong((*REGENERATE, "--docs", f"folder:{text}"), ("no folder",)) for text in ("nowhere", "pipe")),
    Wrong((*REGENERATE, "--docs", "source:/nowhere"), ("does not exist",)),
    Wrong((*REGENERATE, "--docs", "repoagent:local"), ("not installed", "workbench docs install repoagent")),
    Wrong((*REGENERATE, "--docs", "command:python x.py {file}"), ("{file}", "placeholder")),
    Wrong((*REGENERATE, "--docs", "command:nosuchprogram {folder}"), ("no program 'nosuchprogram'",)),
    *(
        Wrong((*REGENERATE, "--engine", text), ("There is no engine",))
        for text in ("dask://x", "dask://x:99999", "http://x:1", "dask://a b:1")
    ),
    Wrong(("tasks", "build", "word_counter", "--formats", "csv"), ("jsonl and parquet",)),
    Wrong(("tasks", "build", "word_counter", "--out", ""), ("is empty",)),
    Wrong(("tasks", "build", "word_counter", "--limit", "2"), ("unrecognized arguments: --limit 2",)),
    Wrong(("tasks", "word_counter", "--out", "x"), ("workbench tasks list", "--out x")),
    Wrong(("tasks", "word_counter", "--docs", "llm:openai/x"), ("needs a model, which only a run provides",)),
    Wrong(("catalog", "nosuch"), ("nosuch",)),
    Wrong(("catalog", "check", "--markdown"), ("workbench catalog check", "--markdown")),
    *(
        Wrong(("cluster", "--host", text), words)
        for text, words in (
            ("", ("is empty",)),
            ("203.0.113.1", ("--host takes",)),
            ("a..b", ("--host takes",)),
        )
    ),
    Wrong(("nosuch",), ("invalid choice",)),
    Wrong(("",), ("is empty",)),
    Wrong(("open", ""), ("is empty",)),
    Wrong(("open", EXAMPLE), ("needs a terminal",)),
    Wrong(("cases", "--fetch"), ("needs a case",)),
    Wrong(("cases", "--id", "x"), ("--add",)),
    Wrong(("cases", "word_counter", "--add", "folder"), ("another command",)),
    *(
        Wrong(("cases", "--add", text), words)
        for text, words in (
            ("", ("is empty",)),
            ("/dev/zero", ("device",)),
            ("socket", ("pipe, socket or device",)),
            ("README.md", ("single file",)),
            ("nowhere", ("no folder",)),
            ("./nowhere", ("does not exist",)),
            ("hollow", ("contains no files",)),
            ("archive:/nowhere.zip", ("does not exist",)),
            ("-x", ("expected one argument",)),
            ("a\tb", ("control characters",)),
            ("./case-with-typo", ("is a test case already",)),
        )
    ),
    *(
        Wrong(("cases", "--add", "folder", "--id", text), words)
        for text, words in (
            ("all", ("every case",)),
            ("word_counter", ("bundled",)),
            ("", ("is empty",)),
            ("..", ("cannot be",)),
            ("a b", ("cannot be",)),
            (LONG, ("cannot be",)),
            ("a\x07", ("control characters",)),
        )
    ),
)

# -- streams and limits that only the system gives

CLOSED = ("standard output is closed",)
FULL = ("standard output cannot be written", "no space left")
FEW = ("Only 16 files may be open",)
OUTPUTS = ("cases", f"report {EXAMPLE}", "--help")
SYSTEM = (
    *(Wrong((), CLOSED, shell=f"$W {command} >&-") for command in (*OUTPUTS, " ".join(RUN), "open")),
    *(Wrong((), FULL, 1, shell=f"$W {command} >/dev/full") for command in (*OUTPUTS, f"show {EXAMPLE} --json")),
    *(
        Wrong((), ("needs a terminal",), shell=f"$W {line}")
        for line in (
            "open </dev/null | cat; exit ${PIPESTATUS[0]}",
            "</dev/null",
            "open <&-",
        )
    ),
    *(Wrong((), FEW, 1, shell=f"ulimit -n 16; $W {' '.join(order)}") for order in (RUN, ("rerun", EXAMPLE, "c056"))),
    Wrong((), ("is a pipe",), shell="$W score <(echo '# x')"),
    Wrong((), ("is a pipe",), shell="echo '# x' | $W score /dev/stdin"),
    Wrong((), ("settings file", "is a folder"), shell='mkdir -p "$WORKBENCH_CONFIG_DIR/config.toml"; $W model'),
    Wrong(
        (),
        ("settings file", "is a pipe"),
        shell='mkdir -p "$WORKBENCH_CONFIG_DIR"; mkfifo "$WORKBENCH_CONFIG_DIR/config.toml"; $W model',
    ),
    Wrong((), ("for --session is empty",), shell='unset NAME; $W run word_counter --session "$NAME"'),
    Wrong((), ("no test case",), shell="HOME= LANG=C LC_ALL=C COLUMNS=0 $W cases nosuch"),
    Wrong((), ("no test case",), shell="TMPDIR=/nowhere COLUMNS=1 TERM= $W cases nosuch"),
    Wrong((), ("no test case",), shell="PYTHONIOENCODING=ascii $W cases $'nosuch\\xc3\\xa9'"),
)

TABLE: tuple[Wrong, ...] = (*NUMBERS, *SESSIONS, *ITEMS, *MODELS, *NAMES, *FILES, *SETTINGS, *SYSTEM)
