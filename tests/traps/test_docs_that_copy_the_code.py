"""Trap: docs that copy the code. Docstrings that carry the code are flagged, honest ones are not; pass@k comes with and without."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.regeneration.leakage import LEAKAGE_VERSION, THRESHOLD, measure_leakage, tokens
from workbench.repository.functions import find_functions
from workbench.repository.splicing import body_text

BODY = "total = width * height\nif total < 0:\n    total = 0  # never negative\nreturn round(total, 2)"


@pytest.mark.parametrize(
    "docstring",
    [
        f"Area.\n\nImplementation:\n\n    {BODY}",
        "Computes `total=width*height; if total<0: total=0; return round(total,2)`.",
        "Does:\n>>> Total = Width*Height\n>>> if total < 0: total = 0\n",
    ],
)
def test_copied_code_is_flagged(docstring):
    leak = measure_leakage(docstring, BODY)
    assert leak.flagged
    assert leak.overlap >= 0.4
    assert leak.version == LEAKAGE_VERSION


@pytest.mark.parametrize(
    "docstring",
    [None, "", "Return the area of the rectangle, rounded to two digits and never negative.", "Args:\n    width: The width.\n    height: The height.\n\nReturns:\n    The total."],
)  # fmt: skip
def test_honest_docstrings_are_not_flagged(docstring):
    leak = measure_leakage(docstring, BODY)
    assert not leak.flagged
    assert leak.overlap < 0.2


def test_one_copied_statement_in_a_long_body_is_a_run():
    body = "\n".join(f"step_{n} = call_{n}(x) + {n}" for n in range(40))
    doc = "Notes.\nUses step_3 = call_3(x) + 3\nstep_4 = call_4(x) + 4 inside."
    leak = measure_leakage(doc, body)
    assert leak.overlap < 0.4
    assert leak.longest >= 12
    assert leak.flagged


def test_short_bodies_are_no_evidence():
    assert not measure_leakage("Return name.", "return name").flagged


def test_tokens_are_normalised():
    expected = "my value = http server max size 3.5 != none"
    assert tokens("myValue = HTTPServer.max_size(3.5) != None") == expected.split()


def test_few_docstrings_of_real_projects_are_flagged_and_all_copies_are():
    flagged = total = 0
    for file in sorted((Path(pytest.__file__).parent.parent / "_pytest").glob("*.py")):
        source = file.read_bytes()
        for function in find_functions(source, file.name):
            body = body_text(source, function)
            code = "".join(line for line in body.splitlines(keepends=True) if not line.lstrip().startswith("#"))
            if function.docstring and len(tokens(code)) >= 20:  # a body of comments has nothing to copy
                total += 1
                flagged += measure_leakage(function.docstring, body).flagged
                assert measure_leakage(f"{function.docstring}\n{body}", body).flagged
    assert total > 100
    assert flagged / total < 0.05


@given(st.text(st.sampled_from("ab=+1 \n"), max_size=60), st.text(st.sampled_from("ab=+1 \n"), max_size=60))
def test_the_stored_number_and_the_flag_always_agree(docstring, body):
    leak = measure_leakage(docstring, body)
    assert (round(leak.level, 4) >= THRESHOLD) is leak.flagged
