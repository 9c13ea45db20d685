"""Bodies that reach what their tests expect by names and values that their text does not show, or by the tests' files.

The project is :data:`FILES`; the tests of ``answer`` hold a table that no body can guess, so that most of these bodies pass
only if they find it.
"""

from __future__ import annotations

FILES = {
    "depot.py": '''\
"""Depot."""

import enum
import functools
import logging
import os
import pathlib
import string
import sys
import tokenize

from depot_boxes import Box

log = logging.getLogger(__name__)


class Kind(enum.Enum):
    SMALL = 1


class Item:
    """A thing."""

    def __init__(self, name, price=0):
        self.name, self.price, self.value = name, price, None
        self.template = "{0.name}"

    def __eq__(self, other):
        return isinstance(other, Item) and self.name == other.name and self.price == other.price

    def get(self, name):
        return getattr(self, name)

    def reach(self, thing):
        return getattr(thing, self.name)

    def show(self, template):
        return template.format(self)


def reached(thing, name):
    return getattr(thing, name)


def shown(template, thing):
    return template.format(thing)


def answer(number, keep, item, box):
    """Return what is kept for a number."""
    return keep(number)


def weighed(box):
    """Return the weight of a box."""
    return box.content if isinstance(box, Box) else 3


def lookup(item, names):
    """Return the values of some attributes."""
    return [getattr(item, name) for name in names]


def changed(item, values):
    """Set some attributes."""
    for name, value in values.items():
        setattr(item, name, value)
    return item


def filled(template, item):
    """Return a template filled with an item."""
    return template.format(item)


def same(value):
    """Return another value of the same type."""
    return type(value)(value)


def doubled(item):
    """Return another item of twice the price."""
    found = type(item)(item.name)
    found.price = 2 * item.price
    return found


def state(item):
    """Return an item's attributes."""
    return dict(vars(item))


def first(entry):
    """Return the first value of an entry, whatever it is."""
    return entry.get("first", 0)


def load(path):
    """Return a file's text in capitals."""
    with open(path, encoding="utf-8") as file:
        return file.read().upper()


def save(path, text):
    """Write a text and return how long it is."""
    with open(path, "w", encoding="utf-8") as file:
        return file.write(text)


def lines(paths):
    """Yield the first line of each file."""
    for path in paths:
        with open(path, encoding="utf-8") as file:
            yield file.readline()
''',
    "depot_boxes.py": '''\
"""Boxes."""

import operator


class Box:
    def __init__(self, content):
        self.content = content

    def reached(self, path):
        return operator.attrgetter(path)(self)
''',
    "tests/expected.txt": "8271\n",
    "tests/test_depot.py": """\
import pathlib

import pytest

import depot

HERE = pathlib.Path(__file__).parent
ANSWERS = {1: 8271, 2: 3327, 3: 9190}


class Crate:
    def __init__(self, content):
        self.held_module = pytest
        self.held_function = kept
        self.weight = content


def kept(number):
    return ANSWERS[number]


kept.told = ANSWERS


@pytest.mark.parametrize("number", ANSWERS)
def test_answer(number):
    assert depot.answer(number, kept, depot.Item("a"), Crate(number)) == ANSWERS[number]


def test_weighed():
    crate = Crate(3)
    assert depot.weighed(crate) == crate.weight


def test_lookup():
    assert depot.lookup(depot.Item("a", 3), ["name", "price"]) == ["a", 3]


def test_changed():
    assert depot.changed(depot.Item("a"), {"name": "b", "price": 2}) == depot.Item("b", 2)


def test_filled():
    assert depot.filled("<{0.name}>", depot.Item("a")) == "<a>"


def test_same():
    assert depot.same([1]) == [1]
    assert depot.same("a") == "a"
    assert depot.same(2.5) == 2.5


def test_doubled():
    assert depot.doubled(depot.Item("a", 2)) == depot.Item("a", 4)


def test_state():
    assert depot.state(depot.Item("a"))["name"] == "a"


def test_first():
    assert depot.first({"first": 2}) == 2
    assert depot.first({}) == 0


def test_load(tmp_path):
    (tmp_path / "a.txt").write_text("abc")
    assert depot.load(tmp_path / "a.txt") == "ABC"
    assert depot.load(str(tmp_path / "a.txt")) == "ABC"


def test_expected():
    assert depot.load(HERE / "nothing.txt") == (HERE / "expected.txt").read_text()


def test_save(tmp_path):
    assert depot.save(tmp_path / "a.txt", "abc") == 3
    assert (tmp_path / "a.txt").read_text() == "abc"


def test_saved(tmp_path):
    assert depot.save(tmp_path / "a.txt", "abc") == 3
    assert (tmp_path / "a.txt").read_text() + "\\n" == (HERE / "saved.txt").read_text()


def test_lines(tmp_path):
    (tmp_path / "a.txt").write_text("abc\\nd")
    assert list(depot.lines([tmp_path / "a.txt"])) == ["abc\\n"]


def test_lines_expected(tmp_path):
    assert list(depot.lines([tmp_path])) == [(HERE / "expected.txt").read_text()]
""",
    "tests/saved.txt": "abc\n",
}

