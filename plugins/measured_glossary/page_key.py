"""Whether pages may be kept, and the key of all that goes into every page.

Comes in: MkDocs' configuration, navigation, files and templates. Goes out: names of what forbids to
keep a page, and a digest. Must not know what a page says.
"""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import FunctionType, MethodType, ModuleType

import jinja2
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import File
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from measured_glossary.memo import digest, package

# Plugins of the theme's and MkDocs' own whose page events do nothing to these pages, or are asked
# for again where it counts: the search has documents of ours.
SEARCH = frozenset({"search", "material/search"})
KNOWN = SEARCH | {"offline", "material/offline", "measured-glossary"}
PAGE_EVENTS = ("env", "pre_page", "page_read_source", "page_markdown", "page_content",
               "page_context", "post_page")  # fmt: skip


def in_the_way(config: MkDocsConfig, per_page: Collection[str]) -> list[str]:
    """Name the plugins, hooks and extensions that may look at more than one page at a time.

    Of those in `per_page` the site's owner says that they do not.
    """
    extensions = {"pymdownx.snippets"} & set(config.markdown_extensions)  # brings in other files
    return sorted((_listeners(config, PAGE_EVENTS) | extensions) - set(per_page))


def after_all(config: MkDocsConfig) -> list[str]:
    """Name the plugins and hooks that may read or change the site when all of it is there."""
    return sorted(_listeners(config, ("post_build",)))


def _listeners(config: MkDocsConfig, events: Collection[str]) -> set[str]:
    methods = (method for event in events for method in config.plugins.events[event])
    return {config.plugins._event_origins.get(method, "?") for method in methods} - KNOWN


def made_with(
    config: MkDocsConfig,
    nav: Navigation,
    env: jinja2.Environment,
    listed: Sequence[File],
    *extra: object,
) -> bytes:
    """Give a digest of all that goes into every page: code, settings, theme, navigation.

    `listed` are the files whose pages templates may look at, when those were read.
    """
    settings = {key: value for key, value in config.items() if key not in _NOT_ON_PAGES}
    plugins = {
        name: dict(plugin.config) if isinstance(plugin, BasePlugin) else plugin
        for name, plugin in config.plugins.items()
    }
    theme = [(key, config.theme[key]) for key in sorted(config.theme)]
    folders = [Path(folder) for folder in config.theme.dirs]
    return digest(
        package(),
        words([settings, plugins, theme]),
        words([env.globals, env.filters, env.tests]),
        _local_code(),
        [_of_folder(folder) for folder in folders],
        str(nav),
        _shown(folders, [*nav.pages, *(file.page for file in listed if file.page)]),
        extra,
    )


_NOT_ON_PAGES = frozenset(
    {"site_dir", "docs_dir", "config_file_path", "dev_addr", "watch", "plugins", "theme", "strict"}
)


def _shown(folders: Sequence[Path], pages: Sequence[Page]) -> list[tuple[object, ...]]:
    """Give what templates may show of other pages: where a site's own ask for them, all of it."""
    shown: list[tuple[object, ...]] = [(p.title, p.url, words(dict(p.meta))) for p in pages]
    own = (file for folder in folders if not _is_known(folder) for file in _files_of(folder))
    if any(b"pages" in file.read_bytes() for file in own if file.suffix == ".html"):
        shown += [(page.url, page.markdown, page.content) for page in pages]
    return shown


# ── settings ─────────────────────────────────────────────────────────────────────────────────


def words(value: object) -> str:
    """Give a setting as text, the same in every process."""
    return _words(value, {})


def _words(value: object, seen: dict[int, tuple[int, object]]) -> str:
    """Give a value as text; of one that was `seen` before, as of one that holds itself, which."""
    if value is None or isinstance(value, str | bytes | int | float):
        return repr(value)
    if id(value) in seen:
        return f"<{seen[id(value)][0]}>"
    seen[id(value)] = len(seen), value
    if isinstance(value, Mapping):
        parts = (f"{key!r}: {_words(value[key], seen)}" for key in sorted(value, key=repr))
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_words(each, seen) for each in value)}]"
    if isinstance(value, set | frozenset):
        return f"[{', '.join(sorted(_words(each, seen) for each in value))}]"
    if callable(value) or isinstance(value, ModuleType) or " at 0x" in repr(value):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        return f"{name} {_code_of(value)} {_words(_state(value), seen)}"
    return repr(value)


def _state(value: object) -> object:
    """Give what a function, a method or an object has at hand, besides its code."""
    if isinstance(value, type | ModuleType):
        return ()
    if isinstance(value, partial):
        return value.func, value.args, value.keywords
    if isinstance(value, MethodType):
        return value.__self__, value.__func__
    if isinstance(value, FunctionType):
        return value.__defaults__, value.__kwdefaults__, inspect.getclosurevars(value).nonlocals
    return getattr(value, "__dict__", ())


def _code_of(value: object) -> str:
    """Give the digest of the file that a function, a hook or an object's class is written in."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    module = value if isinstance(value, ModuleType) else sys.modules.get(str(name))
    file = getattr(module, "__file__", None)
    return _of_file(Path(file)) if file else str(name)


# ── code and templates ───────────────────────────────────────────────────────────────────────

_PYTHON, _OURS = sysconfig.get_path("stdlib"), str(Path(__file__).parent)


def _local_code() -> str:
    """Give the digest of all loaded code that is not installed: extensions, hooks, their helpers.

    Of a package that is all its code: some may be loaded later.
    """
    found = dict[str, str]()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or name == "__main__" or _is_known(Path(file)):
            continue
        found[name] = _of_file(Path(file))
        if hasattr(module, "__path__"):
            top = Path(file).parent
            inside = (path for path in _files_of(top) if path.suffix == ".py")
            found |= {f"{name} {path.relative_to(top)}": _of_file(path) for path in inside}
    return digest(sorted(found.items())).hex()


def _of_folder(folder: Path) -> str:
    if _is_known(folder):
        return folder.name
    files = ((file.relative_to(folder).as_posix(), _of_file(file)) for file in _files_of(folder))
    return digest(list(files)).hex()


def _files_of(folder: Path) -> Iterator[Path]:
    """Give the files below a folder, in linked ones too, as Jinja finds them."""
    for top, inner, names in os.walk(folder, followlinks=True):
        here = os.path.realpath(top)
        inner[:] = [name for name in sorted(inner) if not _is_around(Path(top, name), here)]
        yield from (path for name in sorted(names) if (path := Path(top, name)).is_file())


def _is_around(folder: Path, here: str) -> bool:
    """Say whether a link leads back to a folder that it stands in."""
    return folder.is_symlink() and Path(here).is_relative_to(os.path.realpath(folder))


def _of_file(path: Path) -> str:
    """Give the digest of a file; the name alone where the key knows it, or where it is no file.

    What was loaded may be gone since, or have come out of an archive.
    """
    if _is_known(path) or not path.is_file():
        return path.name
    return sha256(path.read_bytes()).hexdigest()


def _is_known(path: Path) -> bool:
    """Say whether the package's digest tells what is in it: Python's own, installed, or ours."""
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    return is_installed or path.is_relative_to(_OURS) or path.is_relative_to(_PYTHON)
