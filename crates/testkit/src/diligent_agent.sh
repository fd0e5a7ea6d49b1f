# An agent that does what is asked: writes the document of its role, or the work of its task.
# It can be run twice on the same step without a trace, as a step that is repeated after a crash is.
run=".agent-memory/runs/$REKINDLE_RUN"
case $REKINDLE_ATTEMPT in
1) report="$REKINDLE_TASK" ;;
*) report="$REKINDLE_TASK-v$REKINDLE_ATTEMPT" ;;
esac
case $REKINDLE_ROLE in
spec-writer) echo '# PRD: orders' >"$run/prd.md" ;;
planner) echo '# Implementation Plan: orders' >"$run/plan.md" ;;
task-breaker)
    mkdir -p "$run/tasks"
    echo '## Task: T001' >"$run/tasks/T001.md"
    echo '{"tasks":[{"id":"T001","title":"Add model"}]}' >"$run/task-graph.json"
    ;;
orchestrator) echo '# Constitution' >"$run/constitution.md" ;;
executor)
    mkdir -p work
    echo "work of ${REKINDLE_TASK:-the constitution}" >"work/${REKINDLE_TASK:-small}.txt"
    ;;
verifier)
    if [ -n "$REKINDLE_TASK" ]; then
        mkdir -p "$run/verifications"
        printf -- '---\nresult: passed\n---\n' >"$run/verifications/$report.md"
    fi
    ;;
cleanup) echo '# Cleanup' >"$run/cleanup-report.md" ;;
pr-prep)
    echo '# Pull request' >"$run/pr-description.md"
    echo '- [x] all' >"$run/pr-checklist.md"
    ;;
memory-consolidator) echo '# Run Summary' >"$run/summary.md" ;;
*)
    echo "who is $REKINDLE_ROLE?"
    exit 70
    ;;
esac
