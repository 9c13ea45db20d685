"""Common knowledge: Python, the shell, everyday tools, and placeholders in examples.

A name is known because a language or program defines it, never because some README happened to use it.
"""

from __future__ import annotations

import builtins
import collections
import datetime
import keyword
import pathlib
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name

#: Tools that any README may install; they need not be dependencies of the project.
_TOOLING = (
    "pip setuptools wheel build virtualenv venv pipx uv poetry pytest tox nox black ruff flake8 mypy pylint isort "
    "pre-commit coverage pytest-cov twine hatch pipenv conda ipython jupyter notebook"
)
TOOLING = frozenset(_TOOLING.split())
_FILE_TOOLS = (
    "ls cat cd cp mv rm mkdir rmdir touch echo printf pwd export source set unset alias grep sed awk sort uniq head "
    "tail wc find xargs tee cut tr chmod ln tar gzip gunzip zip unzip env which diff date time timeout test true "
    "false exit read sleep seq base64 md5sum sha256sum du "
)
#: Programs that only read and write files, and shell built-ins.
FILE_TOOLS = frozenset(_FILE_TOOLS.split())
_PROGRAMS = (
    "chown curl wget ssh scp rsync sudo su man less more patch kill ps top df eval exec xdg-open open start notepad "
    "nano vim vi code type copy del dir cls clear ping nc openssl jq yes watch sh bash zsh fish cmd powershell pwsh "
    "git gh hg svn docker docker-compose podman kubectl helm terraform ansible vagrant brew apt apt-get yum dnf pacman "
    "apk snap choco scoop winget conda mamba npm npx yarn pnpm node deno bun cargo rustc rustup go gcc g++ clang cmake "
    "ninja meson java javac mvn gradle ruby gem bundle rake perl php composer dotnet swift psql mysql sqlite3 redis-cli "
    "redis-server systemctl service crontab gunicorn uvicorn celery streamlit flask django-admin sphinx-build mkdocs "
    "xgettext msgmerge msginit msgfmt pre-commit easy_install "
    "python python2 python3 py pip pip2 pip3 make just invoke hatchling flit bumpversion bump2version rye pyenv "
    "virtualenvwrapper mkvirtualenv workon activate pdb cython mypyc pyinstaller "
)
PROGRAMS = frozenset(_PROGRAMS.split()) | FILE_TOOLS | TOOLING
"""Programs with their own documentation: their names, options and arguments are not claims about a project."""

BUILD_TOOLS = {"make": ("Makefile", "makefile", "GNUmakefile"), "just": ("justfile",), "npm": ("package.json",)}
"""Programs with project-defined targets, and the files that define those targets."""

_OTHER = (
    # Literals, formats, protocols and words from other languages that are commonly written as code.
    "true false null none nil nan inf undefined json yaml yml toml xml csv tsv html css ini utf-8 utf8 ascii latin-1 http https "
    "ftp ssh tcp udp stdin stdout stderr eof int str float bool void char string array object number boolean integer text "
    "os sys pypi testpypi main master develop trunk head origin localhost python cpython pypy self cls args kwargs argv "
    "foo bar baz qux spam eggs hello world regex regexp glob posix unix linux windows macos crlf lf async await yield lambda "
    "gitignore readme license licence changelog contributing authors manifest mit bsd gpl lgpl agpl apache-2.0 isc mpl-2.0 "
    "numpy.ndarray pd.dataframe np.array"
)
_OTHER_NAMES = frozenset(_OTHER.split())
_ENDINGS = (
    "py pyi pyx pxd ipynb txt md rst toml cfg ini yaml yml json jsonl xml csv tsv html htm css scss js jsx ts tsx mjs sh bash "
    "zsh bat ps1 sql db sqlite sqlite3 log env lock in po pot mo c h cpp hpp cc rs go java kt rb php pl lua r jl svg png jpg "
    "jpeg gif ico pdf zip gz tar whl egg conf config properties gradle dockerfile tf proto graphql j2 jinja tpl tmpl pem key crt"
)
_EXTENSIONS = _ENDINGS.split()
_FILE_NAMES = (
    "Makefile|Dockerfile|Jenkinsfile|Procfile|Pipfile|Gemfile|Rakefile|Vagrantfile|LICENSE|LICENCE|COPYING|NOTICE|AUTHORS"
    "|CHANGELOG|CONTRIBUTING|justfile|CODEOWNERS"
)
FILE = re.compile(
    rf"(?:[\w.@+*-]+/)*(?:[\w@+*-][\w.@+*-]*\.(?:{'|'.join(_EXTENSIONS)})|{_FILE_NAMES}|\.[a-z][\w-]+(?:\.[\w-]+)*)"
)
"""Matches a file name: a name with a common extension, or a common name without an extension."""
FOLDER = re.compile(r"(?:\.{0,2}/)?(?:[\w.@+-]+/)+(?:[\w.@+-]+)?")

