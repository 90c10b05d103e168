"""Every tool, every argument that can name a record, every way to name one: the record of another
user does not exist.

A call that names another user's record is repeated, by a user with the same graph, after that
record has been forgotten. Both answers must be equal.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import pytest
from pydantic import AliasChoices, BaseModel

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from kgagent.tools.registry import TOOLS
from kgagent.validation import accepted_names
from tests.support.payloads import error_of, succeeded
from tests.support.stored import all_of

pytestmark = pytest.mark.neo4j_5

Path = tuple[str, ...]

AT_ONCE = 8
"""Calls of one user that read; more would wait for their turn."""

SECRETS = ("Zqnila", "Zqpet", "Zqorvo", "zqtold", "zqnoted", "zqmentor", "zqgone", "Zqcall")
"""Words that only the other user's records have."""


@dataclass(frozen=True)
class Ref:
    """A place in a call where a record is named.

    Attributes:
        own: what names a record of the caller.
        kind: how another user's record can be named there.
    """

    own: Any
    kind: str = "node"


ADA, BO, CHESS = Ref("Ada"), Ref("Bo"), Ref("Chess")
GONE = Ref("Gia", "deleted")
ENDS = {"from_entity_key": ADA, "to_entity_key": BO}
WHICH = {"relationship_id": Ref(None, "relationship")}
NOTE = {"content": "Rows on Sundays", "source_entity_key": Ref(None, "source")}
STEP = {
    "source_label": "Person",
    "relation_type": "has_relationship_with",
    "target_label": "Person",
}
NAMED = {
    "type": "PROPERTY_EQUALS",
    "property_path": "name",
    "value": Ref("Bo", "text"),
    "at_step": "end",
}
TYPES = {"relationship_types": [Ref("friend", "type")]}
CURSOR = {"cursor": Ref(None, "cursor"), "token_budget": 100}

READS: list[tuple[str, dict[str, Any]]] = [
    ("explore", {"queries": [{"query": Ref("who rows?", "text")}], **TYPES}),
    ("explore", {"text_matches": [Ref("Bo", "text")]}),
    (
        "explore",
        {"text_matches": ["Person"], "queries": [{"query": "friend", "threshold": -1.0}], **CURSOR},
    ),
    ("hybrid_search", {"query": Ref("who rows?", "text"), **TYPES}),
    ("hybrid_search", {"query": "friend", "threshold": -1.0, **CURSOR}),
    ("describe_graph", {"topic": "ontology", **CURSOR}),
    (
        "query_patterns",
        {
            "query": Ref("who rows?", "text"),
            "patterns": [{"steps": [STEP], "constraints": [NAMED]}],
        },
    ),
    (
        "query_patterns",
        {"patterns": [{"steps": [STEP], "branches": [{"steps": [STEP], "constraints": [NAMED]}]}]},
    ),
    (
        "query_patterns",
        {
            "combinator": {
                "type": "UNION",
                "patterns": [{"steps": [STEP], "constraints": [NAMED]}, {"steps": [STEP]}],
            }
        },
    ),
    (
        "query_patterns",
        {
            "combinator": {
                "type": "UNION",
                "patterns": [
                    {"steps": [STEP], "branches": [{"steps": [STEP], "constraints": [NAMED]}]}
                ],
            }
        },
    ),
    ("query_patterns", {"targets": [{"entity_key": ADA}], "patterns": [{"steps": [STEP]}]}),
    ("query_patterns", {"targets": [{"description": Ref("Ada")}], "traversal": {"max_depth": 1}}),
    ("query_patterns", {"patterns": [{"steps": [STEP]}], **CURSOR}),
    ("get_relationship", {**ENDS, **WHICH}),
    ("get_relationship", {"from_entity_key": ADA}),
    ("get_relationship", {"from_entity_key": "Ada", "to_entity_key": "Bo", **CURSOR}),
    ("traverse", {"entity_key": ADA, **TYPES}),
    ("traverse", {"entity_key": "Ada", **CURSOR}),
    ("get_relationship", {"from_entity_key": ADA, "between": "2020/.."}),
    ("find_duplicates", {"threshold": 0.1}),
    ("read_source", {"entity_key": Ref("Minutes", "source")}),
    ("read_source", {"entity_key": "Minutes", "around": Ref("chess", "text")}),
    ("read_source", {"entity_key": "Minutes", **CURSOR}),
    ("find_duplicates", {"cursor": Ref("1-000000", "text")}),
    ("find_paths", {**ENDS, "query": Ref("rows", "text")}),
    (
        "find_paths",
        {"from_entity_key": "Ada", "to_entity_key": "Bo", "max_hops": 2, "limit": 20, **CURSOR},
    ),
]

