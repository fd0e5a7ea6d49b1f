//! Compare and swap of refs.

use proptest::prelude::*;
use rekindle_git::{Error, Expected, ObjectId, ref_part};

use crate::fixture::Fixture;

#[test]
fn a_ref_moves_only_from_where_it_was_expected() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let one = repo.resolve("HEAD").unwrap().unwrap();
    let two = fixture.commit_all("two");
    let name = "refs/rekindle/run/x";
    let at = |id: &ObjectId| Expected::At(id.clone());
    let now = || repo.resolve(name).unwrap();

    let error = repo.update_ref(name, &two, &at(&one)).unwrap_err();
    assert!(
        matches!(&error, Error::RefMoved { found: None, .. }),
        "{error}"
    );
    repo.update_ref(name, &one, &Expected::Missing).unwrap();
    let error = repo.update_ref(name, &two, &Expected::Missing).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("`{name}` was expected not to exist, but is at {one}")
    );
    let error = repo.update_ref(name, &two, &at(&two)).unwrap_err();
    assert!(
        matches!(&error, Error::RefMoved { found: Some(id), .. } if *id == one),
        "{error}"
    );
    assert_eq!(now(), Some(one.clone()));
    repo.update_ref(name, &two, &at(&one)).unwrap();
    assert_eq!(now(), Some(two.clone()));

    assert!(matches!(
        repo.delete_ref(name, &one),
        Err(Error::RefMoved { .. })
    ));
    assert_eq!(now(), Some(two.clone()));
    repo.delete_ref(name, &two).unwrap();
    assert_eq!(now(), None);
    assert!(matches!(
        repo.delete_ref(name, &two),
        Err(Error::RefMoved { found: None, .. })
    ));
}

#[test]
fn other_failures_are_not_taken_for_a_moved_ref() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let head = repo.resolve("HEAD").unwrap().unwrap();
    let absent = ObjectId::parse(&"1".repeat(40)).unwrap();
    let result = repo.update_ref("refs/heads/x", &absent, &Expected::Missing);
    assert!(matches!(result, Err(Error::Failed { .. })));
    let result = repo.update_ref("refs/heads/a..b", &head, &Expected::Missing);
    assert!(matches!(result, Err(Error::Failed { .. })));
}

#[test]
fn only_full_names_are_taken() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let head = repo.resolve("HEAD").unwrap().unwrap();
    for name in ["HEAD", "main", "-d", "--stdin", "", "refs/heads/a\0b"] {
        let result = repo.update_ref(name, &head, &Expected::Missing);
        assert!(matches!(result, Err(Error::BadRefName { .. })), "{name:?}");
        assert!(
            matches!(repo.delete_ref(name, &head), Err(Error::BadRefName { .. })),
            "{name:?}"
        );
    }
}

#[test]
fn deleting_a_symbolic_ref_keeps_the_branch_it_names() {
    let fixture = Fixture::new();
    fixture.git(["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    let repo = fixture.repo();
    let head = repo.resolve("HEAD").unwrap().unwrap();
    repo.delete_ref("refs/heads/alias", &head).unwrap();
    assert_eq!(repo.resolve("main").unwrap(), Some(head));
    assert_eq!(
        fixture.git(["for-each-ref", "--format=%(refname)"]),
        "refs/heads/main"
    );
}

/// Ids that git would refuse, or take for something else, if they were used as they are.
const NASTY: &[&str] = &[
    "T1.lock",
    "a.lock.lock",
    "a..b",
    "-x",
    "--all",
    "@",
    "@{-1}",
    "a@{b",
    "ä",
    "a~b",
    "a b",
    ".a",
    "a.",
    ".",
    "..",
    "...",
    "a/b",
    "/",
    "a//b",
    "a/",
    "HEAD",
    "a\\b",
    "a:b",
    "a?b",
    "a*b",
    "a[b",
    "a^b",
    "a\nb",
    "a\u{7f}",
    "\u{0}",
    "",
    "%",
    "%2E",
    ".lock",
    "a.LOCK",
    "refs/heads/main",
];

/// Makes a ref for each id, all at once, and returns what git lists.
fn refs_of(ids: &[&str]) -> Vec<String> {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let head = repo.resolve("HEAD").unwrap().unwrap();
    for id in ids {
        let name = format!("refs/rekindle/work/run/{}/1", ref_part(id));
        repo.update_ref(&name, &head, &Expected::Missing)
            .unwrap_or_else(|error| panic!("{id:?}: {error}"));
    }
    let listed = fixture.git(["for-each-ref", "--format=%(refname)", "refs/rekindle"]);
    listed.lines().map(str::to_owned).collect()
}

#[test]
fn every_id_gets_a_ref_of_its_own() {
    assert_eq!(refs_of(NASTY).len(), NASTY.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn git_accepts_the_ref_of_any_id(ids in prop::collection::btree_set("[a.@{~^:/lock \\-]{0,9}|.{0,300}", 1..8)) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        prop_assert_eq!(refs_of(&ids).len(), ids.len());
    }
}
