"""The kinds of issue that a record can have: message, severity and fix of each, and how many records have it."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from kgagent.doctor.diagnosis import Finding, Severity
from kgagent.formatting import beginning
from kgagent.graph.conditions import Defect, VectorCondition


@dataclass(frozen=True)
class Issue:
    """A kind of issue.

    Attributes:
        severity: of the finding.
        phrase: continues "3 of 100 nodes …".
        fix: a command, or what to do.
    """

    severity: Severity
    phrase: str
    fix: str


class IssueCounter:
    """Counts the records of one kind that have an issue; keeps one example of each issue."""

    def __init__(self, kind: str) -> None:
        self.examined = 0
        self._kind = kind
        self._counts: dict[Issue, tuple[int, str]] = {}

    def add(self, issue: Issue, example: object) -> None:
        """Count a record; the first record of an issue is its example."""
        count, first = self._counts.get(issue) or (0, str(example))
        self._counts[issue] = (count + 1, first)

    def findings(self) -> Iterator[Finding]:
        """One finding for each issue."""
        for issue, (count, example) in self._counts.items():
            message = f"{count:,} of {self.examined:,} {self._kind} {issue.phrase}, such as {example}"
            yield Finding(issue.severity, message, issue.fix)


MAX_MODEL_NAME = 80

_BY_HAND = "Fix by hand; the tools and the migration do not change such relationships"
_SET_USER = "Set user_id on the node, then run `kgagent migrate` to set it on its relationships"
_SET_KEY = "Give the node a unique entity_key, such as a UUID, or delete it"
_SET_LABEL = "Give the node a label of the ontology, or add its label to a custom ontology (KGAGENT_ONTOLOGY)"
_SET_LEVEL = "Set it to 1 to 5 with the update_relationship tool or in Cypher"
_REMOVE_VERSION = "Remove the property `version`, which kgagent uses to count writes: SET x.version = null"
_DELETE_DUPLICATES = (
    "Keep one of each and delete the others; to list them: MATCH (a)-[r]-(b) WHERE elementId(a) < elementId(b) "
    "WITH a, b, type(r) AS type, collect(r) AS found WHERE size(found) > 1 RETURN a, b, type, found"
)
SHARED_KEYS_FIX = (
    "Merge them or give each a unique key; to list them: MATCH (n) WHERE n.entity_key IS NOT NULL "
    "WITH n.user_id AS user, n.entity_key AS key, collect(n) AS found WHERE size(found) > 1 RETURN user, key, found"
)

NODE_DEFECTS = {
    Defect.NO_ENTITY_KEY: Issue("warning", "have no entity_key of type string, so no tool finds them", _SET_KEY),
    Defect.NO_USER: Issue("warning", "have no user_id of type string, so no search finds them", _SET_USER),
    Defect.WRONG_VERSION: Issue("warning", "have a version that is not an integer", _REMOVE_VERSION),
}

RELATIONSHIP_DEFECTS = {
    Defect.NO_LABEL: Issue("warning", "have a node without a label of the ontology", _SET_LABEL),
    Defect.NO_ENTITY_KEY: Issue("warning", "have a node without an entity_key", _SET_KEY),
    Defect.NO_USER: Issue("warning", "have a node without a user_id", _SET_USER),
    Defect.TWO_USERS: Issue(
        "error", "connect nodes of different users", "Delete them, or assign both nodes to one user"
    ),
    Defect.ONE_NODE: Issue("warning", "connect a node to itself", _BY_HAND),
    Defect.WRONG_LABELS: Issue("warning", "connect nodes with labels that their type does not allow", _BY_HAND),
    Defect.DUPLICATE: Issue(
        "warning", "duplicate another relationship of the same type between the same nodes", _DELETE_DUPLICATES
    ),
    Defect.WRONG_LEVEL: Issue(
        "warning", "have an attitude or proximity that is neither 1 to 5 nor a word of their type", _SET_LEVEL
    ),
    Defect.WRONG_VERSION: Issue("warning", "have a version that is not an integer", _REMOVE_VERSION),
}


@dataclass(frozen=True)
class MigrationIssues:
    """The issues that `kgagent migrate` fixes, for one user or for all users."""

    user_id: str | None

    @property
    def command(self) -> str:
        """The command that fixes them."""
        return "kgagent migrate" if self.user_id is None else f"kgagent migrate --user {shlex.quote(self.user_id)}"

    def vector(self, condition: VectorCondition) -> Issue:
        """The stored vector is not the embedding of the text; that of another model is handled by `other_model`."""
        return Issue("warning", f"have {condition}", self.command)

    def other_model(self, stored: object, present: str) -> Issue:
        """Another model made the vector, so that no semantic search finds the record.

        Args:
            stored: the name of the model that made it.
            present: the name of the connected one.
        """
        phrase = f"have an embedding of model {beginning(repr(stored), MAX_MODEL_NAME)}, which semantic search omits"
        fix = f"{self.command} embeds them again with {present!r}; or set KGAGENT_EMBEDDER and the model that made them"
        return Issue("error", phrase, fix)

    @property
    def expired(self) -> Issue:
        """The embedding was made before a note expired."""
        return Issue("warning", "have an embedding that still includes expired notes", self.command)

    @property
    def notes_text(self) -> Issue:
        """The text that full-text search indexes differs from the notes."""
        return Issue("warning", "have notes that full-text search misses, or still finds", self.command)

    @property
    def old_embeddings(self) -> Issue:
        """The record has embedding properties that kgagent no longer reads."""
        return Issue("warning", "have embedding properties of an old format", self.command)

    @property
    def old_is_reversed(self) -> Issue:
        """`is_reversed` under its old name, which searches still read."""
        return Issue("warning", "hold told_in_reverse, the old name of is_reversed", self.command)

    @property
    def no_user(self) -> Issue:
        """Searches filter relationships by user_id."""
        return Issue("warning", "have no user_id, so no search finds them", self.command)

    @property
    def wrong_user(self) -> Issue:
        """A search of that user would return another user's relationship."""
        return Issue("error", "have a user_id that differs from their nodes' user_id", self.command)

    @property
    def wrong_key(self) -> Issue:
        """Without it the database cannot reject a second relationship of the type."""
        return Issue("warning", "have no relationship_key, or one that does not match their nodes", self.command)

    @property
    def levels_as_text(self) -> Issue:
        """Old graphs store words, and numbers as text."""
        return Issue("warning", "store attitude or proximity as text instead of a number", self.command)