WRITES: list[tuple[str, dict[str, Any]]] = [
    ("update_node", {"entity_key": ADA, "notes": [NOTE]}),
    ("update_relationship", {**ENDS, **WHICH, "attitude": 4}),
    ("update_relationship", {**ENDS, "notes": [NOTE]}),
    (
        "create_relationship",
        {"from_entity_key": ADA, "to_entity_key": CHESS, "relationship_type": "plays", **WHICH},
    ),
    ("create_relationship", {**ENDS, "relationship_type": "friend", "notes": [NOTE]}),
    ("add_note_to_relationship", {**ENDS, **WHICH, **NOTE}),
    ("add_note_to_relationship", {**ENDS, "notes": [NOTE]}),
    ("update_note", {"entity_key": ADA, "note": Ref("Likes tea", "note"), "content": "Likes tea"}),
    ("update_note", {**ENDS, **WHICH, "note": Ref("Met in", "note"), "content": "Met in Rome"}),
    ("delete_note", {"entity_key": ADA, "note": Ref("Nothing like it", "note")}),
    ("delete_note", {**ENDS, **WHICH, "note": Ref("Nothing like it", "note")}),
    ("restore", {"from_entity_key": BO, "to_entity_key": CHESS, **WHICH}),
    ("restore", {"from_entity_key": GONE, "to_entity_key": CHESS}),
    ("restore", {"entity_key": GONE}),
    ("restore", {"entity_key": ADA, "field": "description", "value": Ref("Rows", "note")}),
    ("remember", {"notes": [{"on": ADA, **NOTE}]}),
    ("remember", {"notes": [{"on": ADA, "content": "Rows"}], "source": Ref(None, "source")}),
    (
        "remember",
        {"notes": [{"on": [ADA, BO], "replaces": Ref("Nothing like it", "note"), **WHICH}]},
    ),
    ("remember", {"nodes": [{"entity_key": ADA, "notes": [NOTE]}]}),
    ("remember", {"source": Ref("Minutes", "source"), "source_text": "Bo read aloud."}),
    (
        "remember",
        {"relationships": [{"from": ADA, "to": BO, "attitude": 3, "notes": [NOTE], **WHICH}]},
    ),
    (
        "remember",
        {
            "relationships": [
                {
                    "from": ADA,
                    "to": BO,
                    "relationship_type": "rival",
                    "ends": [Ref("Chess", "text")],
                }
            ]
        },
    ),
    ("delete_relationship", {"from_entity_key": ADA, "to_entity_key": BO, **WHICH}),
    ("merge_nodes", {"keep_entity_key": ADA, "drop_entity_key": BO}),
    ("delete_node", {"entity_key": Ref("Chess"), "delete_relationships": True}),
    # The rest creates nodes with names of the other user's nodes.
    ("remember", {"nodes": [{"ref": Ref("x", "text"), "label": "Person", "name": "Cy"}]}),
    (
        "remember",
        {
            "nodes": [{"name": Ref("Ada", "text"), "label": "Person"}],
            "idempotency_key": Ref("mine", "call"),
        },
    ),
    ("create_node", {"label": "Concept", "name": Ref("Go", "text"), "notes": [NOTE]}),
    (
        "create_node",
        {"label": "Person", "name": Ref("Dee", "text"), "idempotency_key": Ref("more", "call")},
    ),
    ("create_node", {"label": "Person", "name": "Eli", "aliases": [Ref("Lee", "text")]}),
    ("remember", {"nodes": [{"name": "Fay", "label": "Person", "aliases": [Ref("Faye", "text")]}]}),
    ("update_node", {"entity_key": "Ada", "aliases": [Ref("Addie", "text")]}),
    ("update_node", {"entity_key": "Ada", "name": Ref("Ada", "text")}),
]
CALLS = READS + WRITES

