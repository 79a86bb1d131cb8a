"""Tests of the search; a package, so that its modules have names of their own."""
