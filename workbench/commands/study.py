"""``workbench study paper``: the analysis of the doc-to-code paper, computed again from its published tables."""

from __future__ import annotations

import argparse

SUMMARY = "a whole experiment: paper, the published tables of the doc-to-code paper analysed again"
NAMES = ("paper",)
FORMATS = ("md", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", choices=NAMES, metavar="NAME", help=f"which study: {', '.join(NAMES)}")
    parser.add_argument("--format", choices=FORMATS, default="md", help="Markdown (unless given) or one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print the study."""
    from workbench.commands.output import print_json, print_page
    from workbench.metrics.packages import needed
    from workbench.reports.paper_page import paper_json, paper_page

    needed("numpy", "the resamples of the study")
    from workbench.metrics.paper import published_paper

    paper = published_paper()
    if arguments.format == "json":
        print_json(paper_json(paper))
    else:
        print_page(paper_page(paper))
    return 0
