"""Everything that knows git: the only importer of dulwich, and the only place that runs the `git` program.

git's names are bytes; they are decoded here and nowhere else.
"""
