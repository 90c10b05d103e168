// Names of the properties that nodes or relationships `found` have.
CALL (found) {
  UNWIND found AS one
  UNWIND keys(one) AS key
  RETURN collect(DISTINCT key) AS names
}
