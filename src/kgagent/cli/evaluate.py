"""kgagent eval: how well searches answer questions about a graph."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from kgagent.cli.graph_session import run_for_user
from kgagent.cli.options import Json, User
from kgagent.cli.output import show
from kgagent.errors import InputError
from kgagent.formatting import counted
from kgagent.private_files import write_output_file

if TYPE_CHECKING:
    from kgagent.evaluation import Evaluation
    from kgagent.knowledge_graph import KnowledgeGraph


def evaluate(
    questions: Annotated[
        Path | None,
        typer.Argument(help="JSON Lines with a question each, and what its answer must contain."),
    ] = None,
    *,
    make: Annotated[
        int | None, typer.Option(help="Make so many questions from the graph instead.", min=1)
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the questions that are made.")] = None,
    seed: Annotated[int, typer.Option(help="Chooses the questions that are made.")] = 0,
    compare: Annotated[
        Path | None,
        typer.Option(
            help="Output of an earlier run with --json; exit code 1 if a share has become worse."
        ),
    ] = None,
    tolerance: Annotated[float, typer.Option(help="How much worse a share may be.")] = 0.02,
    min_found: Annotated[
        float, typer.Option(help="Exit code 1 if less is found within the first 1,000 tokens.")
    ] = 0.0,
    user: User = None,
    json: Json = False,
) -> None:
    """Measure where in the answers of hybrid_search a model finds what it needs, beside plain dense
    search on the same graph: kgagent eval questions.jsonl. Nothing is written to the graph.
    """
    from kgagent.cli.progress import RichProgress
    from kgagent.evaluation import evaluate as measure
    from kgagent.evaluation import make_questions, read_questions

    if (questions is None) == (make is None):
        raise typer.BadParameter("give QUESTIONS or --make")
    asked = [] if questions is None else read_questions(questions)
    before = None if compare is None else _earlier(compare)

    async def work(graph: "KnowledgeGraph", user_id: str) -> "Evaluation":
        own = asked or await make_questions(graph, make or 1, user_id=user_id, seed=seed)
        if out is not None:
            lines = (f"{one.model_dump_json(exclude_defaults=True)}\n" for one in own)
            write_output_file(out, "".join(lines))
        return await measure(graph, own, user_id=user_id, progress=RichProgress())

    user_id, result = run_for_user(work, user, reads=True)
    worse = set() if before is None else result.worse_than(before, tolerance)
    columns = {"kgagent": result.kgagent, "dense": result.dense}
    columns |= {} if before is None else {"before": before.kgagent}
    missed = f", {len(result.missed):,} missed" if result.missed else ""
    table = Table(f"{counted(len(result.questions), 'question')}{missed}", *columns)
    for name in result.kgagent:
        values = (figures.get(name) for figures in columns.values())
        cells = ("" if one is None else f"{one:.3f}" if one < 1 else f"{one:.4g}" for one in values)
        table.add_row(name, *cells, style="red" if name in worse else "")
    show({"user": user_id, **result.to_dict(), "worse": sorted(worse)}, table, json=json)
    if worse or (result.kgagent["found@1000"] or 0.0) < min_found:
        raise typer.Exit(1)


def _earlier(path: Path) -> "Evaluation":
    from kgagent.evaluation import Evaluation

    try:
        return Evaluation.model_validate_json(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no output of kgagent eval --json: {error}") from None
