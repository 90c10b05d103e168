"""kgagent demo: a sample graph, five questions, and what relationship search adds to the
results.
"""
