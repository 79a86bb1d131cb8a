"""Pages that MkDocs did not make are as if it had made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatch
from functools import partial
from hashlib import sha1
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from measured_glossary.memo import Memo
from measured_glossary.press import (
    Kept,
    Notes,
    Press,
    bind,
    keeper,
    print_lean,
)
from measured_glossary.theme import OF_MKDOCS, hasten, remember_compiled
from measured_glossary.website import Output


def config_of(tmp_path: Path, **settings: object) -> MkDocsConfig:
    """Give MkDocs' configuration of a site."""
    (tmp_path / "docs").mkdir(parents=True)
    config = MkDocsConfig(str(tmp_path / "mkdocs.yml"))
    config.load_dict({"site_name": "Site", "docs_dir": str(tmp_path / "docs"), **settings})
    assert config.validate() == ([], [])
    return config


def notes(title: str) -> Notes:
    """Give the notes on a page of which nothing is to be said."""
    return Notes(title=title, anchors=("a",), links=(), kept=(), asked=(), said=())


@pytest.mark.parametrize("use_directory_urls", [True, False])
@pytest.mark.parametrize("site_url", ["", "https://example.org", "https://example.org/docs/"])
@pytest.mark.parametrize("repo_url", [None, "https://example.org/repository"])
def test_a_page_is_as_mkdocs_makes_it(
    tmp_path: Path, site_url: str, use_directory_urls: bool, repo_url: str | None
) -> None:
    """It has the same attributes with the same values, whatever the site's settings are."""
    config = config_of(
        tmp_path,
        site_url=site_url,
        use_directory_urls=use_directory_urls,
        repo_url=repo_url,
        edit_uri="edit/main/" if repo_url else None,
    )
    uris = ["glossary/warp/index.md", "glossary/a b/index.md", "glossary/index.md"]
    outputs = [Output(uri=uri, key=b"key", make="", is_public=True) for uri in uris]
    ours, theirs = ([keeper(config)(out) for out in outputs] for _ in range(2))
    press = Press(
        config=config,
        files=Files(ours),
        nav=Navigation([], []),
        env=config.theme.get_env(),
        memo=Memo(),
        made_with=b"",
        listed=(),
    )
    bind(press, ours, [notes(file.src_uri) for file in ours])
    for file, other in zip(ours, theirs, strict=True):
        page, expected = file.page, Page(other.src_uri, other, config)
        assert page is not None
        expected.present_anchor_ids, expected.links_to_anchors = {"a"}, {}
        assert page.file is file
        assert vars(page) == {**vars(expected), "file": file}
    first, second = ours[0].page, ours[1].page
    assert first and second
    assert first.meta is not second.meta
    assert first.toc is not second.toc


def test_each_environment_of_a_theme_finds_what_another_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A template is compiled once for all of them; without, each compiles its own."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    config, plain = config_of(tmp_path / "one"), config_of(tmp_path / "other")
    hasten(config)
    assert config.theme.get_env().get_template("404.html")
    monkeypatch.setattr("jinja2.Environment.compile", None)  # compiling again would fail
    assert config.theme.get_env().get_template("404.html")
    with pytest.raises(TypeError):
        plain.theme.get_env().get_template("404.html")


