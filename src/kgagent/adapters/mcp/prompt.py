"""What a model is told of how to use the graph."""

from collections.abc import Collection

from mcp.types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from kgagent.ontology import Ontology

INSTRUCTIONS = (
    "A knowledge graph of one person in Neo4j: nodes, and relationships that are searched by their meaning. Explore "
    "before you write. Update what is there instead of creating it again. What happened or was said between two nodes "
    "is a note on their relationship."
)
"""What every client is told when it connects."""

PROMPT = Prompt(
    name="use_knowledge_graph",
    title="Use the knowledge graph",
    description="How to read, extend and correct the knowledge graph with the tools of this server.",
    arguments=[PromptArgument(name="task", description="What is to be done with the graph.", required=False)],
)


def guide(ontology: Ontology, tools: Collection[str], task: str | None = None) -> GetPromptResult:
    """Write the prompt.

    Args:
        ontology: gives labels, relationship types and how long notes count.
        tools: names of those there are; rules about others are left out.
        task: what is to be done, if the caller says.
    """
    rules = [rule for needed, rule in _rules(ontology) if needed <= set(tools)]
    lines = [
        "You keep a person's knowledge graph with the tools of this server.",
        "",
        f"Nodes are {', '.join(ontology.labels)}. Relationships join: "
        + "; ".join(f"{kind.from_label} and {kind.to_label}" for kind in ontology.relationships.values())
        + ". A relationship says what it is in a word (`relationship_type`), in a sentence (`description`), how warm "
        "it is (`attitude`, 1 to 5), how close (`proximity`, 1 to 5), and carries notes. All of that is what searches "
        "find it by.",
        "",
        *(f"{number}. {rule}" for number, rule in enumerate(rules, 1)),
    ]
    if task:
        lines += ["", f"Your task: {task}"]
    return GetPromptResult(
        description=PROMPT.description,
        messages=[PromptMessage(role="user", content=TextContent(text="\n".join(lines)))],
    )


def _rules(ontology: Ontology) -> list[tuple[set[str], str]]:
    """The rules, each with the tools that it speaks of."""
    fixed = [label for label, rule in ontology.labels.items() if rule.key_includes_name]
    same = f"; a {' or '.join(fixed)} of the same name is the same node" if fixed else ""
    lifetimes = ", ".join(ontology.note_lifetimes_in_days)
    return [
        (
            {"explore"},
            "Explore before you write: call `explore` with the names you read (`text_matches`) and with what is said "
            "of them (`queries`). Take the `entity_key` of what is there.",
        ),
        (
            {"create_node"},
            f"Create a node only where exploring found none that it could be. Two people may share a name{same}. Where "
            "you cannot tell which of two is meant, ask instead of guessing.",
        ),
        (
            {"update_node", "update_relationship"},
            "Update instead of creating where the node or the relationship is there: `update_node`, "
            "`update_relationship`. Give only what has changed; the rest stays.",
        ),
        (
            {"create_relationship"},
            "Two nodes have one relationship of a kind. Say its type, description, attitude and proximity as fully "
            "as the source does, with names in the description, and leave out what you do not know.",
        ),
        (
            {"add_note_to_relationship"},
            "Annotate: what happened or was said between two nodes is a note on their relationship "
            f"(`add_note_to_relationship`), one fact a note, with how long it counts ({lifetimes}).",
        ),
        (
            {"create_relationships"},
            "Several relationships at once go through `create_relationships`, which takes less time.",
        ),
        (
            {"hybrid_search"},
            "To answer one question, `hybrid_search` is shorter than `explore`. Answer from what was found, and say so "
            "where nothing was.",
        ),
        (
            set(),
            "Every answer says whether it was a `success`. Where it was none, `error` says what was wrong and what to "
            "do: mend the call and make it again, or say that it cannot be done.",
        ),
    ]
