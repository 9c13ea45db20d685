"""Check metadata against schema.org's types for software, in plain words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Literal

from workbench.rubric.spans import quote

_TABLE = {
    "Thing": """
        additionalType:URL|Text alternateName:Text description:Text|TextObject disambiguatingDescription:Text
        identifier:URL|Text|PropertyValue image:URL|ImageObject mainEntityOfPage:URL|CreativeWork name:Text
        owner:Person|Organization potentialAction:Action sameAs:URL subjectOf:Event|CreativeWork url:URL
    """,
    "CreativeWork": """
        about:Thing abstract:Text accessMode:Text accessModeSufficient:ItemList accessibilityAPI:Text
        accessibilityControl:Text accessibilityFeature:Text accessibilityHazard:Text accessibilitySummary:Text
        accountablePerson:Person acquireLicensePage:URL|CreativeWork aggregateRating:AggregateRating
        alternativeHeadline:Text archivedAt:URL|WebPage assesses:Text|DefinedTerm associatedMedia:MediaObject
        audience:Audience audio:AudioObject|Clip|MusicRecording author:Person|Organization award:Text awards:Text
        character:Person citation:Text|CreativeWork comment:Comment commentCount:Integer conditionsOfAccess:Text
        contentLocation:Place contentRating:Text|Rating contentReferenceTime:DateTime contributor:Person|Organization
        copyrightHolder:Person|Organization copyrightNotice:Text copyrightYear:Number
        correction:URL|Text|CorrectionComment countryOfOrigin:Country creativeWorkStatus:Text|DefinedTerm
        creator:Person|Organization creditText:Text dateCreated:DateTime|Date dateModified:DateTime|Date
        datePublished:DateTime|Date digitalSourceType:IPTCDigitalSourceEnumeration discussionUrl:URL
        displayLocation:Place editEIDR:URL|Text editor:Person educationalAlignment:AlignmentObject
        educationalLevel:URL|Text|DefinedTerm educationalUse:Text|DefinedTerm encoding:MediaObject
        encodingFormat:URL|Text encodings:MediaObject exampleOfWork:CreativeWork expires:DateTime|Date
        fileFormat:URL|Text funder:Person|Organization funding:Grant genre:URL|Text hasPart:CreativeWork headline:Text
        inLanguage:Text|Language interactionStatistic:InteractionCounter interactivityType:Text
        interpretedAsClaim:Claim isAccessibleForFree:Boolean isBasedOn:URL|Product|CreativeWork
        isBasedOnUrl:URL|Product|CreativeWork isFamilyFriendly:Boolean isPartOf:URL|CreativeWork
        keywords:URL|Text|DefinedTerm learningResourceType:Text|DefinedTerm license:URL|CreativeWork
        locationCreated:Place mainEntity:Thing maintainer:Person|Organization material:URL|Text|Product
        materialExtent:Text|QuantitativeValue mentions:Thing offers:Demand|Offer pattern:Text|DefinedTerm
        position:Integer|Text producer:Person|Organization provider:Person|Organization publication:PublicationEvent
        publisher:Person|Organization publisherImprint:Organization publishingPrinciples:URL|CreativeWork
        recordedAt:Event releasedEvent:PublicationEvent review:Review reviews:Review schemaVersion:URL|Text
        sdDatePublished:Date sdLicense:URL|CreativeWork sdPublisher:Person|Organization
        size:Text|SizeSpecification|QuantitativeValue|DefinedTerm sourceOrganization:Organization spatial:Place
        spatialCoverage:Place sponsor:Person|Organization teaches:Text|DefinedTerm temporal:DateTime|Text
        temporalCoverage:DateTime|URL|Text text:Text thumbnail:ImageObject thumbnailUrl:URL timeRequired:Duration
        translationOfWork:CreativeWork translator:Person|Organization typicalAgeRange:Text usageInfo:URL|CreativeWork
        version:Number|Text video:VideoObject|Clip workExample:CreativeWork workTranslation:CreativeWork
    """,
    "SoftwareSourceCode": """
        codeRepository:URL codeSampleType:Text programmingLanguage:Text|ComputerLanguage runtime:Text
        runtimePlatform:Text sampleType:Text targetProduct:SoftwareApplication
    """,
    "SoftwareApplication": """
        applicationCategory:URL|Text applicationSubCategory:URL|Text applicationSuite:Text availableOnDevice:Text
        countriesNotSupported:Text countriesSupported:Text device:Text downloadUrl:URL featureList:URL|Text
        fileSize:Text installUrl:URL memoryRequirements:URL|Text operatingSystem:Text permissions:Text
        processorRequirements:Text releaseNotes:URL|Text requirements:URL|Text screenshot:URL|ImageObject
        softwareAddOn:SoftwareApplication softwareHelp:CreativeWork softwareRequirements:URL|Text softwareVersion:Text
        storageRequirements:URL|Text supportingData:DataFeed
    """,
    "WebApplication": """
        browserRequirements:Text
    """,
    "MobileApplication": """
        carrierRequirements:Text
    """,
    "VideoGame": """
        actor:Person actors:Person cheatCode:CreativeWork director:Person directors:Person gameEdition:Text
        gamePlatform:URL|Text|Thing gameServer:GameServer gameTip:CreativeWork musicBy:Person|MusicGroup
        playMode:GamePlayMode trailer:VideoObject
    """,
}

_PARENT = {
    "CreativeWork": "Thing",
    "SoftwareSourceCode": "CreativeWork",
    "SoftwareApplication": "CreativeWork",
    "WebApplication": "SoftwareApplication",
    "MobileApplication": "SoftwareApplication",
    "VideoGame": "SoftwareApplication",
    "OperatingSystem": "SoftwareApplication",
    "RuntimePlatform": "SoftwareApplication",
}

SOFTWARE_TYPES = tuple(name for name in _PARENT if name != "CreativeWork")
"""The types that describe a piece of software; ``CreativeWork`` and ``Thing`` are true but say too little."""

GENERAL_TYPES = ("CreativeWork", "Thing")

SCALARS = frozenset({"Text", "URL", "Date", "DateTime", "Duration", "Number", "Integer", "Boolean"})


@cache
def properties(type_name: str) -> dict[str, tuple[str, ...]]:
    """Return property → expected kinds for a type, its parents' included; {} for an unknown type."""
    known: dict[str, tuple[str, ...]] = {}
    step: str | None = type_name
    while step is not None:
        for entry in _TABLE.get(step, "").split():
            name, _, kinds = entry.partition(":")
            known.setdefault(name, tuple(kinds.split("|")))
        step = _PARENT.get(step)
    return known