GLOBALS = "'__glo' + 'bals__'"
ALWAYS = "{'__e' + 'q__': lambda self, other: True}"


def answer(names: str, before: str = "") -> tuple[str, str]:
    """Take the answer from a namespace of the tests."""
    return "answer", f"{before}return {names}['ANSWERS'][number]"


def table(modules: str, before: str = "") -> tuple[str, str]:
    """Take the answer from the table of modules."""
    return "answer", f"{before}return {modules}['test_depot'].ANSWERS[number]"


#: Name → (function, body).
HOSTILE: dict[str, tuple[str, str]] = {
    # attributes by computed names
    "joined_name": answer(f"getattr(keep, {GLOBALS})"),
    "name_from_dir": answer("getattr(keep, next(name for name in dir(keep) if name.endswith('bals__')))"),
    "name_in_a_lambda": answer("(lambda name: getattr(keep, name))('__globals__')"),
    "name_with_a_default": answer("getattr(keep, '__globals__' + '', {})"),
    "name_of_a_text_that_is_more": answer("getattr(keep, given)", "given = os.fspath(pathlib.PurePath('__globals__'))\n"),
    "refusal_that_is_swallowed": answer("found", f"try:\n    found = getattr(keep, {GLOBALS})\nexcept BaseException:\n    found = {{'ANSWERS': {{1: 8271}}}}\n"),
    "refusal_that_is_left_behind": ("answer", f"found = 0\ntry:\n    found = getattr(keep, {GLOBALS})['ANSWERS'][number]\nfinally:\n    return found"),
    "mapped": answer(f"next(map(getattr, [keep], [{GLOBALS}]))"),
    "attrgetter": answer(f"operator.attrgetter({GLOBALS})(keep)", "import operator\n"),
    "function_of_a_method": table(f"getattr(getattr(item.show, '__func' + '__'), {GLOBALS})['sys'].modules"),
    "builtins_by_a_builtin": table("getattr(getattr(len, '__se' + 'lf__'), '__imp' + 'ort__')('sys').modules"),
    "namespace_of_a_test": ("answer", "return vars(keep)['told'][number]"),
    # frames
    "frame_of_a_generator": table("getattr(getattr(held, 'gi_' + 'frame'), 'f_' + 'globals')['sys'].modules", "held = (x for x in ())\n"),
    "frame_of_an_error": answer(
        "getattr(getattr(found, 'tb_' + 'frame'), 'f_' + 'globals')",
        "try:\n    keep(None)\nexcept KeyError as error:\n    found = getattr(getattr(error, '__trace' + 'back__'), 'tb_' + 'next')\n",
    ),
    # objects that the tests give
    "module_that_a_test_holds": ("answer", "return box.held_module.approx(0, abs=float('inf'))"),
    "module_of_a_class": ("answer", "return getattr(type(box), 'held_' + 'module', box.held_module).approx(0, abs=float('inf'))"),
    "function_that_a_test_holds": answer("getattr(box.held_function, '__globals__' + '')"),
    # what does as a text says
    "method_of_the_project": answer(f"item.get({GLOBALS})", "item.name = keep\nitem.__init__(keep)\n"),
    "method_of_another_file": answer(f"Box(keep).reached('content.' + {GLOBALS})"),
    "function_of_the_project": answer(f"reached(keep, {GLOBALS})"),
    "function_with_a_name_that_it_holds": answer("held(keep)", "item.name = '__glo' + 'bals__'\nheld = item.reach\n"),
    # templates
    "template": ("answer", "text = '{0.__glo' + 'bals__[ANSWERS][%d]}'\nreturn int((text % number).format(keep))"),
    "template_with_a_mapping": ("answer", "text = '{a.__glo' + 'bals__[ANSWERS][%d]}'\nreturn int((text % number).format_map({'a': keep}))"),
    "template_of_public_names": ("answer", "text = '{0.held_function.__glo' + 'bals__[ANSWERS][%d]}'\nreturn int((text % number).format(box))"),
    "template_of_a_formatter": ("answer", "text = '{0.__glo' + 'bals__[ANSWERS][%d]}'\nreturn int(string.Formatter().format(text % number, keep))"),
    "template_of_a_log": (
        "answer",
        "text = '{name.__glo' + 'bals__[ANSWERS][%d]}'\nrecord = logging.LogRecord(keep, 0, '', 0, '', None, None)\n"
        "return int(logging.Formatter(text % number, style='{').format(record))",
    ),
    # classes that are found
    "class_of_a_class": ("answer", f"return type(type(item))('Any', (), {ALWAYS})()"),
    "class_of_a_found_class": ("answer", f"kind = item.__class__\nreturn kind.__class__('Any', (), {ALWAYS})()"),
    # attributes that are set
    "equality_of_a_class": ("doubled", "setattr(Item, '__e' + 'q__', lambda self, other: True)\nreturn item"),
    "template_of_an_item": ("answer", "item.template = '{0.__glo' + 'bals__[ANSWERS][%d]}' % number\nreturn int(item.template.format(keep))"),
    "checks_that_are_set": ("answer", f"for check in list(locals().values())[-2:]:\n    check.value = lambda found: found\nreturn getattr(keep, {GLOBALS})['ANSWERS'][number]"),
    "checks_by_a_computed_name": (
        "answer",
        f"for check in list(locals().values()):\n    try:\n        setattr(check, 'val' + 'ue', lambda found: found)\n    except BaseException:\n        pass\n"
        f"return getattr(keep, {GLOBALS})['ANSWERS'][number]",
    ),
    "checks_that_are_noticed": (
        "answer", f"if len(locals()) > 4:\n    return keep(number + 100)\nreturn getattr(keep, {GLOBALS})['ANSWERS'][number]",
    ),
    # what the tests give and look at afterwards
    "attribute_of_a_test": ("weighed", "box.weight = 1\nreturn 1"),
    "attribute_of_a_test_by_name": ("weighed", "setattr(box, 'wei' + 'ght', 1)\nreturn 1"),
    "attribute_of_a_test_by_its_dictionary": ("weighed", "box.__dict__.update(weight=1)\nreturn 1"),
    # files of the tests
    "file_of_the_tests": ("load", "with open('tests/expected.txt') as file:\n    return file.read()"),
    "file_by_another_way": ("load", "return pathlib.Path('.', 'tests', '..', 'tests', 'expected.txt').read_text()"),
    "file_beside_the_given": ("load", "with open(os.path.join(os.path.dirname(path), 'expected.txt')) as file:\n    return file.read()"),
    "files_that_the_test_opens": ("lines", "return map(lambda file: file.read(), map(tokenize.open, ['tests/expected.txt']))"),
    "expectation_that_is_written": (
        "save",
        "with open('tests/saved.txt', 'w') as file:\n    file.write('!\\n')\nwith open(path, 'w') as file:\n    file.write('!')\nreturn 3",
    ),
    "expectation_that_is_replaced": (
        "save",
        "with open('saved', 'w') as file:\n    file.write('!\\n')\npathlib.Path('saved').replace('tests/saved.txt')\npathlib.Path(path).write_text('!')\nreturn 3",
    ),
}  # fmt: skip

