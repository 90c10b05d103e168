"""The proactive migration: every node and relationship is brought to the present form at once."""

from kgagent.errors import InputError, KgAgentError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.record_saver import WriteContext
from kgagent.graph.relationships import RelationshipRepository
from kgagent.migration.passes import InspectedT, IntentT, NodePass, Pass, RelationshipPass
from kgagent.migration.pipeline import Pipeline
from kgagent.migration.report import MigrationReport, MigrationStoppedError, Tally
from kgagent.progress import Progress, SilentProgress


async def migrate(
    *,
    nodes: NodeRepository,
    relationships: RelationshipRepository,
    writing: WriteContext,
    user_id: str | None = None,
    dry_run: bool = False,
    batch_size: int = 200,
    bounded_map: int = 3,
    progress: Progress | None = None,
) -> MigrationReport:
    """Embed what has no current embedding, remove the embedding fields of old graphs, and add what is missing.

    What a record says is never changed, and neither is `updated_at`. Each record is decided on by what is stored, so
    a run that was ended in any way is taken up by the next one. Writes go through the compare-and-set that the
    tools use: both may run at once. Of several relationships of one type between two nodes, only the one that the
    tools work on is migrated; the others are skipped and named.

    The constraints and indexes must be there (`Schema.ensure`). Where the embedder makes embeddings of another
    length than before, `Schema.rebuild_vector_indexes` comes first.

    Args:
        nodes: gives the database, the ontology and the nodes.
        relationships: gives the relationships.
        writing: the embedder, the clock and how often a lost race is tried again.
        user_id: whose graph; None is every user's.
        dry_run: count what would be done, write nothing and make no embedding call.
        batch_size: records embedded in one call and written in one transaction, from 1.
        bounded_map: batches under way at once, from 1.
        progress: shows how many records have been seen to.

    Raises:
        InputError: a size is below 1.
        MigrationStoppedError: the database or the embedder failed; it tells what was done by then.
    """
    if batch_size < 1 or bounded_map < 1:
        raise InputError(f"batch_size and bounded_map must be 1 or more, got {batch_size} and {bounded_map}")
    tally = Tally(dry_run)
    shown = progress or SilentProgress()

    async def run(migration: Pass[InspectedT, IntentT]) -> None:
        verb = "Examining" if dry_run else "Migrating"
        with shown.task(f"{verb} {migration.kind}", await migration.count()) as advance:
            await Pipeline(migration, tally, advance, batch_size=batch_size, bounded_map=bounded_map).run()

    try:
        await run(NodePass(nodes, writing, user_id=user_id, dry_run=dry_run))
        await run(RelationshipPass(relationships, writing, user_id=user_id, dry_run=dry_run))
    except KgAgentError as error:
        raise MigrationStoppedError(error, tally.report()) from error
    return tally.report()
