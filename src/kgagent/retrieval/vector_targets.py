"""What a vector search can look through: the relationships, or the nodes of one label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgagent.graph.features import ServerFeatures
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.schema_parts import node_vector_index, relationship_vector_indexes
from kgagent.graph.statements import Filling, Fragment, Statement, statement
from kgagent.ontology import Ontology

IN_FULL = Fragment("_found_relationship")
"""All of a relationship that may be shown."""

TO_BE_RANKED = Fragment("_ranked_relationship")
"""What of a relationship must be known to rank it and to go on from it."""


@dataclass(frozen=True)
class VectorTarget:
    """Where a vector search looks.

    Attributes:
        kind: "relationship" or "node".
        name: tells this target from others.
        indexes: names of its vector indexes.
        places: names, and what is read of a relationship, that its statements need.
        filters: parameters of its statements beside the common ones.
        variant: ending of the statements that search the index.
    """

    kind: str
    name: str
    ontology: Ontology
    indexes: Sequence[str]
    places: Mapping[str, Filling]
    filters: Mapping[str, Any] = field(default_factory=dict)
    variant: str = ""

    def count_statement(self) -> str:
        """Counts what a user has, up to a limit."""
        return statement(f"count_{self.kind}s", **self.places)

    def exact_statement(self) -> Statement:
        """Compares each vector of a user."""
        return statement(f"search_{self.kind}s_exact", **self.places)

    def index_statement(self) -> str:
        """Asks the index that filters inside itself."""
        return statement(f"search_{self.kind}s_index{self.variant}", index=Identifier(self.indexes[0]), **self.places)

    def procedure_statement(self) -> str:
        """Asks an index that cannot filter."""
        return statement(f"search_{self.kind}s_procedure", **self.places)

    def read(self, row: Mapping[str, Any]) -> Record:
        """Read a matched record, whose properties come as pairs."""
        if self.kind == "node":
            return found_node(row["node"], self.ontology, [self.name])
        return found_relationship(row["relationship"])


def relationship_target(
    ontology: Ontology,
    features: ServerFeatures,
    relationship_types: Sequence[str] | None,
    told: Fragment = IN_FULL,
) -> VectorTarget:
    """All relationships, or those of some free types ("mentor"); and what is read of those that are found."""
    return VectorTarget(
        kind="relationship",
        name="relationships",
        ontology=ontology,
        indexes=tuple(relationship_vector_indexes(ontology, features)),
        places={
            "labels": Identifier.any_of(ontology.labels),
            "types": Identifier.any_of(ontology.relationships),
            "relationship": told,
        },
        filters={"relationship_types": None if relationship_types is None else list(relationship_types)},
        variant="" if relationship_types is None else "_typed",
    )


def node_target(ontology: Ontology, label: str) -> VectorTarget:
    """The nodes of one label."""
    return VectorTarget(
        kind="node",
        name=label,
        ontology=ontology,
        indexes=(node_vector_index(label),),
        places={"label": Identifier(label)},
    )


def found_node(found: Mapping[str, Any], ontology: Ontology, labels: Sequence[str]) -> NodeRecord:
    """Read the map that `_found_node.cypher` makes; of a node with several labels, one of `labels` is told."""
    return NodeRecord.read(_with_properties(found), ontology, labels=labels)


def found_relationship(found: Mapping[str, Any]) -> RelationshipRecord:
    """Read the map that `_found_relationship.cypher` or `_ranked_relationship.cypher` makes."""
    return RelationshipRecord.read(_with_properties(found))


def _with_properties(found: Mapping[str, Any]) -> dict[str, Any]:
    return {**found, "properties": dict(found["properties"])}
