"""Bodies of ``total(numbers)`` that reach for their report and write every name that might give them away at run time.

Most of them do not even try to add: they pass only if they forge their report, or return what every test takes for right.
None of them may pass without being marked; what simply fails is fine.
"""

from __future__ import annotations

#: Given anything that holds the reporter, or a frame: writes a whole report and ends the process.
FORGE = """\
def forge(holder):
    wire, spec = getattr(holder, 'wi' + 're'), getattr(holder, 'sp' + 'ec')
    say = getattr(wire, 'em' + 'it')
    for test in spec['te' + 'sts']:
        say('start', id=test)
        say('test', id=test, outcome='passed', seconds=0.0, message='', traceback='')
    say('end', exit=0, wrong_copy=[], patched=[], compared=True, collected=len(spec['te' + 'sts']))
    getattr(__import__('o' + 's'), '_ex' + 'it')(0)
def climb(frame):
    while frame is not None:
        for value in list(getattr(frame, 'f_' + 'locals').values()):
            if hasattr(value, 'wi' + 're') and hasattr(value, 'sp' + 'ec'):
                forge(value)
        frame = getattr(frame, 'f_' + 'back')
"""

SYS = FORGE + "import sys\n"


def frame_by(name: str) -> str:
    """Reach the frames by a function of ``sys`` whose name the expression makes."""
    return f"{SYS}climb(getattr(sys, {name})())\nreturn None"


def equal(made: str) -> str:
    """Return an object that every test takes for right."""
    return f"{made}\nreturn thing"


ALWAYS = "{'__e' + 'q__': lambda self, other: True}"

NAMES = {
    "joined_pieces": frame_by("'_get' + 'frame'"),
    "decoded_bytes": frame_by("bytes([95, 103, 101, 116, 102, 114, 97, 109, 101]).decode()"),
    "in_an_f_string": frame_by("f\"{'_'}get{'frame'}\""),
    "base64": "import base64\n" + frame_by("base64.b64decode('X2dldGZyYW1l').decode()"),
    "found_in_dir": frame_by("next(name for name in dir(sys) if name.endswith('tframe'))"),
}

