"""A process that asks a table of a cluster, for the tests: what it is told to do is its argument.

It prints one line of JSON for each thing that happened: {"ready": …} when a stage of a question
runs, and then {"outcome": …}. `killed` says whether the file of this name was there before that:
whoever kills a machine makes it then, so that a kill that came too late is seen.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import tenue as tn
from tenue.engine.source.location import Cluster
from tenue.engine.spark import session
from tenue.engine.spark.session import ClusterSession
from tenue.errors import EngineFault, Refused
from tenue.publish.methods import contract, private

PERSONS, EACH, PARTS = 60, 6, 24
STATED: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {
        "who": {"type": "identifier"},
        "x": {"type": "number", "bounds": [0, 1000]},
    },
    "budget": {"total": 10_000},
}


def said(**what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def stated(kind: str) -> dict[str, Any]:
    if kind == "record":
        return STATED
    return STATED | {"table": STATED["table"] | {"unit": "who", "rows_per_unit": 2}}


def killed(folder: str) -> bool:
    return Path(folder, "killed").exists()


def slow(spark: Any, *, unique: bool = False) -> Any:
    """A table each row of which takes a while to read, wherever it is read."""
    rows = spark.range(0, PERSONS * EACH, 1, PARTS)
    wait = 5 if unique else 20  # a release reads the rows several times
    # "IS NOT NULL" would be left out, and the pause with it: Spark sees that it always holds
    pause = f"coalesce(reflect('java.lang.Thread', 'sleep', {wait}L), 'x') <> 'y'"
    who = "id AS who" if unique else f"id % {PERSONS} AS who"
    return rows.selectExpr(who, "id % 7 AS x").where(pause)


def tell_when_it_runs(spark: Any, stage: int) -> None:
    """Says so when a task of the question's stage of this number, from 1, was done."""
    tracker, seen = spark.sparkContext.statusTracker(), set(_stages(spark))
    while True:
        new = [one for one in _stages(spark) if one not in seen]
        if len(new) >= stage:
            info = tracker.getStageInfo(sorted(new)[stage - 1])
            if info is not None and (info.numCompletedTasks or stage > 1):
                said(ready=info.numCompletedTasks)
                return
        time.sleep(0.01)


class TellWhenItRuns:
    """The same by the words of Spark Connect, once."""

    told = False

    def __call__(self, stages: Any, **_: object) -> None:
        done = sum(stage.num_completed_tasks for stage in stages or ())
        if done and not self.told:
            self.told = True
            said(ready=done)


def _stages(spark: Any) -> list[int]:
    tracker = spark.sparkContext.statusTracker()
    jobs = tracker.getJobIdsForGroup()
    return [s for job in jobs if (info := tracker.getJobInfo(job)) for s in info.stageIds]


def ask(data: Any, epsilon: float, key: str) -> object:
    try:
        return data.ask("SELECT COUNT(*) FROM t", epsilon=epsilon, key=key).value
    except (EngineFault, Refused) as error:
        return f"{type(error).__name__}: {error}"


def main(address: str, folder: str, kind: str, stage: int) -> None:
    opened = ClusterSession(Cluster(address, (), f"{folder}/small.parquet"))
    spark = opened.frame.sparkSession
    with tn.protect(
        slow(spark), schema=stated(kind), ledger=f"{folder}/{kind}{stage}.ledger"
    ) as data:
        watch = threading.Thread(target=tell_when_it_runs, args=(spark, stage), daemon=True)
        watch.start()
        first, meanwhile = ask(data, 1000, "k"), killed(folder)
        again = ask(data, 1000, "k")
        said(outcome=first, killed=meanwhile, again=again, spent=float(data.budget.spent))
        other = ask(data, 999, "other")
        said(other=other, spent=float(data.budget.spent), whole=bool(data.ledger.verify()))