NUMBERS = frozenset(
    [
        "at_least",
        "at_most",
        "at_step",
        "attitude",
        "confidence",
        "ends_at",
        "expand_hops",
        "hops",
        "join_on",
        "limit",
        "limit_per_label",
        "max_attitude",
        "max_depth",
        "max_hops",
        "max_paths",
        "max_proximity",
        "min_attitude",
        "min_hops",
        "min_proximity",
        "one_path_per",
        "proximity",
        "relationship_limit",
        "salience",
        "skip",
        "step_index",
        "threshold",
        "token_budget",
        "top_k",
        "weights",
    ]
)
SWITCHES = frozenset(
    [
        "clear",
        "sources",
        "correction",
        "current",
        "cycle",
        "delete_relationships",
        "direction",
        "distinct_nodes",
        "field",
        "format",
        "is_owner",
        "new",
        "constraints.on",
        "ranking",
        "relationships.replaces",
        "repeat_relationships",
        "return_explanations",
        "search_relationships",
        "sort",
        "strategy",
        "strict",
        "topic",
        "type",
        "use_all_relation_hints",
        "verbose",
    ]
)
SCHEMA = frozenset(
    [
        "label",
        "labels",
        "neo4j_type",
        "neo4j_types",
        "node_label",
        "property_path",
        "relation_type",
        "relation_types",
        "source_label",
        "target_label",
        "weight_property",
    ]
)
STORED = frozenset(
    [
        "as_of",
        "between",
        "content",
        "description",
        "known_as_of",
        "lifetime",
        "pattern_id",
        "relationship_type",
        "said_on",
        "source_text",
        "quote",
        "when",
    ]
)
NAMES_NO_RECORD = NUMBERS | SWITCHES | SCHEMA | STORED
"""Arguments in which no record can be named, by their last name. One that is neither here nor in a
call above fails.
"""


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models in an annotation, at any depth."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    inner = getattr(annotation, "__value__", None)
    parts = get_args(annotation) if inner is None else (inner,)
    return [model for part in parts for model in models_in(part)]


def leaves(model: type[BaseModel], above: tuple[type[BaseModel], ...] = ()) -> Iterator[Path]:
    """The paths of all arguments that are no objects themselves."""
    for name in accepted_names(model).keys() & model.model_fields:
        each = model.model_fields[name]
        inner = [found for found in models_in(each.annotation) if found not in (*above, model)]
        for found in inner:
            yield from ((name, *path) for path in leaves(found, (*above, model)))
        if not models_in(each.annotation):
            yield (name,)


