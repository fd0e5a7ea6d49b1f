//! An agent that does not stay in its worktree.

use rekindle_testkit::repository::text;

use crate::stage::Stage;

#[test]
fn what_is_written_outside_the_worktree_never_lands_nor_gets_into_the_users_index() {
    let work = "stream claude\nwrite-outside ../../../../stray.txt x\nwrite-outside ../../../../README changed\nwrite A.txt x";
    let stage = Stage::new(
        "A B<A",
        &[("A", work), ("B", "stream claude\nwrite B.txt x")],
    );
    let git = |arguments: &[&str]| stage.project.git(arguments);
    let head = git(&["rev-parse", "HEAD"]);
    stage
        .run(&[])
        .done()
        .says(&["warning: files of your checkout changed during the run: `README`, `stray.txt`\n"]);
    assert_eq!(stage.tree(), "A.txt B.txt README");
    assert_eq!(stage.landed("README"), "hello\n");
    assert_eq!(git(&["rev-parse", "HEAD"]), head);
    assert_eq!(git(&["branch", "--show-current"]), "main\n");
    assert_eq!(git(&["diff", "--cached", "--name-only"]), "");
    // Nobody but the user knows whose they are: they are neither put back nor removed.
    let here = stage.project.path();
    assert_eq!(
        fs_err::read_to_string(here.join("README")).unwrap(),
        "changed\n"
    );
    assert_eq!(
        fs_err::read_to_string(here.join("stray.txt")).unwrap(),
        "x\n"
    );
}

#[test]
fn a_file_of_the_user_that_is_changed_again_is_reported_and_one_that_stays_is_not() {
    let work = "stream claude\nwrite-outside ../../../../mine.txt other words\nwrite A.txt x";
    let stage = Stage::new("A", &[("A", work)]);
    for name in ["mine.txt", "too.txt", "README"] {
        fs_err::write(stage.project.path().join(name), "mine\n").unwrap();
    }
    stage
        .run(&["--quiet"])
        .done()
        .says(&["files of your checkout changed during the run: `mine.txt`\n"]);
    // A program finds its objects on standard output and the warning beside them.
    stage.project.plan("C");
    stage.script("C", &work.replace("mine.txt", "too.txt"));
    let json = stage.start(&["--json"]).finish().unwrap();
    let (output, errors) = (text(&json.stdout), text(&json.stderr));
    assert!(errors.contains("during the run: `too.txt`\n"), "{errors}");
    assert!(output.lines().all(|line| line.starts_with('{')), "{output}");
    // And where nothing changes, nothing is said.
    stage.project.plan("D");
    stage.script("D", "stream claude\nwrite D.txt x");
    let quiet = stage.run(&[]).done();
    assert!(!quiet.said.contains("checkout"), "{}", quiet.said);
}

#[test]
fn a_link_out_of_the_worktree_is_never_followed_when_it_is_cleaned_or_removed() {
    let stage = Stage::new("A", &[]);
    let precious = stage.beside("precious");
    fs_err::create_dir(&precious).unwrap();
    fs_err::write(precious.join("file"), "mine\n").unwrap();
    let link = format!("stream claude\nsymlink out {precious}\nsymlink deep/out {precious}\n");
    stage.script("A.1", &format!("{link}result error not yet"));
    stage.script("A.2", &format!("{link}write A.txt x"));
    stage.run(&["--verify", "test -e out/file"]).done();
    assert_eq!(stage.tree(), "A.txt README deep/out out");
    assert_eq!(stage.landed("out"), precious.as_str());
    assert_eq!(
        fs_err::read_to_string(precious.join("file")).unwrap(),
        "mine\n"
    );
    assert_eq!(stage.project.worktrees(), [""; 0]);
}
