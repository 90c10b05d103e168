"""An embedder that embeds each text once, for all toolkits and for the next run."""

from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kgagent.embedding.base import Embedder, Embedding
from kgagent.upkeep.rewrite import PreparedEmbedder


class RememberedEmbedder(PreparedEmbedder):
    """Embeds each text once."""

    def __init__(self, embedder: Embedder) -> None:
        self._remembered: dict[str, Embedding] = {}
        self._queries: dict[str, Embedding] = {}
        super().__init__(embedder, self._remembered)

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts; only new texts reach the real embedder."""
        embeddings = await super().embed(texts)
        self._remembered |= zip(texts, embeddings, strict=True)
        return embeddings

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed queries; only new ones reach the real embedder, and `write` does not write them."""
        new = [text for text in dict.fromkeys(texts) if text not in self._queries]
        self._queries |= zip(new, await super().embed_queries(new), strict=True)
        return [self._queries[text] for text in texts]

    def read(self, file: Path) -> None:
        """Remember what `write` wrote, if it is of the same model."""
        if not file.exists():
            return
        kept = np.load(file)
        if str(kept["model"]) != self.model:
            raise SystemExit(
                f"{file} contains embeddings of {kept['model']}, expected {self.model}: delete it"
            )
        vectors = (
            array("f", vector.tobytes()) for vector in np.asarray(kept["vectors"], np.float32)
        )
        self._remembered |= zip(kept["texts"].tolist(), vectors, strict=True)

    def write(self, file: Path) -> None:
        """Write all embeddings to a .npz file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        vectors = np.array(
            [np.frombuffer(vector, np.float32) for vector in self._remembered.values()]
        )
        np.savez(file, model=self.model, texts=np.array(list(self._remembered)), vectors=vectors)
