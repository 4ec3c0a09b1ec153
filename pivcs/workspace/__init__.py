"""What the files of a project were at an entry, told from the tool calls and results of the path to it.

Takes entries, opens neither store nor files: a work tree, a snapshot or a commit comes in as a `Base`.
"""
