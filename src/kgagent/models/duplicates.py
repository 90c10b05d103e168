"""Nodes that may be one."""

from collections.abc import Mapping

from kgagent.models.graph import GraphModel, GraphNode


class LikelyDuplicate(GraphModel):
    """Two nodes that may mean the same thing; a person or a model decides, and merges them.

    Attributes:
        first, second: the nodes, without notes and properties.
        score: 0 to 1.
        contributions: what each feature adds to the score before it is scaled, see
            `kgagent.search.duplicates`.
        names: the name or alias of each that are most similar.
        shared_neighbors: names of nodes that both are joined with, a few.
        said_of_both: the rarest words in common of what is said of them, a few.
    """

    first: GraphNode
    second: GraphNode
    score: float
    contributions: Mapping[str, float]
    names: tuple[str, str]
    shared_neighbors: tuple[str, ...] = ()
    said_of_both: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Why they may be one, in words."""
        parts = {
            "names": " ~ ".join(self.names),
            "shared neighbors": ", ".join(self.shared_neighbors),
            "said of both": ", ".join(self.said_of_both),
        }
        return "; ".join(f"{what}: {text}" for what, text in parts.items() if text)
