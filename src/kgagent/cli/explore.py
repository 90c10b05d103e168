"""kgagent explore: what the graph knows of something."""

from typing import Annotated

import typer

from kgagent.cli.options import Hops, Html, Json, User


def explore(
    queries: Annotated[list[str] | None, typer.Argument(metavar="QUERY...", help="What to look for, in words.")] = None,
    *,
    text: Annotated[list[str] | None, typer.Option(help="A name, or part of one; may be repeated.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Keep to nodes of this label; may be repeated.")] = None,
    threshold: Annotated[
        float,
        typer.Option(
            help="Least cosine similarity. With the local model unrelated texts have 0.4 or more; try 0.5.",
            min=-1.0,
            max=1.0,
        ),
    ] = 0.3,
    limit: Annotated[int, typer.Option(help="Nodes of each label at the most.", min=1, max=100)] = 5,
    hops: Hops = None,
    relationships: Annotated[bool, typer.Option(help="Whether relationships are searched too.")] = True,
    html: Html = None,
    user: User = None,
    json: Json = False,
) -> None:
    """Search nodes and relationships by meaning: kgagent explore "who are my mentors?"."""
    from kgagent.cli.explore_view import found_tables
    from kgagent.cli.graph import user_of, with_graph
    from kgagent.cli.html_page import write_explore_page
    from kgagent.cli.output import emit, say, show
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.models import ExploreRequest, ExploreResult, VectorQuery
    from kgagent.settings import load_settings

    queries, text = ([item for item in given or () if item.strip()] for given in (queries, text))
    if not queries and not text:
        raise typer.BadParameter("say what to look for: a QUERY, or --text NAME")
    settings = load_settings()
    user_id = user_of(settings, user)
    request = ExploreRequest(
        queries=tuple(VectorQuery(query=query, threshold=threshold) for query in queries),
        text_matches=tuple(text),
        search_relationships=relationships,
        labels=tuple(label) if label else None,
        limit_per_label=limit,
        expand_hops=hops,
    )

    async def work(graph: KnowledgeGraph) -> ExploreResult:
        found = await graph.retrieval.explore(request, user_id=user_id)
        if html is not None:
            await write_explore_page(html, graph, request, found, user_id=user_id)
        return found

    result = with_graph(work, settings=settings)
    if json:
        emit({"user": user_id, **result.to_dict()})
        return
    for warning in result.warnings:
        say(f"[yellow]{warning}[/yellow]")
    if html is None:
        show(*found_tables(result, user_id))
