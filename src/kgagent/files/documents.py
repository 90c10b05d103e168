"""Documents that `load` stores as sources with their text: Markdown, plain text, HTML, PDF and
e-mails.
"""

import asyncio
import logging
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default as default_policy
from email.utils import parsedate_to_datetime
from pathlib import Path

import yaml

from kgagent.errors import InputError, KgAgentError
from kgagent.extras import require_extra
from kgagent.files.conversion import decoded
from kgagent.files.folders import files_below
from kgagent.files.load_writer import LoadTally
from kgagent.files.reports import LineProblem, LoadCounts, LoadReport
from kgagent.formatting import counted, encodable
from kgagent.graph.sources import SourceText, save_sources
from kgagent.progress import Progress, SilentProgress
from kgagent.services import GraphServices
from kgagent.validation import check_user_id, validate

BATCH = 20
"""Documents that are embedded and written together."""

_FRONT_MATTER = re.compile(r"---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)", re.DOTALL)


async def load_documents(
    paths: Sequence[Path],
    services: GraphServices,
    *,
    user_id: str,
    progress: Progress | None = None,
) -> LoadReport:
    """Store the texts of documents as sources, which have their paths as names and are found by
    where the files really are.

    Args:
        paths: the files.
        services: the parts of the graph.
        user_id: owner of the graph.
        progress: reports the files.

    Raises:
        InputError: the user id is invalid, or the ontology has no label for sources.
        EmbeddingError: texts could not be embedded; load the files again to continue.
        StoreError: the database failed; likewise.
    """
    check_user_id(user_id)
    started = time.perf_counter()
    graph, tally = services.user_graph(user_id), LoadTally()
    with (progress or SilentProgress()).task("Loading documents", len(paths)) as advance:
        for first in range(0, len(paths), BATCH):
            read: dict[int, tuple[SourceText, str]] = {}
            for position, path in enumerate(paths[first : first + BATCH], start=first):
                try:
                    read[position] = await asyncio.to_thread(read_document, path)
                except KgAgentError as error:
                    tally.problems[position] = _problem(position, path, error)
            sources = [source for source, _ in read.values()]
            saved = await save_sources(graph, services.resolver, sources)
            for (position, (_, remark)), outcome in zip(read.items(), saved, strict=True):
                if isinstance(outcome, InputError):
                    tally.problems[position] = _problem(position, paths[position], outcome)
                elif isinstance(outcome, KgAgentError):
                    raise outcome
                else:
                    tally.count(outcome)
                    if said := ". ".join(filter(None, (remark, *outcome.warnings))):
                        tally.remarks[position] = _problem(position, paths[position], said)
            advance(len(paths[first : first + BATCH]))
    return LoadReport(
        nodes=LoadCounts(**tally.counts),
        embedded=tally.embedded,
        problems=tuple(tally.problems.values()),
        remarks=tuple(tally.remarks.values()),
        seconds=time.perf_counter() - started,
    )


def read_document(path: Path) -> tuple[SourceText, str]:
    """Read a file as a source; with what to say of how it was read.

    Raises:
        InputError: it cannot be read, or has no text.
        ConfigurationError: the package that reads it is not installed.
    """
    name = encodable(str(path))
    try:
        found = _READERS[path.suffix.lower()](path.read_bytes())
        remark = found.pop("remark", "")
    except KgAgentError:
        raise
    except Exception as error:
        # Files of others break the libraries that read them in many ways.
        raise InputError(f"cannot be read: {error}") from error
    if not found["text"].strip():
        raise InputError("has no text")
    return validate(SourceText, {"id": str(path.resolve()), "name": name, **found}), remark


def _problem(position: int, path: Path, error: object) -> LineProblem:
    return LineProblem(line=position + 1, place=encodable(str(path)), reason=str(error))


def _plain(content: bytes) -> dict[str, str]:
    text, remark = decoded(content)
    return {"text": text, "remark": remark}


def _markdown(content: bytes) -> dict[str, str]:
    """The text, dated by the `date` of its front matter, which is no part of it."""
    read = _plain(content)
    with suppress(yaml.YAMLError, ValueError):
        if found := _FRONT_MATTER.match(read["text"]):
            fields = yaml.safe_load(found[1])
            read["text"] = read["text"][found.end() :]
            said = str(fields.get("date") if isinstance(fields, dict) else "")[:10]
            read["said_on"] = f"{date.fromisoformat(said)}"
    return read


def _html(content: bytes) -> dict[str, str]:
    with require_extra("documents"):
        from bs4 import BeautifulSoup
        from markdownify import MarkdownConverter
    page = BeautifulSoup(content, "html.parser")
    for element in page(["script", "style", "nav", "template"]):
        element.decompose()
    return {"text": MarkdownConverter(heading_style="ATX").convert_soup(page)}


def _pdf(content: bytes) -> dict[str, str]:
    from io import BytesIO

    with require_extra("documents"):
        from pypdf import PdfReader
    # Without a handler, Python prints the warnings.
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    return {"text": "\n\n".join(page.extract_text() for page in PdfReader(BytesIO(content)).pages)}


def _mail(content: bytes) -> dict[str, str]:
    message = message_from_bytes(content, policy=default_policy)
    if not isinstance(message, EmailMessage):
        raise InputError("is no e-mail")
    body = message.get_body(("plain", "html"))
    text = "" if body is None else str(body.get_content())
    if body is not None and body.get_content_subtype() == "html":
        text = _html(text.encode())["text"]
    headers = [f"{name}: {message[name]}" for name in ("From", "To", "Subject") if message[name]]
    said_on = _date(message["Date"])
    return {"text": "\n".join([*headers, "", text]), **({"said_on": said_on} if said_on else {})}


def _date(header: str | None) -> str:
    try:
        return f"{parsedate_to_datetime(str(header)):%Y-%m-%d}" if header else ""
    except ValueError:
        return ""


_READERS = {
    **dict.fromkeys((".md", ".markdown"), _markdown),
    ".txt": _plain,
    **dict.fromkeys((".html", ".htm"), _html),
    ".pdf": _pdf,
    ".eml": _mail,
}


def documents_in(
    paths: Iterable[Path],
) -> tuple[list[Path], list[Path], tuple[LineProblem, ...]]:
    """The documents among some files and below folders, the other files, and what is not read of
    the folders.
    """
    documents, others, skipped = list[Path](), list[Path](), list[LineProblem]()
    for path in paths:
        if not path.is_dir():
            (documents if _is_document(path) else others).append(path)
            continue
        files = list(files_below(path))
        documents += filter(_is_document, files)
        unread = Counter(file.suffix.lower() for file in files if not _is_document(file))
        if unread:
            kinds = (f"{n} {ending or 'without an ending'}" for ending, n in unread.most_common())
            reason = f"{counted(unread.total(), 'file')} not read: {', '.join(kinds)}"
            skipped.append(LineProblem(line=0, place=encodable(str(path)), reason=reason))
    return list(dict.fromkeys(documents)), others, tuple(skipped)


def _is_document(path: Path) -> bool:
    return path.suffix.lower() in _READERS
