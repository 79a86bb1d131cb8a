"""Set-up: what a bare machine gets, from the two targets, the scripts and the workflows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SCRIPTS = sorted([ROOT / ".ci" / "run", *(ROOT / "ci").glob("*.sh")])
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BASH = shutil.which("bash") or "bash"


def names(requirements: list[str]) -> set[str]:
    """The packages that requirements name, without versions."""
    return {re.split(r"[<>=\[;]", requirement)[0] for requirement in requirements}


def stand_in(folder: Path, name: str, body: str) -> Path:
    """Write an executable script that stands in for a program."""
    path = folder / name
    path.write_text(f"#!{BASH}\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def script(
    name: str, *arguments: str, path: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a script of the project with `path` before everything else, and no other setting."""
    search = os.pathsep.join(filter(None, [str(path or ""), "/usr/bin", "/bin"]))
    return subprocess.run(
        [BASH, str(ROOT / name), *arguments],
        env={"PATH": search, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


# ── packages ─────────────────────────────────────────────────────────────────────────────────


def test_the_base_install_is_small() -> None:
    """Reading, checking, verifying and building need no CUDA package and no browser."""
    assert names(PROJECT["dependencies"]) == {
        "mkdocs", "mkdocs-material", "PyYAML", "Jinja2", "Markdown", "pydantic", "cryptography",
        "shtab", "Pillow", "watchdog",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("extra", "packages"),
    [
        ("compile", {"cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-cuda-nvdisasm"}),
        ("cuda12", {"cupy-cuda12x", "nvidia-ml-py"}),
        ("cuda13", {"cupy-cuda13x", "nvidia-ml-py"}),
    ],
)
def test_extras_bring_the_device(extra: str, packages: set[str]) -> None:
    """`compile` brings the compiler, `cuda12` and `cuda13` CuPy and the driver's library."""
    assert packages <= names(PROJECT["optional-dependencies"][extra])


def test_licences_are_those_that_are_named() -> None:
    """Code is Apache-2.0 in full text, content CC BY 4.0."""
    assert PROJECT["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    content = (ROOT / "LICENSE-CONTENT.md").read_text(encoding="utf-8")
    assert "https://creativecommons.org/licenses/by/4.0/legalcode" in content


# ── make ─────────────────────────────────────────────────────────────────────────────────────


def make(*arguments: str) -> str:
    """What make prints, untouched by the make that may have started these tests."""
    inherited = {"ARGS", "EXTRAS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if key not in inherited},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize(
    ("target", "commands"),
    [
        ("preview", ["ci/venv.sh", "pip install", "glossary preview", "glossary status"]),
        ("test", ["ci/venv.sh", "pip install", "ci/browser.sh", "-O -m pytest", "-m pytest"]),
        ("site", ["ci/venv.sh", "pip install", "mkdocs build"]),
        ("serve", ["ci/venv.sh", "pip install", "mkdocs serve"]),
        ("check", ["ruff check", "ruff format --check", "ci/types.sh", "actionlint", "shellcheck"]),
    ],
)
def test_a_target_sets_itself_up(target: str, commands: list[str]) -> None:
    """On a fresh clone a target makes the environment, installs what it needs, then works."""
    planned = make("--dry-run", "--always-make", target)
    places = [planned.find(command) for command in commands]
    assert -1 not in places, planned
    assert places == sorted(places), planned


def test_make_lists_its_targets() -> None:
    """`make` without a target changes nothing and says what there is."""
    targets = re.findall(r"^  make (\w+) +\S", make(), re.M)
    assert {"preview", "test", "site", "serve", "check", "clean"} <= set(targets)


# ── scripts ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_stops_at_the_first_fault(path: Path) -> None:
    """Scripts are strict, executable, and parse."""
    assert "set -euo pipefail" in path.read_text(encoding="utf-8")
    assert os.access(path, os.X_OK)
    subprocess.run([BASH, "-n", str(path)], check=True)


def test_ci_runs_check_and_test(tmp_path: Path) -> None:
    """`.ci/run` is `make check` and `make test`, in this order."""
    stand_in(tmp_path, "make", f'echo "$@" >> {tmp_path}/log')
    assert script(".ci/run", path=tmp_path).returncode == 0
    assert (tmp_path / "log").read_text(encoding="utf-8").split() == ["check", "test"]


def test_ci_fails_with_its_first_step(tmp_path: Path) -> None:
    """`.ci/run` fails where `make check` fails, whatever `make test` would say."""
    stand_in(tmp_path, "make", 'test "$1" != check')
    assert script(".ci/run", path=tmp_path).returncode != 0


@pytest.mark.parametrize(
    ("system", "machine", "driver", "extra"),
    [
        ("Linux", "x86_64", None, "compile"),
        ("Linux", "aarch64", None, "compile"),
        ("Linux", "x86_64", "12.4", "cuda12"),
        ("Linux", "x86_64", "13.0", "cuda13"),
        ("Darwin", "arm64", None, ""),
    ],
)
def test_extras_follow_the_machine(
    tmp_path: Path, system: str, machine: str, driver: str | None, extra: str
) -> None:
    """A driver decides between CUDA 12 and 13; without one only the compiler is brought."""
    stand_in(tmp_path, "uname", f'[ "$1" = -s ] && echo {system} || echo {machine}')
    answer = f"echo '| Driver Version: 1.2   CUDA Version: {driver}   |'" if driver else "exit 9"
    stand_in(tmp_path, "nvidia-smi", answer)
    assert script("ci/extras.sh", path=tmp_path).stdout.strip() == extra


def test_extras_can_be_chosen() -> None:
    """EXTRAS overrides what the machine suggests, with nothing too."""
    assert script("ci/extras.sh", EXTRAS="cuda12").stdout.strip() == "cuda12"
    assert script("ci/extras.sh", EXTRAS="").stdout.strip() == ""


def test_an_old_python_is_refused(tmp_path: Path) -> None:
    """Without Python 3.11 the set-up ends with status 2 and says how to name one."""
    for name in ("python", "python3", *(f"python3.{minor}" for minor in range(11, 15))):
        stand_in(tmp_path, name, "exit 1")
    ended = script("ci/venv.sh", str(tmp_path / "venv"), path=tmp_path)
    assert ended.returncode == 2
    assert "Python 3.11" in ended.stderr
    assert not (tmp_path / "venv").exists()


def python_without_venv(folder: Path) -> Path:
    """A stand-in Python whose venv module comes with a package, as on Debian."""
    imports = f'case "$2" in *ensurepip*) test -e {folder}/installed ;; esac'
    body = f'case "$1" in -c) {imports} ;; -m) mkdir "$3" ;; *) echo Python 3.12 ;; esac'
    return stand_in(folder, "some-python", body)


def test_root_gets_the_missing_venv_module(tmp_path: Path) -> None:
    """Where the package manager may be used, the set-up installs the module by itself."""
    stand_in(tmp_path, "id", "echo 0")
    stand_in(tmp_path, "apt-get", f"if [ $1 = install ]; then touch {tmp_path}/installed; fi")
    python = str(python_without_venv(tmp_path))
    ended = script("ci/venv.sh", str(tmp_path / "venv"), path=tmp_path, PYTHON=python)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "venv").is_dir()


def test_others_are_told_of_the_missing_venv_module(tmp_path: Path) -> None:
    """Where it may not, the message is the command to type, and the status 2."""
    stand_in(tmp_path, "id", "echo 1000")
    python = str(python_without_venv(tmp_path))
    ended = script("ci/venv.sh", str(tmp_path / "venv"), path=tmp_path, PYTHON=python)
    assert ended.returncode == 2
    assert "sudo apt install python3-venv" in ended.stderr


def test_a_named_browser_is_used(tmp_path: Path) -> None:
    """GLOSSARY_BROWSER comes before whatever else is installed; the path is printed, and why."""
    browser = stand_in(tmp_path, "my-browser", "echo My Browser 1.0")
    ended = script("ci/browser.sh", sys.executable, GLOSSARY_BROWSER=str(browser))
    assert ended.stdout.strip() == str(browser)
    assert "My Browser 1.0" in ended.stderr


def test_nothing_is_published_without_a_pin() -> None:
    """The deploy script ends before its first step if the registry is not pinned from outside."""
    ended = script("ci/publish.sh")
    assert ended.returncode != 0
    assert "GLOSSARY_REGISTRY_PIN" in ended.stderr
    assert ended.stdout == ""


def test_publishing_measures_verifies_and_audits(tmp_path: Path) -> None:
    """The deploy script builds live, asks both verifiers, and audits the tree last."""
    text = (ROOT / "ci" / "publish.sh").read_text(encoding="utf-8")
    steps = ["GLOSSARY_MEASURE=live", "make site", "verify --also-with ssh-keygen", "audit site"]
    places = [text.find(step) for step in steps]
    assert -1 not in places
    assert places == sorted(places)


# ── workflows and the site's configuration ───────────────────────────────────────────────────


def workflow(name: str) -> dict[Any, Any]:
    """A workflow's data; YAML 1.1 reads the key `on` as true."""
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    data: dict[Any, Any] = yaml.safe_load(text)
    return data


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned(path: Path) -> None:
    """Every action is named by the digest of a commit, with its version beside it."""
    used = re.findall(r"uses: *(.+)", path.read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action) for action in used)


def test_a_pull_request_never_reaches_the_gpu() -> None:
    """A fork's code runs on a hosted runner, with read access and without the base's secrets."""
    data = workflow("pull-request.yml")
    assert set(data[True]) == {"pull_request"}
    assert data["permissions"] == {"contents": "read"}
    for job in data["jobs"].values():
        assert job["runs-on"].startswith("ubuntu-")
        assert "permissions" not in job
        assert "environment" not in job
    assert "secrets." not in str(data)


def test_a_pull_request_is_judged_by_the_base_branch() -> None:
    """The registry that judges a change is not the one the change brings."""
    steps = workflow("pull-request.yml")["jobs"]["judge"]["steps"]
    run = next(step for step in steps if "pull-request.sh" in step.get("run", ""))
    assert run["env"]["BASE"] == "${{ github.base_ref }}"
    text = (ROOT / "ci" / "pull-request.sh").read_text(encoding="utf-8")
    for command in ("people lint", "verify", "audit site"):
        assert f'glossary {command} --registry-from "$base"' in text
    assert "GLOSSARY_MEASURE=recorded" in text


def test_only_an_audited_tree_is_deployed() -> None:
    """Deploying needs the build on the GPU, which needs the tests; the pin is protected."""
    jobs = workflow("main.yml")["jobs"]
    assert jobs["build"]["needs"] == "test"
    assert jobs["deploy"]["needs"] == "build"
    assert {"self-hosted", "gpu"} <= set(jobs["build"]["runs-on"])
    assert jobs["build"]["environment"] == "publish"
    run = next(step for step in jobs["build"]["steps"] if "publish.sh" in step.get("run", ""))
    assert run["env"]["GLOSSARY_REGISTRY_PIN"] == "${{ vars.GLOSSARY_REGISTRY_PIN }}"
    assert "permissions" not in jobs["build"]


def test_the_site_is_strict_and_asks_no_other_host() -> None:
    """Warnings fail the build; no web font and no repository widget is loaded."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert re.search(r"^strict: true$", text, re.M)
    assert re.search(r"^  font: false$", text, re.M)
    assert not re.search(r"^repo_url:|^extra_(javascript|css):.*//|polyfills:.*//", text, re.M)
    assert "- pymdownx.snippets" not in text
