"""A site's files: each stands there once, in order."""

from __future__ import annotations

from itertools import permutations

from measured_glossary.website import Output, _each_once


def output(uri: str, *, is_public: bool) -> Output:
    """Give a file of a site."""
    return Output(uri=uri, key=b"key", make="", is_public=is_public)


def test_a_file_of_two_experiments_is_public_if_one_is() -> None:
    """In whatever order they come, one file stands there, and none hides another."""
    files = [
        output("code/shared.cuh", is_public=False),
        output("code/shared.cuh", is_public=True),
        output("code/draft.cu", is_public=False),
        output("glossary/index.md", is_public=True),
    ]
    for order in permutations(files):
        assert list(_each_once(order)) == [files[2], files[1], files[3]]
