"""Settings for a `kgagent` that runs as a program of its own on the tests' Neo4j."""

import os

from tests.conftest import Server


def settings_for(server: Server, user_id: str) -> dict[str, str]:
    """The environment, with settings that lead to the tests' Neo4j, the local model and a user."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("NEO4J_", "OPENAI_"))}
    return inherited | {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.username,
        "NEO4J_PASSWORD": server.password,
        "KGAGENT_EMBEDDER": "local",
        "KGAGENT_USER_ID": user_id,
    }
