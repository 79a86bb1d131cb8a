"""Tests of the trust layer; a package, so that its conftest has a name of its own."""
