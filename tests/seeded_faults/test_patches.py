"""Every seeded fault still applies to the code; ``make seeded-faults`` says whether the tests find it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SEEDED = runpy.run_path(str(Path(__file__).with_name("__main__.py")), run_name="seeded_faults")


@pytest.mark.parametrize("fault", SEEDED["faults"](), ids=lambda fault: fault.patch.stem)
def test_a_seeded_fault_applies(fault: object) -> None:
    assert SEEDED["applies"](fault, SEEDED["ROOT"], check=True)
