"""``python -m workbench.studies SESSION STUDY``: answer a question on standard input as one JSON object; see ``drawing``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.metrics.packages import needed
from workbench.session.reader import SessionReader
from workbench.studies.following import read_study


def _main(session: str, study: str) -> int:
    asked = json.loads(sys.stdin.read())
    try:
        needed("numpy", "tests of differences")
        from workbench.studies.chances import chances, resampled_orders

        with SessionReader(Path(session), surveyed=False) as reader:
            outcome = read_study(reader, study)
        columns = {column.name: column for column in outcome.columns}
        pairs = [(columns[left], columns[right]) for left, right in asked["pairs"]]
        tests = chances(outcome, pairs, asked["measure"])
        orders: dict[str, dict[str, Any]] = {}
        for (model, measure), found in (resampled_orders(outcome) if asked["orders"] else {}).items():
            orders.setdefault(model, {})[measure] = [
                {"better": one.better, "worse": one.worse, "resampled": one.resampled} for one in found
            ]
    except WorkbenchError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyError as error:
        print(f"The study has no column {error} any more.", file=sys.stderr)
        return 1
    told = [{"p": one.test.p, "test": one.test.words, "p_holm": one.adjusted} for one in tests]
    print(json.dumps({"tests": told, "orders": orders}))
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:3]))
