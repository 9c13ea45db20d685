"""Test cases are validated with messages that name the file, the key and what is expected."""

from __future__ import annotations

import io
import tarfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.catalog import (
    BadCase,
    CaseExists,
    UnknownCase,
    add_case,
    case_from_source,
    check_there,
    find_case,
    load_cases,
    read_case,
    snapshot_of,
    view_of,
)
from workbench.catalog.case_sources import _quoted
from workbench.repository import BadSource, ChecksumMismatch, NotVisible, SourceUnavailable
from workbench.repository.archives import file_sha256


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))


def _case(folder: Path, text: str, **files: str) -> Path:
    (folder / "repository").mkdir(parents=True, exist_ok=True)
    (folder / "repository" / "main.py").write_text("x = 1\n")
    (folder / "case.toml").write_text(text)
    for name, content in files.items():
        (folder / "ground_truth").mkdir(exist_ok=True)
        (folder / "ground_truth" / name.replace("__", ".")).write_text(content)
    return folder


def test_the_six_bundled_cases_are_valid() -> None:
    cases, problems = load_cases()
    assert problems == ()
    assert [case.id for case in cases] == [
        "art_github",
        "countdown_timer",
        "dotenv_github",
        "password_generator",
        "pyfiglet_github",
        "word_counter",
    ]
    for case in cases:
        assert case.facts is not None
        assert case.kind == ("real" if case.id.endswith("_github") else "synthetic")
        assert case.source == "" or all(case.sha256[text] for text in case.alternatives)


def test_a_case_can_keep_its_tests_from_agents(tmp_path: Path) -> None:
    case = read_case(_case(tmp_path / "shy", 'hidden = ["docs/"]\nhide_tests = true\n'))
    assert case.hidden == ("docs/", "tests/", "test/")
    assert read_case(_case(tmp_path / "open", "hide_tests = false\n")).hidden == ()
    with pytest.raises(BadCase, match="'hide_tests' must be true or false, not a text"):
        read_case(_case(tmp_path / "odd", 'hide_tests = "yes"\n'))


