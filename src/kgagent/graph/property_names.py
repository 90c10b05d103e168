"""Names of the properties that have a meaning for kgagent."""

from kgagent.trust import TRUST_CLASS

NODE_EMBEDDINGS = ("embedding", "kgagent_embedding")
"""Properties that may hold the embedding of a node; the ontology says which: of an adopted graph,
the second.
"""

ADOPTED = "kgagent_adopted"
ADOPTED_HASHES = "kgagent_adopted_hashes"
"""The names of the properties that kgagent added to a record of another program, and fingerprints
of the values that it wrote, in the same order.
"""

OLD_EMBEDDINGS = ("relation_embedding", "notes_embedding", "description_embedding")
"""Embeddings of the documents' earlier form: never read, and removed by the first write."""

STATEMENTS_HASH = "statements_hash"
"""Fingerprint of the statements of a record that are indexed."""

DAYS = ("when_earliest", "when_latest")
"""The first and the last day of `when`, or else of `said_on`, as numbers such as 20230204."""

NO_DAYS = (0, -1)
"""The days of a statement without a time in the index of statements: it began long ago, and
overlaps no period.
"""

PERIODS = "when_periods"
"""The first and the last day of each period of `when`, if there are several."""

FIRST_SAID = ("said_on", "source_entity_key")
"""When, in EDTF, and where a record was first said."""

HEARD_ON = "heard_on"
"""The days on which a type with one value was said to hold, in EDTF, in order."""

TRUST = TRUST_CLASS
"""The class of the call that wrote the words of a record, see `kgagent.trust`; absent: own."""

RECORD_OWNER = "kgagent_owner"
"""The owner of a record that is not the user's, in a read of several owners; never stored."""

SOURCE_TEXT = "source_text"
"""The text of a source, whose passages are statements of it."""

INTERNAL_PROPERTIES = frozenset(
    {
        *NODE_EMBEDDINGS,
        "relationship_embedding",
        ADOPTED,
        ADOPTED_HASHES,
        *OLD_EMBEDDINGS,
        "is_reversed",
        "notes_text",
    }
    | {"ingestion_run", "ingestion_progress"}
    | {
        "embedding_hash",
        "embedding_model",
        STATEMENTS_HASH,
        *DAYS,
        PERIODS,
        "version",
        "write_lock",
    }
    | {"relationship_key", "user_id", RECORD_OWNER, "history", SOURCE_TEXT, *FIRST_SAID}
    | {HEARD_ON, TRUST}
)
BOOKKEEPING = (
    "version",
    "write_lock",
    "notes_text",
    STATEMENTS_HASH,
    "embedding_hash",
    "embedding_model",
    ADOPTED,
    ADOPTED_HASHES,
)
NODE_BOOKKEEPING = (*BOOKKEEPING, NODE_EMBEDDINGS[1])
RELATIONSHIP_BOOKKEEPING = (
    *BOOKKEEPING,
    "relationship_embedding",
    "relationship_key",
    "is_reversed",
    *DAYS,
    PERIODS,
)
"""What embedding a record, and every write, sets beside its content."""

LEVEL_FIELDS = ("attitude", "proximity")
TIMES = frozenset({"created_at", "updated_at"})
"""When kgagent wrote a record; not part of its content."""
