"""How alike two texts are, by name: BLEU, ROUGE-1, ROUGE-Lsum, BERTScore by a named model. All from 0 (unlike) to 1 (the same)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from workbench.errors import UsageError
from workbench.metrics.encoder import Encoder
from workbench.metrics.packages import WEIGHTS, MetricUnavailable, needed

Score = Callable[[str, str], float]
"""Takes the text and its reference."""


def _bleu() -> Score:
    sacrebleu = needed("sacrebleu", "BLEU")
    # Of one sentence: n-gram orders that it is too short for do not count (effective order), as sacrebleu advises.
    measure = sacrebleu.BLEU(effective_order=True)
    return lambda text, reference: min(1.0, float(measure.sentence_score(text, [reference]).score) / 100)


def _rouge(kind: str, name: str) -> Score:
    scorer = needed("rouge_score.rouge_scorer", name).RougeScorer([kind], use_stemmer=False)
    return lambda text, reference: float(scorer.score(reference, text)[kind].fmeasure)


def _minilm() -> Score:
    folder = Path(needed(WEIGHTS, "bertscore-minilm").get_model_path())
    return Encoder(folder, "bertscore-minilm").score


TEXT_METRICS: Final = ("bleu", "rouge-1", "rouge-lsum", "bertscore-minilm", "codebertscore")
"""Names of the metrics of two texts."""


def text_metric(name: str, model: Path | None = None) -> Score:
    """Return a metric of two texts.

    Args:
        name: One of :data:`TEXT_METRICS`.
        model: Folder with the weights of ``codebertscore``.

    Raises:
        UsageError: there is no metric of that name.
        MetricUnavailable: a package or a model is missing.
    """
    if name == "bleu":
        return _bleu()
    if name == "rouge-1":
        return _rouge("rouge1", "ROUGE-1")
    if name == "rouge-lsum":
        return _rouge("rougeLsum", "ROUGE-Lsum")
    if name == "bertscore-minilm":
        return _minilm()
    if name == "codebertscore":
        if model is None:
            raise MetricUnavailable(
                "codebertscore: model not reachable; name a folder with its weights by --model-path."
            )
        return Encoder(model, "codebertscore").score
    raise UsageError(f"There is no metric {name!r}; there are {', '.join(TEXT_METRICS)}.")
