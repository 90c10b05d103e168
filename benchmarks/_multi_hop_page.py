"""The figures of `multi_hop.py` as a page of the documentation."""

from collections.abc import Mapping
from typing import Any

from _page_table import section

PAGE = """# Questions over several hops

Recall of the relationships that lead to an answer: the evidence of 2WikiMultihopQA, and in MetaQA every relationship on
a path from the entity in the question to an answer. One graph has the triples of both ({relationships:,} pairs of
entities; of MetaQA, all 133,582 triples), another those of 2WikiMultihopQA alone. Made by

```sh
python benchmarks/multi_hop.py --twowiki path/to/2wiki --metaqa path/to/metaqa --defaults-only{some} \\
    --markdown docs/multi-hop.md
```

with {embedder} and no LLM. Every question is
asked with nothing but its words: `hybrid_search` and `explore` have their defaults, as a model calls them. recall@k is
the share of the relevant relationships among the first k, relative to at most k. The constants of the ranking were
chosen on the other half of each set, so these questions are not those that they were fitted to, but the data sets are
the same.

- **exact nearest**: comparing all embeddings, without expansion.
- **prototype**: ten lines in memory that expand the five best relationships, scored 0.7 · path + 0.3 · own.
- **an answer@10**: share of questions with an answer at an end of the first ten relationships; 0 for 2WikiMultihopQA,
  whose answers are not given as entities.
- Times are those of one call at a time, without embedding the question except for `explore`; they depend on the
  machine.

{tables}
"""


def as_markdown(figures: Mapping[str, Any], questions: int | None) -> str:
    """The figures as a page of the documentation; `questions` is the maximum of each set, None for all."""
    sets = {name: part for name, part in figures.items() if isinstance(part, dict) and "ways" in part}
    return PAGE.format(
        relationships=figures["relationships"],
        embedder=figures["embedder"],
        some="" if questions is None else f" --questions {questions}",
        tables="\n\n".join(
            section(f"{name}: {part['questions']} questions", part["ways"], _cell) for name, part in sets.items()
        ),
    )


def _cell(column: str, value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if not column.endswith(" ms") else f"{value:.0f}" if value else "-"
    return str(value)
