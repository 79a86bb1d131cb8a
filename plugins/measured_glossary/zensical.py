"""The settings of a MkDocs site as a generator without our plugin is to read them.

Comes in: the text of `mkdocs.yml` and the environment it names. Goes out: the settings of the
exported project, and the template that puts a page's head there. Must not know entries, nor MkDocs.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import Source

CONFIG = "mkdocs.yml"
DOCS, OVERRIDES, MAIN, SITES_OWN = "docs", "overrides", "main.html", "site-main.html"
PLUGIN, EXTENSION = "measured-glossary", "measured_glossary.markdown"
HEAD = "head_tags"
# What the pages are written in; a site's own list is kept.
NEEDED_EXTENSIONS = ("attr_list", "md_in_html", "tables")
# Programs that another generator does not run, and settings that mean nothing there.
DROPPED = ("hooks", "watch", "INHERIT", "remote_branch", "remote_name", "edit_uri")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a site's settings say, `!ENV` resolved; other tags are kept as they are written."""

    data: Mapping[str, Any]

    @property
    def docs_dir(self) -> str:
        """The folder of the hand-written pages, from the project's root."""
        return str(self.data.get("docs_dir") or DOCS)

    @property
    def custom_dir(self) -> str:
        """The folder of the site's own templates, or nothing."""
        return str(self.theme.get("custom_dir") or "")

    @property
    def site_url(self) -> str:
        """Where the site will stand, or nothing."""
        return str(self.data.get("site_url") or "")

    @property
    def has_folders(self) -> bool:
        """Whether a page is called by its folder."""
        return self.data.get("use_directory_urls") is not False

    @property
    def site_name(self) -> str:
        """What the site is called."""
        return str(self.data.get("site_name") or "")

    @property
    def keeps_names(self) -> bool:
        """Whether `__names__` in hand-written pages stay as they are typed."""
        return EXTENSION in self._names("markdown_extensions")

    @property
    def theme(self) -> Mapping[str, Any]:
        """The theme and its options."""
        theme = self.data.get("theme") or "material"
        return theme if isinstance(theme, dict) else {"name": theme}

    def titles(self) -> dict[str, str]:
        """Give what the navigation calls pages, by where they stand."""
        return dict(_titles(self.data.get("nav")))

    def left_out(self) -> tuple[str, ...]:
        """Name what the exported site does without."""
        return tuple(f"{key}: {self.data[key]!r}" for key in ("hooks",) if self.data.get(key))

    def items(self, key: str) -> list[Any]:
        """Give a list of names and of names with options, which may be written as a mapping."""
        found = self.data.get(key) or []
        if isinstance(found, dict):
            return [{name: options} if options else name for name, options in found.items()]
        return list(found)

    def _names(self, key: str) -> list[str]:
        return [name_of(item) for item in self.items(key)]


def _titles(nav: Any) -> Iterator[tuple[str, str]]:
    for item in nav if isinstance(nav, list) else ():
        for title, below in item.items() if isinstance(item, dict) else ():
            if isinstance(below, str):
                yield below, str(title)
            yield from _titles(below)


def name_of(item: Any) -> str:
    """Give the name of an item that may have options."""
    return str(next(iter(item))) if isinstance(item, dict) else str(item)


# ── reading ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Kept:
    """A node with a tag that means something to the generator alone."""

    node: yaml.Node


class _Loader(yaml.SafeLoader):
    environ: Mapping[str, str] = {}


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        """Write every value out."""
        return True


def read_settings(source: Source, environ: Mapping[str, str]) -> Checked[Settings]:
    """Read a site's settings; they are the generator's, so that only their form is checked."""
    loader = _Loader(source.text)
    loader.environ = environ
    try:
        data = loader.get_single_data()
    except yaml.YAMLError as error:
        return Checked(value=None, problems=(_unreadable(source, error),))
    finally:
        loader.dispose()
    if not isinstance(data, dict):
        return Checked(value=None, problems=(_unreadable(source, "expected 'key: value' lines"),))
    return Checked(value=Settings(data=data))


