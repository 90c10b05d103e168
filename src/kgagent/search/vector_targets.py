"""What a vector search searches: the relationships, or the nodes of one label, with the statements
that do so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kgagent.graph.features import ServerFeatures
from kgagent.graph.identifiers import Identifier
from kgagent.graph.schema_parts import STATEMENT, node_vector_index, relationship_vector_indexes
from kgagent.graph.statements import Filling, Fragment, Statement, statement
from kgagent.ontology import Ontology

ALL_FIELDS = Fragment("_found_relationship")
"""Everything of a relationship that a result may contain."""

RANKING_FIELDS = Fragment("_ranked_relationship")
"""What ranking and expansion need to know of a relationship; the rest is read for results only."""


@dataclass(frozen=True)
class EmbeddedQuery:
    """A vector to search for.

    Attributes:
        vector: float32, shape (dimensions,); empty if the text could not be embedded.
        threshold: minimum plain cosine, -1 to 1.
        text: the query in words; empty if unknown.
    """

    vector: Sequence[float]
    threshold: float
    text: str = ""


@dataclass(frozen=True)
class VectorTarget:
    """Where a vector search searches.

    Attributes:
        name: distinguishes targets; a label, or "relationships" or "statements" with the Neo4j
            types.
        kind: what is searched, as the names of its statements have it.
        label: label of the nodes or statements; empty for relationships.
        indexes: names of its vector indexes.
        places: what fills the places of its statements.
        count_statement: counts the vectors of a user, up to a limit.
        exact_statement: compares each vector of a user.
        total_statement: counts the records of all users that its indexes cover, from the counts
            that the server keeps.
        filters: parameters of its statements beside the common ones.
        is_filtered_later: whether the statements filter what the index returns.
    """

    name: str
    kind: Literal["nodes", "relationships", "statements"]
    label: str
    indexes: Sequence[str]
    places: Mapping[str, Filling]
    count_statement: Statement
    exact_statement: Statement
    total_statement: Statement
    filters: Mapping[str, Any] = field(default_factory=dict)
    is_filtered_later: bool = False

    @property
    def index_statement(self) -> Statement:
        """Searches an index that filters inside itself."""
        return statement(
            f"search_{self.kind}_index",
            index=Identifier(self.indexes[0]),
            **self._within,
            **self.places,
        )

    @property
    def _within(self) -> dict[str, Fragment]:
        """What the index filters by beside the user: days only where everything that a filter keeps
        has days.
        """
        chosen, of_statements = self.filters.get("filter", {}), self.kind == "statements"
        by_type = self.filters.get("relationship_types") is not None
        types = "_within_statement_types" if of_statements else "_within_types"
        by_days = chosen.get("between") or (of_statements and chosen.get("as_of"))
        days = "_within_statement_days" if of_statements else "_within_days"
        return {
            "within_types": Fragment(types if by_type else "_nothing"),
            "within_days": Fragment(days if by_days else "_nothing"),
        }

    @property
    def procedure_statement(self) -> Statement:
        """Searches an index that cannot filter."""
        return statement(f"search_{self.kind}_procedure", **self.places)


def relationship_target(
    ontology: Ontology,
    features: ServerFeatures,
    neo4j_types: Sequence[str] | None,
    fields: Fragment,
) -> VectorTarget:
    """All relationships, or those of some Neo4j types; `fields` is what is read of each match."""
    types = tuple(ontology.relationships if neo4j_types is None else neo4j_types)
    indexes = relationship_vector_indexes(ontology, features)
    places: dict[str, Filling] = {
        "labels": Identifier.any_of(ontology.labels),
        "types": Identifier.any_of(types),
        "relationship": fields,
    }
    return VectorTarget(
        name=" ".join(("relationships", *(neo4j_types or ()))),
        kind="relationships",
        label="",
        indexes=tuple(
            name for name, covered in indexes.items() if not set(covered).isdisjoint(types)
        ),
        places=places,
        count_statement=statement("count_relationships", **places),
        exact_statement=statement("search_relationships_exact", **places),
        total_statement=statement(
            "total_relationships", types=Identifier.any_of(ontology.relationships)
        ),
    )


def statement_target(ontology: Ontology, neo4j_types: Sequence[str] | None) -> VectorTarget:
    """The statements of all nodes, and of the relationships of some Neo4j types."""
    places: dict[str, Filling] = {
        "label": Identifier(STATEMENT),
        "labels": Identifier.any_of(ontology.labels),
        "types": Identifier.any_of(ontology.relationships if neo4j_types is None else neo4j_types),
        "relationship": RANKING_FIELDS,
    }
    return VectorTarget(
        name=" ".join(("statements", *(neo4j_types or ()))),
        kind="statements",
        label=STATEMENT,
        indexes=(node_vector_index(STATEMENT),),
        places=places,
        count_statement=statement("count_statements", **places),
        exact_statement=statement("search_statements_exact", **places),
        total_statement=statement("total_nodes", labels=Identifier(STATEMENT)),
    )


def node_target(label: str) -> VectorTarget:
    """The nodes of one label."""
    places: dict[str, Filling] = {"label": Identifier(label)}
    return VectorTarget(
        name=label,
        kind="nodes",
        label=label,
        indexes=(node_vector_index(label),),
        places=places,
        count_statement=statement("count_nodes", **places),
        exact_statement=statement("search_nodes_exact", **places),
        total_statement=statement("total_nodes", labels=Identifier(label)),
    )
