// No condition.
