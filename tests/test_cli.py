"""The command line as its users meet it: from an empty folder to a site, and every mistake."""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config

from measured_glossary import __version__, cli, explain, pipeline
from measured_glossary.entry import json_schema, parse
from measured_glossary.path import json_schema as path_schema
from measured_glossary.source import read
from mkdocs_world import mkdocs
from site_world import ENTRY, Site, new_site

WARP = "glossary/warp/entry.md"
COMMAND = (sys.executable, "-m", "measured_glossary.cli")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command came to."""

    status: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def typed(*words: str) -> Done:
        capsys.readouterr()
        try:
            status = cli.main(words)
        except SystemExit as ended:  # argparse's own end
            status = int(ended.code or 0)
        out, err = capsys.readouterr()
        return Done(status=status, out=out, err=err)

    return typed


@pytest.fixture
def site(tmp_path: Path, lab_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A glossary with one entry that nobody signed; the working directory is its root."""
    made = new_site(tmp_path / "site", lab_cache, {WARP: ENTRY})
    monkeypatch.chdir(made.root)
    return made


# ── from an empty folder to a site ───────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A glossary that `init` and `new` made, whose kernel is compiled for every architecture."""
    root = tmp_path_factory.mktemp("begun") / "my-glossary"
    assert cli.main(["init", str(root)]) == 0
    assert cli.main(["new", "bank conflict", "--root", str(root)]) == 0
    assert cli.main(["new", "warp", "--without-experiment", "--root", str(root)]) == 0
    return Site(root=root, cache=root / pipeline.CACHE)


def test_a_new_glossary_has_what_it_needs(begun: Site) -> None:
    """Folder names become title and project; nothing else than the layout is written."""
    files = [p.relative_to(begun.root).as_posix() for p in begun.root.rglob("*") if p.is_file()]
    assert sorted(name for name in files if not name.startswith(".cache")) == [
        ".gitattributes",
        ".gitignore",
        "code/bank-conflict/bank-conflict.cu",
        "code/bank-conflict/experiment.py",
        "docs/index.md",
        "docs/javascripts/iframe-worker.js",
        "glossary/bank-conflict/entry.md",
        "glossary/people.yml",
        "glossary/settings.yml",
        "glossary/warp/entry.md",
        "mkdocs.yml",
        "tests/test_experiment_bank_conflict.py",
    ]
    settings = yaml.safe_load(begun.path("glossary/settings.yml").read_text(encoding="utf-8"))
    assert settings == {"title": "My glossary", "licence": "CC BY 4.0"}
    assert "project: my-glossary\n" in begun.path("glossary/people.yml").read_text("utf-8")


def test_a_new_entry_wants_a_record_and_signatures(begun: Site, run: Run) -> None:
    """Its kernel compiles, its claim on machine code holds, and only the record is missing."""
    done = run("check", "--root", str(begun.root))
    assert done.status == 1
    assert done.out.splitlines() == [
        "glossary/bank-conflict/entry.md:7:15: no-measurement: bank-conflict was measured "
        "neither by this build nor earlier",
        "    on a machine with a GPU: glossary measure bank-conflict",
    ]
    assert "2 entries checked, 1 problem\n" in done.err
    told = run("status", "--root", str(begun.root)).out
    assert "write your id behind 'written_by:' in glossary/warp/entry.md" in told
    assert "2 entries: 2 draft\n" in told


def test_the_new_kernel_is_one_instruction_everywhere(begun: Site) -> None:
    """The claim that each new entry begins with is true on every architecture there is."""
    study = begun.study("bank-conflict")
    assert [(claim.name, claim.state) for claim in study.claims] == [("one_multiplication", "held")]
    rows = study.static[0].rows
    assert len(rows) > 5
    assert {row["multiplications"] for row in rows} == {1}


def test_an_entry_without_an_experiment_is_clean(begun: Site, run: Run) -> None:
    """Prose alone has nothing to measure and nothing wrong with it."""
    done = run("check", "warp", "--root", str(begun.root))
    assert (done.status, done.out) == (0, "")
    assert done.err.endswith("1 entry checked, 0 problems\n")


