"""How each thing that can be wrong with a record is told, how bad it is, and what mends it."""

import shlex
from dataclasses import dataclass

from kgagent.doctor.ledger import Issue
from kgagent.graph.conditions import Defect, VectorCondition

_BY_HAND = "Decide by hand; until then the tools and the migration leave it as it is"
_GIVE_USER = "Set user_id on the node, and on its relationships with `kgagent migrate`"
_GIVE_KEY = "Give the node an entity_key of its own (a uuid will do), or delete it"
_RELABEL = "Give the node a label of the ontology, or name its label in an ontology of your own (KGAGENT_ONTOLOGY)"
_SCALE = "Set it to 1 to 5 with the update_relationship tool, or in Cypher"
_VERSION = "Remove the property `version`, which kgagent counts writes with: SET x.version = null"
_DUPLICATES = (
    "Keep one of each and delete the others; this lists them: MATCH (a)-[r]-(b) WHERE elementId(a) < elementId(b) "
    "WITH a, b, type(r) AS type, collect(r) AS found WHERE size(found) > 1 RETURN a, b, type, found"
)
SHARED_KEYS_MEND = (
    "Merge them or give each a key of its own; this lists them: MATCH (n) WHERE n.entity_key IS NOT NULL "
    "WITH n.entity_key AS key, collect(n) AS found WHERE size(found) > 1 RETURN key, found"
)

NODE_DEFECTS = {
    Defect.NO_ENTITY_KEY: Issue("warning", "have no entity_key that is text, so that no tool finds them", _GIVE_KEY),
    Defect.NO_USER: Issue("warning", "have no user_id that is text, so that no search finds them", _GIVE_USER),
    Defect.WRONG_VERSION: Issue("warning", "have a version that is no whole number", _VERSION),
}

RELATIONSHIP_DEFECTS = {
    Defect.NO_LABEL: Issue("warning", "touch a node with none of the ontology's labels", _RELABEL),
    Defect.NO_ENTITY_KEY: Issue("warning", "touch a node without an entity_key", _GIVE_KEY),
    Defect.NO_USER: Issue("warning", "touch a node without a user_id", _GIVE_USER),
    Defect.TWO_USERS: Issue("error", "join nodes of different users", "Delete them, or give both nodes to one user"),
    Defect.ONE_NODE: Issue("warning", "join a node with itself", _BY_HAND),
    Defect.WRONG_LABELS: Issue("warning", "join nodes of labels that their type does not join", _BY_HAND),
    Defect.DUPLICATE: Issue("warning", "are duplicates of another one of their type between their nodes", _DUPLICATES),
    Defect.WRONG_LEVEL: Issue(
        "warning", "have an attitude or proximity that is neither 1 to 5 nor a word of their type", _SCALE
    ),
    Defect.WRONG_VERSION: Issue("warning", "have a version that is no whole number", _VERSION),
}


@dataclass(frozen=True)
class MigrationIssues:
    """What the migration mends, in the words of one user's command or of everybody's."""

    user_id: str | None

    @property
    def command(self) -> str:
        """The command that mends."""
        return "kgagent migrate" if self.user_id is None else f"kgagent migrate --user {shlex.quote(self.user_id)}"

    def vector(self, condition: VectorCondition) -> Issue:
        """A vector that is not that of the text."""
        return Issue("warning", f"have {condition}", self.command)

    @property
    def expired(self) -> Issue:
        """Notes that no longer count, but still did when the embedding was made."""
        return Issue("warning", "have an embedding that still holds notes which have expired", self.command)

    @property
    def unfound_notes(self) -> Issue:
        """Notes as full-text search knows them are not those that the record has."""
        return Issue("warning", "have notes that full-text search does not find, or still finds", self.command)

    @property
    def old_embeddings(self) -> Issue:
        """Embedding fields that kgagent no longer reads."""
        return Issue("warning", "hold embedding fields of an old form", self.command)

    @property
    def old_is_reversed(self) -> Issue:
        """`is_reversed` under its old name, which searches still read."""
        return Issue("warning", "hold told_in_reverse, the old name of is_reversed", self.command)

    @property
    def no_user(self) -> Issue:
        """Without it no search finds them."""
        return Issue("warning", "have no user_id, so that no search finds them", self.command)

    @property
    def wrong_user(self) -> Issue:
        """A search of that user would show another one's relationship."""
        return Issue("error", "have a user_id that is not that of their nodes", self.command)

    @property
    def wrong_key(self) -> Issue:
        """Without it the database cannot refuse a second relationship of the type."""
        return Issue("warning", "have no relationship_key, or not that of their nodes", self.command)

    @property
    def written_levels(self) -> Issue:
        """Old graphs hold words and numbers written as text."""
        return Issue("warning", "hold attitude or proximity as text instead of as a number", self.command)
