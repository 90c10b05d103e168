"""A typical call of each tool on the sample graph, and its cost."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kgagent import KnowledgeGraph, Toolset
from kgagent.cli.demo.sample import sample_file
from kgagent.observability import Recorder
from kgagent.tools.payload import dump

Arguments = dict[str, Any]


@dataclass(frozen=True)
class People:
    """Keys of nodes of the sample graph.

    Attributes:
        owner: owner of the graph.
        mentor: connected to the owner.
        distant: some hops away from the owner.
    """

    owner: str
    mentor: str
    distant: str


@dataclass(frozen=True)
class Setting:
    """Input of a call.

    Attributes:
        tools: tools of the user.
        people: existing nodes.
        number: number of the call, which varies queries and texts.
    """

    tools: Toolset
    people: People
    number: int

    async def do(self, tool: str, **arguments: object) -> Arguments:
        """Call a tool that must succeed."""
        answer = await self.tools[tool](**arguments)
        if not answer["success"]:
            raise RuntimeError(f"{tool}: {answer['error']}")
        return answer

    async def person(self, name: str) -> str:
        """A new person's key."""
        answer = await self.do(
            "create_node",
            label="Person",
            name=f"{name} {self.number}",
            description="A new neighbor",
        )
        return str(answer["node"]["entity_key"])

    async def friends(self) -> Arguments:
        """Two new people with a relationship."""
        ends = await self.strangers()
        await self.do("create_relationship", **ends, **FRIENDSHIP)
        return ends

    async def strangers(self) -> Arguments:
        """Two new people without a relationship."""
        [ends] = await self.pairs(1)
        return ends

    async def pairs(self, count: int) -> list[Arguments]:
        """Pairs of new people without a relationship."""
        names = [
            f"{name} {self.number}-{i}"
            for i in range(count)
            for name in ("Nora Finch", "Emil Brandt")
        ]
        people = [
            {"label": "Person", "name": name, "description": "A new neighbor", "new": True}
            for name in names
        ]
        created = (await self.do("remember", nodes=people))["created_nodes"]
        keys = [one["entity_key"] for one in created]
        return [
            {"from_entity_key": first, "to_entity_key": second}
            for first, second in zip(keys[::2], keys[1::2], strict=True)
        ]


FRIENDSHIP: Arguments = {
    "relationship_type": "friend",
    "description": "They share an allotment and a wheelbarrow.",
    "attitude": 4,
    "proximity": 3,
}
MENTOR_OF_A_MENTOR: Arguments = {
    "pattern_id": "two steps",
    "steps": [
        {
            "source_label": "Person",
            "relation_type": "has_relationship_with",
            "target_label": "Person",
        },
        {
            "source_label": "Person",
            "relation_type": "has_relationship_with",
            "target_label": "Person",
        },
    ],
}


async def _explore(given: Setting) -> Arguments:
    return {"queries": [{"query": f"who taught me, and when? ({given.number})"}]}


async def _describe_graph(_: Setting) -> Arguments:
    return {}


async def _hybrid_search(given: Setting) -> Arguments:
    return {"query": f"who taught me statistics? ({given.number})"}


async def _query_patterns(given: Setting) -> Arguments:
    return {"query": f"who is a mentor of whom? ({given.number})", "patterns": [MENTOR_OF_A_MENTOR]}


async def _joined(given: Setting) -> Arguments:
    return {"from_entity_key": given.people.owner, "to_entity_key": given.people.mentor}


async def _traverse(given: Setting) -> Arguments:
    return {"entity_key": given.people.owner, "hops": 2}


async def _find_paths(given: Setting) -> Arguments:
    ends = {"from_entity_key": given.people.mentor, "to_entity_key": given.people.distant}
    return {**ends, "query": f"how did they come to know each other? ({given.number})"}


async def _find_duplicates(_given: Setting) -> Arguments:
    return {"limit": 5}


async def _read_source(given: Setting) -> Arguments:
    name = f"Talk {given.number}"
    await given.do("remember", source=name, source_text="They talked about the boat.")
    return {"entity_key": name}


async def _remember(given: Setting) -> Arguments:
    names = [f"Nora Finch {given.number}-{i}" for i in range(10)]
    return {
        "nodes": [
            {"label": "Person", "name": name, "description": "A new neighbor"} for name in names
        ],
        "relationships": [{"from": name, "to": "me", **FRIENDSHIP} for name in names],
    }


async def _create_node(given: Setting) -> Arguments:
    return {
        "label": "Person",
        "name": f"Ada Moss {given.number}",
        "description": "Repairs clocks in the old town",
    }


