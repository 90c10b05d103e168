"""kgagent search and explore: what the graph contains about a question, or about several queries
and names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from kgagent.cli.graph_session import run_for_user
from kgagent.cli.options import Html, Json, Readable, User
from kgagent.cli.output import print_json, print_message, print_result, without_controls
from kgagent.cli.request_options import FILTERS, FieldOption, build_request, takes_fields
from kgagent.private_files import write_output_file

if TYPE_CHECKING:
    from kgagent.answers.items import Item, RenderState
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.models import ExploreResult, GraphNode, GraphRelationship
    from kgagent.models.hybrid import HybridSearchResult
    from kgagent.models.search import SearchFilters

BEST_LINES = 10
"""Lines that are printed without --all."""

_EXPANSION = (
    FieldOption("expand_hops", int),
    FieldOption("search_relationships", bool, "relationships"),
)

All = Annotated[bool, typer.Option("--all", help="Print all lines instead of the ten best.")]


@takes_fields(
    "HybridSearchRequest",
    FieldOption("limit", int),
    FieldOption("strategy", str),
    *FILTERS,
    FieldOption("threshold", float),
    *_EXPANSION,
)
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    *,
    fields: dict[str, Any],
    token_budget: Annotated[
        int | None,
        typer.Option(
            help="Print the result as context for a model, with at most this many tokens.", min=1
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print what the score of each result is made of.")
    ] = False,
    show_all: All = False,
    html: Html = None,
    user: User = None,
    readable: Readable = None,
    json: Json = False,
) -> None:
    """Search nodes and relationships, semantically and by full text: kgagent search "who taught me
    to sail?".
    """
    from kgagent.answers.found import hybrid_items, llm_context, plain_state
    from kgagent.models.hybrid import HybridSearchRequest

    if not query.strip():
        raise typer.BadParameter("QUERY must not be empty")
    # A line of a relationship names its nodes.
    with_ends = json or html is not None
    request = build_request(HybridSearchRequest, query=query, with_ends=with_ends, **fields)

    async def work(graph: "KnowledgeGraph", user_id: str) -> "HybridSearchResult":
        result = await graph.search(request, user_id=user_id, readable=readable or ())
        if html is not None:
            await _write_page(html, graph, user_id, result, query)
        return result

    user_id, result = run_for_user(work, user, reads=True)
    context = None if token_budget is None else llm_context(result, token_budget)
    payload = {
        "user": user_id,
        **result.to_dict(),
        **({} if context is None else {"context": context}),
    }
    state = replace(plain_state(result), as_of=request.as_of)
    if json:
        records = (*payload["objects"], *payload.get("relationships", ()))
        found: list[GraphNode | GraphRelationship] = [
            *result.objects,
            *(result.relationships or ()),
        ]
        _keep_matching_notes(zip(records, found, strict=True), state)
    if context is not None and not json:
        _print_warnings(result.warnings)
        typer.echo(without_controls(context))
        return
    most = None if show_all else request.limit or BEST_LINES
    lines = _best_lines(hybrid_items(result), state, most, explain=explain)
    _show(payload, lines, filters=request, json=json, html=html)


@takes_fields(
    "ExploreRequest",
    FieldOption("text_matches", list[str], "text_match"),
    *FILTERS,
    FieldOption(
        "threshold",
        float,
        model="VectorQuery",
        note="With the local model, unrelated texts have a similarity of 0.4 or more; try 0.5.",
    ),
    FieldOption("limit_per_label", int, "limit"),
    *_EXPANSION,
)
def explore(
    queries: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY...", help="Texts to search for semantically."),
    ] = None,
    *,
    fields: dict[str, Any],
    show_all: All = False,
    user: User = None,
    json: Json = False,
) -> None:
    """Search nodes and relationships semantically and by name: kgagent explore "who are my
    mentors?".
    """
    from kgagent.models import ExploreRequest
    from kgagent.tools.explore import explored_items

    texts, names = (
        [item for item in given if item.strip()]
        for given in (queries or (), fields.pop("text_matches", ()))
    )
    if not texts and not names:
        raise typer.BadParameter("give a QUERY or --text-match NAME")
    minimum = {"threshold": fields.pop("threshold")} if "threshold" in fields else {}
    asked = [{"query": text, **minimum} for text in texts]
    request = build_request(ExploreRequest, queries=asked, text_matches=names, **fields)

    async def work(graph: "KnowledgeGraph", user_id: str) -> "ExploreResult":
        return await graph.explore(request, user_id=user_id)

    user_id, result = run_for_user(work, user, reads=True)
    payload = {"user": user_id, **result.to_dict()}
    state = replace(_explored_state(result), as_of=request.as_of)
    if json:
        nodes = [item["node"] for item in payload.get("nodes", ())]
        records = (*nodes, *payload.get("relationships", ()), *payload.get("neighbors", ()))
        found: list[GraphNode | GraphRelationship] = [
            *(item.node for item in result.nodes),
            *result.relationships,
            *result.neighbors,
        ]
        _keep_matching_notes(zip(records, found, strict=True), state)
    lines = _best_lines(explored_items(result), state, None if show_all else BEST_LINES)
    _show(payload, lines, filters=request, json=json)


async def _write_page(
    file: Path, graph: "KnowledgeGraph", user_id: str, result: "HybridSearchResult", query: str
) -> None:
    """Write a result as a page in one file."""
    from kgagent.adapters.view import Vocabulary, build_view, file_page

    view = await build_view(graph.retrieval, result, user_id=user_id, query=query)
    write_output_file(file, file_page(view, Vocabulary.of(graph.ontology), user_id))
    print_message(Text(f"Wrote {file}: open it in a browser", style="green"))


def _show(
    payload: Mapping[str, Any],
    lines: Sequence[Text],
    *,
    filters: "SearchFilters",
    json: bool,
    html: Path | None = None,
) -> None:
    """Print a result, unless a page has it."""
    from kgagent.answers.page import NOTHING_RELEVANT
    from kgagent.models.search import SearchFilters

    if json:
        print_json(payload)
        return
    _print_warnings(payload.get("warnings", ()))
    if html is not None:
        return
    if not lines:
        user_id = payload["user"]
        if any(getattr(filters, name) is not None for name in SearchFilters.model_fields):
            print_result(f"Nothing found in the graph of user {user_id} that the filters keep.")
            return
        print_result(
            Text(
                f"Nothing found in the graph of user {user_id}. kgagent doctor --user {user_id} "
                f"says what it has, and "
                "whether it can be searched."
            )
        )
        return
    if payload.get("is_relevant") is False:
        print_result(NOTHING_RELEVANT)
    print_result(*lines)


def _print_warnings(warnings: Iterable[str]) -> None:
    for warning in warnings:
        print_message(Text(warning, style="yellow"))


def _best_lines(
    items: Sequence["Item"], state: "RenderState", most: int | None, *, explain: bool = False
) -> list[Text]:
    """The lines of items, best first, in the order of their statements; on a terminal cut to its
    width.

    Args:
        items: best first.
        state: how they are rendered.
        most: maximum number of lines; None: all.
        explain: whether what the score of each line is made of follows it.
    """
    from kgagent.answers.found import lines_of
    from kgagent.answers.items import RelationshipItem
    from kgagent.answers.safe_text import safe_text

    lines, first = lines_of(items, state, most)
    printed: list[Text] = []
    for line, item in zip(lines, first, strict=True):
        printed.append(Text(line, no_wrap=True))
        if explain and (made_of := item.contributions):
            parts = " ".join(f"{value:+.3f} {name}" for name, value in made_of.items())
            led = "; ".join(item.path) if isinstance(item, RelationshipItem) else ""
            via = f" (via {safe_text(led)})" if led else ""
            explained = f"    {sum(made_of.values()):.3f} = {parts}{via}"
            printed.append(Text(explained, style="cyan", no_wrap=True))
    more = most is not None and len(lines) == most < len(items)
    return [
        *printed,
        *([Text(f"{most} lines shown; --all prints all of them", style="dim")] if more else []),
    ]


def _explored_state(result: "ExploreResult") -> "RenderState":
    """How the items of a result are rendered."""
    from kgagent.answers.items import RenderState

    labels = {
        node.entity_key: node.label
        for node in (*(item.node for item in result.nodes), *result.neighbors)
    }
    return RenderState(datetime.now(UTC), labels=labels, with_properties=False)


def _keep_matching_notes(
    found: Iterable[tuple[dict[str, Any], "GraphNode | GraphRelationship"]], state: "RenderState"
) -> None:
    """Keep the notes in the records of items that their lines show, and count the others.

    Args:
        found: each item with its record.
        state: chooses the notes.
    """
    for record, item in found:
        shown = state.statements(item)
        texts = {note.content for note in shown.notes}
        record["notes"] = [note for note in record.get("notes", ()) if note["content"] in texts]
        record["omitted_notes"] = len(shown.others)
        for name in ("notes", "omitted_notes"):
            if not record[name]:
                del record[name]
