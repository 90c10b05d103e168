"""Queries in the first person: "my sister" is a relationship of the graph's owner."""

from collections.abc import Sequence

from kgagent.graph.identifiers import Identifier
from kgagent.graph.statements import statement
from kgagent.retrieval.candidates import Candidate, key_of, read_relationship
from kgagent.retrieval.scope import RelationshipFilter, SearchScope
from kgagent.retrieval.vector_search import VectorQuery
from kgagent.retrieval.vector_targets import VectorTarget

READ = 2_000
"""Relationships of the owner that are compared with a query."""

MATCHES = 20


async def owner_matches(
    scope: SearchScope, target: VectorTarget, types: RelationshipFilter, query: VectorQuery
) -> tuple[frozenset[str], Sequence[Candidate]]:
    """The keys of the graph's owner, and the relationships there that are nearest to a query.

    Raises:
        StoreError: the database failed.
    """
    owner = scope.ontology.owner_label
    if owner is None:
        return frozenset(), ()
    rows = await scope.read(
        statement("search_owner_relationships", **target.places, owner=Identifier(owner)),
        {
            **types.parameters,
            "vector": scope.store.vector(query.vector),
            "threshold": query.threshold,
            "hub_limit": READ,
            "limit": MATCHES,
        },
    )
    matches = [match for row in rows for match in row["matches"] if match["relationship"]]
    found = [(read_relationship(match["relationship"]), match["similarity"]) for match in matches]
    candidates = [Candidate(key_of(record), similarity, record, similarity) for record, similarity in found]
    return frozenset(row["owner"] for row in rows), candidates
