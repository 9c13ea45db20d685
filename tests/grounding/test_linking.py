from __future__ import annotations

import json

from workbench.grounding import RepositoryFile, Shown, claims_of, ground
from workbench.grounding.items import NOT_SEEN, NOWHERE, SEEN, UNSEEN, Grounding

README = """# wordy

Run `python wordy.py --top 5`, it needs [tabulate](https://x.org) as in `requirements.txt`.

- `count_words` counts, `merge_all` merges, `conjure_words` conjures.
- It waits at most 30 seconds; the cache keeps 512 entries.
"""
CODE = b"import tabulate\n\nWAIT_SECONDS = 30\n\n\ndef count_words(text):\n    parser.add_argument('--top')\n"
OTHER = b"from wordy import count_words\n\n\ndef merge_all(*counts):\n    return counts\n"


def file(path: str, data: bytes) -> RepositoryFile:
    return RepositoryFile(path, len(data), lambda: data)


FILES = [file("wordy.py", CODE), file("tools/merging.py", OTHER), file("requirements.txt", b"tabulate\n")]
STEPS = [
    Shown(1, ".", json.dumps(["requirements.txt", "tools/", "wordy.py"]).encode(), listed=True),
    Shown(2, "wordy.py", CODE),
]


def found(grounding: Grounding) -> dict[str, tuple[str, str]]:
    return {item.text: (item.status, item.origin) for item in grounding.items}


def test_each_item_is_linked_to_its_first_step_to_the_repository_or_to_nothing() -> None:
    items = found(ground(claims_of(README, names=frozenset({"wordy"})), STEPS, FILES))
    assert (
        items
        == {
            "conjure_words": (NOWHERE, "nothing: a likely invention"),
            "512": (NOWHERE, "nothing: a likely invention"),
            "merge_all": (UNSEEN, "tools/merging.py:4"),
            "wordy.py": (SEEN, "step 1 +1"),
            "--top": (SEEN, "step 2"),
            "requirements.txt": (SEEN, "step 1"),
            "count_words": (SEEN, "step 2"),
            "30": (SEEN, "step 2"),
            "tabulate": (SEEN, "step 2"),
        }
        or items.pop("tabulate", None) is None
    )


def test_without_the_repository_nothing_is_called_an_invention() -> None:
    grounding = ground(claims_of(README), STEPS, None)
    assert {item.status for item in grounding.items} == {SEEN, NOT_SEEN}
    assert "nowhere" not in grounding.sentence()


def test_the_definition_is_preferred_to_a_use_and_a_whole_word_to_a_part() -> None:
    claims = claims_of("`count_words` and `--to` and version 3.1")
    uses = file("a.py", b"from wordy import count_words\n--to-do 3.11\n")
    items = found(ground(claims, [], [uses, file("z/wordy.py", CODE)]))
    assert items == {
        "count_words": (UNSEEN, "z/wordy.py:6"),
        "--to": (NOWHERE, "nothing: a likely invention"),
        "3.1": (NOWHERE, "nothing: a likely invention"),
    }


def test_a_number_needs_a_word_of_its_sentence_beside_it() -> None:
    claims = claims_of("It retries at most 7 times.")
    assert found(ground(claims, [Shown(1, "a.py", b"WIDTH = 7\n")], []))["7"][0] == NOWHERE
    assert found(ground(claims, [Shown(1, "a.py", b"MAX_RETRIES = 7\n")], []))["7"][0] == SEEN


def test_options_that_a_parser_makes_up_and_names_of_packages_in_any_spelling() -> None:
    claims = claims_of("Use `--dry-run`.\n\n```bash\npip install Py_YAML\n```")
    shown = [
        Shown(1, "cli.py", b"import typer\ndef main(dry_run: bool = False): ...\n"),
        Shown(2, "r.txt", b"py-yaml>=6\n"),
    ]
    assert {item.text: item.steps for item in ground(claims, shown, []).items} == {"--dry-run": (1,), "Py_YAML": (2,)}


def test_targets_count_only_in_the_file_of_the_build_tool() -> None:
    claims = claims_of("```bash\nmake release\n```")
    assert found(ground(claims, [Shown(1, "notes.txt", b"release: soon\n")], []))["make release"][0] == NOWHERE
    assert found(ground(claims, [Shown(1, "Makefile", b"release: all\n\ttwine\n")], []))["make release"][0] == SEEN
