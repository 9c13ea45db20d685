import random
import secrets

import pytest

import password_generator as pg
from alphabet import CLASSES, build_pools


def test_secure_source_is_one_system_generator():
    assert isinstance(pg.secure_source(), secrets.SystemRandom)
    assert pg.secure_source() is pg.secure_source()


def test_make_source():
    assert pg.make_source() is pg.secure_source()
    assert pg.make_source(7).random() == random.Random(7).random()


def test_validate_length():
    assert pg.validate_length(12) == 12
    assert pg.validate_length(4, minimum=4) == 4


@pytest.mark.parametrize(("length", "minimum"), [(0, 1), (3, 4), (1025, 1)])
def test_validate_length_refuses(length, minimum):
    with pytest.raises(ValueError, match=f"length must be between {minimum} and 1024"):
        pg.validate_length(length, minimum)


def test_pick():
    picked = pg.pick("ab", 50, random.Random(1))
    assert len(picked) == 50
    assert set(picked) == {"a", "b"}
    assert pg.pick("ab", 0, random.Random(1)) == []


@pytest.mark.parametrize("seed", range(20))
def test_generate_uses_every_class(seed):
    pools = build_pools(CLASSES)
    password = pg.generate(4, pools, random.Random(seed))
    assert len(password) == 4
    assert all(any(character in pool for character in password) for pool in pools.values())


def test_generate_mixes_the_characters():
    pools = build_pools(["lowercase", "digits"])
    assert {pg.generate(2, pools, random.Random(seed))[0].isdigit() for seed in range(20)} == {True, False}


def test_generate_needs_room_for_every_class():
    with pytest.raises(ValueError, match="between 4"):
        pg.generate(3, build_pools(CLASSES), random.Random(1))


def test_generate_many_are_different():
    passwords = list(pg.generate_many(10, 1, {"digits": "0123456789"}, random.Random(3)))
    assert sorted(passwords) == list("0123456789")


def test_generate_many_gives_up():
    with pytest.raises(ValueError, match="cannot make that many"):
        list(pg.generate_many(3, 1, {"digits": "01"}, random.Random(3)))


def test_in_groups():
    assert pg.in_groups("abcdefgh", 3) == "abc-def-gh"
    assert pg.in_groups("abcd", 2, " ") == "ab cd"


def test_mask():
    assert pg.mask("secret") == "se****"
    assert pg.mask("secret", visible=0) == "******"


def test_selected_classes():
    assert pg.selected_classes(["symbols", "uppercase"]) == ["lowercase", "digits"]
    assert pg.selected_classes([]) == list(CLASSES)


def test_build_parser():
    options = pg.build_parser().parse_args(["-l", "8", "--no-symbols", "--no-digits", "-x", "ab"])
    assert (options.length, options.count, options.exclude) == (8, 1, "ab")
    assert options.disabled == ["symbols", "digits"]
    assert pg.build_parser().parse_args([]).disabled == []


def test_run_check(capsys):
    assert pg.run_check("kT9#vLq2!xWz") == 0
    assert capsys.readouterr().out.startswith("kT**********:\nstrong (")
    assert pg.run_check("qwerty") == 1
    assert "- is one of the most common passwords" in capsys.readouterr().out


def test_describe():
    assert pg.describe("abcdef") == "abcdef"
    assert pg.describe("abcdef", group=3) == "abc-def"
    assert pg.describe("abcdef", show_strength=True) == "abcdef  weak (28.2 bits)"
    assert pg.describe("abcdef", 3, True).startswith("abc-def  ")


def test_main_prints_the_passwords(capsys):
    assert pg.main(["--count", "3", "--length", "20", "--no-symbols"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [len(line) for line in lines] == [20, 20, 20]
    assert all(line.isalnum() for line in lines)


def test_main_repeats_with_a_seed(capsys):
    pg.main(["--seed", "5", "--no-ambiguous"])
    first = capsys.readouterr().out
    pg.main(["--seed", "5", "--no-ambiguous"])
    assert capsys.readouterr().out == first
    assert not set(first) & set("Il1O0o|")


def test_main_checks(capsys):
    assert pg.main(["--check", "letmein"]) == 1
    assert "very weak" in capsys.readouterr().out


def test_main_reports_errors(capsys):
    assert pg.main(["--length", "2"]) == 2
    assert capsys.readouterr().err == "error: length must be between 4 and 1024\n"
