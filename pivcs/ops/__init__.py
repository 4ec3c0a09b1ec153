"""One verb per module: functions take values and return frozen results or iterators; nothing here prints or exits."""
