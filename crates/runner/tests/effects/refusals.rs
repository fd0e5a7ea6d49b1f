//! What a landing must not touch: somebody's work in the way, and a world that has moved.

use libtest_mimic::Trial;
use rekindle_model::{Action, Landing};
use rekindle_runner::Error;

use crate::scene::{Scene, files};
use crate::trial;

const BASE: &str = "echo a > a; mkdir d; echo b > d/b; echo '*.log' > .gitignore; echo c > c";
const WORK: &str = "echo x > a; echo n > n; echo l > y.log; git add -f y.log; mkdir e; echo e > e/e
    rm -r d; echo d > d; rm c";

/// What is in the way: a name, what was done to the project, the path that is named.
const IN_THE_WAY: &[(&str, &str, &str)] = &[
    ("a file that a person changed", "echo mine >> a", "a"),
    ("a file that is staged otherwise", "echo mine > a; git add a; echo a > a", "a"),
    ("a file that a later commit changed", "echo mine > a; git commit -qm mine a; git show HEAD^:a > a", "a"),
    ("a file with another mode", "chmod +x a", "a"),
    ("a file that became a link", "ln -sf c a", "a"),
    ("a file that a person removed", "rm a", "a"),
    ("a file to be deleted that was changed", "echo mine > c", "c"),
    ("a file to be deleted that is changed in the index", "echo mine > c; git add c; rm c", "c"),
    ("a file that git was told not to look at", "git update-index --assume-unchanged a; echo mine > a", "a"),
    ("a file that is hidden as in a sparse checkout", "git update-index --skip-worktree a; echo mine > a", "a"),
    ("an untracked file", "echo mine > n", "n"),
    ("an ignored file", "echo mine > y.log", "y.log"),
    ("a pipe", "mkfifo n", "n"),
    ("a link in place of a folder", "mkdir ../elsewhere; ln -s ../elsewhere e", "e"),
    ("a file in place of a folder", "echo mine > e", "e"),
    ("a committed file in place of a folder", "echo mine > e; git add e; git commit -qm mine e; rm e; git rm -q --cached e", "e"),
    ("a staged file in place of a folder", "echo mine > e; git add e; rm e", "e"),
    ("an untracked file in a folder that goes", "echo mine > d/mine", "d/mine"),
    ("an ignored file in a folder that goes", "mkdir d/deep; echo mine > d/deep/x.log", "d/deep/x.log"),
    ("a staged file in a folder that goes", "echo mine > d/mine; git add d/mine; rm d/mine", "d/mine"),
    (
        "a conflict",
        "git stash -q -u; git checkout -q -b other; echo o > a; git commit -qam o; git checkout -q main
         echo m > a; git commit -qam m; git merge -q other >/dev/null || true",
        "a",
    ),
];

/// Edits that git does not show: a name, the project before, what the user did to `a`.
const HIDDEN: &[(&str, &str, &str)] = &[
    (
        "text in a keyword",
        "echo 'a ident' > .gitattributes; printf '$Id$\\nx\\n' > a",
        "printf '$Id: mine $\\nx\\n' > a",
    ),
    (
        "text after the id of a keyword",
        "echo 'a ident' > .gitattributes; printf '$Id$\\n' > a",
        "rm a; git checkout -q a; sed -i 's/ \\$$/ mine $/' a; grep -q mine a",
    ),
    (
        "a line end under `text=auto`",
        "echo '* text=auto' > .gitattributes; printf 'x\\ny\\n' > a",
        "printf 'x\\r\\ny\\n' > a",
    ),
    (
        "a line end under `eol=crlf`",
        "echo '* text eol=crlf' > .gitattributes; printf 'x\\r\\ny\\r\\n' > a",
        "printf 'x\\r\\ny\\n' > a",
    ),
    (
        "a line end under `autocrlf=input`",
        "git config core.autocrlf input; printf 'x\\ny\\n' > a",
        "printf 'x\\r\\ny\\r\\n' > a",
    ),
    (
        "an escape sequence of an encoding",
        "echo 'a text working-tree-encoding=ISO-2022-JP' > .gitattributes; echo x > a",
        "printf '\\033(Bx\\n' > a",
    ),
    (
        "text that a filter removes",
        "git config filter.short.clean 'grep -v secret'; git config filter.short.smudge cat
         echo 'a filter=short' > .gitattributes; echo x > a",
        "echo secret >> a",
    ),
];

/// What git itself leaves in files: a name, the project before, what happened to `a`.
const NOTHING_HIDDEN: &[(&str, &str, &str)] = &[
    (
        "a keyword as it was checked out",
        "echo 'a ident' > .gitattributes; printf '$Id$\\n' > a",
        "rm a; git checkout -q a; grep -q 'Id: ' a",
    ),
    (
        "a keyword as it was before the last commit",
        "echo 'a ident' > .gitattributes; printf '$Id$\\n' > a; git add .; git commit -qm one; rm a; git checkout -q a; echo x >> a",
        "grep -q 'Id: ' a",
    ),
    (
        "line ends from before the attributes",
        "printf 'x\\ny\\n' > a; git add a; echo '* text eol=crlf' > .gitattributes",
        ":",
    ),
    (
        "an encoding",
        "echo 'a text working-tree-encoding=UTF-16LE' > .gitattributes; printf 'x\\n' | iconv -t UTF-16LE > a",
        ":",
    ),
    (
        "a filter that converts",
        "git config filter.up.clean 'tr A-Z a-z'; git config filter.up.smudge 'tr a-z A-Z'
         echo 'a filter=up' > .gitattributes; echo X > a",
        ":",
    ),
    (
        "a name with quotes",
        "echo '* text=auto' > .gitattributes; echo x > a; echo x > '\"q\"'",
        "test -e '\"q\"'",
    ),
];