async def _update_node(given: Setting) -> Arguments:
    return {"entity_key": await given.person("Nora Finch"), "description": "Moved to the coast"}


async def _create_relationship(given: Setting) -> Arguments:
    return {**await given.strangers(), **FRIENDSHIP}


async def _update_relationship(given: Setting) -> Arguments:
    return {
        **await given.friends(),
        "description": "They fell out over the wheelbarrow.",
        "attitude": 2,
    }


async def _add_note(given: Setting) -> Arguments:
    return {**await given.friends(), "content": "They dug up a Roman coin in June."}


async def _noted(given: Setting) -> Arguments:
    ends = await given.friends()
    await given.do("add_note_to_relationship", **ends, content="They dug up a Roman coin in June.")
    return {**ends, "note": "They dug up"}


async def _update_note(given: Setting) -> Arguments:
    return {**await _noted(given), "content": "They dug up a Roman coin in July."}


async def _delete_node(given: Setting) -> Arguments:
    return {"entity_key": (await given.friends())["to_entity_key"], "delete_relationships": True}


async def _restore(given: Setting) -> Arguments:
    deleted = await _delete_node(given)
    await given.do("delete_node", **deleted)
    return {"entity_key": deleted["entity_key"]}


async def _merge(given: Setting) -> Arguments:
    ends = await given.friends()
    third = await given.person("Emil Brand")
    await given.do(
        "create_relationship",
        from_entity_key=third,
        to_entity_key=ends["from_entity_key"],
        **FRIENDSHIP,
    )
    return {"keep_entity_key": ends["to_entity_key"], "drop_entity_key": third}


CALLS: dict[str, Callable[[Setting], Awaitable[Arguments]]] = {
    "remember": _remember,
    "explore": _explore,
    "describe_graph": _describe_graph,
    "hybrid_search": _hybrid_search,
    "query_patterns": _query_patterns,
    "get_relationship": _joined,
    "traverse": _traverse,
    "find_paths": _find_paths,
    "find_duplicates": _find_duplicates,
    "read_source": _read_source,
    "create_node": _create_node,
    "update_node": _update_node,
    "create_relationship": _create_relationship,
    "update_relationship": _update_relationship,
    "add_note_to_relationship": _add_note,
    "update_note": _update_note,
    "delete_note": _noted,
    "delete_relationship": Setting.friends,
    "delete_node": _delete_node,
    "merge_nodes": _merge,
    "restore": _restore,
}
"""What makes a call of each tool ready, and gives its arguments."""


@dataclass(frozen=True)
class Cost:
    """The cost of one call.

    Attributes:
        reads: reading statements, one round trip each.
        writes: writing statements, each in its own transaction: one round trip and a commit.
        embeddings: embedding requests.
        texts: texts in these requests.
        characters: length of the JSON result that a model receives.
        seconds: total time.
    """

    reads: int
    writes: int
    embeddings: int
    texts: int
    characters: int
    seconds: float

    @property
    def statements(self) -> int:
        """Statements of both kinds."""
        return self.reads + self.writes


async def load_sample(graph: KnowledgeGraph, user_id: str) -> People:
    """Load the sample graph for a user."""
    with sample_file() as file:
        await graph.load(
            file,
            user_id=user_id,
        )

    async def key(name: str) -> str:
        [found, *_] = await graph.retrieval.text_match(name, user_id=user_id, limit=1)
        return found.node.entity_key

    return People(
        await key("Ines Halloran"), await key("Marguerite Sallow"), await key("Edward Casaubon")
    )


async def cost_of(graph: KnowledgeGraph, recorder: Recorder, tool: str, setting: Setting) -> Cost:
    """Prepare a call of a tool and run it; the graph's observer is the recorder."""
    arguments = await CALLS[tool](setting)
    recorder.clear()
    begun = time.perf_counter()
    tools = graph.tools(user_id=setting.tools.user_id)
    answer = await Setting(tools, setting.people, setting.number).do(tool, **arguments)
    seconds = time.perf_counter() - begun
    writes = sum(one.access == "write" for one in recorder.statements)
    texts = sum(one.texts for one in recorder.embeddings)
    return Cost(
        reads=len(recorder.statements) - writes,
        writes=writes,
        embeddings=len(recorder.embeddings),
        texts=texts,
        characters=len(dump(answer)),
        seconds=seconds,
    )


def most(costs: Sequence[Cost]) -> Cost:
    """The maximum of each figure."""
    return Cost(
        max(one.reads for one in costs),
        max(one.writes for one in costs),
        max(one.embeddings for one in costs),
        max(one.texts for one in costs),
        max(one.characters for one in costs),
        max(one.seconds for one in costs),
    )
