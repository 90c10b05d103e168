"""How much code one warm call runs: the modules of kgagent that it executes, and their lines.

    python benchmarks/call_footprint.py [--json]

Measures `hybrid_search` on a small graph and `update_relationship` on one of its relationships, each after several
calls of the same kind. A module counts with all its lines, since a reader of the call opens the file.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import FrameType

from _common import Server, finish, open_graph, parser, server, show

import kgagent
from kgagent import HybridSearchRequest, KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder

USER = "benchmark-call-footprint"
DIMENSIONS = 384
WARM_UP = 3
PACKAGE = Path(kgagent.__file__).parent


@dataclass(frozen=True)
class Footprint:
    """What one call executes.

    Attributes:
        modules: lines of each module of which a function ran, by its path in the package.
    """

    modules: dict[str, int]

    @property
    def lines(self) -> int:
        """Lines of all modules together."""
        return sum(self.modules.values())


async def footprint(call: Callable[[], Awaitable[object]], *, warm_up: int = WARM_UP) -> Footprint:
    """Measure one call after some calls that fill caches; what other tasks of the loop run meanwhile counts too."""
    for _ in range(warm_up):
        await call()
    files: set[str] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        await call()
    finally:
        sys.setprofile(before)
    paths = sorted(Path(file) for file in files if Path(file).is_relative_to(PACKAGE))
    return Footprint({str(path.relative_to(PACKAGE)): len(path.read_text("utf-8").splitlines()) for path in paths})


async def hybrid_search_footprint(graph: KnowledgeGraph, user_id: str) -> Footprint:
    """The footprint of a hybrid search; the user needs some nodes and relationships."""
    retrieval, request = graph.retrieval, HybridSearchRequest(query="Ada's mentor in sailing", threshold=-1.0)
    return await footprint(lambda: retrieval.hybrid_search(request, user_id=user_id))


async def update_relationship_footprint(graph: KnowledgeGraph, user_id: str, ends: tuple[str, str]) -> Footprint:
    """The footprint of a relationship's update with a new text.

    Args:
        graph: the graph.
        user_id: owner of the relationship.
        ends: keys of the nodes that it joins.
    """
    update = graph.tools(user_id=user_id)["update_relationship"]
    numbers = count(1)
    first, second = ends

    async def change() -> None:
        description = f"Taught her to sail, lesson {next(numbers)}"
        answer = await update(from_entity_key=first, to_entity_key=second, description=description)
        if not answer["success"]:
            raise SystemExit(answer["error"])

    return await footprint(change)


async def plant(graph: KnowledgeGraph, user_id: str) -> tuple[str, str]:
    """Make a small graph; the keys of the ends of its first relationship."""
    tools = graph.tools(user_id=user_id)
    keys = []
    for name in ("Ada", "Ruth", "Bo"):
        node = await tools.create_node(label="Person", name=name, description="Likes boats")
        keys.append(str(node["entity_key"]))
    for first, second, word in ((keys[1], keys[0], "mentor"), (keys[0], keys[2], "friend")):
        answer = await tools.create_relationship(
            from_entity_key=first,
            to_entity_key=second,
            relationship_type=word,
            description="They sail together",
            attitude=5,
            proximity=4,
            notes=[{"content": "Met at the harbour"}],
        )
        if not answer["success"]:
            raise SystemExit(answer["error"])
    return keys[1], keys[0]


async def run(where: Server) -> dict[str, object]:
    """Make the graph and measure both calls."""
    async with open_graph(where, HashingEmbedder(DIMENSIONS), Settings(), users=[USER]) as graph:
        ends = await plant(graph, USER)
        measured = {
            "hybrid_search": await hybrid_search_footprint(graph, USER),
            "update_relationship": await update_relationship_footprint(graph, USER, ends),
        }
    for name, one in measured.items():
        rows = [{"module": module, "lines": lines} for module, lines in one.modules.items()]
        show(f"{name}: {len(one.modules)} modules, {one.lines:,} lines", rows)
    return {
        f"{name}_{what}": value
        for name, one in measured.items()
        for what, value in (("modules", len(one.modules)), ("lines", one.lines))
    }


def main() -> None:
    """Run the benchmark."""
    arguments = parser(__doc__).parse_args()
    with server(arguments.uri) as where:
        figures = asyncio.run(run(where))
    finish(figures, as_json=arguments.json)


if __name__ == "__main__":
    main()