/// How the world can move after the plan: a name, where, what was done, what is said.
const MOVED: &[(&str, Where, &str, &str)] = &[
    (
        "a worktree that was changed",
        Where::Worktree,
        "echo more >> a",
        "changed since",
    ),
    (
        "a worktree with one file more",
        Where::Worktree,
        "echo more > more",
        "changed since",
    ),
    (
        "a worktree with a commit of its own",
        Where::Worktree,
        "git commit -qam own",
        "base commit",
    ),
    (
        "a worktree that is gone",
        Where::Project,
        "git worktree remove --force $WORKTREE",
        "does not exist",
    ),
    (
        "a worktree that git has forgotten",
        Where::Worktree,
        "rm .git",
        "no longer a worktree",
    ),
    (
        "a head on no branch",
        Where::Project,
        "git checkout -q --detach",
        "no branch is checked out",
    ),
    (
        "an unborn branch",
        Where::Project,
        "git symbolic-ref HEAD refs/heads/new",
        "no commit yet",
    ),
];

#[derive(Clone, Copy)]
enum Where {
    Project,
    Worktree,
}

pub(crate) fn trials() -> Vec<Trial> {
    let in_the_way = IN_THE_WAY.iter().map(|&(name, done, path)| {
        trial(&format!("{name} is in the way"), move || {
            is_in_the_way(done, path);
        })
    });
    let moved = MOVED.iter().map(|&(name, place, done, said)| {
        trial(&format!("{name} does not land"), move || {
            does_not_land(place, done, said);
        })
    });
    let hidden = HIDDEN.iter().map(|&(name, base, done)| {
        trial(
            &format!("{name} is in the way though git hides it"),
            move || {
                for work in ["printf 'work' > a", "rm a"] {
                    let scene = Scene::new(base, work);
                    assert_eq!(scene.git("status --porcelain -- a"), "");
                    scene.shell(&scene.top(), done);
                    scene.git("update-index -q --refresh || true");
                    assert_eq!(scene.git("diff --name-only -- a"), "", "git shows it");
                    stays_in_the_way(&scene, &scene.landing(), "a");
                }
            },
        )
    });
    let nothing_hidden = NOTHING_HIDDEN.iter().map(|&(name, base, done)| {
        trial(&format!("{name} is not in the way"), move || {
            for work in [
                "printf 'work' > a; test ! -e '\"q\"' || echo y > '\"q\"'",
                "rm a",
            ] {
                let scene = Scene::new(base, work);
                scene.shell(&scene.top(), done);
                scene.land().unwrap();
            }
        })
    });
    let mut trials: Vec<Trial> = in_the_way.chain(moved).collect();
    trials.extend(hidden.chain(nothing_hidden));
    trials.push(trial("a submodule does not land", a_submodule));
    trials.push(trial(
        "a folder that is no worktree does not land",
        no_worktree,
    ));
    trials
}

fn is_in_the_way(done: &str, path: &str) {
    let scene = Scene::new(BASE, WORK);
    let landing = scene.landing();
    scene.shell(&scene.top(), done);
    stays_in_the_way(&scene, &landing, path);
}

fn stays_in_the_way(scene: &Scene, landing: &Landing, path: &str) {
    let before = state(scene);
    // Asked for twice: a refused effect is not finished as an interrupted one.
    for _ in 0..2 {
        let error = scene
            .apply(vec![Action::Land(landing.clone())])
            .unwrap_err();
        let Error::InTheWay { path: named, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(named, path, "{error}");
        assert!(error.hint().is_some());
        assert_eq!(state(scene), before);
    }
}

fn does_not_land(place: Where, done: &str, said: &str) {
    let scene = Scene::new(BASE, WORK);
    let landing = scene.landing();
    let folder = match place {
        Where::Project => scene.top(),
        Where::Worktree => scene.worktree.clone(),
    };
    scene.shell(&folder, &done.replace("$WORKTREE", scene.worktree.as_str()));
    let before = (files(&scene.top()), scene.git("ls-files --stage"));
    let error = scene.apply(vec![Action::Land(landing)]).unwrap_err();
    assert!(error.to_string().contains(said), "{error}");
    assert!(error.hint().is_some(), "{error}");
    assert_eq!((files(&scene.top()), scene.git("ls-files --stage")), before);
}

/// Returns all that a refused landing must leave as it was.
fn state(scene: &Scene) -> impl PartialEq + std::fmt::Debug {
    let refs = scene.git("for-each-ref");
    let files = files(&scene.top());
    (refs, files, scene.git("ls-files --stage -v"))
}

fn a_submodule() {
    let inner = "git init -q -b main sub; git -C sub commit -q --allow-empty -m one";
    let base = format!("{inner}; git add sub 2>/dev/null");
    let work = format!("rmdir sub; {inner} -m two; git add sub 2>/dev/null");
    let scene = Scene::new(&base, &work);
    let before = state(&scene);
    let error = scene.land().unwrap_err();
    assert!(
        matches!(&error, Error::Submodule { path, .. } if path == "sub"),
        "{error}"
    );
    assert_eq!(state(&scene), before);
}

fn no_worktree() {
    let scene = Scene::new(BASE, WORK);
    let before = state(&scene);
    let clone = scene.root.join("clone");
    scene.git(&format!("clone -q . {clone}"));
    let folder = scene.root.join("folder");
    scene.shell(&scene.root, "mkdir folder; echo x > folder/a");
    for worktree in [scene.top(), clone, folder] {
        let mut landing = scene.landing();
        landing.worktree = worktree;
        let error = scene.apply(vec![Action::Land(landing)]).unwrap_err();
        assert!(matches!(error, Error::WorktreeMoved { .. }), "{error}");
        assert_eq!(state(&scene), before);
    }
}
