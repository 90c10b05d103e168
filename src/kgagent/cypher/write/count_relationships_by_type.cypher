// How many relationships of each type join two nodes of one user.
// Parameters: user_id.
// Rows: {neo4j_type, found}, one for each type that there are relationships of.
MATCH (a:«labels»)-[r:«types»]->(b:«labels»)
WHERE a.user_id = $user_id AND b.user_id = $user_id
RETURN type(r) AS neo4j_type, count(r) AS found
