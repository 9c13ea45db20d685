"""Names that nothing has: of commands, cases, agents, doc systems, sandboxes, engines."""

from __future__ import annotations

from faults.wrong import EXAMPLE, LONG, REGENERATE, RUN, Wrong

NAMES = (
    Wrong(("run",), ("required",)),
    Wrong(("run", ""), ("is empty",)),
    Wrong(("run", "nosuch", *RUN[2:]), ("no test case",)),
    Wrong(("run", "word_countr", *RUN[2:]), ("did you mean word_counter",)),
    Wrong(("run", "nosuch==", *RUN[2:]), ("not an existing folder",)),
    Wrong(("run", "/nowhere/at/all", *RUN[2:]), ("does not exist",)),
    Wrong(("run", "./nowhere.zip", *RUN[2:]), ("does not exist",)),
    Wrong(("run", "pipe", *RUN[2:]), ("is a pipe",)),
    Wrong(("run", "./hollow", *RUN[2:]), ("holds no files",)),
    Wrong(("regenerate", "./hollow", *REGENERATE[2:]), ("holds no files",)),
    Wrong(("tasks", "./hollow"), ("holds no files",)),
    Wrong(("regenerate", "./prose", *REGENERATE[2:]), ("holds no Python file",)),
    Wrong(("tasks", "./prose"), ("holds no Python file",)),
    Wrong(("cases", "./hollow"), ("holds no files",)),
    Wrong(("score", "README.md", "--case", "./hollow"), ("holds no files",)),
    Wrong(("run", "/dev/zero", *RUN[2:]), ("device",)),
    Wrong(("run", "ftp://x/y", *RUN[2:]), ("https",)),
    Wrong(("run", "ext::sh -c x", *RUN[2:]), ("runs programs",)),
    Wrong(("run", "README.md", *RUN[2:]), ("single file",)),
    Wrong(("run", "./piped", *RUN[2:]), ("case.toml", "is a pipe"), 1),
    Wrong(("run", "./case-of-all", *RUN[2:]), ("every case",), 1),
    Wrong(("run", "./case-of-escapes", *RUN[2:]), ("control characters",), 1),
    Wrong(("run", "./case-of-brackets", *RUN[2:]), ("not valid TOML",), 1),
    Wrong(("run", "./case-of-nothing", *RUN[2:]), ("'source' is empty",), 1),
    Wrong(("run", "./case-in-latin1", *RUN[2:]), ("not text in UTF-8",), 1),
    Wrong(("run", "./case-with-typo", *RUN[2:]), ("did you mean 'name'",), 1),
    Wrong((*RUN, "--agent", "nobody"), ("no agent",)),
    Wrong((*RUN, "--agent", ""), ("is empty",)),
    Wrong((*RUN, "--nosuch"), ("unrecognized",)),
    Wrong((*RUN, "--session"), ("expected one argument",)),
    Wrong((*REGENERATE[:1], "nosuch"), ("no test case",)),
    Wrong((*REGENERATE[:1], "/nowhere", *REGENERATE[2:]), ("does not exist",)),
    Wrong((*REGENERATE[:1], "pipe", *REGENERATE[2:]), ("is a pipe",)),
    Wrong((*REGENERATE[:1], "file:///nowhere.git", *REGENERATE[2:], "--session", ""), ("is empty",)),
    *(Wrong((*REGENERATE, option, "nosuch"), ("no", "nosuch")) for option in ("--sandbox", "--docs", "--engine")),
    *(
        Wrong((*REGENERATE[:2], "--evaluator", evaluator, *wrong), (why,))
        for evaluator in ("local", "reference")
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
    *(
        Wrong((*REGENERATE, f"{option}="), (f"for {option} is empty",))
        for option in ("--sandbox", "--docs", "--evaluator")
    ),
    *(
        Wrong((*REGENERATE, "--docs", f"folder:{text}"), ("no folder",))
        for text in ("nowhere", "pipe", "README.md", "/dev/zero", "loop")
    ),
    Wrong((*REGENERATE, "--docs", "source:/nowhere"), ("does not exist",)),
    Wrong((*REGENERATE, "--docs", "repoagent:local"), ("not installed", "workbench docs install repoagent")),
    Wrong((*REGENERATE, "--docs", "osa:"), ("no doc system",)),
    Wrong((*REGENERATE, "--docs", "command:python x.py {file}"), ("{file}", "stands for nothing")),
    Wrong((*REGENERATE, "--docs", "command:nosuchprogram {folder}"), ("no program 'nosuchprogram'",)),
    Wrong(("docs", "install", "docagent"), ("invalid choice",)),
    Wrong((*REGENERATE, "--docs", "source:pipe"), ("is a pipe",)),
    Wrong((*REGENERATE, "--docs", "folder:~nosuchuser"), ("home folder",)),
    *(
        Wrong((*REGENERATE, "--engine", text), ("There is no engine",))
        for text in ("dask://", "dask://x", "dask://x:0", "dask://x:99999", "http://x:1", "dask://a b:1")
    ),
    Wrong(("tasks",), ("required",)),
    Wrong(("tasks", "show"), ("required: DATASET",)),
    Wrong(("tasks", "build"), ("required: SOURCE",)),
    Wrong(("tasks", "build", "nosuch"), ("no test case",)),
    Wrong(("tasks", "build", "./nowhere", "./hollow"), ("does not exist",)),
    Wrong(("tasks", "build", "./hollow"), ("holds no files",)),
    Wrong(("tasks", "build", "./prose"), ("holds no Python file",)),
    Wrong(("tasks", "build", "pipe"), ("is a pipe",)),
    Wrong(("tasks", "build", "word_counter", "--formats", "csv"), ("jsonl and parquet",)),
    Wrong(("tasks", "build", "word_counter", "--out", ""), ("is empty",)),
    Wrong(("tasks", "build", "word_counter", "--limit", "2"), ("unrecognized arguments: --limit 2",)),
    Wrong(("tasks", "word_counter", "--out", "x"), ("workbench tasks list", "--out x")),
    Wrong(("tasks", "/nowhere"), ("does not exist",)),
    Wrong(("tasks", "pipe"), ("is a pipe",)),
    Wrong(("tasks", "word_counter", "--docs", "llm:openai/x"), ("asks a model, which only a run does",)),
    Wrong(("tasks", "word_counter", "--docs", "nosuch"), ("no doc system",)),
    Wrong(("tasks", "word_counter", "--sandbox", "nosuch"), ("no sandbox",)),
    Wrong(("catalog", "nosuch"), ("nosuch",)),
    Wrong(("catalog", ""), ("is empty",)),
    Wrong(("catalog", "--record", "x"), ("workbench catalog list", "--record")),
    Wrong(("catalog", "check", "--markdown"), ("workbench catalog check", "--markdown")),
    Wrong(("catalog", "check", "schema", "--record", "README.md"), ("needs a folder",)),
    *(
        Wrong(("cluster", "--host", text), words)
        for text, words in (
            ("", ("is empty",)),
            (" ", ("is empty",)),
            ("no such host", ("--host takes",)),
            ("203.0.113.1", ("--host takes",)),
            ("a..b", ("--host takes",)),
        )
    ),
    Wrong(("doctor", "x"), ("unrecognized",)),
    Wrong(("locate", "nosuch"), ("invalid choice",)),
    Wrong(("model", "remove"), ("invalid choice",)),
    Wrong(("nosuch",), ("invalid choice",)),
    Wrong(("",), ("is empty",)),
    Wrong(("--nosuch",), ("unrecognized",)),
    Wrong(("open", "x", "y"), ("unrecognized",)),
    Wrong(("open", ""), ("is empty",)),
    Wrong(("open",), ("needs a terminal",)),
    Wrong((), ("needs a terminal",)),
    Wrong(("open", EXAMPLE), ("needs a terminal",)),
    Wrong(("cases", "nosuch"), ("no test case",)),
    Wrong(("cases", ""), ("is empty",)),
    Wrong(("cases", "--fetch"), ("needs a case",)),
    Wrong(("cases", "--id", "x"), ("--add",)),
    Wrong(("cases", "word_counter", "--add", "folder"), ("another command",)),
    *(
        Wrong(("cases", "--add", text), words)
        for text, words in (
            ("", ("is empty",)),
            ("/dev/zero", ("device",)),
            ("/dev/null", ("device",)),
            ("pipe", ("is a pipe",)),
            ("socket", ("pipe, socket or device",)),
            ("README.md", ("single file",)),
            ("nowhere", ("no folder",)),
            ("./nowhere", ("does not exist",)),
            ("hollow", ("holds no files",)),
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
            ("a/b", ("cannot be",)),
            ("a b", ("cannot be",)),
            (LONG, ("cannot be",)),
            ("a\x07", ("control characters",)),
        )
    ),
)
