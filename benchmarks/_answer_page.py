"""The page of the documentation about the cost of answers."""

import re
from collections.abc import Mapping
from typing import Any

from _page_table import section

PAGE = """# What an answer costs

Tokens of the answers to the same questions on the same graph, and the share of the evidence (the relationships that
answer the question) within their first tokens. Made by

```sh
{command}
```

with the same embeddings for all ({embedder}) and no LLM in between. Every tool is called with nothing but the question,
unless its name says otherwise; other toolkits return as many results as they do by default. Tokens are estimated: a
word counts one for every four letters, a number one for every three digits, a punctuation mark one.

The constants of kgagent's ranking were chosen on random halves of 2WikiMultihopQA and MetaQA, so its figures here are
not those of unseen data.

Where one relationship answers a question (metaqa, 1 hop), the facts of graphiti and of neo4j-graphrag's
`HybridCypherRetriever` contain all evidence in a quarter of the tokens of `hybrid_search`: they return few
results, while a page of kgagent has at least 16. Where several relationships answer it (2wiki; metaqa, 2 hops),
theirs lack between a quarter and more than half of the evidence at any length. kgagent's JSON contains less evidence
than its text within the same tokens.

{tables}

## Columns

- **evidence@n**: share of the evidence within the first n tokens, the mean over the questions. A relationship counts if
  both names and the relation are in one line or one JSON object.
- **over budget**: answers with more tokens than the token budget of the call; "-" for searches without one.
- graphiti-core: hybrid search with reciprocal rank fusion and its own limit; "lines" are the facts of the edges, one
  per line, "its context string" is what its `search_results_to_context_string` makes.
- neo4j-graphrag: the context that its pipeline makes of the records; nodes have a name only, and
  `HybridCypherRetriever` returns the facts around the nodes by a query of ours.

The tool definitions that an MCP client receives have {definitions}.
"""

_SECTION = re.compile(r"^## (?P<name>[^:\n]+): [\d,]+ questions, .*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def as_markdown(figures: Mapping[str, Any], command: str, earlier: str = "") -> str:
    """The figures as a page of the documentation.

    Args:
        figures: of this run.
        command: makes the page.
        earlier: the page of an earlier run; its tables of question sets that this run did not ask are kept.
    """
    sets = {name: part for name, part in figures.items() if isinstance(part, dict) and "ways" in part}
    tables = tables_of(earlier) | {name: _table(name, part) for name, part in sets.items()}
    characters = figures["definitions, characters"]
    return PAGE.format(
        command=command,
        embedder=figures["embedder"],
        tables="\n\n".join(tables.values()),
        definitions=", ".join(f"{count:,} characters (toolset {name})" for name, count in characters.items()),
    )


def tables_of(page: str) -> dict[str, str]:
    """The sections of a page that have a table of a question set, by the name of the set."""
    return {found["name"]: found[0].strip() for found in _SECTION.finditer(page)}


def _table(name: str, part: Mapping[str, Any]) -> str:
    heading = f"{name}: {part['questions']} questions, {part['triples']:,} triples"
    return section(heading, part["ways"], _cell, texts=2)


def _cell(_: str, value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
