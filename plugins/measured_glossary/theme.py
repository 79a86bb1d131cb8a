"""A site's theme: its templates, compiled once, and its files, without thousands nobody asks for.

Comes in: MkDocs' configuration and Jinja's environments. Goes out: the same environments, quicker.
Must not know what is printed with them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files

from measured_glossary.markup import ENVIRONMENT
from measured_glossary.memo import content_digest, digest, package
from measured_glossary.page_key import words
from measured_glossary.tree import update

OF_MKDOCS = f"{Files.add_files_from_theme.__qualname__}.<locals>.filter"


def remember_compiled(env: jinja2.Environment, config: MkDocsConfig) -> None:
    """Let Jinja find the theme's templates compiled, as ours.

    What is there was compiled by the same versions with the same plugins: they may change how.
    """
    plugins = [(name, type(plugin).__qualname__) for name, plugin in config.plugins.items()]
    options = [(name, words(getattr(env, name))) for name in _COMPILED_WITH]
    _remember(env, plugins, sorted(env.extensions), options)


def hasten(config: MkDocsConfig) -> None:
    """Let each environment that is asked of the theme find its templates compiled, and no icons.

    Material's search asks for one for each of three words that it translates.
    """
    make = config.theme.get_env

    def get_env() -> jinja2.Environment:
        env = make()
        remember_compiled(env, config)
        env.list_templates = partial(_listed, env.list_templates, config.theme.dirs)  # type: ignore[method-assign]
        return env

    config.theme.get_env = get_env  # type: ignore[method-assign] # a theme has no event for it


def _listed(
    list_all: Callable[..., list[str]],
    folders: Sequence[str],
    extensions: Collection[str] | None = None,
    filter_func: Callable[[str], bool] | None = None,
) -> list[str]:
    """Give a theme's files as Jinja does; to MkDocs itself without looking into hidden folders.

    It refuses what is hidden, file by file; the theme's icons are, by the ten thousand.
    """
    if filter_func is None or getattr(filter_func, "__qualname__", "") != OF_MKDOCS:
        return list_all(extensions, filter_func)
    found = {file for folder in folders for file in _shown(Path(folder))}
    return sorted(filter(filter_func, found))


def _shown(top: Path) -> Iterator[str]:
    for folder, inner, files in os.walk(top):
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield from (Path(folder, name).relative_to(top).as_posix() for name in files)


def remember_own(*, wanted: bool) -> None:
    """Let Jinja find our own templates compiled, or have it compile them anew."""
    ENVIRONMENT.bytecode_cache = None
    if wanted:
        _remember(ENVIRONMENT, "own")


def _remember(env: jinja2.Environment, *compiled_with: object) -> None:
    """Use Jinja's own folder, which is the user's alone."""
    made = digest(package(), *compiled_with).hex()[:16]
    with suppress(RuntimeError, OSError):  # there is no folder that is
        env.bytecode_cache = _Compiled(pattern=f"__glossary_{made}_%s.cache")


class _Compiled(jinja2.FileSystemBytecodeCache):
    """Compiled templates, each behind its digest: one that is not as it was written is not there.

    Python takes compiled code as it comes: damaged, it may end the process.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a bucket its code, if it is there."""
        with suppress(OSError):
            raw = self._file(bucket).read_bytes()
            code = raw[_DIGEST:]
            if content_digest(code) == raw[:_DIGEST]:
                bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a bucket's code; where that cannot be, the next build compiles again."""
        code = bucket.bytecode_to_string()
        with suppress(OSError):
            update(self._file(bucket), content_digest(code) + code)

    def _file(self, bucket: Bucket) -> Path:
        return Path(self.directory, self.pattern % bucket.key)


_DIGEST = 32  # bytes of a SHA-256


_COMPILED_WITH = (
    "trim_blocks",
    "lstrip_blocks",
    "keep_trailing_newline",
    "newline_sequence",
    "line_statement_prefix",
    "line_comment_prefix",
    "optimized",
    "autoescape",
)
