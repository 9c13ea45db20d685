import pytest
from click.testing import CliRunner

import word_counter as wc


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *arguments, **options: runner.invoke(wc.main, [str(a) for a in arguments], **options)


@pytest.fixture
def poem(tmp_path):
    path = tmp_path / "poem.txt"
    path.write_text("The rose is red,\nthe violet's blue.\n", encoding="utf-8")
    return path


def test_read_source_reads_a_file(poem):
    assert wc.read_source(str(poem)).startswith(b"The rose")


def test_tolerant_passes_results_on():
    assert wc.tolerant(lambda name: name.encode())("x") == b"x"


def test_tolerant_reports_an_error_and_returns_none(capsys):
    @wc.tolerant
    def broken(name):
        raise PermissionError(13, "Permission denied")

    assert broken("secret") is None
    assert capsys.readouterr().err == "word_counter: secret: Permission denied\n"
    assert broken.__name__ == "broken"


def test_try_read(poem, tmp_path, capsys):
    assert wc.try_read(str(poem)) == poem.read_bytes()
    assert wc.try_read(str(tmp_path / "missing")) is None
    assert "No such file or directory" in capsys.readouterr().err


def test_one_file(run, poem):
    result = run(poem)
    assert result.exit_code == 0
    assert result.stdout == f" 2  7 36 {poem}\n"


def test_two_files_have_a_total(run, poem):
    result = run("-l", poem, poem)
    assert result.stdout == f"2 {poem}\n2 {poem}\n4 total\n"


def test_standard_input_has_no_name(run):
    assert run(input="a b\nc\n").stdout == "2 3 6\n"
    assert run("-w", "-", input="a b\nc\n").stdout == "3 -\n"


def test_characters_and_longest(run):
    assert run("-m", "-L", input="né\nlonger\n").stdout == "10  6\n"


def test_top(run, poem):
    assert run("--top", "2", poem).stdout == "2 the (28.6%)\n1 blue (14.3%)\n"


def test_top_with_min_length(run, poem):
    assert run("--top", "1", "--min-length", "5", poem).stdout == "1 violet's (100.0%)\n"


def test_summary_of_several_files(run, poem):
    lines = run("--summary", poem, poem).stdout.splitlines()
    assert lines[:2] == ["72 bytes", "4 lines, 0 blank"]
    assert lines[-1] == "longest word: violet's"


def test_a_missing_file_is_reported_and_the_rest_is_counted(run, poem, tmp_path):
    result = run("-l", tmp_path / "missing", poem)
    assert result.exit_code == 1
    assert result.stdout == f"2 {poem}\n"
    assert "missing: No such file or directory" in result.stderr


def test_help(run):
    result = run("--help")
    assert result.exit_code == 0
    assert "Usage:" in result.stdout
