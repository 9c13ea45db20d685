"""Model names are checked without importing LiteLLM, with the same result as LiteLLM's own check."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sweeps import spread

from workbench.base.errors import UsageError
from workbench.models.defaults import known_models
from workbench.models.names import check_model, providers


def test_the_providers_are_found_without_importing_litellm() -> None:
    code = (
        "import sys; from workbench.models.names import check_model, providers; assert len(providers()) > 100\n"
        "try: check_model('nosuch/model', 'the judge')\n"
        "except Exception as error: print(error)\n"
        "assert 'litellm' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("There is no provider 'nosuch'")


def test_an_endpoint_of_ones_own_takes_any_name_of_its_own(home: Path) -> None:
    check_model("anything", "the agent", base_url="http://127.0.0.1:1/v1")
    check_model("openai/org/anything", "the agent", base_url="http://127.0.0.1:1/v1")
    with pytest.raises(UsageError, match="For your own server, use openai/org/anything"):
        check_model("org/anything", "the agent", base_url="http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    "name", ["openai/x", "gpt-4o", "ft:gpt-4o:me::1", "ollama/llama3", "hosted_vllm/org/x", "local"]
)
def test_what_litellm_takes_is_taken(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    check_model(name, "the agent")


@pytest.mark.slow
def test_no_name_that_litellm_knows_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import litellm

    from workbench.models import names

    chat = [name for name, entry in known_models().items() if entry.get("mode") in ("chat", "completion")]
    assert len(chat) > 500
    refused = []
    for name in spread([*chat, *(f"{provider}/x" for provider in providers())], 5):
        try:
            litellm.get_llm_provider(name)
        except Exception:
            continue
        if not names._is_known(name, own_endpoint=False):
            refused.append(name)
    assert refused == []
    # And the other way: what it does not know is refused here, before it is imported.
    for name in ("nosuch/model", "gpt-nope", "opnai/gpt-4o"):
        with pytest.raises(Exception, match="LLM Provider NOT provided"):
            litellm.get_llm_provider(name)
        assert not names._is_known(name, own_endpoint=False)
