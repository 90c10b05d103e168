"""Instructions and a prompt that explain to a model how to use the graph."""

from collections.abc import Collection

from mcp.types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from kgagent.ontology import Ontology
from kgagent.tools.ontology_guide import level_words, ontology_guide

PROMPT = Prompt(
    name="use_knowledge_graph",
    title="Use the knowledge graph",
    description=(
        "How to read, extend and correct the knowledge graph with the tools of this server."
    ),
    arguments=[
        PromptArgument(name="task", description="What to do with the graph.", required=False)
    ],
)


def instructions(ontology: Ontology, tools: Collection[str]) -> str:
    """Instructions that every client receives when it connects.

    Args:
        ontology: provides the words for attitude and proximity.
        tools: names of the available tools.
    """
    text = "A person's knowledge graph in Neo4j: nodes and relationships, found by their meaning."
    if "hybrid_search" in tools:
        text += (
            " Search before you write: hybrid_search with a limit of 5 is short. "
            "The date after a note says when it happened."
        )
    if any(name.startswith(("create_", "update_", "add_", "remember")) for name in tools):
        text += (
            " Update what exists, do not create it again. If something ends or a plan is done, "
            "replace the "
            'relationship_type: "visited" for "plans to visit". What two nodes did or said is a '
            "note on their "
            "relationship; an event of several people (a dinner) is a node connected to each."
            "\nWords for attitude and proximity, 1 to 5, by labels (Neo4j type):\n"
            + level_words(ontology)
        )
    return text


def guide(ontology: Ontology, tools: Collection[str], task: str | None = None) -> GetPromptResult:
    """Render the prompt.

    Args:
        ontology: provides labels, relationship types, words and note lifetimes.
        tools: names of the available tools; rules about other tools are omitted.
        task: what to do, if the caller says.
    """
    rules = [rule for needed, rule in _RULES if needed <= set(tools)]
    lines = [
        "You maintain a person's knowledge graph with the tools of this server.",
        "",
        ontology_guide(ontology),
        "",
        *(f"{number}. {rule}" for number, rule in enumerate(rules, 1)),
    ]
    if task:
        lines += ["", f"Your task: {task}"]
    return GetPromptResult(
        description=PROMPT.description,
        messages=[PromptMessage(role="user", content=TextContent(text="\n".join(lines)))],
    )


_RULES: tuple[tuple[set[str], str], ...] = (
    (
        {"explore"},
        "Explore before you write: call `explore` with the names that you read (`text_matches`) "
        "and with what is "
        "said about them (`queries`). Use the `entity_key` of what exists.",
    ),
    (
        {"remember"},
        "Store what you learn with one call of `remember`: nodes, relationships and notes "
        "together, by name. "
        "Correct the items that failed.",
    ),
    (
        {"merge_nodes", "delete_node", "delete_relationship"},
        "Undo what you stored by mistake: `merge_nodes` makes one node of two that are the same "
        "thing; "
        "`delete_node` and `delete_relationship` remove what is wrong.",
    ),
    (
        {"create_node"},
        "Create a node only if exploring did not find it. If you cannot tell which of two is "
        "meant, ask instead of "
        "guessing.",
    ),
    (
        {"update_relationship"},
        "Update instead of creating if the relationship exists: `update_relationship`. Give only "
        "what has changed; "
        "the rest stays.",
    ),
    (
        {"create_relationship"},
        "Two nodes have at most one relationship of a Neo4j type. Give its type, description, "
        "attitude and "
        "proximity as fully as the source does, with names in the description, and omit what you "
        "do not know.",
    ),
    (
        {"add_note_to_relationship"},
        "Record what happened or was said between two nodes as a note on their relationship "
        "(`add_note_to_relationship`): one fact per note, with its lifetime.",
    ),
    (
        {"hybrid_search"},
        "To answer one question, `hybrid_search` is shorter than `explore`. Answer from its "
        "result, and say so "
        "if it returns nothing relevant.",
    ),
    (
        set(),
        "An answer that begins with `Error:` says what was wrong and what to do: correct the call "
        "and repeat it, "
        "or say that it cannot be done.",
    ),
)
"""The rules, each with the tools that it mentions."""
