"""The `kgagent` command. Heavy packages are imported only when a command runs."""