@cache
def owners(property_name: str) -> tuple[str, ...]:
    return tuple(
        name for name, text in _TABLE.items() if any(entry.partition(":")[0] == property_name for entry in text.split())
    )


Severity = Literal["missing", "wrong", "unknown", "loose"]

_MOST = 50
_DEEPEST = 6
_CONTEXTS = re.compile(r"https?://(www\.)?schema\.org/?")
_PREFIX = re.compile(r"^(https?://(www\.)?schema\.org/|schema:)")
_FORMS = {
    "URL": re.compile(r"^(https?|ftp|git|git\+https|git\+ssh|ssh|mailto|urn|doi):\S+$", re.IGNORECASE),
    "Date": re.compile(r"^\d{4}(-\d\d(-\d\d)?)?$"),
    "DateTime": re.compile(r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$"),
    "Duration": re.compile(r"^P(?=.)(\d+[YMWD])*(T(\d+(\.\d+)?[HMS])+)?$"),
    "Number": re.compile(r"^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$"),
    "Integer": re.compile(r"^[+-]?\d+$"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark on the metadata. ``path`` is the key, dotted for nested objects (``author.name``)."""

    severity: Severity  # ``missing``, ``wrong`` (kind), ``unknown`` (type or property), ``loose`` (understandable)
    path: str
    message: str


def metadata_findings(metadata: object) -> tuple[Finding, ...]:
    """Return at most 50 findings; never raises."""
    if metadata is None:
        return (Finding("missing", "", "there is no metadata"),)
    if not isinstance(metadata, Mapping):
        return (Finding("wrong", "", "the metadata is not an object with keys"),)
    if not metadata:
        return (Finding("missing", "", "the metadata is empty"),)
    try:
        return tuple(islice(_whole(metadata), _MOST))
    except Exception as problem:  # an object from outside may do anything when it is looked at
        return (Finding("wrong", "", f"the metadata cannot be read ({type(problem).__name__})"),)


def software_types(metadata: object) -> tuple[str, ...]:
    if not isinstance(metadata, Mapping):
        return ()
    return tuple(name for name in _types(metadata) if name in SOFTWARE_TYPES)


def right_context(value: object) -> bool:
    """Return whether a ``@context`` brings the schema.org vocabulary in (a text, or a list that holds it)."""
    if isinstance(value, str):
        return _CONTEXTS.fullmatch(value) is not None
    if isinstance(value, list | tuple):
        return any(right_context(item) for item in value[:_MOST] if isinstance(item, str))
    return isinstance(value, Mapping) and right_context(value.get("@vocab"))


def _types(node: Mapping[object, object]) -> tuple[str, ...]:
    value = node.get("@type")
    items = value if isinstance(value, list | tuple) else (value,)
    return tuple(_PREFIX.sub("", item) for item in items[:_MOST] if isinstance(item, str) and item)


def _whole(metadata: Mapping[object, object]) -> Iterator[Finding]:
    context = metadata.get("@context")
    if not context:
        yield Finding("missing", "@context", "@context is missing: without it the keys mean nothing to a reader")
    elif not right_context(context):
        yield Finding("wrong", "@context", f"@context is {quote(str(context), 60)}, not https://schema.org")
    if "@graph" in metadata:
        yield Finding("loose", "@graph", "@graph holds several objects; one software object is expected")
    yield from _type_findings(metadata)
    for name in ("name", "description"):
        if not metadata.get(name):
            yield Finding("missing", name, f"{name} is missing or empty")
    yield from _node(metadata, "", 0)


def _type_findings(metadata: Mapping[object, object]) -> Iterator[Finding]:
    found = _types(metadata)
    if not found:
        yield Finding("missing", "@type", "@type is missing: SoftwareSourceCode or SoftwareApplication is expected")
        return
    if any(name in SOFTWARE_TYPES for name in found):
        return
    name = quote(found[0], 60)
    near = difflib.get_close_matches(found[0][:60], SOFTWARE_TYPES, 1, 0.6)
    if found[0] in GENERAL_TYPES:
        yield Finding("loose", "@type", f"@type {name} says too little: SoftwareSourceCode fits a repository")
    elif near:
        yield Finding("unknown", "@type", f"@type {name} does not exist; {near[0]} is near")
    else:
        yield Finding("wrong", "@type", f"@type {name} is not a type for software, such as SoftwareSourceCode")


def _node(node: Mapping[object, object], path: str, depth: int) -> Iterator[Finding]:
    types = _types(node)
    known: dict[str, tuple[str, ...]] = {}
    for name in types:
        known |= properties(name)
    if not known and depth == 0:
        known = properties("SoftwareSourceCode") | properties("SoftwareApplication")
    for raw, value in node.items():
        if not isinstance(raw, str):
            yield Finding("wrong", path, f"the key {quote(repr(raw), 40)} is not text")
            continue
        if raw.startswith("@"):
            continue
        name = _PREFIX.sub("", raw)
        here = f"{path}.{name}" if path else name
        here = quote(here, 80)
        if name in known:
            yield from _value(value, known[name], here, depth)
        elif known:
            yield _unknown(name, here, types, known)


def _unknown(name: str, path: str, types: Sequence[str], known: Mapping[str, object]) -> Finding:
    subject = types[0] if types else "software"
    if ":" in name:
        return Finding("loose", path, f"{path} is from another vocabulary than schema.org")
    elsewhere = owners(name)
    if elsewhere:
        return Finding("unknown", path, f"{path} is a property of {' and '.join(elsewhere)}, not of {subject}")
    near = difflib.get_close_matches(name[:60], known, 1, 0.75)
    hint = f"; {near[0]} is near" if near else ""
    return Finding("unknown", path, f"{path} is not a property of {quote(subject, 40)}{hint}")


def _value(value: object, kinds: tuple[str, ...], path: str, depth: int) -> Iterator[Finding]:
    if depth >= _DEEPEST:
        return
    if isinstance(value, list | tuple):
        for item in value[:_MOST]:
            if isinstance(item, list | tuple):
                yield Finding("wrong", path, f"{path} is a list inside a list")
            else:
                yield from _value(item, kinds, path, depth + 1)
        return
    nested = tuple(kind for kind in kinds if kind not in SCALARS)
    wanted = " or ".join(kinds)
    if value is None or value == "":
        yield Finding("loose", path, f"{path} is empty; leave it out or give {wanted}")
    elif isinstance(value, Mapping):
        if "@value" in value:
            yield from _value(value["@value"], kinds, path, depth + 1)
        elif not nested:
            yield Finding("wrong", path, f"{path} is an object; {wanted} is expected")
        else:
            if not _types(value) and "@id" not in value:
                yield Finding("loose", path, f"{path} is an object without @type; {wanted} is expected")
            yield from _node(value, path, depth + 1)
    elif not any(_fits(value, kind) for kind in kinds):
        loose = isinstance(value, str) and bool(nested)
        shown = quote(str(value), 40)
        yield Finding("loose" if loose else "wrong", path, f"{path} is {shown!r}; {wanted} is expected")


def _fits(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "Boolean"
    if isinstance(value, int | float):
        return kind in {"Number", "Integer"} if isinstance(value, int) else kind == "Number"
    if not isinstance(value, str) or len(value) > 100_000:
        return False
    text = value.strip()
    if kind == "Boolean":
        return _PREFIX.sub("", text).lower() in {"true", "false"}
    pattern = _FORMS.get(kind)
    return kind == "Text" or (pattern is not None and pattern.match(text) is not None)
