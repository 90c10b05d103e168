"""Checks of the server, its constraints and indexes, and the embedder."""

from kgagent.embedding.base import Embedder
from kgagent.errors import KgAgentError
from kgagent.graph.features import ServerFeatures
from kgagent.graph.schema import Schema
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.upkeep.diagnosis import Finding

COMPLETE = 100.0
SAMPLE = "a mentor from college"


def feature_findings(features: ServerFeatures) -> list[Finding]:
    """Report which features the server's version lacks."""
    if features.filtered_vector_indexes:
        return []
    return [
        Finding(
            "info",
            f"Neo4j {features.version} cannot filter within a vector index: for a user with many relationships, a "
            "search queries the index with increasing limits until enough of the results belong to the user",
            "No change is needed; Neo4j 2026.01 or later is faster",
        )
    ]


async def schema_findings(store: Store, schema: Schema) -> list[Finding]:
    """Report constraints and indexes that are missing, do not match the settings, or are still being populated.

    Raises:
        StoreError: the database failed.
    """
    problems = await schema.problems()
    findings = [Finding("error", f"{', '.join(p.names)}: {p.what}", p.fix) for p in problems]
    replaced = await schema.replaced_constraints()
    findings += [Finding("warning", f"{', '.join(p.names)}: {p.what}", p.fix) for p in replaced]
    for other in await schema.differing_options():
        message = f"{', '.join(other.names)}: created with options other than those of the settings ({other.what})"
        findings.append(Finding("info", message, f"No change is needed; {other.fix} rebuilds them"))
    expected = {part.name for part in schema.parts}
    for row in await store.run_schema(statement("show_index_states")):
        if row["name"] in expected and row["state"] != "FAILED":
            findings += _incomplete(str(row["name"]), str(row["state"]), float(row["populationPercent"] or 0.0))
    return findings


async def embedder_findings(embedder: Embedder) -> list[Finding]:
    """Make one embedding and check its length."""
    try:
        [embedding] = await embedder.embed([SAMPLE])
    except KgAgentError as error:
        fix = "Fix what the message says, or set KGAGENT_EMBEDDER"
        return [Finding("error", f"{embedder} makes no embeddings: {error}", fix)]
    if len(embedding) == embedder.dimensions:
        return []
    message = f"{embedder} makes embeddings of length {len(embedding)}"
    return [Finding("error", message, f"Set KGAGENT_EMBEDDING_DIMENSIONS={len(embedding)}")]


def _incomplete(name: str, state: str, percent: float) -> list[Finding]:
    if state == "ONLINE" and percent >= COMPLETE:
        return []
    message = f"{name}: {state.lower()}, {percent:.0f} % populated; searches may miss the rest"
    return [Finding("warning", message, "Wait; if the percentage does not rise, run kgagent migrate --rebuild-indexes")]
