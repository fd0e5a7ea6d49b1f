"""Runs steps as a LangGraph graph with checkpoints in SQLite, or resumes them.

langgraph_steps.py DATABASE STEPS [PROGRAM ...]

A step starts the program with its number, or does nothing; with durability "sync" a step is synced before the next
one starts. SqliteSaver commits in WAL mode with SQLite's default `synchronous=FULL`. Prints the seconds of the steps.
"""

import subprocess
import sys
import time
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

database, n_steps, program = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


class State(TypedDict):
    done: int


def step(state: State) -> State:
    if program:
        subprocess.run([*program, f"T{state['done']:05}"], check=True)
    return {"done": state["done"] + 1}


graph = StateGraph(State)
graph.add_node("step", step)
graph.add_edge(START, "step")
graph.add_conditional_edges("step", lambda state: "step" if state["done"] < n_steps else END)

with SqliteSaver.from_conn_string(database) as saver:
    app = graph.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "bench"}, "recursion_limit": n_steps + 10}
    begun_before = saver.get_tuple(config) is not None
    begin = time.perf_counter()
    ended = app.invoke(None if begun_before else {"done": 0}, config, durability="sync")
    seconds = time.perf_counter() - begin

if ended["done"] != n_steps:
    sys.exit(f"{ended['done']} of {n_steps} steps were done")
print(seconds)
