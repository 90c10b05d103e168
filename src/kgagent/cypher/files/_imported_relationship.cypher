// Gives a relationship `r` the dates, times and vectors of `row`, which its map of properties does not hold.
CALL (r, row) {
  UNWIND row.times AS time
  SET r[time.name] = «_imported_times»
}
CALL (r, row) {
  UNWIND row.vectors AS vector
  CALL db.create.setRelationshipVectorProperty(r, vector.name, toFloatList(vector.value))
}