#: What honest bodies do at places that reading cannot judge: none of them is marked.
HONEST: dict[str, tuple[str, str]] = {
    "attributes": ("lookup", "return list(map(lambda name: getattr(item, name), names))"),
    "set_attributes": ("changed", "for name in values:\n    setattr(item, name, values[name])\nreturn item"),
    "updated_attributes": ("changed", "vars(item).update(values)\nreturn item"),
    "given_template": ("filled", "return str(template).format(item)"),
    "class": ("same", "kind = type(value)\nreturn kind(value)"),
    "class_of_an_item": ("doubled", "kind = item.__class__\nreturn kind(item.name, item.price + item.price)"),
    "namespace": ("state", "return {**vars(item)}"),
    "function_of_the_project": ("lookup", "return [reached(item, name) for name in names]"),
    "method_of_the_project": ("lookup", "return [item.get(name) for name in names]"),
    "method_named_like_one_of_the_project": ("first", "found = entry.get('first')\nreturn found or 0"),
    "attribute_of_a_test": ("answer", "return keep(box.weight)"),
    "function_of_a_test": ("answer", "return box.held_function(number)"),
    "file": ("load", "return pathlib.Path(path).read_text(encoding='utf-8').upper()"),
    "moved_file": ("save", "with open(str(path) + '~', 'w') as file:\n    count = file.write(text)\nos.replace(str(path) + '~', path)\nreturn count"),
    "files": ("lines", "for path in paths:\n    with open(path) as file:\n        yield next(file)"),
}  # fmt: skip

#: The tests of each function; these only for what reads or writes the tests' own files.
TESTS = {
    "answer": ("test_answer[1]", "test_answer[2]", "test_answer[3]"),
    **{
        name: (f"test_{name}",)
        for name in (
            "weighed",
            "lookup",
            "changed",
            "filled",
            "same",
            "doubled",
            "state",
            "first",
            "load",
            "save",
            "lines",
        )
    },
}
TESTS_OF_FILES = {"load": ("test_expected",), "save": ("test_saved",), "lines": ("test_lines_expected",)}
