"""Embedders: one module for each provider, around the base class `Embedder`."""