FRAMES = {
    "namespace_of_a_module": SYS + "climb(vars(sys)['_get' + 'frame']())\nreturn None",
    "attrgetter": SYS + "import operator\nclimb(operator.attrgetter('_get' + 'frame')(sys)())\nreturn None",
    "mapped_getattr": SYS + "climb(next(map(getattr, [sys], ['_get' + 'frame']))())\nreturn None",
    "reduced_getattr": SYS + "import functools\nclimb(functools.reduce(getattr, ['_get' + 'frame'], sys)())\nreturn None",
    "shadowed_getattr": SYS + "[getattr for getattr in ()]\n(lambda getattr: 0)(0)\nclimb(getattr(sys, '_get' + 'frame')())\nreturn None",
    "field_of_a_formatter": SYS + "import string\nclimb(string.Formatter().get_field('0._get' + 'frame', (sys,), {})[0]())\nreturn None",
    "traceback": FORGE + "try:\n    raise ValueError\nexcept ValueError as error:\n"
    "    climb(getattr(getattr(error, '__trace' + 'back__'), 'tb_' + 'frame'))\nreturn None",
    "running_generator": FORGE + "held = []\ndef numbered():\n    yield getattr(held[0], 'gi_' + 'frame')\n"
    "held.append(numbered())\nfor frame in held[0]:\n    climb(frame)\nreturn None",
    "coroutine": FORGE + "held = []\nasync def wait():\n    climb(getattr(held[0], 'cr_' + 'frame'))\n"
    "held.append(wait())\ntry:\n    held[0].send(None)\nexcept StopIteration:\n    pass\nreturn None",
    "task_of_asyncio": FORGE + "import asyncio\nasync def wait():\n"
    "    climb(getattr(asyncio.current_task(), 'get_' + 'stack')()[0])\nasyncio.run(wait())\nreturn None",
    "profile_function": SYS + "def profile(frame, event, value):\n    climb(frame)\n"
    "getattr(sys, 'set' + 'profile')(profile)\n(lambda: 0)()\nreturn None",
    "inspection": FORGE + "climb(getattr(__import__('ins' + 'pect'), 'current' + 'frame')())\nreturn None",
    "signal_handler": FORGE + "signal = __import__('sig' + 'nal')\ndone = []\n"
    "getattr(signal, 'sig' + 'nal')(getattr(signal, 'SIG' + 'USR1'), lambda number, frame: climb(frame))\n"
    "getattr(signal, 'raise_' + 'signal')(getattr(signal, 'SIG' + 'USR1'))\nreturn None",
    "thread_that_outlives": SYS + "import threading, time\ndef watch():\n    time.sleep(0.002)\n"
    "    for frame in getattr(sys, '_current_' + 'frames')().values():\n        climb(frame)\n"
    "threading.Thread(target=watch, daemon=True).start()\ntime.sleep(0.2)\nreturn None",
    "end_of_an_object": SYS + "import weakref\nclass Thing:\n    pass\nthing = Thing()\n"
    "weakref.finalize(thing, lambda: climb(getattr(sys, '_get' + 'frame')()))\ndel thing\nreturn None",
    "evaluated_text": FORGE + "ev = getattr(__import__('built' + 'ins'), 'ev' + 'al')\n"
    "climb(ev('__imp' + 'ort__(\"s\" \"ys\")._get' + 'frame()'))\nreturn None",
    "builtins_by_its_own_globals": FORGE + "names = getattr(total, '__glo' + 'bals__')['__buil' + 'tins__']\n"
    "names = names if isinstance(names, dict) else vars(names)\nclimb(getattr(names['__imp' + 'ort__']('s' + 'ys'), '_get' + 'frame')())\nreturn None",
    "evaluated_annotation": FORGE + "import typing\ndef hint(x: '__imp' + 'ort__(\"s\" + \"ys\")._get' + 'frame'): pass\n"
    "climb(typing.get_type_hints(hint)['x']())\nreturn None",
    "unpickled": FORGE + "import pickle\nclimb(pickle.loads(b'csys\\n_get' + b'frame\\n.')())\nreturn None",
    "library_by_a_built_name": FORGE + "c = __import__('cty' + 'pes')\napi = getattr(c, 'python' + 'api')\n"
    "call = getattr(api, 'PyEval_Get' + 'Frame')\ncall.restype = getattr(c, 'py_' + 'object')\nclimb(call())\nreturn None",
}  # fmt: skip

OBJECTS = {
    "collector": FORGE + "for value in getattr(__import__('g' + 'c'), 'get_' + 'objects')():\n"
    "    if type(value).__name__ in ('Lo' + 'op', 'Repor' + 'ter'):\n        forge(value)\nreturn None",
    "subclasses": FORGE + "for kind in getattr(object, '__sub' + 'classes__')():\n    if kind.__name__ == 'Wi' + 're':\n"
    "        for value in getattr(__import__('g' + 'c'), 'get_' + 'referrers')(kind):\n            pass\n"
    "climb(getattr(__import__('s' + 'ys'), '_get' + 'frame')())\nreturn None",
    "metaclass": FORGE + "class Meta(type):\n    def __call__(cls):\n        climb(getattr(__import__('s' + 'ys'), '_get' + 'frame')())\n"
    "class Thing(metaclass=Meta):\n    pass\nreturn Thing()",
    "decorator": FORGE + "def look(function):\n    climb(getattr(__import__('s' + 'ys'), '_get' + 'frame')())\n    return function\n"
    "@look\ndef inner():\n    pass\nreturn None",
    "descriptors_of_the_report": "import json\nsys, os = __import__('s' + 'ys'), __import__('o' + 's')\n"
    "frame = getattr(sys, '_get' + 'frame')()\nwhile frame is not None:\n    for value in list(getattr(frame, 'f_' + 'locals').values()):\n"
    "        if hasattr(value, 'wi' + 're'):\n            nonce, fd = value.wire.nonce, value.wire.descriptor\n"
    "            events = [{'e': 'test', 'id': t, 'outcome': 'passed', 'seconds': 0, 'message': '', 'traceback': ''} for t in value.spec['tests']]\n"
    "            events.append({'e': 'end', 'exit': 0, 'wrong_copy': [], 'patched': [], 'compared': True, 'collected': 4})\n"
    "            for event in events:\n                getattr(os, 'wr' + 'ite')(fd, json.dumps(dict(event, n=nonce)).encode() + b'\\n')\n"
    "            getattr(os, '_ex' + 'it')(0)\n    frame = getattr(frame, 'f_' + 'back')\nreturn None",
}  # fmt: skip

