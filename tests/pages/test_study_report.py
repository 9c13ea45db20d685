"""Reports on studies: every format from sessions without an engine, and nothing in a name is markup, a command or a formula."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pages.parsed_html import ParsedHtml, assert_harmless
from studies.declared_studies import (
    CONTEXT,
    PROMPT,
    cell_of,
    put_agents,
    put_candidates,
    put_matrix,
    put_run,
    put_task,
    put_texts,
)

from workbench.base.errors import WorkbenchError
from workbench.catalog.repositories import published_name, published_scores
from workbench.cli import main
from workbench.pages import write_report
from workbench.pages.latex import latex
from workbench.pages.page import Bar, Forest, Heat, HeatCell, ReportPage, grid
from workbench.pages.study_report import write_study_report
from workbench.pages.study_rows import columns_of
from workbench.pages.svg import forest, heat
from workbench.pages.writing import rendered, write_study_in_subprocess
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.identity import candidate_id
from workbench.session.rows import StudyCellRow
from workbench.studies.declaration import DOCS, Study, StudyColumn
from workbench.studies.study_reader import read_study

pytest.importorskip("numpy")

HOSTILE = (
    "<script>alert(1)</script>", "=HYPERLINK(\"x\")|a_b", r"\input{/etc/passwd} & 50 % #$^~{", "\x1b[31mred\u202e [0.1](x) 中 ±é--",
)  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of agents in which cases and agents are called what does harm where it is not escaped."""
    path = tmp_path_factory.mktemp("hostile") / "hostile.session"
    scores = {
        (case, agent): [10.0 * row + 20.0 * place + repeat for repeat in range(2)]
        for row, case in enumerate(HOSTILE)
        for place, agent in enumerate(("white", *HOSTILE[:2]))
    }
    put_agents(path, scores, judges=("offline-4", HOSTILE[0]), name="hostile")
    return path


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("matrix") / "matrix.session"
    put_matrix(path, 4, 3, 2, 3, 4, random.Random(5))
    return path


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of docs with real texts, of which two rows are repositories of the paper."""
    path = tmp_path_factory.mktemp("texts") / "texts.session"
    put_texts(path, random.Random(6), tasks=6)
    return path


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of the paper's repositories, with a task that its stub passes, an excluded task and a dropped function."""
    path = tmp_path_factory.mktemp("beside") / "beside.session"
    study = Study(
        "beside", DOCS, ("schema",), (StudyColumn("original", "m"), StudyColumn("none", "m")), samples=1, k=(1,), seed=7
    )
    create(path)
    with SessionWriter(path) as writer, writer.transaction():
        writer.put_study(study.name, study.to_json())
        cells = []
        for place, docs in enumerate(("original", "none")):
            run = put_run(writer, "schema", docs)
            for number in range(3):
                task = put_task(writer, run, "schema", docs, number)
                put_candidates(writer, run, task, "m", ["passed" if number != place else "failed"])
                for control, verdict in (("reference", "passed"), ("stub", "passed" if number == 2 else "failed")):
                    writer.insert(
                        "candidates",
                        {
                            "id": candidate_id(task, control, "", 0), "run_id": run, "task_id": task, "evaluator": control,
                            "sample": 0, "control": 1, "state": "done", "verdict": verdict, "prompt": "", "context": "",
                            "settings": "{}",
                        },
                    )  # fmt: skip
            excluded = put_task(writer, run, "schema", docs, 9)
            writer.update("tasks", {"id": excluded}, {"state": "excluded", "reason": "its tests pass with a stub"})
            writer.insert(
                "dropped",
                {
                    "run_id": run, "path": "a.py", "qualified_name": "f", "occurrence": 1, "stage": "filter",
                    "reason": "no test executes it",
                },
            )  # fmt: skip
            cells.append(StudyCellRow(**{**cell_of(study, "schema", StudyColumn(docs, "m"), run), "position": place}))
        writer.put_study_cells(cells, instead_of=study.name)
    return path


