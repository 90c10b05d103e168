"""The page of the documentation about the cost of answers."""

from collections.abc import Mapping
from typing import Any

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


def as_markdown(figures: Mapping[str, Any], command: str) -> str:
    """The figures as a page of the documentation."""
    sets = {name: part for name, part in figures.items() if isinstance(part, dict) and "ways" in part}
    characters = figures["definitions, characters"]
    return PAGE.format(
        command=command,
        embedder=figures["embedder"],
        tables="\n\n".join(_table(name, part) for name, part in sets.items()),
        definitions=", ".join(f"{count:,} characters (toolset {name})" for name, count in characters.items()),
    )


def _table(name: str, part: Mapping[str, Any]) -> str:
    columns = list(part["ways"][0])
    return "\n".join(
        [
            f"## {name}: {part['questions']} questions, {part['triples']:,} triples",
            "",
            f"| {' | '.join(columns)} |",
            f"| --- | --- |{' ---: |' * (len(columns) - 2)}",
            *(f"| {' | '.join(_cell(row[column]) for column in columns)} |" for row in part["ways"]),
        ]
    )


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
