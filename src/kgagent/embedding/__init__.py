"""Embedders and the text that a relationship or a node is embedded as."""
