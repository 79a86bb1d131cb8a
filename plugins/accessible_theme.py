"""Names what Material leaves without a name for a screen reader.

Comes in: a page's HTML. Goes out: the same with a label on the search dialog. Must not know what an
entry is; it is a MkDocs hook of this site and not part of the package.
"""

from __future__ import annotations

DIALOG = 'data-md-component="search" role="dialog"'


def on_post_page(output: str, **_: object) -> str:
    """Label the dialog; a theme that has another one is left alone."""
    return output.replace(DIALOG, f'{DIALOG} aria-label="Search"')
