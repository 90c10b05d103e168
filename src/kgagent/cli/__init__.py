"""The `kgagent` command: one module a command; what is heavy is imported when a command runs."""
