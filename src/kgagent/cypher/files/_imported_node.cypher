// Gives a node `n` the dates, times and vectors of `row`, which its map of properties does not hold.
CALL (n, row) {
  UNWIND row.times AS time
  SET n[time.name] = «_imported_times»
}
CALL (n, row) {
  UNWIND row.vectors AS vector
  CALL db.create.setNodeVectorProperty(n, vector.name, toFloatList(vector.value))
}
