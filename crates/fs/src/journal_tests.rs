use std::fs;
use std::io::Write as _;

use proptest::prelude::*;

use super::*;

const AT: &str = "2026-11-15T21:00:00Z";

type Strings = Journal<String>;

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let (folder, path) = crate::log::tests::folder();
    (folder, path.join("journal.jsonl"))
}

/// Reads a journal as [`Journal::open`] does, but not from the disk.
fn from_bytes(path: &Utf8Path, bytes: &[u8]) -> Strings {
    let mut journal = Strings::empty(path, Some(seal()));
    let mut reading = Reading::default();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        journal.read_line(&mut reading, &Line::Whole(line));
    }
    journal.finish_reading(&reading);
    journal
}

fn seal() -> Seal {
    static KEY: std::sync::OnceLock<crate::Key> = std::sync::OnceLock::new();
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().join("key")).unwrap();
    let key = KEY.get_or_init(|| crate::Key::read_or_make(&path).unwrap());
    key.seal(&["here"])
}

fn open(path: &Utf8Path) -> Result<Strings, Error> {
    Strings::open(path, Some(seal()))
}

fn put(path: &Utf8Path, bytes: &[u8]) {
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

/// A journal with every kind of record: `one` is ended, `two` and `thrée` are open.
fn sample(path: &Utf8Path) -> Vec<u8> {
    let mut journal = open(path).unwrap();
    let one = journal.begin(AT, &"one".into()).unwrap();
    journal.done(one, 0).unwrap();
    let two = journal.begin(AT, &"two \"crc\":\"\n".into()).unwrap();
    journal.end(one, AT, Outcome::Completed, "fine").unwrap();
    journal.done(two, 3).unwrap();
    journal.begin(AT, &"thrée".into()).unwrap();
    fs::read(path).unwrap()
}

/// Every line that is a record, as its number and what it says.
fn records(bytes: &[u8]) -> Vec<(u64, Entry<Option<String>>)> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| record::decode(line, Some(&seal())).ok())
        .collect()
}

