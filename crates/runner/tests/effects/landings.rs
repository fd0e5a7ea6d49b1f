//! Every kind of change lands exactly as the worker has it, and nothing else changes.

use libtest_mimic::Trial;
use rekindle_model::Action;

use crate::scene::{Files, SUBJECT, Scene, search_path};
use crate::trial;

/// What is landed: a name, the project before, what the worker did.
const CASES: &[(&str, &str, &str)] = &[
    ("an addition", "echo a > a", "mkdir new; echo b > new/b"),
    ("an addition that is staged", "echo a > a", "echo b > b; git add b"),
    ("a modification", "echo a > a", "echo b > a"),
    ("a modification staged and changed again", "echo a > a", "echo b > a; git add a; echo c > a"),
    ("a deletion", "echo a > a; mkdir d; echo b > d/b", "rm a; rm d/b"),
    ("a deletion that is staged", "mkdir -p d/e; echo b > d/e/b; echo a > a", "git rm -q d/e/b"),
    ("a rename", "mkdir d; echo a > d/a", "mv d/a b"),
    ("a rename that is staged", "echo a > a", "git mv a b; echo more >> b"),
    ("a swap of two names", "echo a > a; echo b > b", "mv a c; mv b a; mv c b"),
    ("a new executable bit", "echo a > a", "chmod +x a"),
    ("a lost executable bit", "echo a > a; chmod +x a", "chmod -x a"),
    ("an executable addition", "echo a > a", "echo b > b; chmod 755 b"),
    ("a link that is new", "echo a > a", "ln -s a l; ln -s /nowhere/at/all m"),
    ("a link that changed", "echo a > a; ln -s a l", "ln -sfn b l"),
    ("a link in place of a file", "echo a > a; echo b > b", "rm a; ln -s b a"),
    ("a file in place of a link", "echo b > b; ln -s b a", "rm a; echo a > a"),
    ("a link in place of a folder", "mkdir d e; echo a > d/a; echo b > e/b", "rm -r d; ln -s e d"),
    ("a folder in place of a link", "mkdir e; echo b > e/b; ln -s e d", "rm d; mkdir d; echo x > d/x"),
    ("binary content", "printf '\\000\\001\\377' > a", "printf '\\377\\000\\n\\r\\n' > a; printf '\\000' > b"),
    ("an empty file", "echo a > a", ": > a; : > b"),
    ("a file that became a folder", "echo a > a", "rm a; mkdir -p a/b; echo c > a/b/c"),
    ("a folder that became a file", "mkdir -p a/b; echo c > a/b/c; echo d > a/d", "rm -r a; echo a > a"),
    (
        "odd names",
        "echo 1 > 'a b'; echo 2 > -dash; echo 3 > 'quo\"te'",
        "echo x > 'a b'; echo y > ./-dash; rm 'quo\"te'; mkdir -- '-d\\'; echo z > './-d\\/*?[x]'
         echo n > \"$(printf 'new\\nline')\"; echo u > \"$(printf 'not\\377utf8')\"; echo t > \"$(printf '\\ttab')\"
         echo ż > ż; echo : > ':(top)x'; echo h > '#hash'",
    ),
    (
        "line ends under autocrlf",
        "git config core.autocrlf true; printf 'a\\r\\nb\\r\\n' > a; printf 'x\\r\\n' > gone",
        "printf 'a\\r\\nc\\r\\n' > a; printf 'new\\r\\n' > n; printf 'unix\\n' > u; rm gone",
    ),
    (
        "line ends that were committed once",
        "printf 'a\\r\\nb\\r\\n' > a; git add a; git commit -qm crlf; git config core.autocrlf true",
        "printf 'a\\r\\nc\\r\\n' > a",
    ),
    (
        "line ends by attributes",
        "printf '*.txt text eol=crlf\\n*.sh text eol=lf\\n' > .gitattributes; printf 'a\\r\\n' > a.txt; printf 'a\\n' > a.sh",
        "printf 'b\\r\\n' > a.txt; printf 'b\\n' > a.sh; printf 'c\\n' > c.txt",
    ),
    (
        "attributes that land with what they are about",
        "printf 'a\\r\\n' > a.md; mkdir s; printf 's\\r\\n' > s/s.md",
        "printf '*.md text eol=crlf\\n' > .gitattributes; printf 'b\\r\\n' > a.md; printf 'n\\r\\n' > n.md
         printf 'x\\r\\n' > s/s.md; printf '* -text\\n' > s/.gitattributes",
    ),
    (
        "attributes that go",
        "printf '*.md text eol=crlf\\n' > .gitattributes; printf 'a\\r\\n' > a.md",
        "rm .gitattributes; printf 'b\\r\\n' > a.md",
    ),
    ("ignored files that stay behind", "echo '*.log' > .gitignore", "echo x > x.log; echo y > y"),
    ("an ignored file that was added all the same", "echo '*.log' > .gitignore", "echo x > x.log; git add -f x.log"),
    ("nothing at all", "echo a > a", ":"),
    ("a change of the ignore rules", "echo '*.log' > .gitignore", "echo x > x.log; : > .gitignore"),
    (
        "modes that mean nothing",
        "git config core.fileMode false; echo a > a; echo b > b",
        "echo x > a; echo c > c; git add c; git update-index --chmod=+x c",
    ),
    ("many files", "mkdir d; for i in 1 2 3 4 5 6 7; do echo $i > d/$i; done", "for i in 2 4 6; do rm d/$i; done; for i in 1 3 9; do echo x$i > d/$i; done"),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = CASES
        .iter()
        .map(|&(name, base, work)| {
            trial(&format!("landing {name}"), move || {
                lands(&Scene::new(base, work));
                lands(&Scene::below("deep/er", base, work));
                finishes_what_is_half_there(base, work);
            })
        })
        .collect();
    trials.push(trial(
        "a landing follows a branch that moves meanwhile",
        a_moving_branch,
    ));
    trials.push(trial("a landing after others keeps theirs", after_others));
    trials.push(trial("a landing into a sparse checkout", a_sparse_checkout));
    trials
}