SOURCE = "Lorem {{ n }}"
CHECKSUM = sha1(SOURCE.encode(), usedforsecurity=False).hexdigest().encode()  # as Jinja keeps it
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda raw: b"",
    "cut in the checksum": lambda raw: raw[: raw.index(CHECKSUM) + 9],
    "a byte of the checksum": lambda raw: raw.replace(CHECKSUM[:9], CHECKSUM[:8] + b"\xff"),
    "cut in the code": lambda raw: raw[: len(raw) // 2],
    "a byte more": lambda raw: raw + b"x",
    "another text": lambda raw: raw.replace(b"Lorem", b"Ipsum"),
    "other code": lambda raw: raw[: len(raw) // 2] + b"\xff\xff\xff" + raw[len(raw) // 2 + 3 :],
    "the first byte": lambda raw: bytes([raw[0] ^ 1]) + raw[1:],
}


@pytest.fixture
def remembering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Environment]:
    """Give an environment with one tiny template, as often as asked for."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    config = config_of(tmp_path / "site")

    def environment() -> Environment:
        env = Environment(loader=DictLoader({"x": SOURCE}))  # noqa: S701 - no HTML
        remember_compiled(env, config)
        return env

    return environment


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_compiled_template_is_compiled_again(
    tmp_path: Path, remembering: Callable[[], Environment], damage: str
) -> None:
    """Nothing of it is run, and the file is as it was afterwards."""
    assert remembering().get_template("x").render(n=1) == "Lorem 1"
    (file,) = tmp_path.glob("_jinja2-cache-*/*")
    raw = file.read_bytes()
    file.write_bytes(DAMAGES[damage](raw))
    assert file.read_bytes() != raw
    assert remembering().get_template("x").render(n=1) == "Lorem 1"
    assert file.read_bytes() == raw
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("what", ["a folder", "a folder with a file", "no folder", "no place"])
def test_a_compiled_template_that_cannot_be_kept_is_no_error(
    tmp_path: Path, remembering: Callable[[], Environment], what: str
) -> None:
    """Jinja compiles it again."""
    env = remembering()
    assert remembering().get_template("x")
    (file,) = tmp_path.glob("_jinja2-cache-*/*")
    file.unlink()
    if what.startswith("no"):
        file.parent.rmdir()
    if what == "no place":
        file.parent.write_bytes(b"")
    if what.startswith("a folder"):
        (file / "inside" if "with" in what else file).mkdir(parents=True)
    assert env.get_template("x").render(n=1) == "Lorem 1"


@pytest.mark.parametrize("use_directory_urls", [True, False])
def test_a_file_is_as_mkdocs_makes_it(tmp_path: Path, use_directory_urls: bool) -> None:
    """It has the same attributes, its page's place is beside its Markdown, and links lead to it."""
    config = config_of(tmp_path, use_directory_urls=use_directory_urls)
    for uri, place in {
        "glossary/warp/index.md": "glossary/warp/index.html",
        "glossary/warp/author.json": "glossary/warp/author.json",
    }.items():
        output = Output(uri=uri, key=b"key", make="", is_public=True)
        made = keeper(config)(output)
        expected = Kept(
            uri,
            None,
            config.site_dir,
            use_directory_urls,
            dest_uri=place,
            inclusion=InclusionLevel.NOT_IN_NAV,
        )
        expected.generated_by, expected.output = "measured-glossary", output
        assert vars(made) == vars(expected)
        assert (made.url, made.abs_dest_path) == (expected.url, expected.abs_dest_path)
        assert not made.is_documentation_page()


def test_a_search_plugin_is_asked_where_its_marks_are(tmp_path: Path) -> None:
    """Of our pages only those that hold one; of the pages that others wrote, all of them."""
    config, asked = config_of(tmp_path, plugins=[]), list[str]()

    def on_page_context(context: str, *, page: Page, config: MkDocsConfig, nav: Navigation) -> str:
        asked.append(page.content or "")
        return f"{context}."

    for origin in ("search", "other"):
        hook = partial(on_page_context)
        config.plugins._register_event("page_context", hook, plugin_name=origin)
    print_lean(config, config.theme.get_env())
    ours = keeper(config)(Output(uri="glossary/warp/index.md", key=b"", make="", is_public=True))
    theirs = File("index.md", None, config.site_dir, use_directory_urls=True)
    for file, content in ((ours, "a"), (ours, '<b data-search-exclude="">'), (theirs, "b")):
        page = Page("", file, config)
        page.content = content
        made = config.plugins.run_event("page_context", "", page=page, config=config, nav=None)
        assert made == "." * asked.count(content)
    assert Counter(asked) == {"a": 1, '<b data-search-exclude="">': 2, "b": 2}


def test_a_themes_files_are_those_that_mkdocs_finds(tmp_path: Path) -> None:
    """And they alone, since it refuses what is hidden; whoever else asks is given all."""
    own, base = tmp_path / "own", tmp_path / "base"
    names = ["main.html", "a.css", "b/a.css", "b/.c/d.svg", ".icons/e.svg", ".f", "b/.g", "README"]
    for folder, name in ((folder, name) for folder in (own, base) for name in names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (base / "b" / "h.css").touch()
    config = config_of(tmp_path)
    config.theme.dirs[:] = [str(own), str(base)]
    plain = config.theme.get_env()
    hasten(config)
    found, expected = Files([]), Files([])
    for files, env in ((expected, plain), (found, config.theme.get_env())):
        files.add_files_from_theme(env, config)
    paths = [[(file.src_uri, file.abs_src_path) for file in files] for files in (found, expected)]
    assert paths[0] == paths[1]
    assert [uri for uri, _ in paths[0]] == ["a.css", "b/a.css", "b/h.css"]
    theirs = Files.add_files_from_theme.__code__
    inner = [getattr(part, "co_qualname", "") for part in theirs.co_consts]
    assert OF_MKDOCS in inner, "MkDocs calls it otherwise: nothing is wrong, and its icons are read"
    env = config.theme.get_env()
    assert env.list_templates() == plain.list_templates()
    assert env.list_templates(["svg"]) == [".icons/e.svg", "b/.c/d.svg"]
    for is_svg in (lambda name: name.endswith(".svg"), partial(fnmatch, pat="*.svg")):
        assert env.list_templates(filter_func=is_svg) == [".icons/e.svg", "b/.c/d.svg"]
