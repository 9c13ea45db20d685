"""``python -m workbench.studies SESSION STUDY``: answer a JSON question from standard input; see ``drawing``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from workbench.base.errors import WorkbenchError
from workbench.metrics.texts import needed
from workbench.session.reader import SessionReader
from workbench.studies.study_reader import read_study


def _main(session: str, study: str) -> int:
    request = json.loads(sys.stdin.read())
    try:
        needed("numpy", "tests of differences")
        from workbench.studies.significance import adjusted_comparisons, resampled_orders

        with SessionReader(Path(session), surveyed=False) as reader:
            outcome = read_study(reader, study)
        columns = {column.name: column for column in outcome.columns}
        pairs = [(left, right) for left, right in request["pairs"] if {left, right} <= columns.keys()]
        tests = adjusted_comparisons(
            outcome, [(columns[left], columns[right]) for left, right in pairs], request["measure"]
        )
        found = resampled_orders(outcome) if request["orders"] else {}
    except WorkbenchError as error:
        print(error, file=sys.stderr)
        return 1
    results = [{"p": one.test.p, "test": one.test.words, "p_holm": one.adjusted} for one in tests]
    orders = [((*key, one.better, one.worse), one.resampled) for key, every in found.items() for one in every]
    drawn = [order for order in orders if order[1] is not None]
    print(json.dumps({"tests": list(zip(pairs, results, strict=True)), "orders": drawn}))
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:3]))