def report(session: Path | None, study: str, format: str) -> str:
    written = write_study_report(session, study, format, None)
    assert isinstance(written, bytes)
    return written.decode("utf-8")


def test_nothing_in_a_name_is_markup(hostile: Path) -> None:
    html = report(hostile, "hostile", "html")
    page = ParsedHtml(html)
    assert_harmless(page)
    assert "script" not in {tag for tag, _ in page.tags}
    assert "<script>alert(1)</script>" in page.text
    figure = ElementTree.fromstring(re.findall(r"<svg.*?</svg>", html, re.DOTALL)[0])
    with SessionReader(hostile) as reader:
        outcome = read_study(reader, "hostile")
    numbers = [text.text for text in figure.iter("text")]
    for cell in outcome.cells.values():
        assert f"{cell.means['score'].value:.1f}" in numbers
    markdown = report(hostile, "hostile", "md")
    tables = re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE)
    assert len(tables) >= 5
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert "<script" not in markdown
    rows = list(csv.reader(io.StringIO(report(hostile, "hostile", "csv"))))
    assert any(cell.startswith("'=HYPERLINK") for row in rows for cell in row)
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)


def latex_problems(text: str) -> list[str]:
    """Return what would stop a compiler: unbalanced groups and environments, rows with other than their columns, bare specials."""
    problems = []
    bare = re.sub(r"(?m)^%.*$|(?<=\{)%$", "", text)
    for environment in ("table", "tabular", "itemize", "figure", "tikzpicture", "axis"):
        if bare.count(rf"\begin{{{environment}}}") != bare.count(rf"\end{{{environment}}}"):
            problems.append(environment)
    known = {
        "section", "subsection", "begin", "end", "centering", "small", "caption", "label", "toprule", "midrule", "bottomrule", "item",
        "textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "textasciigrave",
        "textperiodcentered", "linewidth", "ldots", "times", "pm", "to", "le", "ge", "tau", "textbullet",
        "footnotesize", "scriptsize", "tiny", "setlength", "tabcolsep", "belowcaptionskip", "clearpage", "ifdefined", "fi",
        "pgfplotsset", "addplot", "node", "fill", "resizebox", "subsubsection", "surd", "wr", "emptyset", "sharp", "triangleright",
        "parallel", "oslash", "doteq", "texttt",
    }  # fmt: skip
    problems += [name for name in re.findall(r"(?<!\\)(?:\\\\)*\\([A-Za-z]+)", bare) if name not in known]
    plain = re.sub(r"\\[\\{}$&#%_]", "", re.sub(r"\\\\$", "", bare, flags=re.MULTILINE))
    plain = re.sub(r"\$(?:-|\\[a-z]+)\$", "", plain)
    problems += re.findall(r"[$#%_^~`\"]", plain)
    if plain.count("{") != plain.count("}"):
        problems.append("braces")
    for columns, body in re.findall(
        r"\\begin\{tabular\}\{((?:[lr]|p\{0\.\d+\\linewidth\})+)\}(.*?)\\end\{tabular\}", bare, re.DOTALL
    ):
        columns = re.sub(r"p\{0\.\d+\\linewidth\}", "p", columns)
        for row in (line for line in body.splitlines() if line.endswith(r"\\")):
            if len(re.findall(r"(?<!\\)&", row)) != len(columns) - 1:
                problems.append(row)
    if any(ord(one) > 0x17F for one in bare):
        problems.append("a character that pdfLaTeX does not know")
    return problems


@pytest.mark.parametrize("name", ["hostile", pytest.param("texts", marks=pytest.mark.slow), "paper"])
def test_latex_is_a_fragment_of_sound_tables(name: str, request: pytest.FixtureRequest) -> None:
    text = report(None if name == "paper" else request.getfixturevalue(name), name, "latex")
    assert r"\documentclass" not in text
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == text.count(r"\begin{tabular}") >= 3
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels))
    assert latex_problems(text) == []


