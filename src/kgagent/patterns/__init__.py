"""Graph patterns: compiles them to Cypher, runs them within a time limit, and ranks and explains
the paths.
"""