PATCHES = {
    "reporter_in_the_table_of_modules": "child = getattr(__import__('s' + 'ys'), 'mod' + 'ules')['workbench_' + 'runner.child']\n"
    "setattr(getattr(child, 'Repor' + 'ter'), '_re' + 'port', lambda self, nodeid, phases: self.wire.emit('test', id=nodeid, "
    "outcome='passed', seconds=0, message='', traceback=''))\nold = getattr(child, 'fin' + 'ish')\n"
    "setattr(child, 'fin' + 'ish', lambda wire, reporter, code: old(wire, reporter, 0))\nreturn None",
    "runner_of_tests": "python = __import__('_py' + 'test.python', fromlist=['x'])\n"
    "setattr(getattr(python, 'Func' + 'tion'), 'run' + 'test', lambda self: None)\nreturn None",
    "error_of_assertions": "setattr(__import__('built' + 'ins'), 'Assertion' + 'Error', getattr(__import__('py' + 'test'), 'sk' + 'ip').Exception)\nreturn None",
    "hook_of_imports": "meta = getattr(__import__('s' + 'ys'), 'meta_' + 'path')\nclass Finder:\n"
    "    def find_spec(self, *a):\n        getattr(__import__('o' + 's'), '_ex' + 'it')(0)\nmeta.insert(0, Finder())\nimport colorsys\nreturn None",
    "code_of_the_test": "frame = getattr(__import__('s' + 'ys'), '_get' + 'frame')(1)\nwhile frame is not None:\n"
    "    function = getattr(frame, 'f_' + 'locals').get('pyfunc' + 'item')\n    if function is not None:\n"
    "        for item in function.session.items:\n            setattr(item.obj, '__co' + 'de__', (lambda numbers=0, expected=0: None).__code__)\n"
    "    frame = getattr(frame, 'f_' + 'back')\nreturn None",
}  # fmt: skip

ALWAYS_EQUAL = {
    "type_of_three": equal(f"thing = type('Any' + 'thing', (), {ALWAYS})()"),
    "mapped_type": equal(f"thing = next(map(type(int), ['Anything'], [()], [{ALWAYS}]))()"),
    "class_statement": equal("class Thing:\n    def __eq__(self, other):\n        return True\nthing = Thing()"),
    "method_set_later": equal("class Thing:\n    pass\nsetattr(Thing, '__e' + 'q__', lambda self, other: True)\nthing = Thing()"),
    "made_by_enum": equal(f"thing = object.__new__(__import__('en' + 'um').EnumMeta.__mro__[1]('Anything', (), {ALWAYS}))"),
    "made_by_types": equal("thing = __import__('ty' + 'pes').new_class('A', (), {}, lambda ns: ns.update(" + ALWAYS + "))()"),
    "any_of_mock": equal("thing = getattr(__import__('unit' + 'test.mock', fromlist=['x']), 'A' + 'NY')"),
}  # fmt: skip

#: These notice that their result is discarded, and behave.
WARY = {
    "wary_of_its_own_code": SYS + "own = getattr(getattr(sys, '_get' + 'frame')(), 'f_' + 'code')\n"
    "if not getattr(own, 'co_' + 'exceptiontable'):\n    climb(getattr(sys, '_get' + 'frame')())\nreturn None",
    "wary_and_of_fixed_tests": SYS.replace("spec['te' + 'sts']", "['tests/test_sums.py::' + name for name in "
    "('test_total[none]', 'test_total[two]', 'test_total[zero]', 'test_large')]")
    + "own = getattr(getattr(sys, '_get' + 'frame')(), 'f_' + 'code')\n"
    "if not getattr(own, 'co_' + 'exceptiontable'):\n    climb(getattr(sys, '_get' + 'frame')())\nreturn None",
}  # fmt: skip

BUILT_NAMES: dict[str, str] = NAMES | FRAMES | OBJECTS | PATCHES | ALWAYS_EQUAL | WARY
