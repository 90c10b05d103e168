// No lock: what is read may be in the middle of another transaction's commit.
