//! The agent of a tortured run: a shell script that keeps books of what it has written.

/// What it is called beside the project.
pub(crate) const FILE: &str = "agent.sh";

/// The folder in a worktree that it writes to.
pub(crate) const FOLDER: &str = "torture";

/// Every line that is in a worktree for certain.
pub(crate) const LEDGER: &str = "ledger";

/// The folder with the names of the tasks that each task needs.
pub(crate) const NEEDS: &str = "needs";

/// It writes a line that no other attempt writes, then that it has written it, and then the result.
/// A kill may hit a command that it has started and not itself, so it ends with the first that fails.
///
/// The result depends on nothing but the results of the tasks it needs, so
/// that every undisturbed run makes the same, and a task that was begun before
/// its needs had landed shows.
pub(crate) const SCRIPT: &str = r#"#!/bin/sh
set -e
cat > /dev/null                      # the prompt
mkdir -p torture
mark="$REKINDLE_TASK $REKINDLE_ATTEMPT $$"
echo "$mark" > "torture/$REKINDLE_TASK.log"
echo "$mark" >> "$TORTURE/ledger"
sleep 0.03
echo half > "torture/$REKINDLE_TASK.txt"
sleep 0.01
{
    echo "$REKINDLE_TASK"
    while read -r need; do cksum < "torture/$need.txt"; done < "$TORTURE/needs/$REKINDLE_TASK"
} > "torture/$REKINDLE_TASK.txt"
"#;
