import math

import pytest

import strength


def test_used_classes():
    assert strength.used_classes("aB3") == {"lowercase", "uppercase", "digits"}
    assert strength.used_classes("é#") == {"other", "symbols"}


def test_alphabet_size():
    assert strength.alphabet_size("abc") == 26
    assert strength.alphabet_size("aB3") == 62
    assert strength.alphabet_size("é") == 32
    assert strength.alphabet_size("") == 0


def test_entropy_bits():
    assert strength.entropy_bits("12345678") == pytest.approx(8 * math.log2(10))
    assert strength.entropy_bits("") == 0.0


@pytest.mark.parametrize(
    ("bits", "name"),
    [(0, "very weak"), (28, "weak"), (36, "reasonable"), (60, "strong"), (128, "very strong"), (500, "very strong")],
)
def test_level(bits, name):
    assert strength.level(bits) == name


def test_longest_run():
    assert strength.longest_run("aabbbc") == 3
    assert strength.longest_run("abc") == 1
    assert strength.longest_run("") == 0


@pytest.mark.parametrize(
    ("password", "expected"), [("x1234y", True), ("dcba", True), ("1235", False), ("abc", False), ("aaaa", False)]
)
def test_has_sequence(password, expected):
    assert strength.has_sequence(password) is expected


def test_has_sequence_of_another_length():
    assert strength.has_sequence("xabc", length=3) is True


def test_is_common():
    assert strength.is_common("PassWord") is True
    assert strength.is_common("tr0ub4dor&3") is False


def test_find_warnings():
    assert strength.find_warnings("abc123") == [
        "is one of the most common passwords",
        "is shorter than 8 characters",
    ]
    assert strength.find_warnings("aaaa1234aaaa") == [
        "repeats one character",
        "contains a sequence",
        "uses few different characters",
    ]
    assert strength.find_warnings("kT9#vLq2!xWz") == []


def test_check_of_a_good_password():
    report = strength.check("kT9#vLq2!xWz")
    assert report.level == "strong"
    assert report.warnings == ()
    assert report.is_acceptable is True


def test_check_of_a_common_password():
    assert strength.check("letmein") == strength.Report(
        0.0, "very weak", ("is one of the most common passwords", "is shorter than 8 characters")
    )


def test_a_report_with_few_bits_or_a_warning_is_not_acceptable():
    assert strength.Report(59.9, "reasonable").is_acceptable is False
    assert strength.Report(90.0, "strong", ("contains a sequence",)).is_acceptable is False


def test_report_lines():
    assert strength.Report(71.46, "strong").lines() == ["strong (71.5 bits)"]
    assert strength.Report(1.0, "very weak", ("is bad",)).lines() == ["very weak (1.0 bits)", "- is bad"]