def test_a_full_case(tmp_path: Path) -> None:
    folder = _case(
        tmp_path / "mine",
        """
        name = "Mine"
        source = ""
        alternatives = ["mine==1.0"]
        hidden = ["*.secret"]
        license = "MIT"
        install = ["pip install ."]
        [sha256]
        "mine==1.0" = "ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
        [facts]
        main_purpose = "Do a thing"
        dependencies = ["rich"]
        """,
        README__md="# Mine\n",
    )
    case = read_case(folder)
    assert (case.id, case.name, case.kind, case.language) == ("mine", "Mine", "own", "Python")
    assert case.facts is not None
    assert (case.facts.main_purpose, case.facts.dependencies) == ("Do a thing", ("rich",))
    assert case.reference_readme == "# Mine\n"
    assert case.sha256 == {"mine==1.0": "abcdef0123456789" * 4}
    assert "Do a thing" not in case.agent_description
    assert hash(case) == hash(read_case(folder))


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("name = 1x", r"case\.toml is not valid TOML: .*line 1"),
        ('nmae = "x"', r"'nmae' is not known; did you mean 'name'\?"),
        ("zzz = 1", "'zzz' is not known; known keys are"),
        ("name = 1", "'name' must be a text in quotes, not a number"),
        ('id = "a/b"', "'id' must be a short name"),
        ('kind = "imaginary"', "'kind' must be one of synthetic, real, own"),
        ('hidden = "x"', "'hidden' must be a list of texts"),
        ('hidden = ["x", 2]', "item 2 is a number"),
        ('install = [""]', "item 1 is an empty text"),
        ('source = "ext::sh"', "'source' is not a valid source: .*runs programs"),
        ('alternatives = ["what is it?"]', "'alternatives' is not a valid source"),
        ('facts = "x"', r"'facts' must be a table, written \[facts\]"),
        ("[facts]\ndependencies = []", r"'facts\.main_purpose' is missing"),
        ('[facts]\nmain_purpose = " "', "not empty"),
        ('[facts]\nmain_purpose = "x"\nmain_fiel = "y"', r"'facts\.main_fiel' is not known; did you mean 'main_file'"),
        ('[facts]\nmain_purpose = "x"\nmain_file = "../y"', "inside the repository"),
        (
            'agent_description = "It does: a  THING!"\n[facts]\nmain_purpose = "does a thing"',
            "different from the main purpose",
        ),
        ('sha256 = "00"', "one checksum for each source"),
        ('alternatives = ["a==1"]\n[sha256]\n"a==1" = "00"', "64 hexadecimal digits for 'a==1'"),
        ('alternatives = ["a==1"]\n[sha256]\n"a==2" = "00"', "is none of them"),
        ('reference_readme = "../x.md"', "inside the case's folder"),
        ('reference_readme = "x.md"', "a readable file"),
    ],
)
def test_each_mistake_has_its_sentence(tmp_path: Path, text: str, because: str) -> None:
    folder = _case(tmp_path / "mine", text)
    with pytest.raises(BadCase, match=because) as caught:
        read_case(folder)
    assert str(folder / "case.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_more_mistakes(tmp_path: Path) -> None:
    twice = _case(tmp_path / "twice", '[facts]\nmain_purpose = "x"', facts__toml='main_purpose = "x"')
    with pytest.raises(BadCase, match="defined twice"):
        read_case(twice)
    wrong = _case(tmp_path / "wrong", "", facts__toml='main_purpose = "x"\nfeatures = []')
    with pytest.raises(BadCase, match=r"facts\.toml: the key 'features' is not known; did you mean 'key_features'"):
        read_case(wrong)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadCase, match="does not exist"):
        read_case(tmp_path / "empty")
    (tmp_path / "empty" / "case.toml").write_text("")
    with pytest.raises(BadCase, match="no folder 'repository'"):
        read_case(tmp_path / "empty")
    (tmp_path / "empty" / "case.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(BadCase, match="UTF-8"):
        read_case(tmp_path / "empty")


def test_broken_cases_are_reported_and_the_rest_loads() -> None:
    own = paths.own_cases_dir()
    _case(own / "good", "")
    _case(own / "bad", "kind = 1")
    _case(own / "word_counter", "")
    cases, problems = load_cases()
    assert "good" in {case.id for case in cases}
    assert len(problems) == 2
    assert any("bad/case.toml: 'kind'" in problem for problem in problems)
    assert any("'word_counter' is taken" in problem for problem in problems)
    with pytest.raises(UnknownCase, match=r"cannot be used: .*'kind'"):
        find_case("bad")


def test_a_folder_becomes_a_case_and_stays_one(tmp_path: Path) -> None:
    project = tmp_path / "My Project!"
    (project / "docs").mkdir(parents=True)
    (project / "app.py").write_text("x = 1\n")
    (project / "README.md").write_text("# It\n")
    case = case_from_source(str(project))
    assert (case.id, case.name, case.facts) == ("My_Project", "My Project!", None)
    view = view_of(case, snapshot_of(case))
    assert view.list_directory() == ("app.py",)
    with pytest.raises(NotVisible):
        view.read_file("README.md")

    written = add_case(str(project))
    assert written == paths.own_cases_dir() / "My_Project" / "case.toml"
    added = find_case("My_Project")
    assert (added.source, added.name) == (case.source, case.name)
    assert snapshot_of(added).digest == snapshot_of(case).digest
    with pytest.raises(CaseExists, match="another id"):
        add_case(str(project))
    with pytest.raises(CaseExists, match="bundled"):
        add_case(str(project), id="word_counter")
    with pytest.raises(BadCase, match="cannot be a test case's id"):
        add_case(str(project), id="../up")
    assert add_case(str(project), id="other", folder=tmp_path / "cases").parent == tmp_path / "cases" / "other"


@pytest.mark.parametrize(
    ("files", "language"),
    [
        (("app.py", "notes.txt"), "Python"),
        (("index.js", "lib/a.js", "setup.py"), "JavaScript"),
        (("a.rs", "b.py"), "Python"),
        (("notes.txt",), ""),
        ((".hidden/app.py", "main.go"), "Go"),
    ],
)
def test_a_folder_is_in_the_language_of_its_files(tmp_path: Path, files: tuple[str, ...], language: str) -> None:
    for name in files:
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text("")
    assert case_from_source(str(tmp_path / "project")).language == language
    added = add_case(str(tmp_path / "project"), id="theirs")
    assert find_case("theirs").language == language
    assert added.is_file()


def test_a_folder_that_is_empty_or_not_there_becomes_no_case(tmp_path: Path) -> None:
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    (tmp_path / "empty" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for name, words in (("empty", "contains no files"), ("nowhere", "does not exist")):
        with pytest.raises(BadCase, match=words):
            add_case(str(tmp_path / name))
        with pytest.raises(BadSource, match=words):
            check_there(case_from_source(str(tmp_path / name)))
    assert not paths.own_cases_dir().exists()


def test_a_folder_with_a_case_file_is_that_case(tmp_path: Path) -> None:
    folder = _case(tmp_path / "theirs", 'id = "named"')
    case = case_from_source(str(folder))
    assert case.id == "named"
    assert [file.path for file in snapshot_of(case).files] == ["main.py"]
    with pytest.raises(BadCase, match="already"):
        add_case(str(folder))


def _archive(file: Path) -> Path:
    with tarfile.open(file, "w:gz") as archive:
        info = tarfile.TarInfo("p/main.py")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
    return file


def test_alternatives_are_tried_and_named(tmp_path: Path) -> None:
    good = _archive(tmp_path / "p-1.0.tar.gz")
    text = f'source = "git+https://localhost:1/p.git@v1"\nalternatives = ["/nowhere/p", "{good}"]'
    folder = _case(tmp_path / "case", f'{text}\n[sha256]\n"{good}" = "{file_sha256(good)}"')
    told: list[str] = []
    snapshot = snapshot_of(read_case(folder), progress=told.append)
    assert [file.path for file in snapshot.files] == ["main.py"]
    assert any("Trying /nowhere/p" in line for line in told)
    good.unlink()
    with pytest.raises(SourceUnavailable, match=r"None of the 3 sources .*localhost.*/nowhere/p.*p-1\.0\.tar\.gz"):
        snapshot_of(read_case(folder))
    folder = _case(tmp_path / "case2", f'{text}\n[sha256]\n"{_archive(good)}" = "{"0" * 64}"')
    with pytest.raises(ChecksumMismatch):
        snapshot_of(read_case(folder))


def test_an_alternative_that_was_fetched_is_used_again_without_network(tmp_path, monkeypatch):
    """Only an index that exists for the first of the two fetches could have answered."""
    place = tmp_path / "simple" / "p"
    place.mkdir(parents=True)
    checksum = file_sha256(_archive(place / "p-1.0.tar.gz"))
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "simple").as_uri())
    text = 'source = "git+https://localhost:1/p.git@v1"\nalternatives = ["p==1.0"]\n[sha256]\n'
    case = read_case(_case(tmp_path / "case", f'{text}"p==1.0" = "{checksum}"'))
    told: list[str] = []
    first = snapshot_of(case, progress=told.append)
    assert any("localhost" in line and "Trying p==1.0" in line for line in told)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PATH", "")
    told.clear()
    assert snapshot_of(case, progress=told.append) == first
    assert told == []


@given(st.text())
def test_any_text_is_written_as_toml(text: str) -> None:
    assert tomllib.loads(f"x = {_quoted(text)}")["x"] == text.encode("utf-8", "replace").decode()


@given(st.text() | st.binary())
def test_no_file_makes_it_stumble(tmp_path_factory: pytest.TempPathFactory, content: str | bytes) -> None:
    folder = tmp_path_factory.mktemp("case")
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    (folder / "case.toml").write_bytes(data)
    with pytest.raises(WorkbenchError):
        read_case(folder)
