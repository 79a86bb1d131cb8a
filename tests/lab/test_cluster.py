"""A real Dask cluster of two workers, which die and hang in the middle of their work."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from measured_glossary import cli
from measured_glossary.lab.board import STATIC, Job
from measured_glossary.lab.cluster import Options, Outcome, measure
from measured_glossary.lab.record import read_record
from measured_glossary.lab.settings import Settings
from measured_glossary.source import read

distributed = pytest.importorskip("distributed")

HERE = Path(__file__).parent
PRETEND = (sys.executable, str(HERE / "workers" / "pretend_gpu.py"))
NO_GPU = (*PRETEND, "no-gpu")

# Another project's warnings are no fault of ours.
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(sys.platform == "win32", reason="workers need POSIX"),
]


@dataclass(slots=True)
class Cluster:
    """A scheduler with two workers, and what was told of runs on it."""

    address: str
    root: Path
    cache: Path
    told: list[str] = field(default_factory=list)

    def measure(self, *ids: str, command: tuple[str, ...] = NO_GPU, **options: Any) -> Outcome:
        """Measure on the cluster, whose workers have a pretended GPU or none."""
        self.told.clear()
        settings = Settings(cache=self.cache, command=NO_GPU)
        chosen = Options(command=command, grace_s=20, **options)
        return measure(self.root, ids, self.address, settings, self.told.append, chosen)

    def add(self, name: str, probe: str) -> None:
        """Add an experiment with one static probe, whose body is this."""
        folder = self.root / "code" / name
        folder.mkdir()
        shutil.copy(self.root / "code/pretended/kernels.cu", folder)
        shutil.copy(self.root / "code/pretended/tile.cuh", folder)
        (folder / "experiment.py").write_text(EXPERIMENT.format(probe=probe), encoding="utf-8")


EXPERIMENT = '''
import os, signal
from pathlib import Path
from measured_glossary.lab.experiment import Experiment, exact

experiment = Experiment(title="Trial", sources=["kernels.cu"])


@experiment.static(key={{"n": exact("N")}}, columns={{"value": exact("Value")}})
def values(sass):
    """One value."""
    {probe}
    yield {{"n": 1, "value": len(sass.architectures)}}


@experiment.claim
def some_value(values):
    """There is an architecture."""
    assert values(n=1).value > 0
'''

# The first worker that comes here is hit in the middle of its work; the next one finds the file.
ONCE = (
    "marker = Path({marker!r})\n"
    "    if not marker.exists():\n"
    "        marker.write_text(str(os.getppid()))\n"
    "        os.kill(os.getppid(), signal.{signal})"
)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Two workers, each a process of its own, and a project."""
    root = Path(shutil.copytree(HERE / "studies", tmp_path / "project"))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield Cluster(address=made.scheduler_address, root=root, cache=tmp_path / "cache")


def test_static_probes_run_on_a_worker_and_are_not_run_again(cluster: Cluster) -> None:
    """Workers without a GPU are one kind: each experiment once; a second run finds it done.

    What a probe prints there is told here.
    """
    cluster.add("trial", "print('seen', len(sass.architectures) > 0)")
    done = cluster.measure("pretended", "trial")
    assert (done.problems, done.records, done.skipped) == ((), (), ())
    assert sum(line.endswith("started") for line in cluster.told) == 2
    assert any(line.endswith("(2 of 2)") for line in cluster.told)
    assert f"{STATIC}: trial (static) printed: seen True" in cluster.told
    again = cluster.measure("pretended", "trial")
    assert set(again.skipped) == {Job("pretended", STATIC), Job("trial", STATIC)}
    assert not any("started" in line for line in cluster.told)
    assert not (cluster.root / "measurements").exists()


def test_a_killed_worker_s_experiment_is_done_by_another(cluster: Cluster, tmp_path: Path) -> None:
    """One worker is killed in the middle of its work, and the run ends as if it had not been."""
    marker = tmp_path / "was-here"
    cluster.add("deadly", ONCE.format(marker=str(marker), signal="SIGKILL"))
    done = cluster.measure("deadly", "pretended")
    assert marker.exists()
    assert done.problems == ()
    assert any(line.startswith("lost a worker at deadly on static") for line in cluster.told)
    assert sum(line.startswith("deadly on static: started") for line in cluster.told) == 2


