"""Graph patterns: structured questions over many hops."""
