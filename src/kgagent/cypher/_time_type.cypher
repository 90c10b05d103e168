// The types of dates and times.
DATE | LOCAL TIME | ZONED TIME | LOCAL DATETIME | ZONED DATETIME
