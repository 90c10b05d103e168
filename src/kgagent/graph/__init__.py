"""The graph in Neo4j: connection, schema, and nodes and relationships that are read and written per
user.
"""
