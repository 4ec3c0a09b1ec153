"""Results to text and JSON. Nothing here opens a file or knows a terminal: width and colour are arguments."""