fn n_line_breaks(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

fn summary(journal: &Strings) -> Vec<(u64, &str, Vec<u32>)> {
    let open = journal.open_intents().iter();
    open.map(|open| {
        (
            open.id.0,
            open.body.as_str(),
            open.steps_done.iter().copied().collect(),
        )
    })
    .collect()
}

#[test]
fn open_intents_are_found_with_their_steps() {
    let (_folder, path) = folder();
    sample(&path);
    let journal = open(&path).unwrap();
    assert_eq!(
        summary(&journal),
        [(3, "two \"crc\":\"\n", vec![3]), (6, "thrée", vec![])]
    );
    assert_eq!(journal.damage(), []);
}

#[test]
fn lines_have_the_documented_form() {
    let (_folder, path) = folder();
    let text = String::from_utf8(sample(&path)).unwrap();
    let blank = |line: &str| {
        let crc = line.find("\"crc\":\"").unwrap() + 7;
        let line = format!("{}????????{}", &line[..crc], &line[crc + 8..]);
        let seal = line.find("\"seal\":\"").unwrap() + 8;
        format!("{}!{}", &line[..seal], &line[seal + 64..])
    };
    let lines: Vec<String> = text.lines().map(blank).collect();
    assert_eq!(
        lines[..2],
        [
            format!(
                r#"{{"v":2,"seq":1,"at":"{AT}","crc":"????????","seal":"!","entry":{{"begin":{{"id":1,"body":"one"}}}}}}"#
            ),
            r#"{"v":2,"seq":2,"crc":"????????","seal":"!","entry":{"done":{"id":1,"step":0}}}"#
                .to_owned(),
        ]
    );
    assert!(lines[1].len() >= record::MIN_LENGTH);
    assert_eq!(
        lines[3],
        format!(
            r#"{{"v":2,"seq":4,"at":"{AT}","crc":"????????","seal":"!","entry":{{"end":{{"id":1,"outcome":"completed","note":"fine"}}}}}}"#
        )
    );
}

#[test]
fn opening_writes_nothing_and_the_first_intent_makes_the_file() {
    let (_folder, path) = folder();
    let path = path.parent().unwrap().join("new/journal.jsonl");
    let mut journal = open(&path).unwrap();
    assert!(!path.parent().unwrap().exists());
    journal.begin(AT, &"one".into()).unwrap();
    assert!(path.exists());
}

#[test]
fn only_open_intents_can_continue() {
    let (_folder, path) = folder();
    let mut journal = open(&path).unwrap();
    let id = journal.begin(AT, &"one".into()).unwrap();
    journal.done(id, 1).unwrap();
    journal.done(id, 1).unwrap();
    journal
        .end(id, AT, Outcome::Abandoned, "the file changed")
        .unwrap();
    assert_eq!(
        records(&fs::read(&path).unwrap()).len(),
        3,
        "a known step is not written twice"
    );
    assert!(matches!(journal.done(id, 2), Err(Error::NotOpen { id: named, .. }) if named == id));
    let error = journal.end(id, AT, Outcome::Completed, "").unwrap_err();
    assert_eq!(error.to_string(), format!("`{path}` has no open intent 1"));
}

#[test]
fn a_journal_cut_at_any_byte_keeps_all_complete_records_and_can_continue() {
    let (_folder, path) = folder();
    let whole = sample(&path);
    for length in 0..whole.len() {
        let cut = &whole[..length];
        put(&path, cut);
        let mut journal = open(&path).unwrap();
        // A record that lacks only its line break is complete too.
        let lacks_only_its_break = length > 0 && whole[length] == b'\n';
        let n_breaks = n_line_breaks(cut);
        let n_whole = n_breaks + usize::from(lacks_only_its_break);
        assert_eq!(records(cut), records(&whole)[..n_whole], "cut at {length}");
        let line = n_breaks + 1;
        let kind = DamageKind::Torn;
        let is_torn = !lacks_only_its_break && !cut.is_empty() && !cut.ends_with(b"\n");
        let damage = Vec::from_iter(is_torn.then_some(Damage { line, kind }));
        assert_eq!(journal.damage(), damage, "cut at {length}");

        let n_open = journal.open_intents().len();
        let id = journal.begin(AT, &"later".into()).unwrap();
        journal.done(id, 9).unwrap();
        let again = open(&path).unwrap();
        assert_eq!(
            again.open_intents(),
            journal.open_intents(),
            "cut at {length}"
        );
        assert_eq!(summary(&again)[n_open..], [(id.0, "later", vec![9])]);
        assert!(fs::read(&path).unwrap().starts_with(cut));
    }
}

#[test]
fn a_flipped_byte_adds_no_record_and_keeps_the_earlier_ones() {
    let (_folder, path) = folder();
    let whole = sample(&path);
    let original = records(&whole);
    for at in 0..whole.len() {
        let n_before = n_line_breaks(&whole[..at]);
        for mask in [0x01, 0x02, 0x20, 0x80, 0xff, whole[at] ^ b'\n', whole[at]] {
            if mask == 0 {
                continue;
            }
            let mut flipped = whole.clone();
            flipped[at] ^= mask;
            // Not through the disk, whose sync would take most of the time; the next test does that.
            let journal = from_bytes(&path, &flipped);
            let found = records(&flipped);
            assert!(
                found.iter().all(|record| original.contains(record)),
                "{at} ^ {mask:#x}"
            );
            assert_eq!(found[..n_before], original[..n_before], "{at} ^ {mask:#x}");
            assert!(found.len() >= original.len() - 2, "{at} ^ {mask:#x}");
            // The last line break may be lost without harm, since the checksum proves the record.
            let is_harmless = at == whole.len() - 1 && found.len() == original.len();
            assert!(
                !journal.damage().is_empty() || is_harmless,
                "{at} ^ {mask:#x}"
            );
        }
    }
}

#[test]
fn after_a_flipped_byte_new_intents_get_new_numbers_and_read_back() {
    let (_folder, path) = folder();
    let whole = sample(&path);
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x04;
        put(&path, &flipped);
        let mut journal = open(&path).unwrap();
        let id = journal.begin(AT, &"later".into()).unwrap();
        assert!(id.0 > 6, "{at}: {id} may have been given before");
        let again = open(&path).unwrap();
        assert_eq!(again.open_intents(), journal.open_intents(), "{at}");
        assert_eq!(again.open_intents().last().unwrap().id, id);
    }
}

