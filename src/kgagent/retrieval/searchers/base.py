"""What every searcher is."""

from typing import Protocol

from kgagent.models import SearchHit, SearchOptions

DEFAULT_SEARCH = SearchOptions()


class Searcher(Protocol):
    """Finds nodes of the one user that it was made for."""

    async def search(self, query: str | None = None, options: SearchOptions = DEFAULT_SEARCH) -> list[SearchHit]:
        """Find nodes.

        Args:
            query: what to look for; a graph search needs none, nor does a search that is given a vector.
            options: how to search.

        Returns:
            Hits, best first; of one score by the ontology's order of labels, then by key.

        Raises:
            InputError: what the search needs was not given.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        ...