def refs(value: Any, at: Path = ()) -> Iterator[tuple[Path, Ref]]:
    """The places of a call where a record is named; items of a list have no name of their own."""
    if isinstance(value, Ref):
        yield at, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from refs(item, (*at, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from refs(item, (*at, str(place)))


def canonical(model: type[BaseModel], path: Path) -> Path:
    """The path with the names of fields instead of their other names, and without positions."""
    names = [name for name in path if not name.isdecimal()]
    found: list[str] = []
    candidates = [model]
    for name in names:
        [(field_name, annotation)] = {
            (field_name, each.annotation)
            for candidate in candidates
            for field_name, each in candidate.model_fields.items()
            if name == field_name
            or (isinstance(a := each.validation_alias, AliasChoices) and name in a.choices)
        }
        found.append(field_name)
        candidates = models_in(annotation)
    return tuple(found)


def names_no_record(path: Path) -> bool:
    return not NAMES_NO_RECORD.isdisjoint((path[-1], ".".join(path[-2:])))


def test_every_argument_that_can_name_a_record_is_covered() -> None:
    missing: list[str] = []
    for tool in TOOLS:
        covered = {
            canonical(tool.arguments, path)
            for name, call in CALLS
            if name == tool.name
            for path, _ in refs(call)
        }
        unknown = {
            path
            for path in leaves(tool.arguments)
            if path not in covered and not names_no_record(path)
        }
        missing += (f"{tool.name}: {'.'.join(path)}" for path in unknown)
    assert sorted(missing) == []
    assert {tool.name for tool in TOOLS} == {name for name, _ in CALLS}


def filled(value: Any, chosen: Mapping[Path, Any], at: Path = ()) -> Any:
    """A call with another value at some of its places, and the caller's own records at the
    others.
    """
    if isinstance(value, Ref):
        return chosen.get(at, value.own)
    if isinstance(value, Mapping):
        items = {name: filled(item, chosen, (*at, name)) for name, item in value.items()}
        return {name: item for name, item in items.items() if item is not None}
    if isinstance(value, list):
        return [filled(item, chosen, (*at, str(place))) for place, item in enumerate(value)]
    return value


async def other_users_graph(tools: Toolset) -> dict[str, list[list[Any]]]:
    """Build a graph with the caller's names and others; gives by kind the ways to name records of
    it, in pairs.
    """
    await own_graph(tools)
    people = [
        {
            "label": "Person",
            "name": f"Zqnila {n}",
            "aliases": [f"Zqpet {n}"],
            "description": f"zqtold {n}",
            "notes": [f"zqnoted {n} at the sea"],
        }
        for n in range(12)
    ]
    links = [
        {"from": "Ada", "to": p["name"], "relationship_type": "zqmentor", "description": "zqtold"}
        for p in people
    ]
    back = [
        {"from": "Bo", "to": p["name"], "relationship_type": "friend", "description": "zqtold"}
        for p in people
    ]
    others = [
        {"label": "Source", "name": "Zqorvo talk", "description": "zqtold talk"},
        {"label": "Person", "name": "Zqorvo lost", "description": "zqgone"},
        {"label": "Person", "name": "Zqorvo past", "description": "zqgone"},
    ]
    notes = [
        {"on": ["Ada", "Bo"], "content": f"zqnoted {n} " + "and rowed over the lake " * 3}
        for n in range(12)
    ]
    stored = succeeded(
        await tools.remember(
            nodes=[*people, *others], relationships=[*links, *back], notes=notes, verbose=True
        )
    )
    keys = {node["name"]: node["entity_key"] for node in stored["created_nodes"]}
    talk = "zqtold the talk: Zqnila 1 and Ada rowed over the lake."
    succeeded(await tools.remember(source="Zqorvo talk", source_text=talk))
    call = succeeded(
        await tools.create_node(label="Person", name="Zqcall", idempotency_key="zq-call")
    )
    assert call["entity_key"]
    for name in ("Zqorvo lost", "Zqorvo past"):
        succeeded(await tools.delete_node(entity_key=keys[name], delete_relationships=True))

    listed = error_of(
        await tools.get_relationship(
            from_entity_key="Ada", to_entity_key="Zqnila 1", relationship_id="0"
        )
    )
    [relationship_id] = re.findall(r"They have (\w+)", listed)

    def forms(*names: str) -> list[list[str]]:
        pairs = [[name, keys[name], keys[name][:8]] for name in names]
        return [list(each) for each in zip(*pairs, strict=True)]

    return {
        "node": [*forms("Zqnila 1", "Zqnila 2"), ["Zqpet 1", "Zqpet 2"]],
        "deleted": forms("Zqorvo lost", "Zqorvo past"),
        "source": [[keys["Zqorvo talk"]]],
        "note": [["zqnoted 1 at the sea"], ["zqnoted"]],
        "text": [["Zqnila 1"], ["zqtold"]],
        "type": [["zqmentor"]],
        "call": [["zq-call"]],
        "relationship": [[relationship_id]],
    }


async def own_graph(tools: Toolset) -> None:
    """Build the graph that both callers have."""
    nodes = [
        {
            "label": "Person",
            "name": "Ada",
            "description": "Builds boats in Bergen",
            "notes": ["Likes tea"],
        },
        {"label": "Person", "name": "Bo", "description": "A cook from Lyon"},
        {"label": "Concept", "name": "Chess", "description": "A game with kings"},
        {"label": "Person", "name": "Gia", "description": "Left long ago"},
    ]
    links = [
        {
            "from": "Ada",
            "to": "Bo",
            "relationship_type": "friend",
            "description": "They row",
            "notes": ["Met in Rome"],
        },
        {
            "from": "Bo",
            "to": "Chess",
            "relationship_type": "plays",
            "description": "Every winter evening",
        },
    ]
    rules = "\n\n".join(f"Bo: Rule {n} of chess is read aloud, and all listen." for n in range(12))
    succeeded(
        await tools.remember(nodes=nodes, relationships=links, source="Minutes", source_text=rules)
    )
    succeeded(await tools.delete_relationship(from_entity_key="Bo", to_entity_key="Chess"))
    succeeded(await tools.delete_node(entity_key="Gia", delete_relationships=True))


def variants(
    call: Mapping[str, Any], foreign: Mapping[str, Sequence[Sequence[Any]]]
) -> Iterator[dict[str, Any]]:
    """The call with another user's records: at each place alone, in each way, and at all places."""
    places = list(refs(call))
    for path, ref in places:
        for form in foreign[ref.kind]:
            yield filled(call, {path: form[0]})
    if len(places) > 1:
        yield filled(
            call,
            {
                path: foreign[ref.kind][-1][n % len(foreign[ref.kind][-1])]
                for n, (path, ref) in enumerate(places)
            },
        )


async def answers(tools: Toolset, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """All that a caller gets to see: first of the calls that read, then of the others, one after
    the other.
    """

    async def answer(name: str, arguments: Mapping[str, Any]) -> str:
        answer = await tools[name].call_text(arguments)
        said = f"{answer.text}\n{json.dumps(answer.payload, ensure_ascii=False, default=str)}"
        return said.replace(tools.user_id, "USER")

    reading = [call for call in calls if tools[call[0]].read_only]
    seen: list[str] = []
    for few in (reading[place : place + AT_ONCE] for place in range(0, len(reading), AT_ONCE)):
        seen += await asyncio.gather(*(answer(*call) for call in few))
    return seen + [await answer(*call) for call in calls[len(reading) :]]


def comparable(said: str) -> Counter[str]:
    """The words of an answer without what differs between two users with the same graph.

    These are keys, the order of equally good results, which is that of their keys, times, and where
    a text is cut.
    """
    said = re.sub(r"notes: .*… \(\+\d+ characters\)", "CUT", said)
    said = re.sub(r'"elapsed_ms": [\d.]+', "MS", said)
    said = re.sub(r"\b[0-9a-f]{8}(?:[0-9a-f]{1,56}|[0-9a-f-]{0,28})(?![0-9a-f-])", "KEY", said)
    return Counter(re.sub(r"\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|\+00:00)?)?", "TIME", said).split())


@pytest.fixture
async def patient(graph: KnowledgeGraph) -> KnowledgeGraph:
    """A graph that waits for a busy server: an answer that came too late would differ."""
    settings = graph.settings.model_copy(
        update=dict.fromkeys(("query_timeout", "patterns_timeout", "longest_wait"), 600.0)
    )
    return KnowledgeGraph(services_of(graph).store, graph.ontology, graph.embedder, settings)


@pytest.mark.parametrize("readable", [(), ("team",)], ids=["alone", "shared"])
async def test_another_users_record_is_as_one_that_does_not_exist(
    patient: KnowledgeGraph, user_id: str, readable: Sequence[str]
) -> None:
    graph = patient
    other = graph.tools(user_id=f"{user_id}-other")
    others = [f"{user_id}-{owner}" for owner in readable]
    callers = [graph.tools(user_id=f"{user_id}-{n}", readable=others) for n in range(2)]
    for owner in others:
        await own_graph(graph.tools(user_id=owner))
    foreign = await other_users_graph(other)
    for tools in callers:
        await own_graph(tools)
    before = await all_of(graph, other.user_id)
    made: list[tuple[str, dict[str, Any]]] = []
    for name, call in CALLS:
        continued = any(ref.kind == "cursor" for _, ref in refs(call))
        cursors = [[await cursor_of_other(other, name, call)]] if continued else []
        made += [(name, arguments) for arguments in variants(call, {**foreign, "cursor": cursors})]

    seen = await answers(callers[0], made)

    leaks, written = [], ""
    words = (*SECRETS, *(str(node["entity_key"]) for node in before[0]))
    for (name, arguments), said in zip(made, seen, strict=True):
        given = written + json.dumps(arguments)
        written = written if other[name].read_only else given
        leaks += [
            f"{word}: {name} {arguments}: {said}"
            for word in words
            if word in said and word not in given
        ]
    assert leaks == []
    assert await all_of(graph, other.user_id) == before
    succeeded(await other.restore(entity_key=foreign["deleted"][1][0]))

    await graph.forget(user_id=other.user_id)
    differences = [
        f"{name} {arguments}\nwith:    {said}\nwithout: {without}"
        for (name, arguments), said, without in zip(
            made, seen, await answers(callers[1], made), strict=True
        )
        # Which of several equally good results an answer continues with is a matter of their keys.
        if "cursor" not in arguments and comparable(said) != comparable(without)
    ]
    assert "\n\n".join(differences[:5]) == ""


async def cursor_of_other(other: Toolset, name: str, call: Mapping[str, Any]) -> str:
    """The cursor that the other user's answer to the call has."""
    answer = await other[name].call_text(filled(call, {}))
    found = re.search(r'continue with cursor "([^"]+)"', answer.text)
    assert found is not None, answer.text
    return found[1]
