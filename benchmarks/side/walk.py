"""The statement that follows relationships from the nodes that a search has found, for toolkits
that take one.
"""

MOST = 100
FIELDS = ("source", "target", "near_first", "user")


def walk(hops: int, returned: str) -> str:
    """Relationships up to `hops` from each `node`, those of the best `score` first; each
    relationship once.

    Args:
        hops: from 1.
        returned: what a row has: of `text`, `score` and `FIELDS`.
    """
    return f"""
MATCH path = (node)-[:RELATED_TO*1..{hops}]-()
WITH last(relationships(path)) AS one, last(nodes(path)) AS far, score, length(path) AS distance
ORDER BY score DESC, distance
WITH one, collect({{score: score, distance: distance, far: far}})[0] AS best
WITH startNode(one) AS source, endNode(one) AS target, one.text AS text, best
WITH source.name AS source, target.name AS target, source.user AS user, text, best.score AS score,
  best.distance AS distance, best.far.name AS far,
  CASE best.far WHEN source THEN target.name ELSE source.name END AS near
WITH source, target, user, text, score, distance, [near, far] AS near_first
ORDER BY score DESC, distance LIMIT {MOST}
RETURN {returned}"""
