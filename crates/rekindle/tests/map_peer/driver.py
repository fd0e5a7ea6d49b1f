"""Runs commands of MAP's own scripts in one process, one JSON line each in and out.

Starting Python and compiling the scripts costs far more than any command does, so the scripts are
compiled once and each command runs in a fresh module, as it would in a fresh process.
"""
import contextlib
import io
import json
import os
import sys
import traceback

SCRIPTS = sys.argv[1]
CODE = {}
for name in ("map_orchestrator", "map_step_runner", "map_utils"):
    path = os.path.join(SCRIPTS, name + ".py")
    with open(path, encoding="utf-8") as source:
        CODE[name] = compile(source.read(), path, "exec")
sys.path.insert(0, SCRIPTS)


def run(order):
    project = order["project"]
    os.chdir(project)
    script = order["script"]
    place = os.path.join(project, ".map", "scripts", script + ".py")
    sys.argv = [place, *order["words"]]
    out, err = io.StringIO(), io.StringIO()
    code = 0
    stdin = sys.stdin
    sys.stdin = io.StringIO(order["input"])
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            exec(CODE[script], {"__name__": "__main__", "__file__": place})
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        code = 1
        err.write(traceback.format_exc())
    finally:
        sys.stdin = stdin
    return {"exit": code, "stdout": out.getvalue(), "stderr": err.getvalue()}


import map_utils  # noqa: E402  (both scripts import it by its name)
import map_step_runner  # noqa: E402,F401  (the orchestrator imports it lazily)

for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), file=sys.__stdout__, flush=True)
