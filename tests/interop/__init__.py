"""Tests beside the real pi: it opens what we build, and must give the answers that we give."""
