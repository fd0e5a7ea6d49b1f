use rekindle_world::MemoryWorld;

use super::*;
use crate::layout::Branch;

fn artifacts(files: &[(&str, &str)]) -> Result<Artifacts, Fault> {
    let mut world = MemoryWorld::new("/p", "2026-11-15T20:00:00Z".parse().unwrap());
    for (name, text) in files {
        world = world.file(format!(".map/main/{name}"), *text);
    }
    let branch = Branch::of(Some("main"));
    Artifacts::read(Desk {
        world: &world,
        branch: &branch,
    })
}

#[test]
fn the_first_name_with_the_largest_number_is_the_latest() {
    let names = |files: &[&str]| {
        let files: Vec<(&str, &str)> = files.iter().map(|name| (*name, "")).collect();
        artifacts(&files).map(|found| found.review_path)
    };
    let path = |name: &str| Ok(Some(format!(".map/main/{name}")));
    assert_eq!(
        names(&[
            "code-review-9.md",
            "code-review-010.md",
            "code-review-x.md",
            "code-review-.md"
        ]),
        path("code-review-010.md")
    );
    assert_eq!(
        names(&["code-review-1.md", "code-review-001.md"]),
        path("code-review-001.md")
    );
    assert_eq!(
        names(&["code-review-٣.md", "code-review-2.md"]),
        path("code-review-٣.md")
    );
    assert_eq!(names(&["qa-1.md", "code-review-1.txt"]), Ok(None));
    assert!(names(&["code-review-².md"]).is_err());
}

#[test]
fn a_verdict_may_be_on_a_later_line() {
    assert_eq!(
        verdict("x\n- Verdict:  NEEDS WORK \n- Verdict: PASS"),
        Some("NEEDS WORK")
    );
    assert_eq!(
        verdict("- Verdict:\n\n## Checks Run\n"),
        Some("## Checks Run")
    );
    assert_eq!(verdict("- Verdict: \n"), Some(""));
    assert_eq!(verdict("- Verdict:\n\n"), None);
    assert_eq!(verdict("Verdict: x"), None);
}

#[test]
fn excerpts_are_the_last_lines_and_fixes_the_first_bullets() {
    let fixes: Vec<String> = (1..=20).map(|n| format!("- fix {n}  \n\n")).collect();
    let review = fixes.concat();
    let found = artifacts(&[("code-review-001.md", &review)]).unwrap();
    assert_eq!(found.review.lines().count(), EXCERPT);
    assert!(found.review.ends_with("- fix 20"));
    assert_eq!(
        found.fixes,
        ["- fix 1", "- fix 2", "- fix 3", "- fix 4", "- fix 5"]
    );
    assert_eq!(found.verdict, None);
}
