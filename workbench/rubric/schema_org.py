"""The part of the schema.org vocabulary that describes software: types, their properties, expected values.

One entry a property, ``name:Kind|Kind``; a kind in capitals is a schema.org data type (Text, URL, Date, DateTime,
Duration, Number, Integer, Boolean) or the type of a nested object. The vocabulary is published by schema.org under
CC BY-SA 3.0; only names are used here.
"""

from __future__ import annotations

from functools import cache

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

SOFTWARE_TYPES = (
    "SoftwareSourceCode",
    "SoftwareApplication",
    "WebApplication",
    "MobileApplication",
    "VideoGame",
    "OperatingSystem",
    "RuntimePlatform",
)
"""The types that describe a piece of software; ``CreativeWork`` and ``Thing`` are true but say too little."""

GENERAL_TYPES = ("CreativeWork", "Thing")

SCALARS = frozenset({"Text", "URL", "Date", "DateTime", "Duration", "Number", "Integer", "Boolean"})


@cache
def properties(type_name: str) -> dict[str, tuple[str, ...]]:
    """Return property → expected kinds for a type, its parents' included; empty for a type not in the table."""
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
    """Return the types of the table that introduce a property."""
    return tuple(
        name for name, text in _TABLE.items() if any(entry.partition(":")[0] == property_name for entry in text.split())
    )
