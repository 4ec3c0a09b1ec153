"""Measurements by hand; nothing here is part of the package or of the checks."""
