"""Loading a JSON Lines file: checked first, then its nodes, then its relationships."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from kgagent.errors import EmbeddingError, InputError, StoreError
from kgagent.graph.nodes import NodeIntent, NodeRepository, NodeStrategy
from kgagent.graph.record_saver import WriteContext
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository, RelationshipStrategy
from kgagent.loading.batches import BatchWriter, LineIntent
from kgagent.loading.check import FileCheck, check_file, valid_lines
from kgagent.loading.intents import LineConverter
from kgagent.loading.line_models import NodeLine, RelationshipLine
from kgagent.loading.node_keys import node_key
from kgagent.loading.report import LineProblem, LoadReport
from kgagent.loading.writers import node_options, relationship_options
from kgagent.progress import Progress, SilentProgress

BATCH_SIZE = 500
BATCHES_AT_ONCE = 3


async def load_file(
    path: Path,
    *,
    nodes: NodeRepository,
    relationships: RelationshipRepository,
    writing: WriteContext,
    user_id: str,
    batch_size: int = BATCH_SIZE,
    batches_at_once: int = BATCHES_AT_ONCE,
    progress: Progress | None = None,
) -> LoadReport:
    """Load nodes and relationships into a user's graph; what is there already as the file says it makes no embedding.

    A line that cannot be taken is reported and leaves the others alone. Relationships may stand before their nodes.
    The file is read three times and never held in memory.

    Args:
        path: JSON Lines in UTF-8, as FORMAT.md beside this module tells.
        nodes: reads the nodes.
        relationships: reads the relationships.
        writing: what the writes need.
        user_id: whose graph.
        batch_size: lines written in one transaction, from 1.
        batches_at_once: batches under way side by side, from 1.
        progress: shown the lines.

    Raises:
        InputError: the file cannot be read, or an argument is not one that it may be.
        EmbeddingError: a batch could not be embedded; the text says how much is in. Loading again goes on.
        StoreError: the database failed; likewise.
    """
    if not user_id:
        raise InputError("user_id must not be empty: a file is loaded into one user's graph")
    if batch_size < 1 or batches_at_once < 1:
        raise InputError(f"batch_size and batches_at_once must be at least 1, got {batch_size} and {batches_at_once}")
    started = time.perf_counter()
    progress = progress or SilentProgress()
    with progress.task(f"Checking {path.name}"):
        check = await asyncio.to_thread(check_file, path, user_id=user_id, ontology=nodes.ontology)
    sizes = {"attempts": writing.attempts, "batch_size": batch_size, "batches_at_once": batches_at_once}
    node_writer = BatchWriter(
        NodeStrategy(nodes, writing, user_id=user_id, options=node_options()), check.problems, **sizes
    )
    relationship_writer = BatchWriter(
        RelationshipStrategy(relationships, writing, user_id=user_id, options=relationship_options()),
        check.problems,
        **sizes,
    )
    converter = LineConverter(user_id, nodes.ontology, check.keys, writing.clock())
    try:
        with progress.task("Loading nodes", check.nodes) as advance:
            await node_writer.write(_nodes(path, check, converter), advance)
        check.forget_invalid_ids()
        with progress.task("Loading relationships", check.relationships) as advance:
            await relationship_writer.write(_relationships(path, check, converter), advance)
    except (EmbeddingError, StoreError) as error:
        done = node_writer.count.counts().total + relationship_writer.count.counts().total
        raise type(error)(
            f"{str(error).rstrip('.')}. {done:,} of {check.nodes + check.relationships:,} lines are in; "
            f"loading {path.name} again goes on with the rest"
        ) from error
    return LoadReport(
        nodes=node_writer.count.counts(),
        relationships=relationship_writer.count.counts(),
        embedded=node_writer.count.embedded + relationship_writer.count.embedded,
        problems=tuple(LineProblem(line=line, reason=reason) for line, reason in sorted(check.problems.items())),
        seconds=time.perf_counter() - started,
    )


def _nodes(path: Path, check: FileCheck, converter: LineConverter) -> Iterator[LineIntent[NodeIntent]]:
    for line, parsed in valid_lines(path, check):
        if isinstance(parsed, NodeLine):
            key = node_key(parsed, line.text, user_id=converter.user_id, ontology=converter.ontology)
            try:
                yield LineIntent(line.number, converter.node(parsed, key))
            except InputError as error:
                check.problems[line.number] = str(error)


def _relationships(path: Path, check: FileCheck, converter: LineConverter) -> Iterator[LineIntent[RelationshipIntent]]:
    for line, parsed in valid_lines(path, check):
        if isinstance(parsed, RelationshipLine):
            try:
                yield LineIntent(line.number, converter.relationship(parsed))
            except InputError as error:
                check.problems[line.number] = str(error)
