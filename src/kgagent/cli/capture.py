"""kgagent capture: a session with an agent becomes a source."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from kgagent.cli.graph_session import run_for_user
from kgagent.cli.hook_input import read_hook_input
from kgagent.cli.options import Trusted, User
from kgagent.cli.output import print_message
from kgagent.cli.recall.client import log_file, start
from kgagent.cli.transcripts import session_text
from kgagent.errors import InputError
from kgagent.formatting import encodable
from kgagent.trust import given_trust

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph

MAX_TEXT = 5_000_000
"""Characters of a session that are stored; of a longer one its end."""


def capture(
    transcript: Annotated[
        Path | None,
        typer.Argument(help="File of the session. Default: stdin has the JSON of a hook."),
    ] = None,
    *,
    model: Annotated[
        str | None,
        typer.Option(
            help='Chat model as "provider:name", which reads the session as kgagent ingest does.'
        ),
    ] = None,
    background: Annotated[
        bool,
        typer.Option("--background", help="Return at once; hooks.log says how it ended."),
    ] = False,
    trust: Trusted = None,
    user: User = None,
) -> None:
    """Store a session with an agent as a source, whose text searches find.

    A session that is captured again replaces its text, and only new passages are embedded. What
    stands between <private> and </private>, and what was recalled, is not stored.
    """
    stdin = "" if transcript else sys.stdin.buffer.read().decode("utf-8", "replace")
    if background:
        options = [one for one in sys.argv[1:] if one != "--background"]
        code = "from kgagent.cli.program import main; main()"
        with log_file() as errors:
            start("-c", code, *options, given=stdin, errors=errors)
        return
    given = read_hook_input(stdin)
    path = transcript or (Path(given.transcript) if given.transcript else None)
    try:
        written = stdin if path is None else path.read_text("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise InputError(f"The session cannot be read: {error}") from error
    text, day = session_text(written)
    name = encodable(f"Session {given.session or (path.stem if path else 'without a name')}")
    if not text:
        print_message(Text(f"{name} has no text", style="yellow"))
        return

    text = text[-MAX_TEXT:]
    trusted = given_trust(trust)

    async def store(graph: "KnowledgeGraph", user_id: str) -> str:
        if model is None:
            await graph.add_source(name, text, user_id=user_id, said_on=day, trust=trusted)
            return "stored"
        from kgagent.cli.ingest import make_chat_model
        from kgagent.ingestion import Ingestor, Source

        source = Source.model_validate({"id": name, "name": name, "text": text, "date": day})
        ingestor = Ingestor(graph, make_chat_model(model), user_id=user_id, trust=trusted)
        return str((await ingestor.ingest(source)).state)

    async def work(graph: "KnowledgeGraph", user_id: str) -> str:
        try:
            return await store(graph, user_id)
        except ValueError as error:
            # Its text may quote the session, and the log must not have it.
            raise InputError(f"{name} cannot be stored: {type(error).__name__}") from None

    _, state = run_for_user(work, user)
    print_message(Text(f"{name}: {state}", style="green"))