def test_a_linked_file_that_is_not_there_is_told(begun: Site, run: Run, tmp_path: Path) -> None:
    """Each at its place; the preview shows the draft, and all others."""
    site = Site(root=tmp_path / "copy", cache=begun.cache)
    shutil.copytree(begun.root, site.root)
    entry = site.path("glossary/warp/entry.md")
    text = entry.read_text(encoding="utf-8")
    links = "![p](a.svg) ![p](A.svg) [t](data/b.csv#x) [here](index.md) [r] [a](#b)\n\n[r]: c.txt\n"
    site.write("glossary/warp/entry.md", f"{text}\n{links}")
    site.write("glossary/warp/a.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>')
    line = len(text.splitlines()) + 2
    done = run("check", "warp", "--root", str(site.root))
    assert done.status == 1
    assert [told for told in done.out.splitlines() if "entry.md" in told] == [
        f"glossary/warp/entry.md:{line}:17: link-outside-entry: there is no file 'A.svg' "
        "in the entry's folder",
        f"glossary/warp/entry.md:{line}:28: link-outside-entry: there is no file 'data/b.csv' "
        "in the entry's folder",
        f"glossary/warp/entry.md:{line + 2}:5: link-outside-entry: there is no file 'c.txt' "
        "in the entry's folder",
    ]
    assert "did you mean 'a.svg'?" in done.out
    assert run("preview", "--root", str(site.root)).status == 0
    page = site.path("preview/glossary/warp/index.html").read_text(encoding="utf-8")
    assert "there is no file" in page


def test_the_preview_of_a_new_glossary_shows_its_drafts(begun: Site, run: Run) -> None:
    """`preview` builds the whole site, and says where it is."""
    done = run("preview", "--root", str(begun.root))
    index = begun.root / "preview" / "index.html"
    assert (done.status, done.out) == (0, f"built {index}\n")
    page = (begun.root / "preview/glossary/bank-conflict/index.html").read_text(encoding="utf-8")
    told = "bank-conflict: draft, 1 problem; to mend: glossary check bank-conflict\n"
    assert told in done.err  # as the build itself tells it
    assert "    glossary/bank-conflict/entry.md:7:15: no-measurement: " in done.err
    assert (begun.root / "preview/search/search_index.js").is_file(), "a search on a disk reads it"
    assert "What does bank conflict mean in CUDA?" in page
    assert "code/bank-conflict/bank-conflict.cu" in page
    assert "2.0f" in page


def test_the_preview_of_an_entry_opens_its_page(
    begun: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who names an entry is shown that entry's page of the whole site, as it was built."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    done = run("preview", "warp", "--open", "--root", str(begun.root))
    page = begun.root / "preview" / "glossary" / "warp" / "index.html"
    assert (done.status, done.out) == (0, f"built {page}\n")
    assert page.is_file()
    assert opened == [page.as_uri()]


def test_a_new_glossary_builds(begun: Site) -> None:
    """`mkdocs build`, strict as the new configuration is, gives a site without the drafts."""
    built = mkdocs(begun)
    assert built.status == 0
    assert "WARNING" not in built.output
    assert built.holds("glossary/index.html")
    assert built.traces_of("bank-conflict") == []


def test_init_takes_the_folder_it_is_in(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a folder it is the working directory, and `--root` names another one."""
    monkeypatch.chdir(tmp_path)
    here = run("init")
    assert here.status == 0
    assert "next:  glossary new 'bank conflict'\n" in here.out
    there = run("init", "--root", "other")
    assert "next:  cd other\n       glossary new" in there.out
    assert (tmp_path / "other" / "mkdocs.yml").is_file()


@pytest.mark.parametrize("name", ["共享内存", "__init__", "a: b #c", 'say "hi"', "x" * 90, "{{x}}"])
def test_init_takes_any_folder(tmp_path: Path, run: Run, name: str) -> None:
    """Whatever the folder is called, what is written there is a glossary without a fault."""
    root = tmp_path / name
    assert run("init", str(root)).status == 0
    assert run("status", "--root", str(root)).out.startswith("no entries yet")
    config = load_config(str(root / "mkdocs.yml"), site_dir=str(root / "site"))
    config.plugins.on_startup(command="build", dirty=False)
    build_site(config)
    assert (root / "site" / "index.html").is_file()


def test_init_writes_nothing_over_anything(site: Site, run: Run) -> None:
    """Every file in the way is named at once, and none is touched."""
    site.remove("glossary/settings.yml")  # with it, a glossary has begun already
    before = {p: p.read_bytes() for p in site.root.rglob("*") if p.is_file()}
    done = run("init")
    assert done.status == 1
    assert "docs/index.md: file-exists: stands here already" in done.err
    assert "mkdocs.yml: file-exists: stands here already" in done.err
    assert {p: p.read_bytes() for p in site.root.rglob("*") if p.is_file()} == before


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc/self").exists(), reason="needs /proc")
def test_a_folder_that_cannot_be_written_is_a_problem(run: Run) -> None:
    """The system's own words, and no traceback."""
    done = run("init", "/proc/self/nowhere")
    assert done.status == 1
    assert ": cannot-write: cannot be written: " in done.err


def test_a_folder_of_too_long_a_name_is_a_problem(run: Run) -> None:
    """The system says so before anything is written."""
    done = run("init", "x" * 300)
    assert done.status == 1
    assert ": cannot-write: cannot be written: File name too long" in done.err


# ── new entries ──────────────────────────────────────────────────────────────────────────────

TERMS = {
    "__syncthreads()": "syncthreads",
    "Read–after–write hazard": "readafterwrite-hazard",
    'so-called "warp"': "so-called-warp",
    "warp: 32 threads": "warp-32-threads",
    "C++ #pragma unroll": "c-pragma-unroll",
    "Größe": "groe",
    "it's 100 % $HOME \\ back": "it-s-100-home-back",
    "'''triple''' \"\"\"quotes\"\"\"": "triple-quotes",
    "2D": "2d",
    "x" * 99: "x" * 60,
}


@pytest.mark.parametrize("term", sorted(TERMS))
def test_any_term_makes_an_entry(site: Site, run: Run, term: str) -> None:
    """Odd characters end in no file's syntax: front matter and Python can be read."""
    done = run("new", term)
    assert (done.status, done.err) == (0, "")
    entry_id = TERMS[term]
    assert f"next:  glossary check {entry_id}\n" in done.out
    experiment = site.path(f"code/{entry_id}/experiment.py").read_text(encoding="utf-8")
    assert term in str(ast.get_docstring(ast.parse(experiment), clean=False))
    source = read(site.root, f"glossary/{entry_id}/entry.md").value
    assert source
    entry = parse(entry_id, source)
    assert entry.value
    assert entry.problems == ()
    assert entry.value.front.term == term


def test_a_new_entry_of_an_odd_name_compiles(site: Site, run: Run) -> None:
    """No character of a term ends in the kernel's or in the experiment's syntax."""
    assert run("new", 'it\'s "100 %" of $HOME \\').status == 0
    only = 'sources=["it-s-100-of-home.cu"], architectures=["sm_90"]'
    site.replace("code/it-s-100-of-home/experiment.py", only.partition(",")[0], only)
    assert [claim.state for claim in site.study("it-s-100-of-home").claims] == ["held"]


def test_a_refuted_claim_of_a_new_entry_names_the_row(site: Site, run: Run) -> None:
    """What `new` writes goes through its rows one by one, so that one of them is to blame."""
    assert run("new", "lane").status == 0
    file = "code/lane/experiment.py"
    site.replace(file, 'sources=["lane.cu"]', 'sources=["lane.cu"], architectures=["sm_90"]')
    site.replace(file, "row.multiplications == 1", "row.multiplications == 2")
    (claim,) = site.study("lane").claims
    assert claim.detail == (
        "`row.multiplications == 2`, where row.multiplications is 1; "
        "row is arithmetic(architecture='sm_90')"
    )


REFUSED_TERMS = {
    "共享内存": "has no letter or digit to make an id from: add --id NAME",
    "": "has no letter or digit to make an id from",
    "…": "has no letter or digit to make an id from",
    "x" * 200: "term: expected at most 100 signs",
    "a <b>bold</b> term": "term: expected a text without HTML",
    "{{ term }}": "term: expected a text without '{{'",
    "two\nlines": "term: expected one line",
    " blanks ": "term: expected a text without blanks at its ends",
}


@pytest.mark.parametrize("term", sorted(REFUSED_TERMS))
def test_a_term_that_no_page_could_show_is_refused(site: Site, run: Run, term: str) -> None:
    """Nothing is written for it; the message says what a term is."""
    before = sorted(site.root.rglob("*"))
    done = run("new", term)
    assert (done.status, done.out) == (2, "")
    assert REFUSED_TERMS[term] in done.err
    assert sorted(site.root.rglob("*")) == before


def test_a_term_of_another_script_takes_an_id(site: Site, run: Run) -> None:
    """With `--id` a term may be written in any script."""
    assert run("new", "共享内存", "--id", "shared-memory").status == 0
    text = site.path("glossary/shared-memory/entry.md").read_text(encoding="utf-8")
    assert 'term: "共享内存"\n' in text


def test_an_id_is_one(site: Site, run: Run) -> None:
    """An id that no folder could have is refused, and leads to no other place."""
    done = run("new", "warp size", "--id", "../../warp")
    assert done.status == 2
    assert "'../../warp' is not an entry's id" in done.err


def test_a_second_entry_of_a_name_is_refused(site: Site, run: Run) -> None:
    """Neither the entry nor the experiment of the first one is touched."""
    assert run("new", "lane").status == 0
    before = {p: p.read_bytes() for p in site.root.rglob("*") if p.is_file()}
    done = run("new", "Lane")
    assert done.status == 1
    assert "glossary/lane/entry.md: file-exists: stands here already" in done.err
    assert "code/lane/experiment.py: file-exists" in done.err
    assert {p: p.read_bytes() for p in site.root.rglob("*") if p.is_file()} == before


# ── checking and telling ─────────────────────────────────────────────────────────────────────


def test_check_takes_ids(site: Site, run: Run) -> None:
    """Only the named entries' problems are printed, and decide the exit status."""
    site.write("glossary/broken/entry.md", "nothing\n")
    assert run("check", "warp").status == 0
    assert run("check", "broken").status == 1
    assert run("check").status == 1


def test_check_of_one_entry_looks_at_its_experiments_only(site: Site, run: Run) -> None:
    """Another entry's broken experiment is not even started, so that a first check is quick."""
    assert run("new", "one").status == 0
    assert run("new", "two").status == 0
    for name in ("one", "two"):
        site.write(f"code/{name}/experiment.py", "not Python\n")
    done = run("check", "one")
    assert done.out.startswith("code/one/experiment.py:1:")
    assert "two" not in done.out + done.err
    assert "code/two/experiment.py:1:" in run("check").out


def test_check_looks_at_hand_written_pages(site: Site, run: Run) -> None:
    """A term that a hand-written page asks for and nobody explains is a problem too."""
    site.write("docs/index.md", "# Home\n\nRead of [[lanes]].\n")
    done = run("check")
    assert done.status == 1
    assert "docs/index.md:3:9: " in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", "wrap"), "there is no entry 'wrap'; did you mean 'warp'?"),
        (("preview", "wrap"), "there is no entry 'wrap'; did you mean 'warp'?"),
        (("check", "other"), "there is no entry 'other'; there are: warp"),
        (("measure", "warp"), "there is no experiment 'warp'; there are: none"),
        (("measure",), "there is no experiment in code/ yet: glossary new TERM writes one"),
        (("measure", "--launches", "0"), "expected a whole number above 0, found '0'"),
        (("measure", "--launches", "many"), "expected a whole number above 0, found 'many'"),
        (("explain", "stale-recrod"), "there is no problem 'stale-recrod'; near it: stale-record"),
        (("explain", "zzzzzz"), "there is no problem 'zzzzzz'; glossary explain lists all"),
        (("chekc",), "invalid choice: 'chekc'"),
        ((), "the following arguments are required: COMMAND"),
    ],
)
def test_misuse_is_status_2(site: Site, run: Run, words: tuple[str, ...], message: str) -> None:
    """A word that the command does not know is told with what it does know."""
    done = run(*words)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err


def test_problems_as_json(site: Site, run: Run) -> None:
    """Programs get every problem with place, code, message and hint, and nothing else."""
    site.write("glossary/broken/entry.md", "nothing\n")
    (problem,) = json.loads(run("check", "--format", "json").out)
    assert problem["file"] == "glossary/broken/entry.md"
    assert problem["code"] == "no-front-matter"
    assert (problem["line"], problem["column"]) == (1, 1)
    assert json.loads(run("check", "warp", "--format", "json").out) == []


def test_a_refusal_as_json(site: Site, run: Run) -> None:
    """What refuses the whole glossary is JSON on standard output too."""
    done = run("check", "--format", "json", "--root", "docs")
    assert (done.status, done.err) == (1, "")
    assert json.loads(done.out)[0]["file"] == "glossary/settings.yml"


def test_problems_as_annotations(site: Site, run: Run) -> None:
    """GitHub shows each problem at its line."""
    site.write("glossary/broken/entry.md", "nothing\n")
    done = run("check", "--format", "github")
    assert done.out.startswith(
        "::error file=glossary/broken/entry.md,line=1,col=1,title=no-front-matter::"
    )
    assert run("check", "warp", "--format", "github").out == ""


def test_status_as_json(site: Site, run: Run) -> None:
    """Programs get each entry's verdict, what is missing and what is wrong."""
    site.publish("warp")
    data = json.loads(run("status", "--json").out)
    assert data["project"] == "test-glossary"
    assert data["registry"]["pinned"] is False
    (entry,) = data["entries"]
    assert (entry["id"], entry["term"], entry["verdict"]) == ("warp", "warp", "published")
    assert (entry["missing"], entry["problems"]) == ([], [])
    assert len(entry["manifest"]) == 64


def test_status_and_outputs_are_stable(site: Site, run: Run) -> None:
    """The same files give the same bytes, run after run."""
    site.write("glossary/broken/entry.md", "nothing\n").publish("warp")
    assert run("status") == run("status")
    assert run("check") == run("check")


def test_explain(run: Run) -> None:
    """A known code is explained, and without one all are listed."""
    done = run("explain", "stale-record")
    assert done.status == 0
    assert done.out.startswith("stale-record\n\nThe record was made from other code")
    assert run("explain").out.splitlines() == sorted(explain.sections())


def test_schema(run: Run) -> None:
    """Editors get the JSON Schema of front matter, and that of a study path."""
    assert json.loads(run("schema").out) == json_schema()
    assert json.loads(run("schema", "path").out) == path_schema()


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion(run: Run, shell: str) -> None:
    """A completion script for the shell knows the commands."""
    done = run("--print-completion", shell)
    assert done.status == 0
    assert "request-review" in done.out


def test_version(run: Run) -> None:
    """The program says which it is."""
    assert run("--version").out == f"glossary {__version__}\n"


def test_help_names_every_command(run: Run) -> None:
    """The first help has one line for each command."""
    done = run("--help")
    (commands,) = [
        action for action in cli.parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    ]  # fmt: skip
    assert done.status == 0
    assert all(f"\n    {name} " in done.out for name in commands.choices)


# ── where there is no glossary ───────────────────────────────────────────────────────────────

NEEDS_A_GLOSSARY = [
    ("new", "warp"), ("check",), ("status",), ("status", "--json"), ("export", "out"),
    ("measure",), ("measure", "warp"),
    ("verify",), ("audit", "site"), ("sign", "warp"), ("manifest", "warp"),
]  # fmt: skip


@pytest.mark.parametrize("words", NEEDS_A_GLOSSARY, ids=" ".join)
def test_outside_of_a_glossary(
    tmp_path: Path, run: Run, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names what is missing and the command that makes it; nothing is written."""
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.status == 1
    assert "glossary/settings.yml: missing-file: there is no such file" in done.err
    assert "glossary init" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [*NEEDS_A_GLOSSARY, ("preview",)], ids=" ".join)
def test_in_a_subfolder_of_a_glossary(
    site: Site, run: Run, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hint is what to type to reach the glossary, and starts no second one in it."""
    folder = site.root / "glossary" / "warp"
    monkeypatch.chdir(folder)
    done = run(*words)
    told = "the glossary is a folder above: cd ../.. and type it there, or add --root ../.."
    assert (done.status, told in done.err, "glossary init" in done.err) == (1, True, False)
    assert [path.name for path in folder.iterdir()] == ["entry.md"]


def test_a_root_below_a_glossary(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way leads from the folder where the command was typed, not from the one it named."""
    monkeypatch.chdir(site.root.parent)
    assert "or add --root site\n" in run("check", "--root", "site/glossary/warp").err


def test_preview_outside_of_a_glossary(tmp_path: Path, run: Run) -> None:
    """A preview needs MkDocs' configuration first."""
    done = run("preview", "--root", str(tmp_path))
    assert done.status == 1
    assert done.err.startswith("mkdocs.yml: missing-file: there is no such file\n")
    assert "glossary init" in done.err


def test_a_root_may_be_relative(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--root` is read from the working directory, and messages stay relative to it."""
    monkeypatch.chdir(site.root.parent)
    assert run("check", "--root", "site").status == 0
    assert run("preview", "--root", "site").status == 0
    assert run("export", "out", "--root", "site").status == 0
    assert (site.root.parent / "out" / "docs" / "glossary" / "index.md").is_file()
    site.write("glossary/broken/entry.md", "nothing\n")
    assert run("check", "--root", "site").out.startswith("glossary/broken/entry.md:1:1: ")


# ── exports ──────────────────────────────────────────────────────────────────────────────────


def test_an_export_builds_without_the_plugin(site: Site, run: Run) -> None:
    """Plain MkDocs builds what is exported, strictly; every link of a page leads somewhere."""
    site.publish("warp")
    done = run("export", "out")
    assert done.status == 0
    assert "with 1 published entry to out\n" in done.out
    site.write("plain.yml", "site_name: Plain\nstrict: true\ndocs_dir: out/docs\ntheme: mkdocs\n")
    config = load_config(str(site.root / "plain.yml"), site_dir=str(site.root / "plain"))
    build_site(config)
    page = (site.root / "plain/glossary/warp/index.html").read_text(encoding="utf-8")
    assert "Every block is cut into warps." in page
    assert "Test Reviewer" in page


def test_an_export_holds_no_draft(site: Site, run: Run) -> None:
    """What is not published is not written anywhere."""
    assert run("export", "out").status == 0
    texts = [p.read_bytes() for p in (site.root / "out").rglob("*") if p.is_file()]
    assert texts
    assert not any(b"Every block is cut" in text for text in texts)


def test_an_export_goes_into_an_empty_folder(site: Site, run: Run) -> None:
    """A new folder and an empty one are fine, folders above it are made."""
    (site.root / "empty").mkdir()
    assert run("export", "empty").status == 0
    assert run("export", "new/and/deep").status == 0
    assert sorted(p.name for p in (site.root / "new/and").iterdir()) == ["deep"]


def test_an_export_goes_into_no_other_folder(site: Site, run: Run) -> None:
    """A folder with anything in it, or a file, is left as it is."""
    (site.root / "some").mkdir()
    (site.root / "some" / "file").write_bytes(b"")
    for name in ("some", "mkdocs.yml", "."):
        done = run("export", name)
        assert done.status == 1
        assert ": folder-not-empty: exists and is not an empty folder" in done.err
    assert sorted(p.name for p in (site.root / "docs").iterdir()) == ["index.md"]


def test_an_export_is_refused_while_evidence_is_wrong(site: Site, run: Run) -> None:
    """As in a build, a page that was signed does not vanish in silence."""
    site.publish("warp").write("glossary/warp/signatures/author.test-author.json.sig", "x\n")
    done = run("export", "out")
    assert done.status == 1
    assert "glossary/warp/signatures/author.test-author.json.sig: " in done.err
    assert not (site.root / "out").exists()


# ── processes ────────────────────────────────────────────────────────────────────────────────


def test_a_closed_pipe_is_no_error(site: Site) -> None:
    """`glossary schema | head -1` prints its line and no traceback."""
    with subprocess.Popen(
        [*COMMAND, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        told = process.stderr.read()
        assert process.wait(timeout=60) == 1
    assert told == b""


C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("words", [("--help",), ("status",), ("check",), ("verify",)])
@pytest.mark.parametrize(
    "encoding",
    [
        {"PYTHONIOENCODING": "ascii"},
        C_LOCALE,
        {"PYTHONIOENCODING": "utf-8"},
    ],
    ids=["ascii", "C", "utf-8"],
)
def test_a_terminal_without_a_character_shows_its_number(
    site: Site, words: tuple[str, ...], encoding: dict[str, str]
) -> None:
    """What is printed is the same, letters that the terminal does not have aside."""
    site.replace(WARP, "area:", "Größe:")
    done, known = (
        subprocess.run([*COMMAND, *words], capture_output=True, check=False, env=environment)
        for environment in ({**ENVIRONMENT, **encoding}, {**ENVIRONMENT, "PYTHONUTF8": "1"})
    )
    assert done.returncode == known.returncode
    assert b"Traceback" not in done.stderr
    shown = known.stdout.decode()
    if encoding.get("PYTHONIOENCODING") != "utf-8":
        assert not shown.isascii()
        shown = shown.encode("ascii", "backslashreplace").decode()
    assert done.stdout.decode() == shown


def test_a_term_is_read_as_utf8_in_every_terminal(site: Site) -> None:
    """Where the terminal is said to have no umlauts, the term has them all the same."""
    done = subprocess.run(
        [*COMMAND, "new", "Größe", "--without-experiment"],
        capture_output=True, check=False, env={**ENVIRONMENT, **C_LOCALE},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert 'term: "Größe"\n' in site.path("glossary/groe/entry.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        ("new", "Gr\udcffe"),
        ("new", "warp", "--question", "Gr\udcffe?"),
        ("check", "Gr\udcffe"),
        ("people", "add", "a", "--name", "Gr\udcffe", "--key", "a.pub"),
        ("retract", "warp", "--reason", "Gr\udcffe"),
    ],
)
def test_a_word_that_is_no_text_is_misuse(site: Site, run: Run, words: tuple[str, ...]) -> None:
    """A shell passes any bytes on."""
    before = sorted(site.root.rglob("*"))
    done = run(*words)
    assert (done.status, done.out) == (2, "")
    assert r"expected text in UTF-8, found 'Gr\udcffe" in done.err
    assert sorted(site.root.rglob("*")) == before


def test_a_path_may_be_of_any_bytes(tmp_path: Path, run: Run) -> None:
    """A system takes any bytes for a name."""
    folder = str(tmp_path / "Gr\udcffe")
    assert run("init", folder).status == 0
    assert run("check", "--root", folder).status == 0
    assert run("export", f"{folder}/out\udcff", "--root", folder).status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a shell as POSIX has it")
def test_closed_standard_output_is_no_error(site: Site) -> None:
    """`glossary schema >&-` has nothing to print to, and ends as it does elsewhere."""
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "schema"]
    done = subprocess.run(command, capture_output=True, check=False, env=ENVIRONMENT)
    assert (done.returncode, done.stderr) == (0, b"")


SLOW = """\
import pathlib, time
pathlib.Path(BEACON).touch()
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT as POSIX has it")
def test_ctrl_c_ends_at_once(site: Site, tmp_path: Path) -> None:
    """An interrupted command waits for no experiment, and leaves no process, file or traceback."""
    beacon, scratch = tmp_path / "begun", tmp_path / "scratch"
    scratch.mkdir()
    site.write("code/slow/experiment.py", SLOW.replace("BEACON", repr(str(beacon))))
    site.replace(WARP, "byline:", "experiments: [slow]\nclaims: [holds]\nbyline:")
    environment = {**ENVIRONMENT, "TMPDIR": str(scratch)}
    command = [*COMMAND, "check"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, env=environment, preexec_fn=_hear_interrupts
    ) as process:
        while not beacon.exists():
            assert process.poll() is None
        assert running_below(scratch) != set()
        process.send_signal(signal.SIGINT)
        assert process.stderr
        printed = process.stderr.read()
        assert process.wait(timeout=30) == 130
    assert printed.endswith(b"\nglossary: interrupted\n")
    assert b"Traceback" not in printed
    assert running_below(scratch) == set()
    assert list(scratch.iterdir()) == []


def _hear_interrupts() -> None:
    """Undo what a shell does to its background jobs, and these to what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def running_below(folder: Path) -> set[str]:
    """The worker processes that run with a request in a folder."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().decode(errors="replace").split("\0")
            found |= {path.parent.name} if any(w.startswith(f"{folder}/") for w in words) else set()
    return found
