//! HEAD, names of commits, files in commits, and the log.

use std::slice::from_ref;

use rekindle_git::{Error, Head, Identity, Message, ObjectId, Repo};

use crate::fixture::Fixture;

#[test]
fn head_is_an_unborn_branch_a_branch_or_a_commit() {
    let fixture = Fixture::empty();
    let unborn = Head::Branch {
        name: "main".to_owned(),
        commit: None,
    };
    assert_eq!(fixture.repo().head().unwrap(), unborn);

    let commit = fixture.commit_all("one");
    fixture.git(["checkout", "--quiet", "-b", "feature/a-b"]);
    let branch = Head::Branch {
        name: "feature/a-b".to_owned(),
        commit: Some(commit.clone()),
    };
    assert_eq!(fixture.repo().head().unwrap(), branch);

    fixture.git(["checkout", "--quiet", "--detach"]);
    let detached = Head::Detached {
        commit: commit.clone(),
    };
    assert_eq!(fixture.repo().head().unwrap(), detached);
    assert_eq!(detached.commit(), Some(&commit));
}

#[test]
fn a_folder_outside_any_repository_is_distinguished_from_a_missing_one() {
    let fixture = Fixture::empty();
    let outside = Repo::at(&fixture.program, &fixture.root);
    assert!(matches!(outside.status(), Err(Error::NotARepository(dir)) if dir == fixture.root));
    assert!(matches!(outside.head(), Err(Error::NotARepository { .. })));
    assert!(matches!(
        outside.resolve("HEAD"),
        Err(Error::NotARepository { .. })
    ));
    assert!(matches!(
        outside.worktrees(),
        Err(Error::NotARepository { .. })
    ));
    assert!(matches!(
        fixture.repo_at("gone").status(),
        Err(Error::NoSuchFolder { .. })
    ));
}

#[test]
fn locations_are_absolute_also_from_below_and_with_odd_names() {
    let fixture = Fixture::new();
    let odd = fixture.root.join("-a \"b\"\nc\r");
    fixture.git(["worktree", "add", "--quiet", "--detach", odd.as_str()]);
    std::fs::create_dir(odd.join("sub")).unwrap();
    let repo = Repo::at(&fixture.program, odd.join("sub"));
    assert_eq!(repo.top_level().unwrap(), odd);
    assert_eq!(repo.common_dir().unwrap(), fixture.dir.join(".git"));
    assert_eq!(fixture.repo().top_level().unwrap(), fixture.dir);
    let trap = fixture.dir.join("ends with\r");
    fixture.git(["init", "--quiet", trap.as_str()]);
    // At the top, since git takes this folder as the top of a worktree.
    assert_eq!(
        Repo::at(&fixture.program, &trap).rescue("w", "t").unwrap(),
        None
    );

    std::fs::write(odd.join("new"), "x").unwrap();
    let base = repo.resolve("HEAD").unwrap().unwrap();
    assert_eq!(repo.changes(&base).unwrap().len(), 1);
    let top = Repo::at(&fixture.program, &odd);
    let rescue = top.rescue("w", "t").unwrap().unwrap();
    top.restore(&rescue, &fixture.root.join("back")).unwrap();
    assert!(fixture.root.join("back/new").exists());
}

#[test]
fn only_commits_that_are_here_resolve() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    fixture.git(["tag", "-a", "-m", "x", "v1"]);
    let repo = fixture.repo();
    let short = &base.as_str()[..10];
    for rev in [
        "HEAD",
        "main",
        "refs/heads/main",
        "v1",
        short,
        base.as_str(),
        "@{0}",
    ] {
        assert_eq!(repo.resolve(rev).unwrap().as_ref(), Some(&base), "{rev}");
    }
    let absent = "1".repeat(40);
    let none = [
        &absent,
        "",
        "nope",
        "-x",
        "--all",
        "a b",
        "a\nb",
        "HEAD:base.txt",
        "HEAD..HEAD",
    ];
    for rev in none
        .into_iter()
        .chain(["HEAD^", "a\0b", ":/nothing", "HEAD^{tree}"])
    {
        assert_eq!(repo.resolve(rev).unwrap(), None, "{rev:?}");
    }
    let tree = fixture.git_id(["rev-parse", "HEAD^{tree}"]);
    assert_eq!(repo.tree_of("HEAD").unwrap(), Some(tree.clone()));
    assert_eq!(repo.tree_of(tree.as_str()).unwrap(), Some(tree));
    assert_eq!(repo.tree_of("nope").unwrap(), None);
}

#[test]
fn ancestry_matches_git_and_an_absent_commit_is_an_error() {
    let fixture = Fixture::new();
    let one = fixture.git_id(["rev-parse", "HEAD"]);
    let two = fixture.commit_all("two");
    let repo = fixture.repo();
    assert!(repo.is_ancestor(&one, &two).unwrap());
    assert!(repo.is_ancestor(&one, &one).unwrap());
    assert!(!repo.is_ancestor(&two, &one).unwrap());
    let absent = ObjectId::parse(&"1".repeat(40)).unwrap();
    assert!(repo.is_ancestor(&absent, &one).is_err());
}