_COMMON_FILES = ".git .gitignore .venv venv .bashrc .zshrc .profile .bash_profile .ssh .netrc .pypirc .cache .config"
_EVERYBODYS = frozenset(_COMMON_FILES.split())
_LOCALE = re.compile(r"[a-z]{2}_[A-Z]{2}")
_PLACEHOLDER = re.compile(
    r"(?:^|[\W_])(?:foo|bar|baz|qux|your|my|some|path/to|example|examples?\.(?:com|org)|xxx+|yyy+|placeholder|username|user_name|"
    r"changeme|todo|lorem|acme|absolute)(?:$|[\W_])|[<>{}$%…]|\.\.\.|\*",
    re.I,
)
_USUAL_DATA = re.compile(
    r"^(?:[\w./-]*/)?(?:input|output|in|out|data|file|text|notes?|document|sample|test|result|results|image|photo|video|song|book|"
    r"demo|hello|script|app|main|config|settings|report|log|users?|names?|words?|a|b|c|x|y)\d*\.(?!py$)\w+$",
    re.I,
)


_TYPES: tuple[type, ...] = (
    str, bytes, int, float, list, dict, set, tuple, object, type, complex, frozenset, pathlib.Path, collections.OrderedDict,
    datetime.datetime, datetime.timedelta, type(lambda: 0), type(iter([])), Exception,
)  # fmt: skip


@cache
def _attributes() -> frozenset[str]:
    return frozenset(name for kind in _TYPES for name in dir(kind))


@cache
def _python() -> frozenset[str]:
    names = {*dir(builtins), *sys.stdlib_module_names, *keyword.kwlist, *keyword.softkwlist}
    return frozenset(names | _attributes())


def is_attribute(name: str) -> bool:
    """Return whether objects of Python's built-in types have this attribute."""
    return name in _attributes()


def may_be_own(name: str) -> bool:
    """Return whether a project may also define this known name, as it may with methods and modules but not builtins."""
    return (
        len(name) > 2
        and name.islower()
        and is_python(name)
        and name not in dir(builtins)
        and not keyword.iskeyword(name)
    )


def is_everybodys_file(path: str) -> bool:
    return path in _EVERYBODYS


def is_python(name: str) -> bool:
    """Return whether Python or its standard library defines a name; for a dotted name, its module decides."""
    first = name.split(".")[0]
    dunder = name.startswith("__") and name.endswith("__")
    return dunder or name in _python() or ("." in name and first in sys.stdlib_module_names)


def is_known(name: str) -> bool:
    """Return whether a name in code is common knowledge and therefore does not belong to any particular project."""
    low = name.lower()
    return (
        is_python(name)
        or low in _OTHER_NAMES
        or low in PROGRAMS
        or len(name) < 3
        or _LOCALE.fullmatch(name) is not None
    )


_READERS_NAME = re.compile(
    r"(?:my|your|some)_\w+|(?:[Mm]y|[Yy]our|[Ss]ome)[A-Z]\w*|(?i:foo|bar|baz|foobar)\w{0,4}|\w*[xX]{3,}\w*"
)


def is_placeholder(text: str) -> bool:
    return _PLACEHOLDER.search(text) is not None


def is_readers_name(name: str) -> bool:
    """Return whether a Python name stands for the reader's own, such as ``MyDataModel``, ``your_app`` or ``foo``."""
    return _READERS_NAME.fullmatch(name.rpartition(".")[2]) is not None


def is_readers_data(path: str) -> bool:
    """Return whether a path is a file that the reader provides, such as ``input.txt``."""
    return _USUAL_DATA.match(path) is not None


def stands_for_a_package(name: str) -> bool:
    """Return whether the name of a distribution is a placeholder, such as ``PACKAGE`` or ``your-plugin``."""
    return name.isupper() or is_placeholder(name) or is_readers_name(canonicalize_name(name).replace("-", "_"))


NOT_MODULES = frozenset({"tests", "test", "docs", "doc", "examples", "benchmarks", "scripts", "setup", "conftest"})


def modules_of(paths: Iterable[str]) -> frozenset[str]:
    """Return the importable names in a repository's paths: packages and modules at its root or in ``src``."""
    own = (path.removeprefix("src/") for path in paths if path.endswith((".py", ".pyi", ".pyx")))
    return frozenset(path.split("/")[0].partition(".")[0] for path in own) - NOT_MODULES


def is_test(path: str) -> bool:
    parts = PurePosixPath(path.lower()).parts
    return (
        bool({"test", "tests", "testing"} & set(parts)) or parts[-1].startswith("test_") or parts[-1] == "conftest.py"
    )
