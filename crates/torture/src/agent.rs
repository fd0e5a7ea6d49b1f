//! The agent of a tortured run: a shell script that records what it has written.

/// Its file name next to the project.
pub(crate) const FILE: &str = "agent.sh";

/// The folder in a worktree that it writes to.
pub(crate) const FOLDER: &str = "torture";

/// The file with every line that is certainly in a worktree.
pub(crate) const LEDGER: &str = "ledger";

/// The folder with the names of the tasks that each task needs.
pub(crate) const NEEDS: &str = "needs";

/// Writes a line that no other attempt writes, records it, and then writes the result. It exits
/// with the first command that fails, since a kill may hit a command and not the script.
///
/// The result depends only on the results of the required tasks, so every undisturbed run gives the
/// same, and a task that started too early shows.
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
