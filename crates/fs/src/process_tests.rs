#[cfg(target_os = "linux")]
use std::process::{Child, Command, Stdio};

use proptest::prelude::*;

use super::*;

fn identity() -> ProcessIdentity {
    ProcessIdentity {
        pid: 4242,
        start_time: Some(1000),
        boot_id: Some("boot-a".into()),
        pid_namespace: Some("pid:[1]".into()),
        host: "box".into(),
    }
}

/// A child that lives until its standard input is closed.
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "the test needs a real process that is not ours"
)]
fn child() -> Child {
    Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn running(start_time: u64) -> impl FnOnce(u32) -> Observed {
    move |_| Observed::Running { start_time }
}

#[test]
fn same_number_and_start_is_alive_and_another_start_is_another_process() {
    assert_eq!(
        judge(&identity(), &identity(), running(1000)),
        Liveness::Alive
    );
    assert_eq!(
        judge(&identity(), &identity(), running(1001)),
        Liveness::Gone
    );
    assert_eq!(
        judge(&identity(), &identity(), |_| Observed::Ended),
        Liveness::Gone
    );
    assert_eq!(
        judge(&identity(), &identity(), |_| Observed::Hidden),
        Liveness::Unknown
    );
}

#[test]
fn a_reboot_ends_every_process_whatever_has_its_number_now() {
    let before = ProcessIdentity {
        boot_id: Some("boot-b".into()),
        ..identity()
    };
    assert_eq!(judge(&before, &identity(), running(1000)), Liveness::Gone);
}

#[test]
fn a_process_that_is_not_visible_from_here_is_unknown() {
    let check = |recorded: ProcessIdentity, here: ProcessIdentity| {
        assert_eq!(
            judge(&recorded, &here, running(1000)),
            Liveness::Unknown,
            "{recorded:?}"
        );
    };
    check(
        ProcessIdentity {
            host: "other".into(),
            ..identity()
        },
        identity(),
    );
    check(
        ProcessIdentity {
            host: "other".into(),
            boot_id: Some("boot-b".into()),
            ..identity()
        },
        identity(),
    );
    check(
        ProcessIdentity {
            pid_namespace: Some("pid:[2]".into()),
            ..identity()
        },
        identity(),
    );
    check(
        ProcessIdentity {
            boot_id: None,
            ..identity()
        },
        identity(),
    );
    check(
        ProcessIdentity {
            start_time: None,
            ..identity()
        },
        identity(),
    );
    check(
        identity(),
        ProcessIdentity {
            boot_id: None,
            ..identity()
        },
    );
    check(
        identity(),
        ProcessIdentity {
            start_time: None,
            ..identity()
        },
    );
}

#[test]
fn a_record_without_a_namespace_is_judged_by_the_rest() {
    let recorded = ProcessIdentity {
        pid_namespace: None,
        ..identity()
    };
    assert_eq!(
        judge(&recorded, &identity(), running(1000)),
        Liveness::Alive
    );
}

#[test]
fn program_names_cannot_fake_the_fields_after_them() {
    let numbers = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21";
    for name in ["cat", "a b", ") Z 1 2 3", "(((", "))", "a) R 0 0\n", ""] {
        let line = format!("4242 ({name}) S {numbers}\n");
        let expected = Stat {
            pid: 4242,
            state: b'S',
            start_time: 987_654,
        };
        assert_eq!(parse_stat(line.as_bytes()), Some(expected), "{name:?}");
    }
    let not_utf8 = [b"4242 (\xff\xfe) Z ".as_slice(), numbers.as_bytes()].concat();
    assert_eq!(parse_stat(&not_utf8).map(|stat| stat.state), Some(b'Z'));
}

#[test]
fn json_form_reads_back_and_ignores_unknown_fields() {
    let json = serde_json::to_string(&identity()).unwrap();
    assert_eq!(
        json,
        r#"{"pid":4242,"start_time":1000,"boot_id":"boot-a","pid_namespace":"pid:[1]","host":"box"}"#
    );
    assert_eq!(
        serde_json::from_str::<ProcessIdentity>(&json).unwrap(),
        identity()
    );
    let other = r#"{"pid":7,"host":"box","later":true}"#;
    assert_eq!(
        serde_json::from_str::<ProcessIdentity>(other)
            .unwrap()
            .start_time,
        None
    );
}

#[cfg(target_os = "linux")]
#[test]
fn this_process_is_alive() {
    let current = ProcessIdentity::current();
    assert_eq!(current.is_alive(), Liveness::Alive);
    assert_eq!(ProcessIdentity::of(current.pid), Some(current));
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_is_alive_then_a_zombie_that_counts_as_gone_then_gone() {
    let mut child = child();
    let identity = ProcessIdentity::of(child.id()).unwrap();
    assert_eq!(identity.is_alive(), Liveness::Alive);

    child.kill().unwrap();
    // Waits for the end without collecting the child, so that it stays a zombie.
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::waitid(
        rustix::process::WaitId::Pid(pid),
        rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
    )
    .unwrap();
    assert_eq!(identity.is_alive(), Liveness::Gone);
    assert_eq!(ProcessIdentity::of(child.id()), None);

    child.wait().unwrap();
    assert_eq!(identity.is_alive(), Liveness::Gone);
}

#[test]
fn impossible_pids_do_not_panic() {
    for pid in [0, u32::MAX, 1 << 30] {
        let recorded = ProcessIdentity {
            pid,
            ..ProcessIdentity::current()
        };
        assert_ne!(recorded.is_alive(), Liveness::Alive);
    }
}

proptest! {
    #[test]
    fn any_stat_file_is_read_without_panic(bytes: Vec<u8>) {
        parse_stat(&bytes);
    }
}
