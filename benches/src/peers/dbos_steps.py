"""Runs steps as a DBOS workflow with SQLite as its system database, or resumes them.

dbos_steps.py DATABASE STEPS [PROGRAM ...]

A step starts the program with its number, or does nothing; its end is committed before the next one starts. SQLite keeps
its defaults (a rollback journal, `synchronous=FULL`), or those of DBOS_BENCH_JOURNAL. Prints the seconds of the steps.
"""

import os
import subprocess
import sys
import time

import sqlalchemy
from dbos import DBOS, SetWorkflowID

database, n_steps, program = sys.argv[1], int(sys.argv[2]), sys.argv[3:]

# The journal's mode stays with the file, so that it can be chosen before DBOS opens it.
journal = os.environ.get("DBOS_BENCH_JOURNAL")
if journal and not os.path.exists(database):
    with sqlalchemy.create_engine(f"sqlite:///{database}").connect() as connection:
        connection.execute(sqlalchemy.text(f"PRAGMA journal_mode={journal}"))

DBOS(
    config={
        "name": "bench",
        "system_database_url": f"sqlite:///{database}",
        "application_version": "bench",
        "run_admin_server": False,
        "log_level": "ERROR",
    }
)


@DBOS.step()
def step(number: int) -> None:
    if program:
        subprocess.run([*program, f"T{number:05}"], check=True)


@DBOS.workflow()
def steps(count: int) -> float:
    begin = time.perf_counter()
    for number in range(count):
        step(number)
    return time.perf_counter() - begin


# What was pending is taken up again by the launch itself.
DBOS.launch()
with SetWorkflowID("bench"):
    seconds = DBOS.start_workflow(steps, n_steps).get_result()
DBOS.destroy()
print(seconds)