@pytest.mark.parametrize("name", ["documented", "regenerated"])
def test_a_session_is_such_a_fragment_too(name: str, request: pytest.FixtureRequest) -> None:
    text = write_report(request.getfixturevalue(name)[0], "latex", None)
    assert text.count(r"\toprule") >= 2
    assert latex_problems(text) == []


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no TeX on this machine: only the structure of LaTeX is checked"
)
@pytest.mark.parametrize("name", ["hostile", "texts", "paper"])
def test_latex_compiles_with_and_without_figures(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    text = report(None if name == "paper" else request.getfixturevalue(name), name, "latex")
    (tmp_path / "study.tex").write_text(text, encoding="utf-8")
    packages = ["booktabs"]
    if subprocess.run(["kpsewhich", "pgfplots.sty"], capture_output=True, check=False).returncode == 0:
        packages.append("pgfplots")
    pages = []
    for count in range(1, len(packages) + 1):
        used = "".join(f"\\usepackage{{{one}}}" for one in packages[:count])
        (tmp_path / "main.tex").write_text(
            f"\\documentclass{{article}}{used}\\begin{{document}}\\input{{study}}\\end{{document}}"
        )
        done = subprocess.run(
            ["pdflatex", "-halt-on-error", "main"],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:]
        # What is wider than the line by more than a few letters would run out of the page.
        wide = [float(one) for one in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
        assert max(wide, default=0) < 40
        assert "too large for page" not in done.stdout
        pages.append((tmp_path / "main.pdf").stat().st_size)
    assert pages == sorted(pages)


def test_no_character_is_a_command_of_latex() -> None:
    assert latex("a_b & 50 % #$") == r"a\_b \& 50 \% \#\$"
    assert latex(r"\input{x}^~") == r"\textbackslash{}input\{x\}\textasciicircum{}\textasciitilde{}"
    assert latex("--é ł 中\x1b[1m\u202e") == r"-{}-é ł {[}U+4E2D{]}"
    assert latex("[1]*") == "{[}1{]}{*}"


def test_a_table_wider_than_a_page_is_divided_and_keeps_its_first_column() -> None:
    heads = ("repository", *(f"system {number}" for number in range(12)))
    rows = tuple((name, *(f"0.{number:02d} [0.00, 1.00]" for number in range(12))) for name in ("a", "b", "mean"))
    text = "".join(rendered(ReportPage("p", (grid("Wide.", heads, rows, closing=1),)), "latex"))
    assert latex_problems(text) == []
    parts = re.findall(r"\\caption\{(.*?)\}", text)
    assert parts == [f"Wide. Part {number} of {len(parts)}." for number in range(1, len(parts) + 1)]
    assert len(parts) > 1
    assert text.count("    a & ") == text.count("    mean & ") == text.count(r"\bottomrule") == len(parts)
    for number in range(12):
        assert text.count(f"system {number} ") == 1


def test_csv_has_a_row_for_each_cell_and_item(matrix: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(report(matrix, "matrix", "csv"))))
    with SessionReader(matrix) as reader:
        outcome = read_study(reader, "matrix")
    assert list(rows[0]) == list(columns_of(outcome))
    cells = {(row["row"], row["column"]): row for row in rows if row["kind"] == "cell"}
    assert cells.keys() == outcome.cells.keys()
    for key, cell in outcome.cells.items():
        assert float(cells[key]["pass_at_1"]) == cell.means["pass@1"].value
        mine = [row for row in rows if row["kind"] == "task" and (row["row"], row["column"]) == key]
        assert len(mine) == len(cell.work.tasks)
        assert sum(int(row["passed"]) for row in mine) == sum(task.passed for task in cell.work.tasks)


def test_rows_of_tasks_have_what_strata_are_made_of(texts: Path) -> None:
    rows = [row for row in csv.DictReader(io.StringIO(report(texts, "texts", "csv"))) if row["kind"] == "task"]
    with SessionReader(texts) as reader:
        known = {task.id: task for run in reader.runs() for task in reader.tasks(run.id)}
        for row in rows:
            task = known[row["item"]]
            assert (float(row["leak"]), float(row["coverage"])) == (task.leak, task.coverage)
            assert int(row["body_bytes"]) == len(reader.text(task.body_blob).encode())
            assert row["docs_bytes"] == (
                str(len(reader.text(task.docstring_blob).encode())) if task.docstring_blob else ""
            )


def test_the_analysis_of_a_study_stands_in_every_format_with_published_figures_beside(texts: Path) -> None:
    values = json.loads(report(texts, "texts", "json"))["analysis"]
    together = values["metrics"]["together"][0]["metrics"]
    found = next(one for one in together if (one["metric"], one["pair"]) == ("rouge-1", "code-doc"))
    pearson = found["correlations"]["1"]["pearson"]
    bounds = f"{pearson['value']:.2f} [{pearson['low']:.2f}, {pearson['high']:.2f}]".replace("-", "−")
    published = next(
        one for one in values["beside_the_paper"]["published"] if (one["evaluator"], one["k"]) == ("gpt-5-mini", 1)
    )
    for format in ("md", "html"):
        page = report(texts, "texts", format)
        for section in ("Do rankings hold in parts?", "By kinds of functions", "Docs that contain the code"):
            assert section in page
        if format == "md":
            line = next(one for one in page.splitlines() if one.startswith("| rouge-1 | code-doc |"))
            assert bounds in line
            assert f"| gpt-5-mini | 1 | published, 28 repositories | {published['means']['RepoAgent']:.3f} |" in page
    out = texts.parent / "chosen.json"
    assert main(["report", str(texts), "--study", "texts", "--metric", "leakage", "-o", str(out)]) == 0
    chosen = json.loads(out.read_text())["analysis"]["metrics"]["together"][0]["metrics"]
    assert {one["metric"] for one in chosen} == {"leakage"}


def test_parquet_has_the_same_rows(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    written = write_study_report(hostile, "hostile", "parquet", None)
    table = parquet.read_table(io.BytesIO(written))
    with SessionReader(hostile) as reader:
        outcome = read_study(reader, "hostile")
    rows = table.to_pylist()
    assert table.column_names == list(columns_of(outcome))
    trials = {row["item"]: row for row in rows if row["kind"] == "trial"}
    assert len(trials) == len(HOSTILE) * 3 * 2
    assert len(rows) == len(trials) + len(outcome.cells) + len(outcome.columns)
    assert {row["row"] for row in rows if row["kind"] != "column"} == set(HOSTILE)
    cell = next(row for row in rows if row["kind"] == "cell")
    assert cell["score"] == outcome.cell(cell["row"], cell["column"]).means["score"].value
    assert cell["tier1"] is None
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(WorkbenchError, match="Parquet needs the package pyarrow.*--format csv"):
        write_study_report(hostile, "hostile", "parquet", None)


def test_what_checks_itself_what_was_left_out_and_the_published_figures(beside: Path) -> None:
    values = json.loads(report(beside, "beside", "json"))
    method = values["method"]
    assert method["facts"]["seed of tests and resamples"] == "7"
    made = method["tables"]["Conditions of each column."]
    assert [one["column"] for one in made] == ["original", "none"]
    assert {(one["prompt"], one["context"], one["docs scope"]) for one in made} == {(PROMPT, CONTEXT, "repository")}
    check = method["tables"]["Exclusions and self-checks, summed over the runs of a row."]
    assert check == [
        {
            "repository": "schema", "runs": "2", "tasks": "6", "excluded": "2", "dropped": "2", "reference passed": "6 of 6",
            "stub passed": "2 of 6", "re-checks that disagree": "–",
        }
    ]  # fmt: skip
    assert any(one.startswith("Self-check that failed: schema: ") for one in method["sentences"])
    assert "Excluded, 2: its tests pass with a stub" in method["sentences"]
    assert "Dropped at filter: 2" in method["sentences"]
    page = report(beside, "beside", "md")
    printed = {
        one.evaluator: one.value
        for one in published_scores("keleshev/schema")
        if one.k == 1 and one.documenter == "default"
    }
    row = next(line for line in page.splitlines() if "the paper's default" in line).split(" | ")
    assert [float(one) for one in row[2:4]] == [printed["gpt-5-mini"], printed["qwen3-235b-a22b"]]
    assert row[4].startswith("0.67")
    sources = ("https://github.com/keleshev/schema.git@v0.7.7", "keleshev/Schema", "./schema", "other/schema")
    assert [published_name(one) for one in sources] == ["keleshev/schema", "keleshev/schema", "", ""]


def test_a_forest_plot_stands_where_its_numbers_are() -> None:
    bars = (Bar("a", 0.2, 0.1, 0.3, "+0.2"), Bar("b", -0.1, None, None, "−0.1"), Bar("c", 0.05, -0.05, 0.15, "+0.05"))
    drawn = ElementTree.fromstring(re.search(r"<svg.*</svg>", forest(Forest("f", bars, "axis")), re.DOTALL)[0])
    dots = [float(one.get("cx")) for one in drawn.iter("circle")]
    zero = next(float(one.get("x1")) for one in drawn.iter("line") if one.get("class") == "zero")
    # On one scale: distances from 0 are as the values are.
    assert (dots[0] - zero) / (zero - dots[1]) == pytest.approx(2, abs=0.02)
    interval = next(one for one in drawn.iter("line") if one.get("class") == "interval")
    assert (float(interval.get("x2")) - zero) / (float(interval.get("x1")) - zero) == pytest.approx(3, abs=0.05)
    assert [one.get("class") for one in drawn.iter("g")] == ["sure", "alone", "unsure"]


def test_a_heat_map_is_stronger_where_more_is() -> None:
    cells = (HeatCell(0.1, "0.10"), HeatCell(None, "–"), HeatCell(0.9, "0.90"))
    drawn = ElementTree.fromstring(re.search(r"<svg.*</svg>", heat(Heat("h", ("a", "b", "c"), (("row", cells),))))[0])
    few, none, many = list(drawn.iter("rect"))
    assert float(few.get("fill-opacity")) < float(many.get("fill-opacity"))
    assert none.get("class") == "none"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{session}", "--study", "unknown"], "has no study 'unknown'; it has hostile"),
        (["{session}", "--format", "parquet"], "parquet is a format of studies"),
        (["{session}", "--metric", "bleu"], "--model-path"),
        (["{session}", "--study", "hostile", "--metric", "bleu"], "Text metrics need"),
        (["--study", "paper", "--metric", "bleu"], "Text metrics need"),
        (["--study", "paper", "--format", "parquet"], "'parquet'"),
        (["{session}", "--study", "hostile", "--item", "x"], "--item"),
        (["{session}", "--study", "hostile", "-o", "{session}"], "is a session file"),
        ([], "session"),
    ],
)
def test_what_cannot_be_reported_is_one_sentence(hostile, arguments, said, capsys):
    before = hostile.read_bytes()
    assert main(["report", *(one.format(session=hostile) for one in arguments)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert hostile.read_bytes() == before


def test_a_process_of_its_own_writes_what_the_app_must_not(hostile: Path, tmp_path: Path) -> None:
    out = tmp_path / "study.csv"
    write_study_in_subprocess(hostile, "hostile", "csv", out)
    assert out.read_text(encoding="utf-8").startswith("kind,")
    with pytest.raises(WorkbenchError, match="has no study 'other'"):
        write_study_in_subprocess(hostile, "other", "csv", out)
