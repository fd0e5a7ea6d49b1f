//! The files that a worker leaves in its artifact folder when its agent did not write them.

use rekindle_model::{Attempted, FileChange, FileChangeKind};
use serde_json::{Value, json};

const CHANGED: &str = "changed_ops.json";
const VERIFIED: &str = "verify_summary.json";
const TROUBLE: &str = "error_context.json";

/// Returns the artifacts of an attempt, each with its name.
pub(super) fn files(attempted: &Attempted) -> Vec<(&'static str, String)> {
    let verified = |result| (VERIFIED, page(&verification(result, &attempted.checks)));
    match &attempted.result {
        Ok(changes) => {
            let operations: Value = changes.iter().map(operation).collect();
            vec![(CHANGED, page(&operations)), verified("pass")]
        }
        Err(reason) => {
            let trouble = json!({"stage": "implementing", "message": reason, "details_path": null});
            vec![verified("fail"), (TROUBLE, page(&trouble))]
        }
    }
}

fn page(value: &Value) -> String {
    format!("{value:#}\n")
}

fn verification(result: &str, commands: &[String]) -> Value {
    let check = |command| json!({"name": command, "outcome": result, "command": command});
    let checks: Vec<Value> = commands.iter().map(check).collect();
    json!({"result": result, "checks": checks})
}

fn operation(change: &FileChange) -> Value {
    let path = &change.path;
    match &change.kind {
        FileChangeKind::Added => json!({"op": "add", "path": path}),
        FileChangeKind::Modified => json!({"op": "modify", "path": path}),
        FileChangeKind::Deleted => json!({"op": "delete", "path": path}),
        FileChangeKind::Renamed { from } => {
            json!({"op": "rename", "path": path, "from_path": from})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_leaves_what_it_changed_or_why_it_failed() {
        let change = |path: &str, kind| FileChange {
            path: path.to_owned(),
            kind,
        };
        let renamed = FileChangeKind::Renamed {
            from: "a".to_owned(),
        };
        let succeeded = files(&Attempted {
            result: Ok(vec![
                change("new", FileChangeKind::Added),
                change("b", renamed),
            ]),
            checks: vec!["make test".to_owned()],
        });
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        assert_eq!(succeeded[0].0, CHANGED);
        assert_eq!(
            parsed(&succeeded[0].1),
            json!([{"op": "add", "path": "new"}, {"op": "rename", "path": "b", "from_path": "a"}])
        );
        assert_eq!(
            parsed(&succeeded[1].1),
            json!({"result": "pass", "checks": [{"name": "make test", "outcome": "pass", "command": "make test"}]})
        );
        let failed = files(&Attempted {
            result: Err("it broke".to_owned()),
            checks: Vec::new(),
        });
        assert_eq!(parsed(&failed[0].1)["result"], "fail");
        assert_eq!(parsed(&failed[1].1)["message"], "it broke");
    }
}
