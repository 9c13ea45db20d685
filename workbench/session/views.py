"""SQL views that stand in every session file, for people who ask it with sqlite3 and without this program: docs/session.md."""

from __future__ import annotations

VIEWS = """
CREATE VIEW trial_scores AS
SELECT trials.id AS trial, run_id AS run, case_id, case_name, agent, model, repeat, state, error, rubric, judge, total, out_of,
       tier1, tier2, tier3, tier4, problem, steps, prompt_tokens, completion_tokens, cost_usd, seconds, readme_blob, parent, fork_step
FROM trials LEFT JOIN scorecards ON trial_id = trials.id
WHERE run_id NOT IN (SELECT id FROM runs WHERE deleted_at IS NOT NULL);

CREATE VIEW candidate_verdicts AS
SELECT candidates.id AS candidate, tasks.run_id AS run, task_id AS task, path, qualified_name AS function, occurrence,
       tasks.state AS task_state, docs, docs_scope, evaluator, prompt, context, settings, sample, control, candidates.state, verdict,
       verdict_reason, route, backend, recheck IS NOT NULL AS rechecked, agrees, plain, doubtful, repairs,
       tasks.docstring_blob IS NOT NULL AS documented,
       verdict IS NOT NULL AND candidates.state IN ('queued', 'asking', 'testing') AS again,
       (SELECT count(*) FROM failing_tests WHERE candidate_id = candidates.id) AS failing,
       prompt_tokens, completion_tokens, cost_usd, asked_s, tested_s, at, candidates.body_blob, answer_blob
FROM candidates JOIN tasks ON tasks.id = task_id
WHERE tasks.run_id NOT IN (SELECT id FROM runs WHERE deleted_at IS NOT NULL);

CREATE VIEW pass_counts AS
SELECT run, docs, docs_scope, evaluator, prompt, context, settings, task, path, function, occurrence,
       sum(verdict IS NOT NULL AND verdict != 'error') AS counted, sum(coalesce(verdict = 'passed', 0)) AS passed,
       sum(verdict = 'passed' AND doubtful IS NOT NULL) AS doubtful,
       sum(verdict = 'passed' AND repairs > 0) AS repaired, documented, sum(verdict IS NULL) AS unfinished, count(*) AS samples
FROM candidate_verdicts WHERE control = 0 AND task_state = 'ready'
GROUP BY run, docs, docs_scope, evaluator, prompt, context, settings, task;

CREATE VIEW test_failures AS
SELECT run, task, path, function, docs, docs_scope, evaluator, prompt, context, settings, sample, control, candidate, verdict, test_id,
       outcome, message, traceback_blob
FROM failing_tests JOIN candidate_verdicts ON candidate = candidate_id;
"""
