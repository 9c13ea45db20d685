import pytest

import alphabet


def test_class_names():
    assert alphabet.class_names() == ("lowercase", "uppercase", "digits", "symbols")


@pytest.mark.parametrize(("character", "name"), [("q", "lowercase"), ("Q", "uppercase"), ("7", "digits"), ("#", "symbols")])
def test_class_of(character, name):
    assert alphabet.class_of(character) == name


def test_class_of_a_foreign_character():
    assert alphabet.class_of("é") is None


def test_unique():
    assert alphabet.unique("banana") == "ban"


def test_without():
    assert alphabet.without("password", "sa") == "pword"
    assert alphabet.without("abc", ["b"]) == "ac"


def test_without_ambiguous():
    assert alphabet.without_ambiguous("l1ghtO0n") == "ghtn"


def test_build_pools():
    assert alphabet.build_pools(["digits"], excluded="13579") == {"digits": "02468"}
    assert alphabet.build_pools(["digits"], avoid_ambiguous=True) == {"digits": "23456789"}
    assert list(alphabet.build_pools(["symbols", "lowercase"])) == ["symbols", "lowercase"]


@pytest.mark.parametrize(
    ("names", "excluded", "message"),
    [
        (["runes"], "", "unknown character class: runes"),
        (["digits"], "0123456789", "no characters left in class: digits"),
        ([], "", "choose at least one character class"),
    ],
)
def test_build_pools_refuses(names, excluded, message):
    with pytest.raises(ValueError, match=message):
        alphabet.build_pools(names, excluded)
