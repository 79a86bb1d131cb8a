"""What measuring live adds to a build, beyond what kernels and deliberate hangs take.

Comes in: the folder of a glossary, on a machine with a GPU. Goes out: a file of seconds, and a line
for each worker that had the GPU. Must not keep a record.

    python benchmarks/live.py FOLDER [--rounds N] [--to FILE]
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median_low
from typing import Any

from measured_glossary.lab.answer import CaseAnswer, Measured
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.studies import start_studies
from measured_glossary.lab.study import Study

ON_THE_GPU = ("run", "case", "sanitized", "alive")
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """One request that was answered, or was not in time; seconds since the first of them."""

    experiment: str
    mode: str
    from_s: float
    to_s: float
    limit_s: float
    outcome: str
    probes_s: float = 0


class Log:
    """Notes every request to a worker."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.worked: list[Worked] = []
        self._note("run_in", lambda bench, _place, _model, mode, limit_s: (mode, limit_s))
        self._note("run_warm", lambda bench, _model, mode, limit_s: (mode, limit_s))

    def clear(self) -> None:
        """Begin anew."""
        self.begun, self.worked = time.monotonic(), []

    def _note(self, name: str, asked: Callable[..., tuple[str, float]]) -> None:
        method, is_alone = getattr(Bench, name), name == "run_warm"

        def noted(bench: Bench, *given: Any, **more: Any) -> Any:
            from_s = time.monotonic() - self.begun
            ran = method(bench, *given, **more)
            mode, limit_s = asked(bench, *given)
            value = ran.answer.value if is_alone else None
            self.worked.append(
                Worked(
                    experiment=bench.experiment,
                    mode=mode,
                    from_s=round(from_s, 2),
                    to_s=round(time.monotonic() - self.begun, 2),
                    limit_s=limit_s,
                    outcome=ran.outcome,
                    probes_s=value.probes_s if isinstance(value, CaseAnswer | Measured) else 0,
                )
            )
            return ran

        setattr(Bench, name, noted)


def studied(root: Path, ids: Sequence[str], settings: Settings) -> tuple[float, tuple[Study, ...]]:
    """Study experiments; give the seconds that took, and the studies."""
    begun = time.monotonic()
    studies = start_studies(root, ids, settings).collect()
    return time.monotonic() - begun, studies


def measured(root: Path, rounds: int) -> tuple[dict[str, Any], list[Worked]]:
    """Study all experiments without measuring, then with it, everything being compiled already.

    The result is that of the round with the median of what measuring adds, and all of these.
    """
    ids = sorted(path.parent.name for path in root.glob("code/*/experiment.py"))
    log = Log()
    with tempfile.TemporaryDirectory() as folder:
        studied(root, ids, Settings(measure="recorded", cache=Path(folder)))
        took = [_round(root, ids, log, Path(folder)) for _ in range(rounds)]
    adds = sorted(result["adds_s"] for result, _ in took)
    result, worked = next(each for each in took if each[0]["adds_s"] == median_low(adds))
    return {**result, "all_adds_s": adds}, worked


def _round(
    root: Path, ids: Sequence[str], log: Log, cache: Path
) -> tuple[dict[str, Any], list[Worked]]:
    shutil.rmtree(cache / "live", ignore_errors=True)  # what was measured live is not again
    recorded_s, _ = studied(root, ids, Settings(measure="recorded", cache=cache))
    log.clear()
    live_s, studies = studied(root, ids, Settings(measure="live", cache=cache))
    hung = [each.limit_s for each in log.worked if each.outcome == "hung"]
    alone_s = sum(each.probes_s for each in log.worked)
    result = {
        "measured": datetime.now(UTC).date().isoformat(),
        "machine": next(m.record.machine.name for s in studies for m in s.measurements),
        "experiments": len(ids),
        "problems": [str(problem) for study in studies for problem in study.problems],
        "recorded_s": recorded_s,
        "live_s": live_s,
        "alone_s": alone_s,
        "hung": len(hung),
        "longest_hang_s": max(hung, default=0),
        "adds_s": live_s - recorded_s - alone_s - max(hung, default=0),
    }
    return result, [each for each in log.worked if each.mode in ON_THE_GPU]


def main() -> None:
    """Measure, say what was found, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--to", type=Path, default=HERE / "live.json")
    arguments = parser.parse_args()
    result, worked = measured(arguments.folder.resolve(), arguments.rounds)
    for each in sorted(worked, key=lambda each: each.from_s):
        print(*asdict(each).values())
    print(json.dumps(result, indent=2))
    arguments.to.write_text(f"{json.dumps(result, indent=2)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