/// Lands, and holds everything against what plain git says.
fn lands(scene: &Scene) {
    let (users, tip) = (scene.users(), scene.git("rev-parse HEAD"));
    let landing = scene.landing();
    scene.land().unwrap();
    assert_eq!(scene.users(), users);
    assert_eq!(
        scene.git("log --format=%s -2"),
        format!("{SUBJECT}\nbase\n")
    );
    assert_eq!(scene.git("rev-parse HEAD^"), tip);
    assert_eq!(scene.git("log -1 --format=%B"), format!("{SUBJECT}\n\n"));
    let landed = scene.git("diff-tree -r --name-only -z --no-renames HEAD^ HEAD");
    assert_eq!(
        landed.matches('\0').count(),
        landing.files.len(),
        "{landed:?}"
    );
    let trusts_modes = scene.git("config --default=true core.fileMode") == "true\n";
    let work = |files| work_of(files, trusts_modes);
    assert_eq!(
        work(scene.files()),
        work(crate::scene::files(&scene.worktree))
    );
    let status = scene.git("status --porcelain --untracked-files=all");
    let others = status.lines().find(|line| !line.contains("user-"));
    assert_eq!(others, None, "{status}");
    // Once more, from the same plan and from a new one: it has landed.
    let end = (scene.history(), scene.files());
    scene.apply(vec![Action::Land(landing)]).unwrap();
    scene.land().unwrap();
    assert_eq!((scene.history(), scene.files()), end);
}

/// Leaves out what is the user's, what is not of the work, and what git does not keep: empty folders,
/// and modes where it does not trust them.
fn work_of(files: Files, trusts_modes: bool) -> Files {
    let is_work = |path: &str| {
        let others = ["user-", ".kiln", "x.log"];
        !others.iter().any(|other| path.starts_with(other))
    };
    files
        .into_iter()
        .filter(|(path, what)| is_work(&path.to_string_lossy()) && what != "empty folder")
        .map(|(path, what)| match what.strip_prefix("100 ") {
            Some(content) if !trusts_modes => (path, format!("0 {content}")),
            Some(_) | None => (path, what),
        })
        .collect()
}

