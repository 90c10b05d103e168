"""Maintenance of a graph: migrating and checking all records, forgetting a user or a node, purging
deleted records.
"""
