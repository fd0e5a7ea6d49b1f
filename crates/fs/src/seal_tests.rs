#![expect(
    clippy::disallowed_methods,
    reason = "keys that others made are written as others would"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::{Arc, Barrier};

use camino::Utf8PathBuf;

use super::*;

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let (folder, path) = crate::log::tests::folder();
    (folder, path.join("state/rekindle/key"))
}

fn mode(path: &Utf8Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn the_key_is_private_and_stays_the_same() {
    let (_folder, path) = folder();
    assert!(Key::read(&path).unwrap().is_none());
    let made = Key::read_or_make(&path).unwrap();
    let again = Key::read_or_make(&path).unwrap();
    assert_eq!(made.0, again.0);
    assert_ne!(made.0, [0; KEY_LENGTH]);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let folder = path.parent().unwrap();
    assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
    assert_eq!(format!("{made:?}"), "Key");
}

#[test]
fn processes_that_create_the_key_at_the_same_time_get_the_same_key() {
    let (_folder, path) = folder();
    let start = Arc::new(Barrier::new(8));
    let makers: Vec<_> = (0..8)
        .map(|_| {
            let (path, start) = (path.clone(), Arc::clone(&start));
            std::thread::spawn(move || {
                start.wait();
                Key::read_or_make(&path).unwrap().0
            })
        })
        .collect();
    let keys: Vec<_> = makers
        .into_iter()
        .map(|maker| maker.join().unwrap())
        .collect();
    assert!(keys.iter().all(|key| *key == keys[0]));
}

#[test]
fn a_key_that_others_could_know_is_refused() {
    type Harm = fn(&Utf8Path);
    let harms: [(&str, Harm); 7] = [
        ("others may read", |path| mode(path, 0o640)),
        ("others may read", |path| mode(path, 0o602)),
        ("write to its folder", |path| {
            mode(path.parent().unwrap(), 0o770);
        }),
        ("is a link", |path| {
            fs::rename(path, path.with_extension("real")).unwrap();
            symlink(path.with_extension("real"), path).unwrap();
        }),
        ("folder is a link", |path| {
            let folder = path.parent().unwrap();
            fs::rename(folder, folder.with_extension("real")).unwrap();
            symlink(folder.with_extension("real"), folder).unwrap();
        }),
        ("32 bytes", |path| fs::write(path, "short").unwrap()),
        ("not an ordinary file", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
    ];
    for (expected, harm) in harms {
        let (_folder, path) = folder();
        Key::read_or_make(&path).unwrap();
        harm(&path);
        for error in [
            Key::read(&path).unwrap_err(),
            Key::read_or_make(&path).unwrap_err(),
        ] {
            assert!(matches!(error, Error::BadKey { .. }), "{error:?}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}

#[test]
fn a_key_that_cannot_be_written_is_an_error_that_names_it() {
    let (_folder, path) = folder();
    fs::create_dir_all(path.parent().unwrap().parent().unwrap()).unwrap();
    fs::write(path.parent().unwrap().parent().unwrap().join("file"), "").unwrap();
    let below_a_file = path
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("file/rekindle/key");
    let error = Key::read_or_make(&below_a_file).unwrap_err();
    assert!(error.to_string().contains(below_a_file.as_str()), "{error}");
}

#[test]
fn a_seal_is_valid_only_for_its_bytes_location_origin_and_key() {
    let key = Key([7; KEY_LENGTH]);
    let seal = key.seal(&["project", "repository"]).at("journal/x");
    let blank = r#"{"v":2,"seal":"","body":"a \"seal\":\" b"}"#;
    let text = seal.stamp(blank);
    assert_eq!(text.len(), blank.len() + N_DIGITS);
    assert!(seal.is_on(text.as_bytes()));
    for other in [
        key.seal(&["project", "repository"]).at("journal/y"),
        key.seal(&["project", "repository"]),
        key.seal(&["project"]).at("journal/x"),
        key.seal(&["projectrepository", ""]).at("journal/x"),
        key.seal(&["other", "repository"]).at("journal/x"),
        Key([8; KEY_LENGTH])
            .seal(&["project", "repository"])
            .at("journal/x"),
    ] {
        assert!(!other.is_on(text.as_bytes()));
    }
    for at in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        changed[at] ^= 1;
        assert!(!seal.is_on(&changed), "{at}");
        assert!(!seal.is_on(&text.as_bytes()[..at]), "{at}");
    }
    for unsealed in ["", blank, r#"{"v":1}"#, r#"{"seal":"00"}"#] {
        assert!(!seal.is_on(unsealed.as_bytes()), "{unsealed}");
    }
}
