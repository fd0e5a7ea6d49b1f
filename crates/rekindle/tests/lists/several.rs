//! Lists of several formats in one project.

use crate::committed;
use crate::stage::{assert_ended, project, said};

const BEGUN: &str = "- [x] 1.1 a\n- [ ] 1.2 b\n";
const READY: &str = "- [ ] 1.1 a\n";

#[test]
fn a_resume_without_an_id_takes_the_current_list_or_the_only_interrupted_one_of_all_formats() {
    let project = project();
    committed(&project, "specs/001-a/tasks.md", "- [ ] T001 a\n");
    committed(&project, "openspec/changes/add-b/tasks.md", READY);
    committed(&project, ".kiro/specs/c/tasks.md", READY);
    let plan = || project.rekindle(&["plan"]);
    let resume = || project.rekindle(&["resume"]);
    assert_ended(
        &resume(),
        3,
        &["spec-kit:001-a", "openspec:add-b", "kiro:c"],
    );
    committed(&project, ".kiro/specs/c/tasks.md", BEGUN);
    assert!(
        said(&plan(), 0).contains("kiro:c"),
        "the only interrupted one"
    );
    committed(&project, "openspec/changes/add-b/tasks.md", BEGUN);
    assert_ended(&resume(), 3, &["openspec:add-b", "kiro:c"]);
    project.git(&["checkout", "-qb", "feat/add-b"]);
    assert!(
        said(&plan(), 0).contains("openspec:add-b"),
        "the current one"
    );
}