#[test]
fn commits_come_back_as_they_were_made() {
    let fixture = Fixture::new();
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    let repo = fixture.repo();
    let message = Message {
        subject: "phase-3/P3-T02: für alle".to_owned(),
        body: "Why.\n\nNot-a-trailer: this is the body\n\n---\nmore".to_owned(),
        trailers: vec![
            ("Rekindle-Run".to_owned(), "run: 1".to_owned()),
            ("Rekindle-Task".to_owned(), String::new()),
            ("Rekindle-Task".to_owned(), "task 7".to_owned()),
        ],
    };
    let tree = repo.tree_of("HEAD").unwrap().unwrap();
    let identity = Identity {
        name: "Bea".to_owned(),
        email: "bea@example.org".to_owned(),
    };
    let id = repo
        .commit_tree(&tree, from_ref(&base), &message, Some(&identity))
        .unwrap();
    // Settings of the user that change what `git log` prints.
    fixture.git(["config", "trailer.separators", "="]);
    fixture.git(["config", "log.showSignature", "true"]);
    fixture.git(["config", "i18n.logOutputEncoding", "ISO-8859-1"]);
    fixture.git(["config", "log.decorate", "full"]);

    let commits = repo.log(&format!("{base}..{id}")).unwrap();
    let [commit] = commits.as_slice() else {
        panic!("{commits:?}")
    };
    assert_eq!(commit.id, id);
    assert_eq!(commit.tree, tree);
    assert_eq!(commit.parents, from_ref(&base));
    assert_eq!(commit.author, identity);
    assert_eq!(commit.authored_at, 1_767_323_045);
    assert_eq!(commit.committed_at, 1_767_323_045);
    assert_eq!(commit.subject, message.subject);
    assert!(commit.body.starts_with(&message.body));
    assert_eq!(commit.trailers, message.trailers);
    assert_eq!(commit.trailer("rekindle-task"), Some("task 7"));
    assert_eq!(commit.trailer("Not-a-trailer"), None);

    let all = repo.log(id.as_str()).unwrap();
    assert_eq!(
        all.iter().map(|commit| &commit.id).collect::<Vec<_>>(),
        [&id, &base]
    );
    assert_eq!(repo.log("HEAD..HEAD").unwrap(), []);
    assert!(repo.log("--all").is_err());
    assert!(repo.log("nope").is_err());
}

#[test]
fn a_signature_is_not_checked_while_the_log_is_read() {
    let fixture = Fixture::new();
    let plain = fixture.git(["cat-file", "commit", "HEAD"]);
    let signed = plain.replacen(
        "\n\n",
        "\ngpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----\n\n",
        1,
    );
    std::fs::write(fixture.root.join("commit"), signed).unwrap();
    let id = fixture.git_id(["hash-object", "-t", "commit", "-w", "../commit"]);
    fixture.git(["config", "log.showSignature", "true"]);
    let gpg = fixture
        .script("gpg", "echo gpg says hello >&2; exit 1")
        .join("gpg");
    fixture.git(["config", "gpg.program", gpg.as_str()]);
    assert!(
        fixture
            .git(["log", "--format=%s", id.as_str()])
            .contains("gpg says hello")
    );
    let commits = fixture.repo().log(id.as_str()).unwrap();
    assert_eq!(commits[0].subject, "base");
}

#[test]
fn without_a_configured_identity_commits_are_signed_by_rekindle() {
    let fixture = Fixture::new();
    let repo = fixture.repo();
    let tree = repo.empty_tree().unwrap();
    let message = Message {
        subject: "x".to_owned(),
        ..Message::default()
    };
    let signed =
        |id: &ObjectId| fixture.git(["show", "-s", "--format=%an %ae %cn %ce", id.as_str()]);

    // From this and the account, git would make an identity up.
    let program = fixture
        .program
        .clone()
        .with_variable("EMAIL", "made@up.example");
    let unconfigured = Repo::at(&program, &fixture.dir);
    let id = unconfigured
        .commit_tree(&tree, &[], &message, None)
        .unwrap();
    assert_eq!(
        signed(&id),
        "rekindle rekindle@localhost rekindle rekindle@localhost"
    );

    fixture.git(["config", "user.name", "Cleo"]);
    fixture.git(["config", "user.email", "cleo@example.org"]);
    let id = repo.commit_tree(&tree, &[], &message, None).unwrap();
    assert_eq!(signed(&id), "Cleo cleo@example.org Cleo cleo@example.org");

    let absent = ObjectId::parse(&"1".repeat(40)).unwrap();
    let error = repo.commit_tree(&absent, &[], &message, None).unwrap_err();
    assert!(matches!(error, Error::Failed { .. }), "{error}");
}
