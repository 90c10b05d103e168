// Whether `value` is a date or a time; those of years before 1 or after 9999 cannot be read from the wire.
value IS :: DATE NOT NULL OR value IS :: ZONED DATETIME NOT NULL OR value IS :: LOCAL DATETIME NOT NULL
  OR value IS :: ZONED TIME NOT NULL OR value IS :: LOCAL TIME NOT NULL
