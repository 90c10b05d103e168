// The value of `time` {kind, value}: a text or several, as a date or a time.
CASE time.kind
  WHEN 'date' THEN date(time.value)
  WHEN 'time' THEN time(time.value)
  WHEN 'local_time' THEN localtime(time.value)
  WHEN 'datetime' THEN datetime(time.value)
  WHEN 'local_datetime' THEN localdatetime(time.value)
  WHEN 'dates' THEN [item IN time.value | date(item)]
  WHEN 'times' THEN [item IN time.value | time(item)]
  WHEN 'local_times' THEN [item IN time.value | localtime(item)]
  WHEN 'datetimes' THEN [item IN time.value | datetime(item)]
  WHEN 'local_datetimes' THEN [item IN time.value | localdatetime(item)]
END
