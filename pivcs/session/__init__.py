"""pi's file format and nothing else: lines, entries, tree, settings, migrations, directories.

Terms here are pi's: a *session file* holds a *header* and *entries*; the *leaf* is the current position. Numbers such
as "pi format 7.4" name sections of `docs/pi-format.md`. Reading never writes.
"""
