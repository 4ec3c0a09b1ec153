"""Tests of pivcs; folders mirror the package."""
