"""A regeneration run in the HTML report: pass@k and a cell per sample, then each task with its candidates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench import glyphs
from workbench.comparison.candidates import without_margin
from workbench.reports import distributions, figures, report_tables, session_figures, wording
from workbench.reports.contents import Contents, Run
from workbench.reports.distributions import Histograms
from workbench.reports.excerpts import Excerpt, Excerpts
from workbench.reports.html_diff import difference
from workbench.reports.html_parts import details, e, facts, marked, pre, table
from workbench.reports.html_trial import remarks
from workbench.reports.page import Heat
from workbench.reports.regenerated import Regenerated, former_words, interval_notes, stands_words
from workbench.session.reader import SessionReader
from workbench.session.rows import CandidateRow, TaskRow


def overview(contents: Contents, run: Run, outcome: Regenerated) -> str:
    """Return the section of one run: its stages, evaluators, tasks and what was dropped."""
    parts = [f'<section id="regeneration-{e(run.row.id)}"><h2>Regeneration {e(run.row.id)}</h2>\n']
    if outcome.groups:
        parts.append(table(report_tables.evaluators(outcome)))
        parts.append(f'<p class="note">pass@k without bias. {e(" ".join(interval_notes(outcome)))} ')
        ours = f"Our own errors ({glyphs.VERDICTS['error']}) count for nobody."
        parts.append(f"A control must be exactly 1 (reference) or 0 (stub). {ours}</p>\n")
    if contents.item is None:
        match session_figures.pass_at_k_by_task(outcome):
            case Heat() as matrix:
                parts.append(figures.heat(matrix))
            case Histograms() as counted:
                parts.append(distributions.histograms(counted))
        if outcome.diagnosis.groups:
            parts.append(
                f"<h3>{e(report_tables.failures_title(outcome))}</h3>\n{table(report_tables.failures(outcome))}"
            )
        if (unsolved := report_tables.unsolved(outcome)).rows:
            parts.append(details(f"Tasks that nobody solves <small>{len(unsolved.rows):,}</small>", table(unsolved)))
        if (files := report_tables.files(outcome)).rows:
            parts.append(details("pass@k by file", table(files)))
    parts.append(
        f"<h3>Tasks <small>{len(outcome.tasks):,}</small></h3>\n{table(report_tables.tasks(contents, outcome), 'task-')}"
    )
    parts.append(f'<p class="note">{wording.CELLS}</p>\n')
    if outcome.dropped:
        inside = table(report_tables.dropped(outcome))
        parts.append(details(f"Functions that became no task <small>{len(outcome.dropped):,}</small>", inside))
    if outcome.stages:
        parts.append(details("Stages", table(report_tables.stages(outcome))))
    parts.append("</section>\n")
    return "".join(parts)


def section(
    reader: SessionReader, contents: Contents, task: TaskRow, outcome: Regenerated, excerpts: Excerpts
) -> Iterator[str]:
    """Yield the section of one task."""
    yield f'<section class="item" id="task-{e(task.id)}"><h2>{e(task.qualified_name)} <small>{e(task.path)}</small></h2>\n'
    tests = wording.decoded(task.tests)
    yield facts(
        [
            ("task", task.id),
            ("lines", f"{task.start_line} to {task.end_line}" if task.start_line is not None else ""),
            ("tests", str(task.test_count)),
            ("cover", "" if task.coverage is None else f"{100 * task.coverage:.0f} %"),
            ("docs", task.docs_words),
            ("leak", "" if task.leak is None else f"{task.leak:.2f}"),
            ("controls", report_tables.controls_words(task.controls)),
            ("state", task.state),
        ]
    )
    if task.reason:
        yield f'<p class="problem">{e(task.reason)}</p>\n'
    yield remarks(contents, task.id)
    original: Excerpt | None = None
    for title, blob in (("Docstring", task.docstring_blob), ("Original body", task.body_blob)):
        if blob:
            text = excerpts.of(blob, f"the {title.lower()} of task {task.id}")
            yield details(f"{title} <small>{e(text.words)}</small>", pre(text.text), kind="paper")
            original = text if blob == task.body_blob else original
    if isinstance(tests, list) and tests:
        yield details(f"Tests <small>{len(tests):,}</small>", pre("\n".join(str(test) for test in tests)))
    for line in outcome.of_task(task.id):
        result = line.result
        at = " · ".join(f"pass@{k} {wording.share(result.at(k))}" for k in outcome.ks)
        name, passed = outcome.name(line.group), f"{result.passed} of {result.counted} passed"
        yield f"<h3>{e(name)} <small>{e(f'{passed} · {at}')}</small></h3>\n"
        for candidate in line.candidates:
            yield _candidate(reader, candidate, original, excerpts)
    yield "</section>\n"


def _candidate(reader: SessionReader, candidate: CandidateRow, original: Excerpt | None, excerpts: Excerpts) -> str:
    failing = reader.failing_tests(candidate.id)
    count = f"{wording.plural(len(failing), 'failing test')}" if failing else ""
    head = (
        f'<span class="no">{candidate.sample}</span><span class="do">{marked(stands_words(candidate))}</span>'
        f'<span class="on">{e(" · ".join(filter(None, (candidate.verdict_reason, count))))}</span>'
        f'<span class="n">{wording.count((candidate.prompt_tokens or 0) + (candidate.completion_tokens or 0))} tok</span>'
        f'<span class="n">{wording.seconds(candidate.tested_s)} s</span>'
    )
    parts = [f'<p class="note">candidate <code>{e(candidate.id)}</code></p>\n']
    parts += [f'<p class="note">before: {e(former_words(one))}</p>\n' for one in reader.former_verdicts(candidate.id)]
    # A control's body is the original or a stub, which the task shows already.
    if candidate.body_blob and not candidate.control:
        body = excerpts.of(candidate.body_blob, f"the body of candidate {candidate.id}")
        parts.append(f"<h4>Body <small>{e(body.words)}</small></h4>{pre(body.text)}")
        if original is not None:
            names = ("original body", f"candidate {candidate.sample}")
            reference, written = (replace(one, text=without_margin(one.text)) for one in (original, body))
            parts.append(difference("Against the original", reference, written, excerpts, names=names))
    elif candidate.answer_blob:
        answer = excerpts.of(candidate.answer_blob, f"the answer of candidate {candidate.id}")
        parts.append(f"<h4>Answer <small>{e(answer.words)}</small></h4>{pre(answer.text, 'prose')}")
    for test in failing:
        parts.append(f"<h4>{e(test.outcome)} <code>{e(test.test_id)}</code></h4>\n{pre(test.message, 'prose')}")
        if test.traceback_blob and not candidate.control:
            trace = excerpts.of(test.traceback_blob, f"a traceback of candidate {candidate.id}")
            parts.append(details(f"traceback <small>{e(trace.words)}</small>", pre(trace.text), kind="evidence"))
    return details(head, "".join(parts), kind="step")