def test_a_worker_that_hangs_costs_its_limit(cluster: Cluster, tmp_path: Path) -> None:
    """One worker is stopped in the middle of its work; after the limit another one does it."""
    marker = tmp_path / "was-here"
    cluster.add("sleepy", ONCE.format(marker=str(marker), signal="SIGSTOP"))
    try:
        done = cluster.measure("sleepy", limit_s=15)
    finally:
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int(marker.read_text()), signal.SIGKILL)
    assert done.problems == ()
    assert "lost a worker at sleepy on static: it had not ended at its limit" in cluster.told


def test_records_are_gathered_once_for_each_kind(cluster: Cluster) -> None:
    """Two workers with the same GPU measure each experiment once; the record is kept whole."""
    done = cluster.measure("pretended", command=PRETEND)
    assert done.problems == ()
    (record,) = done.records
    assert record.machine.id == "pretended-gpu"
    source = read(cluster.root, record.file).value
    assert source is not None
    assert read_record(source).value == record
    assert sum(line.endswith("started") for line in cluster.told) == 1
    again = cluster.measure("pretended", command=PRETEND)
    assert again.skipped == (Job("pretended", "pretended-gpu"),)
    other = cluster.measure("pretended", command=(*PRETEND, "other-driver"))
    assert [each.machine.driver for each in other.records] == ["2.0"]


def test_an_experiment_s_own_fault_is_reported_and_not_retried(cluster: Cluster) -> None:
    """What is wrong with an experiment is wrong on every worker; the others go on."""
    cluster.add("broken", "raise ValueError('as expected')")
    done = cluster.measure("broken", "pretended")
    assert [problem.code for problem in done.problems] == ["probe-error"]
    assert done.problems[0].place.file == "code/broken/experiment.py"
    assert sum(line.startswith("broken on static: started") for line in cluster.told) == 1
    assert any(line.startswith("pretended on static: done") for line in cluster.told)


# ── without a cluster ────────────────────────────────────────────────────────────────────────


def test_a_scheduler_that_does_not_answer_is_a_problem(tmp_path: Path) -> None:
    """The address is named, and what to start."""
    root = Path(shutil.copytree(HERE / "studies", tmp_path / "project"))
    settings, options = Settings(command=NO_GPU), Options(connect_s=1)
    done = measure(root, ["pretended"], "tcp://127.0.0.1:1", settings, print, options)
    assert [problem.code for problem in done.problems] == ["cluster-unreachable"]


def test_a_cluster_without_workers_is_a_problem(tmp_path: Path) -> None:
    """After its grace the run ends and says that there was nobody."""
    root = Path(shutil.copytree(HERE / "studies", tmp_path / "project"))
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as made:
        settings, options = Settings(command=NO_GPU), Options(grace_s=0.1)
        address = made.scheduler_address
        done = measure(root, ["pretended"], address, settings, print, options)
    assert [problem.code for problem in done.problems] == ["cluster-no-worker"]


def test_a_broken_declaration_is_found_before_anything_is_sent(tmp_path: Path) -> None:
    """No scheduler is asked for what cannot be read here."""
    root = Path(shutil.copytree(HERE / "studies", tmp_path / "project"))
    done = measure(root, ["missing"], "tcp://127.0.0.1:1", Settings(command=NO_GPU), print)
    assert [problem.code for problem in done.problems] == ["missing-file"]


def test_trials_and_signatures_are_not_for_a_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trial is not kept, and a record is signed by the machine that measured it."""
    root = Path(shutil.copytree(HERE / "studies", tmp_path / "project"))
    words = ["measure", "pretended", "--root", str(root), "--dask", "tcp://127.0.0.1:1"]
    assert cli.main([*words, "--launches", "5"]) == 2
    assert cli.main([*words, "--sign-with", "key"]) == 2
    assert "which their own machines sign" in capsys.readouterr().err
    assert [path.name for path in root.iterdir()] == ["code"]
