"""The word tables and rules of the documents, independent of the tested code."""

WORDS: dict[str, dict[str, list[str]]] = {
    "has_relationship_with": {
        "attitude": ["hostile", "unfriendly", "neutral", "friendly", "close"],
        "proximity": ["stranger", "acquaintance", "familiar", "known-well", "intimate-knowledge"],
    },
    "engages_with": {
        "attitude": ["dislikes", "skeptical", "neutral", "interested", "passionate"],
        "proximity": ["unfamiliar", "aware", "understands", "experienced", "expert"],
    },
    "associated_with": {
        "attitude": ["negative-view", "unfavorable", "neutral", "favorable", "strongly-positive"],
        "proximity": ["distant", "aware-of", "familiar-with", "involved-with", "deeply-connected"],
    },
    "relates_to": {
        "attitude": ["contradicts", "conflicts", "independent", "complementary", "integral"],
        "proximity": [
            "loosely-related",
            "somewhat-related",
            "related",
            "closely-related",
            "inseparable",
        ],
    },
    "involves": {
        "attitude": ["peripheral", "minor", "relevant", "important", "central"],
        "proximity": ["tangential", "mentioned", "involved", "key-component", "essential"],
    },
    "connected_to": {
        "attitude": ["adversarial", "competing", "independent", "cooperative", "integrated"],
        "proximity": [
            "distantly-connected",
            "indirectly-connected",
            "connected",
            "closely-linked",
            "tightly-coupled",
        ],
    },
}

SOURCE_WORDS: dict[str, dict[str, list[str]]] = {
    "engages_with_source": {
        "attitude": ["rejecting", "critical", "neutral", "appreciative", "devoted"],
        "proximity": ["heard-of", "skimmed", "has-read", "studied", "knows-thoroughly"],
    },
    "covered_in": {
        "attitude": ["refuted", "questioned", "neutral", "supported", "advocated"],
        "proximity": ["touched-on", "outlined", "discussed", "covered-in-depth", "main-topic"],
    },
    "appears_in": {
        "attitude": ["condemned", "criticized", "neutral", "praised", "celebrated"],
        "proximity": ["named-in-passing", "mentioned", "described", "prominent", "main-subject"],
    },
}
"""Words of the types that the default ontology adds to those of the documents."""

PAIRS = {
    ("Person", "Person"): "has_relationship_with",
    ("Person", "Concept"): "engages_with",
    ("Person", "Entity"): "associated_with",
    ("Concept", "Concept"): "relates_to",
    ("Concept", "Entity"): "involves",
    ("Entity", "Entity"): "connected_to",
}

SOURCE_PAIRS = {
    ("Person", "Source"): "engages_with_source",
    ("Concept", "Source"): "covered_in",
    ("Entity", "Source"): "appears_in",
}

OLD_FIELDS = ("relation_embedding", "notes_embedding", "description_embedding")

NEVER_RETURNED = frozenset(
    {
        "embedding",
        "relation_embedding",
        "notes_embedding",
        "description_embedding",
        "relationship_embedding",
        "is_dirty",
        "decay_gradient",
        "recall_frequency",
        "last_recall_interval",
        "created_by",
        "last_update_source",
    }
)

RELATIONSHIP_DEFAULTS = {
    "confidence": 0.8,
    "state": "candidate",
    "salience": 0.5,
    "recall_frequency": 0,
    "last_recall_interval": 0,
    "decay_gradient": 1.0,
    "access_count": 0,
    "is_dirty": False,
}


def word(neo4j_type: str, field: str, level: object) -> str:
    """The word of a level, or nothing."""
    return (
        (WORDS | SOURCE_WORDS)[neo4j_type][field][level - 1]
        if isinstance(level, int) and 1 <= level <= 5
        else ""
    )
