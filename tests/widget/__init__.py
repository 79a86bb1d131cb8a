"""Tests of the diagram; a package, so that its conftest has a name of its own."""
