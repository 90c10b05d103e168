"""The server, its constraints and indexes, and the embedder."""

from kgagent.doctor.diagnosis import Finding
from kgagent.embedding.base import Embedder
from kgagent.errors import KgAgentError
from kgagent.graph.features import ServerFeatures
from kgagent.graph.schema import Schema
from kgagent.graph.statements import statement
from kgagent.graph.store import Store

COMPLETE = 100.0
SAMPLE = "a mentor from college"


def examine_features(features: ServerFeatures) -> list[Finding]:
    """Say what the server's version costs."""
    if features.filtered_vector_indexes:
        return []
    return [
        Finding(
            "info",
            f"Neo4j {features.version} cannot filter inside a vector index: where a user has many relationships, a "
            "search asks the index for more and more until enough of them are the user's",
            "Neo4j 2026.01 or later is faster; nothing has to be changed",
        )
    ]


async def examine_schema(store: Store, schema: Schema) -> list[Finding]:
    """Find constraints and indexes that are missing, do not fit, or are not complete yet.

    Raises:
        StoreError: the database failed.
    """
    problems = await schema.problems()
    found = [Finding("error", f"{', '.join(p.names)}: {p.what}", p.mend) for p in problems]
    for other in await schema.differing_options():
        what = f"{', '.join(other.names)}: made with other options than the settings choose ({other.what})"
        found.append(Finding("info", what, f"Nothing has to be changed; {other.mend} makes them anew"))
    ours = {part.name for part in schema.parts}
    for row in await store.run_schema(statement("show_index_states")):
        if row["name"] in ours and row["state"] != "FAILED":
            found += _incomplete(str(row["name"]), str(row["state"]), float(row["populationPercent"] or 0.0))
    return found


async def examine_embedder(embedder: Embedder) -> list[Finding]:
    """Make one embedding and see whether it comes."""
    try:
        [embedding] = await embedder.embed([SAMPLE])
    except KgAgentError as error:
        return [
            Finding(
                "error", f"{embedder} makes no embeddings: {error}", "Mend what the text says, or set KGAGENT_EMBEDDER"
            )
        ]
    if len(embedding) == embedder.dimensions:
        return []
    return [
        Finding(
            "error",
            f"{embedder} makes embeddings of length {len(embedding)}",
            f"Set KGAGENT_EMBEDDING_DIMENSIONS={len(embedding)}",
        )
    ]


def _incomplete(name: str, state: str, percent: float) -> list[Finding]:
    if state == "ONLINE" and percent >= COMPLETE:
        return []
    what = f"{name}: {state.lower()}, {percent:.0f} % of the data is in it; searches may miss the rest"
    return [Finding("warning", what, "Wait; if it does not move, kgagent migrate --rebuild-indexes")]
