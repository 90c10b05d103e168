"""The issues that records can have: severity, phrase and fix of each, and how many records have it."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from kgagent.formatting import beginning
from kgagent.upkeep.diagnosis import Finding, Severity
from kgagent.upkeep.examination import Condition, Defect
from kgagent.upkeep.scan import Kind

MAX_MODEL_NAME = 80

MIGRATE = "{migrate}"
"""Stands for the command that migrates the records that were examined."""


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
    fix: str = MIGRATE

    def finding(self, records: str, example: object, user_id: str | None) -> Finding:
        """The finding about records with this issue.

        Args:
            records: which ones, such as "3 of 100 nodes".
            example: one of them; None names none.
            user_id: owner of the records that were examined; None if those of all users were.
        """
        migrate = "kgagent migrate" if user_id is None else f"kgagent migrate --user {shlex.quote(user_id)}"
        message = f"{records} {self.phrase}" + ("" if example is None else f", such as {example}")
        return Finding(self.severity, message, self.fix.replace(MIGRATE, migrate))


class IssueCounter:
    """Counts the records of one kind that have an issue, with one example of each issue."""

    def __init__(self, kind: str) -> None:
        self.examined = 0
        self._kind = kind
        self._counts: dict[Issue, tuple[int, str]] = {}

    def add(self, issue: Issue, example: object) -> None:
        """Count a record; the first record of an issue is its example."""
        count, first = self._counts.get(issue) or (0, str(example))
        self._counts[issue] = (count + 1, first)

    def findings(self, user_id: str | None) -> Iterator[Finding]:
        """One finding for each issue."""
        for issue, (count, example) in self._counts.items():
            yield issue.finding(f"{count:,} of {self.examined:,} {self._kind}", example, user_id)


EXPIRED = Issue("warning", "have an embedding that still includes expired notes")

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

SHARED_KEYS = Issue(
    "error",
    "share their entity_key with another node of their user",
    "Merge them or give each a unique key; to list them: MATCH (n) WHERE n.entity_key IS NOT NULL "
    "WITH n.user_id AS user, n.entity_key AS key, collect(n) AS found WHERE size(found) > 1 RETURN user, key, found",
)

_WRONG_VERSION = Issue("warning", "have a version that is not an integer", _REMOVE_VERSION)

_NODE_DEFECTS = {
    Defect.NO_ENTITY_KEY: Issue("warning", "have no entity_key of type string, so no tool finds them", _SET_KEY),
    Defect.NO_USER: Issue("warning", "have no user_id of type string, so no search finds them", _SET_USER),
    Defect.WRONG_VERSION: _WRONG_VERSION,
}

_RELATIONSHIP_DEFECTS = {
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
    Defect.WRONG_VERSION: _WRONG_VERSION,
}

DEFECTS: dict[Kind, dict[Defect, Issue]] = {"nodes": _NODE_DEFECTS, "relationships": _RELATIONSHIP_DEFECTS}

CONDITIONS = {
    condition: Issue("error" if condition is Condition.WRONG_USER else "warning", condition) for condition in Condition
}
"""What the migration fixes; a search of another user would return a relationship with that user's id."""


def other_model(stored: object, present: str) -> Issue:
    """Another model made the embedding, so that no semantic search finds the record.

    Args:
        stored: the name of the model that made it.
        present: the name of the connected one.
    """
    return Issue(
        "error",
        f"have an embedding of model {beginning(repr(stored), MAX_MODEL_NAME)}, which semantic search omits",
        f"{MIGRATE} embeds them again with {present!r}; or set KGAGENT_EMBEDDER and the model that made them",
    )
