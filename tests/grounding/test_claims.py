from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.grounding import claims_of


def named(readme: str, **more: frozenset[str]) -> set[tuple[str, str]]:
    return {(claim.kind, claim.text) for claim in claims_of(readme, **more) if claim.lookup.certain}


@pytest.mark.parametrize(
    ("readme", "wanted"),
    [
        ("It uses parse_words and WordCounter class objects.", {("identifier", "parse_words"), ("identifier", "WordCounter")}),
        ("See `docs/usage.md` and settings.toml.x, or my.toml", {("path", "docs/usage.md")}),
        ("Give `--top N` or `-n`.", {("option", "--top"), ("option", "-n")}),
        ("```bash\npip install tabulate requests[socks]\n```", {("dependency", "tabulate"), ("dependency", "requests"), ("identifier", "socks")}),
        ("```sh\n$ wordy --fast notes.txt\nsome output here\n```", {("command", "wordy"), ("option", "--fast")}),
        ("```\npython tools/make_it.py --deep\n```", {("path", "tools/make_it.py"), ("option", "--deep")}),
        ("```bash\nmake lint\n```", {("command", "make lint")}),
        ("The port defaults to 8080 and it waits 30 seconds.", {("number", "8080"), ("number", "30")}),
        ("├── x\n\n```\nproject\n├── engine.py\n└── data/\n```", {("path", "engine.py"), ("path", "data/")}),
        ("```python\nfrom wordy import count\nresult = count(words=3)\nresult.total\n```",
         {("identifier", "count"), ("identifier", "words"), ("identifier", "total")}),
        ("- [the guide](docs/guide.md)", {("path", "docs/guide.md")}),
    ],
)  # fmt: skip
def test_what_a_readme_names_is_a_claim(readme: str, wanted: set[tuple[str, str]]) -> None:
    assert named(readme, modules=frozenset({"wordy"})) >= wanted


@pytest.mark.parametrize(
    "readme",
    [
        "# Version 2.0 of parse_words\n\nPlain words, JavaScript, GitHub and MIT.",
        "Use `print`, `os.environ`, `None`, `--help`, `git` and `json`.",
        "1. first\n2. second\n\nSince 2024, see https://example.org/v1.2/page_one or badge ![x](https://img.shields.io/a_b/1.2.3.svg).",
        "Put it in `path/to/file.py`, as `your_name` or `<name>`.",
        "```bash\ngit clone --depth 1 https://github.com/a/b\ncd b\npython -m venv .venv\nsource .venv/bin/activate\npytest -q\n```",
        "```python\nimport os\nmy_total = 3\nprint(my_total)\nos.getcwd()\n```\n\n`my_total` is yours.",
        "Add it to `.gitignore`; thanks to [other_tool](https://github.com/x/other_tool).",
        "wordy is called `wordy`.",
    ],
)
def test_what_anybody_knows_or_brings_along_is_no_claim(readme: str) -> None:
    assert named(readme, names=frozenset({"wordy"})) == set()


def test_an_argument_counts_only_where_it_is_found() -> None:
    claims = claims_of("```bash\nwordy notes.txt\n```")
    assert [(claim.text, claim.lookup.certain) for claim in claims] == [("wordy", True), ("notes.txt", False)]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="`*#[]()<>-_=.:/|\\\n \t'\"$aZ1é├─💥", max_size=300))
def test_any_text_is_read_and_every_claim_stands_where_it_says(readme: str) -> None:
    for claim in claims_of(readme):
        assert 0 <= claim.place.start < claim.place.end <= len(readme)
        assert claim.place.line == readme.replace("\r\n", "\n").count("\n", 0, claim.place.start) + 1


@pytest.mark.parametrize("piece", ["[", "<!--", "1 "])
def test_a_readme_beyond_all_measure_costs_no_more_than_its_length(piece: str) -> None:
    # What costs the square of 50,000 characters runs into the time limit of every test.
    readme = (piece * 50_000)[:50_000]
    assert all(claim.place.end <= len(readme) for claim in claims_of(readme))
