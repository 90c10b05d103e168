"""kgagent recall: what the graph holds on a prompt, from a daemon that keeps the graph open."""
