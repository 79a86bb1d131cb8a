"""A glossary of GPU programming whose numbers are measured and whose pages are signed."""

__version__ = "0.1.0"