#[test]
fn steps_of_an_intent_whose_beginning_is_lost_are_reported() {
    let (_folder, path) = folder();
    let text = String::from_utf8(sample(&path)).unwrap();
    put(&path, text.replacen("one", "eno", 1).as_bytes());
    let journal = open(&path).unwrap();
    let orphan = DamageKind::Orphan { id: IntentId(1) };
    let kinds: Vec<_> = journal
        .damage()
        .iter()
        .map(|damage| (damage.line, damage.kind))
        .collect();
    assert_eq!(kinds, [(1, DamageKind::Checksum), (2, orphan), (4, orphan)]);
}

#[test]
fn a_copied_line_does_not_open_an_intent_again() {
    let (_folder, path) = folder();
    let mut bytes = sample(&path);
    let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes.extend_from_within(..first);
    put(&path, &bytes);
    let journal = open(&path).unwrap();
    assert_eq!(
        journal.damage(),
        [Damage {
            line: 7,
            kind: DamageKind::OutOfOrder
        }]
    );
    assert_eq!(summary(&journal).len(), 2);
}

#[test]
fn an_intent_in_an_unknown_form_is_reported_until_it_is_ended() {
    let (_folder, path) = folder();
    let mut newer = Journal::<Vec<u8>>::open(&path, Some(seal())).unwrap();
    let ended = newer.begin(AT, &vec![1]).unwrap();
    let id = newer.begin(AT, &vec![2]).unwrap();
    newer.done(id, 1).unwrap();
    newer.end(ended, AT, Outcome::Completed, "").unwrap();

    let mut journal = open(&path).unwrap();
    assert_eq!(
        journal.damage(),
        [Damage {
            line: 2,
            kind: DamageKind::Body { id }
        }]
    );
    assert_eq!(journal.open_intents(), []);
    journal
        .end(id, AT, Outcome::Abandoned, "nobody can read it")
        .unwrap();
    assert_eq!(journal.damage(), []);
    assert_eq!(open(&path).unwrap().damage(), []);
}

#[test]
fn records_of_a_later_version_are_reported_and_not_used() {
    let (_folder, path) = folder();
    sample(&path);
    let mut line = fs::read_to_string(&path)
        .unwrap()
        .lines()
        .last()
        .unwrap()
        .to_owned();
    line = line.replacen("\"v\":2,\"seq\":6", "\"v\":3,\"seq\":7", 1);
    let mark = line.find("\"seal\":\"").unwrap() + 8;
    line.replace_range(mark..mark + 64, "");
    let crc = line.find("\"crc\":\"").unwrap() + 7;
    line.replace_range(crc..crc + 8, "");
    line = seal().stamp(&line);
    let digits = blake3::hash(line.as_bytes()).to_hex()[..8].to_owned();
    line.insert_str(crc, &digits);
    let _tail = Log::open(&path).unwrap().append(line.as_bytes()).unwrap();
    let journal = open(&path).unwrap();
    assert_eq!(
        journal.damage(),
        [Damage {
            line: 7,
            kind: DamageKind::Version
        }]
    );
    assert_eq!(summary(&journal).len(), 2);
}

#[test]
fn whole_records_with_impossible_numbers_are_reported_and_not_used() {
    let (_folder, path) = folder();
    let mut log = Log::open(&path).unwrap();
    let begin = |id: u64| Entry::Begin {
        id: IntentId(id),
        body: "forged",
    };
    for (seq, id) in [(u64::MAX, u64::MAX), (0, 0), (2, 1), (3, u64::MAX)] {
        let line = record::encode(seq, None, &begin(id), &seal()).unwrap();
        let _tail = log.append(line.as_bytes()).unwrap();
    }
    let mut journal = open(&path).unwrap();
    assert_eq!(journal.damage().len(), 4);
    assert!(
        journal
            .damage()
            .iter()
            .all(|damage| damage.kind == DamageKind::OutOfOrder)
    );
    journal.begin(AT, &"later".into()).unwrap();
    assert_eq!(open(&path).unwrap().open_intents(), journal.open_intents());
}

#[test]
fn a_body_that_would_not_read_back_is_refused_before_the_crash() {
    let (_folder, path) = folder();
    let mut journal = Journal::<f64>::open(&path, Some(seal())).unwrap();
    assert!(matches!(
        journal.begin(AT, &f64::NAN),
        Err(Error::Encode { .. })
    ));
    assert_eq!(journal.open_intents(), []);
    assert!(!path.exists());
}