/// Lands where every second file has been copied already, as another tool would have left it.
fn finishes_what_is_half_there(base: &str, work: &str) {
    for (parity, staged) in [(0, false), (1, false), (1, true)] {
        let scene = Scene::new(base, work);
        let landing = scene.landing();
        // Only plain files: what a half copy of a folder looks like is the crash tests' to say.
        let plain = |side: &Option<(String, String)>| {
            side.as_ref()
                .is_none_or(|(mode, _)| mode.starts_with("100"))
        };
        let is_odd = landing
            .files
            .iter()
            .any(|file| !plain(&file.before) || !plain(&file.after));
        // Nor attributes: with them in place before the files they are about, nobody can tell any
        // more what those files are, and they are refused.
        let turns = ["a file that became", "mkdir -p a/b", "gitattributes"];
        if is_odd
            || turns
                .iter()
                .any(|turn| base.contains(turn) || work.contains(turn))
        {
            return;
        }
        for file in landing.files.iter().skip(parity).step_by(2) {
            let path = rekindle_git::RepoPath::new(file.path.clone());
            let (from, to) = (
                scene.worktree.as_std_path().join(path.as_path()),
                scene.top().as_std_path().join(path.as_path()),
            );
            if file.after.is_none() {
                std::fs::remove_file(&to).unwrap();
            } else {
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                // With its mode.
                std::fs::copy(&from, &to).unwrap();
            }
            if staged {
                // As the worktree has it: its index is what git would add there.
                let (mode, id) = file.after.clone().unwrap_or(("0".into(), "0".repeat(40)));
                let mut line = format!("{mode} {id}\t").into_bytes();
                line.extend(&file.path);
                line.push(0);
                std::fs::write(scene.root.join("line"), line).unwrap();
                scene.git("update-index -z --index-info < ../line");
            }
        }
        lands(&scene);
    }
}

/// A git that commits something else just before it moves the branch for the first time.
fn a_moving_branch() {
    let scene = Scene::new("echo a > a", "echo b > a");
    let bin = scene.root.join("bin");
    let real = scene.shell(&scene.root, "command -v git");
    let script = format!(
        "#!/bin/sh
real={real}
case \" $* \" in *' update-ref refs/heads/main '*)
  if mkdir {bin}/moved 2>/dev/null; then
    cd {top}
    tree=$(GIT_INDEX_FILE={bin}/index sh -c \"$real read-tree HEAD; echo theirs > {bin}/t; $real update-index --add --cacheinfo 100644,$($real hash-object -w README),theirs; $real write-tree\")
    $real update-ref refs/heads/main $($real commit-tree -p HEAD -m theirs $tree)
  fi;;
esac
exec $real \"$@\"
",
        real = real.trim(),
        top = scene.top(),
    );
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(scene.top().join("README"), "theirs").unwrap();
    rekindle_testkit::process::write_script(bin.join("git").as_std_path(), &script).unwrap();
    let mut path = std::ffi::OsString::from(format!("{bin}:"));
    path.push(search_path());
    let landing = scene.landing();
    scene.apply_with(vec![Action::Land(landing)], path).unwrap();
    assert_eq!(
        scene.git("log --format=%s"),
        format!("{SUBJECT}\ntheirs\nbase\n")
    );
    assert_eq!(scene.git("show HEAD:a"), "b\n");
    assert_eq!(scene.git("ls-tree --name-only HEAD -- theirs"), "theirs\n");
}

fn after_others() {
    let scene = Scene::new(
        "echo a > a; echo b > b; mkdir d; echo c > d/c",
        "echo x > a; echo n > d/n",
    );
    scene.shell(&scene.top(), "git stash -q -u; echo theirs > b; git rm -q d/c; git commit -qam theirs; git stash pop -q --index");
    let users = scene.users();
    scene.land().unwrap();
    assert_eq!(scene.users(), users);
    assert_eq!(
        scene.git("log --format=%s"),
        format!("{SUBJECT}\ntheirs\nbase\n")
    );
    assert_eq!(scene.git("diff --name-status HEAD^ HEAD"), "M\ta\nA\td/n\n");
    assert_eq!(scene.git("show HEAD:b"), "theirs\n");
}

fn a_sparse_checkout() {
    let scene = Scene::new(
        "mkdir in out; echo a > in/a; echo b > out/b; echo c > out/c",
        "echo x > in/a; echo y > out/b",
    );
    scene.shell(
        &scene.top(),
        "git sparse-checkout set --no-cone '/*' '!/out/'; test ! -e out/b",
    );
    scene.land().unwrap();
    assert_eq!(
        scene.git("diff --name-status HEAD^ HEAD"),
        "M\tin/a\nM\tout/b\n"
    );
    let status = scene.git("status --porcelain");
    assert!(
        status.lines().all(|line| line.contains("user-")),
        "{status}"
    );
}
