from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.rubric import metadata_findings
from workbench.rubric.metadata import SCALARS, SOFTWARE_TYPES, owners, properties

GOOD = {
    "@context": "https://schema.org",
    "@type": "SoftwareSourceCode",
    "name": "art",
    "description": "ASCII art",
    "programmingLanguage": {"@type": "ComputerLanguage", "name": "Python"},
    "codeRepository": "https://example.org/art.git",
    "license": "https://spdx.org/licenses/MIT",
    "author": [{"@type": "Person", "name": "A"}, {"@id": "https://example.org/b"}],
    "keywords": ["ascii", "art"],
    "dateModified": "2024-05-06T07:08:09Z",
    "isAccessibleForFree": True,
    "version": 6.5,
    "commentCount": 3,
}


def with_(**changes: object) -> dict[str, object]:
    return {**GOOD, **changes}


def only(metadata: object) -> tuple[str, str, str]:
    (finding,) = metadata_findings(metadata)
    return finding.severity, finding.path, finding.message


def test_good_metadata_has_no_findings() -> None:
    assert metadata_findings(GOOD) == ()


def test_all_software_types_are_allowed() -> None:
    base = {"@context": "https://schema.org", "name": "n", "description": "d"}
    for name in SOFTWARE_TYPES:
        for said in (name, ["Thing", name], f"http://schema.org/{name}"):
            assert metadata_findings({**base, "@type": said}) == (), said


@pytest.mark.parametrize(
    ("metadata", "severity", "path", "words"),
    [
        (with_(**{"@type": "Recipe"}), "wrong", "@type", "not a type for software"),
        (with_(**{"@type": "SoftwareSourcecode"}), "unknown", "@type", "SoftwareSourceCode is near"),
        (with_(**{"@type": "CreativeWork"}), "loose", "@type", "is too general"),
        (with_(**{"@context": "https://example.org"}), "wrong", "@context", "not https://schema.org"),
        (with_(programingLanguage="Python"), "unknown", "programingLanguage", "programmingLanguage is near"),
        (with_(operatingSystem="Linux"), "unknown", "operatingSystem", "property of SoftwareApplication"),
        (with_(dateModified="yesterday"), "wrong", "dateModified", "DateTime or Date is expected"),
        (with_(commentCount=1.5), "wrong", "commentCount", "Integer is expected"),
        (with_(runtimePlatform={"a": 1}), "wrong", "runtimePlatform", "is an object; Text is expected"),
        (with_(author="Somebody"), "loose", "author", "Person or Organization is expected"),
        (with_(author={"name": "A"}), "loose", "author", "without @type"),
        (with_(keywords=[["a"]]), "wrong", "keywords", "list inside a list"),
        (with_(**{"codemeta:funding": "x"}), "loose", "codemeta:funding", "another vocabulary"),
        ({}, "missing", "", "empty"),
        ([GOOD], "wrong", "", "not an object"),
    ],
)
def test_each_fault_is_named(metadata: object, severity: str, path: str, words: str) -> None:
    if isinstance(metadata, dict) and metadata.get("@type") == "CreativeWork":
        metadata = {k: v for k, v in metadata.items() if k not in {"programmingLanguage", "codeRepository"}}
    if isinstance(metadata, dict) and metadata.get("@type") in {"Recipe", "SoftwareSourcecode"}:
        metadata = {k: metadata[k] for k in ("@context", "@type", "name", "description")}
    found = only(metadata)
    assert found[:2] == (severity, path)
    assert words in found[2]


def test_nested_software_is_checked_too() -> None:
    nested = {"@type": "SoftwareApplication", "name": "x", "codeRepository": "https://example.org"}
    severity, path, _ = only(with_(targetProduct=nested))
    assert (severity, path) == ("unknown", "targetProduct.codeRepository")


def test_missing_keys_are_named() -> None:
    assert {finding.path for finding in metadata_findings({"a": 1})} == {
        "@context",
        "@type",
        "name",
        "description",
        "a",
    }


def test_the_table_is_whole() -> None:
    assert "name" in properties("VideoGame")
    assert properties("SoftwareSourceCode")["codeRepository"] == ("URL",)
    assert properties("NoSuchType") == {}
    assert owners("softwareVersion") == ("SoftwareApplication",)
    for name in SOFTWARE_TYPES:
        for kinds in properties(name).values():
            assert all(kind in SCALARS or kind[0].isupper() for kind in kinds)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=()), max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=6) | st.sampled_from([*GOOD, "@graph", "@id", "@value"]), inner, max_size=6)
    ),
    max_leaves=20,
)


@settings(max_examples=50)
@given(JSON)
def test_nothing_raises_and_messages_can_be_stored(metadata: object) -> None:
    findings = metadata_findings(metadata)
    assert len(findings) <= 50
    for finding in findings:
        assert finding.message
        (finding.message + finding.path).encode("utf-8")


def test_a_structure_that_holds_itself_ends() -> None:
    loop: dict[object, object] = {"@context": "https://schema.org", "@type": "SoftwareSourceCode", 3: "x"}
    loop["about"] = loop
    assert any("not text" in finding.message for finding in metadata_findings(loop))