def _unreadable(source: Source, error: object) -> Problem:
    mark = getattr(error, "problem_mark", None)
    place = Place(source.file, mark.line + 1, mark.column + 1) if mark else Place(source.file)
    said = getattr(error, "problem", None) or error
    hint = "mkdocs build says more of it"
    return Problem(place=place, code="site-settings", message=f"cannot be read: {said}", hint=hint)


def _from_environment(loader: _Loader, node: yaml.Node) -> Any:
    """Resolve `!ENV NAME` and `!ENV [NAME, OTHER, default]` as MkDocs does."""
    if isinstance(node, yaml.ScalarNode):
        names, default = [str(node.value)], None
    else:
        *names, default = loader.construct_sequence(node, deep=True)  # type: ignore[arg-type]
    for name in names:
        if name in loader.environ:
            return yaml.safe_load(loader.environ[name])
    return default


def _keep(loader: _Loader, suffix: str, node: yaml.Node) -> _Kept:
    return _Kept(node)


_Loader.add_constructor("!ENV", _from_environment)
_Loader.add_multi_constructor("!", _keep)
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _keep)
_Dumper.add_representer(_Kept, lambda dumper, kept: kept.node)


# ── writing ──────────────────────────────────────────────────────────────────────────────────


def project(
    settings: Settings, *, styles: Sequence[str], scripts: Sequence[str], apart: Sequence[str]
) -> str:
    """Give the settings of the exported project: the site's own, without what runs in MkDocs.

    Pages in the folders `apart` need not be in the navigation, as when the plugin makes them.
    """
    no_nav = [*str(settings.data.get("not_in_nav") or "").splitlines(), *map("/{}/".format, apart)]
    made = {key: value for key, value in settings.data.items() if key not in DROPPED}
    made |= {
        "docs_dir": DOCS,
        "site_dir": "site",
        "theme": {**settings.theme, "custom_dir": OVERRIDES},
        "not_in_nav": _Kept(yaml.ScalarNode(_TEXT, "\n".join(no_nav) + "\n", style="|")),
        "plugins": [i for i in settings.items("plugins") or ["search"] if name_of(i) != PLUGIN],
        "markdown_extensions": list(_extensions(settings)),
        "extra_css": [*settings.items("extra_css"), *styles],
        "extra_javascript": [*settings.items("extra_javascript"), *scripts],
    }
    return _HEADER + yaml.dump(made, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=98)


_TEXT = "tag:yaml.org,2002:str"
_HEADER = """\
# Written by glossary export. Zensical builds this project, and so does MkDocs with Material;
# neither needs the plugin. Change the glossary and export it again rather than this copy.
"""


def _extensions(settings: Settings) -> Iterator[Any]:
    own = [item for item in settings.items("markdown_extensions") if name_of(item) != EXTENSION]
    yield from own
    yield from (needed for needed in NEEDED_EXTENSIONS if needed not in map(name_of, own))


def template_name(file: str) -> str:
    """Give where a template of the site's own stands; ours extends its `main.html`."""
    return posixpath.join(OVERRIDES, SITES_OWN if file == MAIN else file)


def template(*, extends: str) -> str:
    """Give the template that writes into each page's head what its front matter says of it."""
    return _TEMPLATE.replace("EXTENDS", extends)


# In the words that Jinja, MkDocs' own, and Zensical's engine share.
_TEMPLATE = """\
{% extends "EXTENDS" %}
{% block extrahead %}
{{ super() }}
{% if page and page.meta %}
{% for name in ["glossary-entry", "glossary-verdict", "glossary-manifest"] %}
{% if page.meta[name] %}<meta name="{{ name }}" content="{{ page.meta[name] }}">{% endif %}
{% endfor %}
{% if page.meta["glossary-verdict"] and page.meta["glossary-verdict"] != "published" %}
<meta name="robots" content="noindex">
{% endif %}
{% if page.meta.head_tags %}{{ page.meta.head_tags | safe }}{% endif %}
{% endif %}
{% endblock %}
"""
