//! Local branches, and which of them have a commit.

use rekindle_git::Expected;

use crate::fixture::Fixture;

#[test]
fn branches_below_a_folder_are_listed_and_those_with_a_commit() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let one = repo.resolve("HEAD").unwrap().unwrap();
    let two = fixture.commit_all("two");
    for (name, at) in [
        ("refs/heads/rekindle/b", &two),
        ("refs/heads/rekindle/a", &one),
        ("refs/heads/rekindleish", &one),
        ("refs/tags/rekindle/t", &one),
    ] {
        repo.update_ref(name, at, &Expected::Missing).unwrap();
    }
    let below = repo.branches_below("rekindle/").unwrap();
    let names: Vec<_> = below
        .iter()
        .map(|branch| (branch.name.as_str(), &branch.tip))
        .collect();
    assert_eq!(names, [("rekindle/a", &one), ("rekindle/b", &two)]);
    assert_eq!(below[0].ref_name(), "refs/heads/rekindle/a");
    let head = repo.head().unwrap();
    let main = head.branch().unwrap();
    assert_eq!(repo.branches_with(&two).unwrap(), [main, "rekindle/b"]);
    assert_eq!(
        repo.branches_with(&one).unwrap(),
        [main, "rekindle/a", "rekindle/b", "rekindleish"]
    );
    assert_eq!(repo.branches_below("none/").unwrap(), []);
}
