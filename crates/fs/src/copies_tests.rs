#![expect(
    clippy::disallowed_methods,
    reason = "the tests write as other programs do"
)]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::create;
use crate::log::tests::folder;

#[test]
fn a_copy_has_bytes_mode_and_time_and_is_made_again_when_it_differs() {
    let (_folder, base) = folder();
    let (from, root) = (base.join("secret"), base.join("work"));
    let to = root.join("deep/secret");
    ensure_dir(&root).unwrap();
    create(&from, b"KEY=1").unwrap();
    fs::set_permissions(&from, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(copy_into(&from, &root, &to).unwrap());
    let (of_source, of_copy) = (fs::metadata(&from).unwrap(), fs::metadata(&to).unwrap());
    assert_eq!(fs::read(&to).unwrap(), b"KEY=1");
    assert_eq!(of_copy.permissions(), of_source.permissions());
    assert_eq!(of_copy.modified().unwrap(), of_source.modified().unwrap());
    fs::write(&to, b"KEY=2 and more").unwrap();
    assert!(copy_into(&from, &root, &to).unwrap());
    assert_eq!(fs::read(&to).unwrap(), b"KEY=1");
    remove_copy(&root, &to).unwrap();
    remove_copy(&root, &to).unwrap();
    assert!(!to.exists() && from.exists());
}

#[test]
fn what_is_no_file_is_not_copied_and_a_link_in_the_way_is_never_followed() {
    let (_folder, base) = folder();
    let root = base.join("work");
    ensure_dir(&root).unwrap();
    ensure_dir(&base.join("from")).unwrap();
    create(&base.join("outside/file"), b"mine").unwrap();
    create(&base.join("new"), b"new").unwrap();
    assert!(!copy_into(&base.join("from"), &root, &root.join("a")).unwrap());
    assert!(!copy_into(&base.join("none"), &root, &root.join("a")).unwrap());
    symlink(base.join("outside/file"), root.join("a")).unwrap();
    assert!(copy_into(&base.join("new"), &root, &root.join("a")).unwrap());
    assert_eq!(fs::read(root.join("a")).unwrap(), b"new");
    symlink(base.join("outside"), root.join("out")).unwrap();
    for path in ["out/file", "../outside/file"] {
        let path = root.join(path);
        copy_into(&base.join("new"), &root, &path).unwrap_err();
        link_into(&base.join("new"), &root, &path).unwrap_err();
        remove_copy(&root, &path).unwrap_err();
    }
    assert_eq!(fs::read(base.join("outside/file")).unwrap(), b"mine");
}

#[test]
fn a_link_takes_the_place_of_a_link_and_of_nothing_else() {
    let (_folder, base) = folder();
    let (root, target) = (base.join("work"), base.join("modules"));
    ensure_dir(&root).unwrap();
    ensure_dir(&target).unwrap();
    let path = root.join("modules");
    symlink("elsewhere", &path).unwrap();
    for _ in 0..2 {
        assert!(link_into(&target, &root, &path).unwrap());
        assert_eq!(path.read_link_utf8().unwrap(), target);
    }
    remove_copy(&root, &path).unwrap();
    assert!(target.is_dir());
    ensure_dir(&path).unwrap();
    assert!(!link_into(&target, &root, &path).unwrap());
    remove_copy(&root, &path).unwrap();
    assert!(path.is_dir() && !path.is_symlink());
}