def fail(address: str, folder: str) -> None:
    """Asks a table whose view fails on a row, and one whose rows hold what must not be told."""
    opened = ClusterSession(Cluster(address, (), f"{folder}/small.parquet"))
    spark = opened.frame.sparkSession
    spark.read.parquet(f"{folder}/small.parquet").createOrReplaceTempView("small")
    failing = spark.sql("SELECT who, CAST(concat(who, '-text') AS INT) AS x FROM small")
    outcomes = []
    for given, kind in ((failing, "record"), (failing, "who"), (spark.table("small"), "who")):
        try:
            with tn.protect(given, schema=stated(kind), ledger=tn.ledger.Memory()) as data:
                outcomes.append(data.ask("SELECT SUM(x) FROM t", epsilon=1000).value)
        except (EngineFault, Refused) as error:
            outcomes.append(f"{type(error).__name__}: {error}")
    said(outcomes=outcomes)


def ask_soon(address: str, folder: str) -> None:
    """Asks a cluster that may do nothing for five seconds."""
    opened = ClusterSession(Cluster(address, (), f"{folder}/small.parquet"))
    spark = opened.frame.sparkSession
    session.FREE = 5
    with tn.protect(slow(spark), schema=stated("record"), ledger=tn.ledger.Memory()) as data:
        if address.startswith("sc:"):
            spark.registerProgressHandler(TellWhenItRuns())
        else:
            watch = threading.Thread(target=tell_when_it_runs, args=(spark, 1), daemon=True)
            watch.start()
        outcome, meanwhile = ask(data, 1000, "k"), killed(folder)
        said(outcome=outcome, killed=meanwhile, spent=float(data.budget.spent))


RELEASES: dict[str, dict[str, Any]] = {
    "swap": {"by": "each-confidential", "k": 5},
    "private": {"epsilon": 1000, "by": "tree", "memory": 128 << 20},
}


def release(
    address: str, folder: str, method: str, stage: int, *, times: int = 2, free: int = session.FREE
) -> None:
    """Publishes a table whose rows stay on the machines, and once more afterwards.

    free: for how long the cluster may do nothing once it is open.
    """
    contract.VALUE = private.VALUE = 1 << 40  # too large to be held
    opened = ClusterSession(Cluster(address, (), f"{folder}/small.parquet"))
    spark = opened.frame.sparkSession
    session.FREE = free
    described = STATED | {"table": STATED["table"] | {"neighbours": "replace"}}
    described["columns"] = {
        "who": {"type": "identifier"},
        "x": {"type": "number", "bounds": [0, 6], "role": "confidential"},
    }
    books = f"{folder}/{method}{stage}.ledger"
    watch = threading.Thread(target=tell_when_it_runs, args=(spark, stage), daemon=True)
    watch.start()
    for name in ("first", "again")[:times]:
        try:
            made = tn.publish(
                slow(spark, unique=True),
                schema=described,
                ledger=books,
                method=method,
                **RELEASES[method],
            )
            made.save(f"{folder}/{method}{stage}-{name}")
            outcome = "released"
        except (EngineFault, Refused) as error:
            outcome = f"{type(error).__name__}: {error}"
        meanwhile = killed(folder)
        ledger = tn.ledger.SQLite(books)
        balance = ledger.balance("t") if "t" in ledger.datasets() else None
        said(
            outcome=outcome,
            killed=meanwhile,
            spent=0.0 if balance is None else float(balance.spent),
            releases=0 if balance is None else balance.releases,
            whole=bool(ledger.verify()),
        )
        ledger.close()


def open_soon(address: str, folder: str) -> None:
    """Opens a table of a cluster that has five seconds to begin."""
    session.FREE = 5
    try:
        ClusterSession(Cluster(address, (), f"{folder}/small.parquet"))
    except Refused as error:
        said(outcome=str(error))


if __name__ == "__main__":
    if sys.argv[1] == "open":
        open_soon(*sys.argv[2:4])
    elif sys.argv[1] == "soon":
        ask_soon(*sys.argv[2:4])
    elif sys.argv[1] == "release":
        release(*sys.argv[2:5], int(sys.argv[5]))
    elif sys.argv[1] == "release-soon":
        release(*sys.argv[2:5], int(sys.argv[5]), times=1, free=5)
    elif sys.argv[1] == "fail":
        fail(*sys.argv[2:4])
    else:
        main(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
