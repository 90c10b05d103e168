"""kgagent hooks: what hosts run at a prompt and at the end of a session, and a skill for them."""
