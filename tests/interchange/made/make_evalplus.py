"""Makes the files of samples, results and problems with evalplus 0.3.1, on two problems of our own."""

import json
import os
from pathlib import Path

HERE = Path(__file__).parent
PROBLEMS, SAMPLES, COMPLETIONS = (
    HERE / "evalplus-problems.jsonl",
    HERE / "openai--model-a.jsonl",
    HERE / "model-b.jsonl",
)


def problem(name: str, header: str, doc: str, solution: str, base: list, plus: list, test: str) -> dict:
    entry = header.partition("(")[0]
    prompt = f'def {header}:\n    """{doc}"""\n'
    inputs = {"base_input": base, "plus_input": plus, "atol": 0, "contract": ""}
    check = f"def check(candidate):\n    assert {test}\n"
    return {
        "task_id": name,
        "prompt": prompt,
        "entry_point": entry,
        "canonical_solution": solution,
        **inputs,
        "test": check,
    }


ADD = problem(
    "Tiny/0", "add(a, b)", "Return the sum of a and b.", "    return a + b\n",
    [[1, 2], [0, 0]], [[-1, 1], [10**9, 1]], "candidate(1, 2) == 3",
)  # fmt: skip
LONGEST = problem(
    "Tiny/1", "longest(words)", "Return the longest of words, the first of several; None for none.",
    "    return max(words, key=len, default=None)\n",
    [[["a", "bb"]], [[]]], [[["cc", "bb"]]], "candidate(['a', 'bb']) == 'bb'",
)  # fmt: skip
BODIES = [
    (ADD, "    return a + b\n"),
    (ADD, "    return a - b\n"),
    (LONGEST, "    return max(words, key=len)\n"),
    (LONGEST, "    while True: pass\n"),
]


def lines(path: Path, values: list) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in values))


lines(PROBLEMS, [ADD, LONGEST])
lines(SAMPLES, [{"task_id": of["task_id"], "solution": of["prompt"] + body} for of, body in BODIES])
lines(COMPLETIONS, [{"task_id": of["task_id"], "completion": body} for of, body in BODIES])
os.environ["HUMANEVAL_OVERRIDE_PATH"] = str(PROBLEMS)

from evalplus.evaluate import evaluate  # noqa: E402  it reads the variable when it is imported

if __name__ == "__main__":
    evaluate("humaneval", samples=str(SAMPLES), parallel=2, i_just_wanna_run=True)