#[test]
fn a_folder_in_place_of_the_journal_is_an_error_that_names_it() {
    let (_folder, path) = folder();
    fs::create_dir(&path).unwrap();
    assert!(matches!(open(&path), Err(Error::NotAFile(named)) if named == path));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn reading_back_gives_what_the_writer_knew(
        steps in prop::collection::vec((0u8..4, 0u64..12, "\\PC{0,12}"), 0..12)
    ) {
        let (_folder, path) = folder();
        let mut journal = open(&path).unwrap();
        for (kind, id, text) in steps {
            let id = IntentId(id);
            match kind {
                0 | 1 => drop(journal.begin(&text, &text).unwrap()),
                2 => drop(journal.done(id, 1)),
                _ => drop(journal.end(id, AT, Outcome::Completed, &text)),
            }
        }
        let again = open(&path).unwrap();
        prop_assert_eq!(again.open_intents(), journal.open_intents());
        prop_assert_eq!(again.damage(), []);
    }

    #[test]
    fn any_bytes_open_without_panic_and_hold_no_record(bytes: Vec<u8>) {
        let (_folder, path) = folder();
        put(&path, &bytes);
        let journal = open(&path).unwrap();
        prop_assert_eq!(journal.open_intents(), []);
    }
}

#[test]
fn a_journal_that_is_too_large_is_refused_without_being_read() {
    let (_folder, path) = folder();
    fs::File::create(&path).unwrap().set_len(8 << 30).unwrap();
    let refused = open(&path).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    let link = path.with_file_name("link");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    let refused = open(&link).unwrap_err();
    assert!(matches!(refused, Error::Link { .. }), "{refused}");
}

#[test]
fn a_line_that_is_too_long_is_damage_and_the_rest_is_read() {
    let (_folder, path) = folder();
    let mut journal = open(&path).unwrap();
    let first = journal.begin(AT, &"first".to_owned()).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(vec![b'x'; LONGEST + 1]);
    bytes.push(b'\n');
    put(&path, &bytes);
    let mut journal = open(&path).unwrap();
    let damage = Damage {
        line: 2,
        kind: DamageKind::Checksum,
    };
    assert_eq!(journal.damage(), [damage]);
    assert_eq!(journal.open_intents()[0].id, first);
    let refused = journal.begin(AT, &"x".repeat(LONGEST)).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    journal.end(first, AT, Outcome::Completed, "").unwrap();
    assert_eq!(open(&path).unwrap().open_intents(), []);
}

#[test]
fn only_the_first_damaged_lines_are_remembered() {
    let (_folder, path) = folder();
    put(&path, &b"x\n".repeat(3 * MOST_DAMAGE));
    let journal = open(&path).unwrap();
    assert_eq!(journal.damage().len(), MOST_DAMAGE);
}

#[test]
fn lines_that_were_not_sealed_here_are_reported_and_never_open() {
    let other = seal().at("another location");
    let unsealed = r#"{"v":1,"seq":1,"crc":"0f7f0fb8","entry":{"begin":{"id":1,"body":"one"}}}"#;
    let rest = unsealed.replace("0f7f0fb8", "");
    let unsealed = unsealed.replace("0f7f0fb8", &blake3::hash(rest.as_bytes()).to_hex()[..8]);
    for (name, foreign) in [("another location", None), ("version 1", Some(unsealed))] {
        let (_folder, path) = folder();
        if let Some(line) = foreign {
            put(&path, format!("{line}\n").as_bytes());
        } else {
            let mut journal = Strings::open(&path, Some(other.clone())).unwrap();
            let ended = journal.begin(AT, &"ended".into()).unwrap();
            journal.end(ended, AT, Outcome::Completed, "").unwrap();
            journal.begin(AT, &"open".into()).unwrap();
        }
        let mut journal = open(&path).unwrap();
        assert_eq!(journal.open_intents(), [], "{name}");
        assert!(journal.has_foreign_lines(), "{name}");
        assert_eq!(journal.n_foreign_intents(), 1, "{name}");
        // Our own records continue after them.
        journal.begin(AT, &"ours".into()).unwrap();
        let again = open(&path).unwrap();
        assert_eq!(again.open_intents(), journal.open_intents(), "{name}");
        // Without a key no line is ours, and none can be written.
        let mut without = Strings::open(&path, None).unwrap();
        assert_eq!(without.open_intents(), [], "{name}");
        without.begin(AT, &"x".into()).unwrap_err();
    }
}
