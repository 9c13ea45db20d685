"""Wrong numbers, models and settings: texts that are no value for what takes one."""

from __future__ import annotations

from faults.wrong import EXAMPLE, LONG, REGENERATE, RUN, Arguments, Wrong

# -- numbers: every numeric option of every command, with every text that is no number for it

NOT_WHOLE = ("0", "-1", "2.7", "nan", "inf", "-inf", "1e400", "1e3", "1_000", "0x10", "two", "٣", "9" * 30, "1,2", "+")
NOT_DOLLARS = ("-1", "nan", "inf", "-inf", "1e400", "1_000", "much", "1e7", "0x10", "٣", "$2", "1,5")
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
        Wrong((*order, f"{option}={text}"), (option, "it takes a whole number of"))
        for order, option in WHOLE_OPTIONS
        for text in NOT_WHOLE
    ),
    *(
        Wrong((*order, f"--spend-limit={text}"), ("--spend-limit", "it takes a number of"))
        for order in (RUN, REGENERATE)
        for text in NOT_DOLLARS
    ),
    *(
        Wrong((*REGENERATE, f"--k={text}"), ("--k takes whole numbers of 1 or more",))
        for text in (*NOT_WHOLE, "1,,3", "1;3", ",")
        if text != "1,2"
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
    ("gpt-nope", ("No provider is known", "PROVIDER/NAME")),
    ("openai/", ("names a provider but no model",)),
    ("/x", ("no provider",)),
    ("Local", ("it is called local",)),
    ("local/other", ("it is called local",)),
    ("openai/gpt-4o", ("needs a key: set OPENAI_API_KEY",)),
    ("gpt-4o", ("needs a key: set OPENAI_API_KEY",)),
    ("anthropic/x", ("needs a key: set ANTHROPIC_API_KEY",)),
    (" openai/x", ("No model was given",)),
    ("openai/" + LONG, ("is not a valid model name",)),
    ("openai/\u202e", ("is not a valid model name",)),
    ("", ("is empty",)),
    ("openai/a\x1b[31m", ("control characters",)),
)
MODELS = tuple(
    Wrong(order, words)
    for name, words in NO_MODEL
    for order in (
        (*RUN[:2], "--judge", "offline", "--model", name),
        (*RUN[:4], "--judge", name),
        (*REGENERATE[:2], "--evaluator", name),
        (*REGENERATE, "--docs", f"llm:{name}" if name else ""),
        ("score", "README.md", "--judge", name),
    )
)

# -- settings and environment

NOT_SETTING = ("nan", "inf", "-1", "2.7", "1e400", "", " ", "many", "1_0", "9" * 30)
WHOLE_SETTINGS = ("concurrency", "trials_at_once", "max_tries", "max_steps", "read_limit")
AMOUNT_SETTINGS = ("request_timeout", "request_total_time", "time_limit")
SETTINGS = (
    *(
        Wrong(RUN, (f"WORKBENCH_{name.upper()}", "must be"), environment={f"WORKBENCH_{name.upper()}": text})
        for name in WHOLE_SETTINGS
        for text in (*NOT_SETTING, "0")
    ),
    *(
        Wrong(RUN, (f"WORKBENCH_{name.upper()}", "must be"), environment={f"WORKBENCH_{name.upper()}": text})
        for name in (*AMOUNT_SETTINGS, "spend_limit")
        for text in NOT_SETTING
        if text != "2.7"
    ),
    *(
        Wrong(RUN, (name, "must be"), settings=f"{name} = {value}\n")
        for name in WHOLE_SETTINGS
        for value in ("2.7", "inf", "nan", "-1", "0", "true", '"x"', "[]")
    ),
    *(
        Wrong(RUN, (name, "must be"), settings=f"{name} = {value}\n")
        for name in AMOUNT_SETTINGS
        for value in ("inf", "nan", "-1", "0", "true", "{}")
    ),
    Wrong(RUN, ("spend_limit",), settings="spend_limit = nan\n"),
    Wrong(RUN, ("no setting", "allow_plain_process"), settings="allow_plain_process = true\n"),
    Wrong(RUN, ("judge", "must be text"), settings="judge = 3\n"),
    Wrong(RUN, ("control characters",), settings='judge = "a\\u001b"\n'),
    Wrong(RUN[:4], ("no provider",), settings='judge = "nosuch/model"\n'),
    Wrong(RUN[:2], ("no provider",), settings='agent_model = "nosuch/model"\njudge = "offline"\n'),
    Wrong(REGENERATE[:2], ("no provider",), settings='evaluator = "nosuch/model"\n'),
    Wrong(REGENERATE, ("There is no engine",), settings='engine = "tcp://x"\n'),
    Wrong(RUN, ("no setting 'concurency'", "Did you mean 'concurrency'"), settings="concurency = 3\n"),
    Wrong(RUN, ("cannot be read",), settings="this is no TOML"),
    Wrong(RUN, ("cannot be read",), settings="x = " + "[" * 50_000),
    Wrong(RUN, ("not text in UTF-8",), settings=b"\xff\xfe\x00"),
    Wrong(RUN, ("bytes",), settings=b"#" * 1_500_000),
    Wrong(RUN, ("app.quit",), settings="[keymap]\nquit = 'ctrl+q'\n"),
    Wrong(RUN, ("regeneration.zoom",), settings="[keymap]\nzoom = 'z'\n"),
    Wrong(RUN, ("not the id of a key",), settings="[keymap]\napp.nosuch = 'z'\n"),
    Wrong(RUN, ("table of texts",), settings="keymap = 'x'\n"),
    Wrong(RUN, ("table of texts",), settings="[keymap]\napp.quit = 3\n"),
    Wrong(RUN, ("gives app.quit the key",), settings="[keymap]\napp.quit = ''\n"),
    Wrong(RUN, ("gives app.quit the key",), settings="[keymap]\napp.quit = 'a,,b'\n"),
    Wrong(RUN, ("is not a regular file",), environment={"WORKBENCH_LOCAL_MODEL_PATH": "pipe"}),
    Wrong(RUN, ("does not exist",), environment={"WORKBENCH_LOCAL_MODEL_PATH": "nowhere.gguf"}),
    Wrong(RUN, ("is not a GGUF file",), environment={"WORKBENCH_LOCAL_MODEL_PATH": "README.md"}),
    Wrong(("model",), ("home folder",), environment={"WORKBENCH_LOCAL_MODEL_PATH": "~nosuchuser/x"}),
    Wrong(("locate",), ("home folder",), environment={"WORKBENCH_DATA_DIR": "~nosuchuser/x"}),
    Wrong(RUN, ("folder of logs", "cannot be made"), 1, environment={"WORKBENCH_STATE_DIR": "/dev/null/x"}),
    Wrong(REGENERATE, ("folder of logs", "cannot be made"), 1, environment={"WORKBENCH_STATE_DIR": "README.md"}),
    Wrong(RUN, ("cannot be made",), 1, environment={"WORKBENCH_DATA_DIR": "/dev/null/x"}),
    Wrong(("cases", "--add", "folder"), ("cannot be written",), 1, environment={"WORKBENCH_DATA_DIR": "/dev/null/x"}),
)
