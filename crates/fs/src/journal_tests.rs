use std::io::Write as _;

use proptest::prelude::*;

use super::*;

const AT: &str = "2026-11-15T21:00:00Z";

type Strings = Journal<String>;

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().to_owned())
        .unwrap()
        .join("journal.jsonl");
    (folder, path)
}

fn put(path: &Utf8Path, bytes: &[u8]) {
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

/// A journal with every kind of record: `one` is ended, `two` and `thrée` are open.
fn sample(path: &Utf8Path) -> Vec<u8> {
    let mut journal = Strings::open(path).unwrap();
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
        .filter_map(|line| record::decode(line).ok())
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
fn what_was_begun_and_not_ended_is_found_again_with_its_steps() {
    let (_folder, path) = folder();
    sample(&path);
    let journal = Strings::open(&path).unwrap();
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
        format!("{}????????{}", &line[..crc], &line[crc + 8..])
    };
    let lines: Vec<String> = text.lines().map(blank).collect();
    assert_eq!(
        lines[..2],
        [
            format!(
                r#"{{"v":1,"seq":1,"at":"{AT}","crc":"????????","entry":{{"begin":{{"id":1,"body":"one"}}}}}}"#
            ),
            r#"{"v":1,"seq":2,"crc":"????????","entry":{"done":{"id":1,"step":0}}}"#.to_owned(),
        ]
    );
    assert!(lines[1].len() >= record::MIN_LENGTH);
    assert_eq!(
        lines[3],
        format!(
            r#"{{"v":1,"seq":4,"at":"{AT}","crc":"????????","entry":{{"end":{{"id":1,"outcome":"completed","note":"fine"}}}}}}"#
        )
    );
}

#[test]
fn opening_writes_nothing_and_the_first_intent_makes_the_file() {
    let (_folder, path) = folder();
    let path = path.parent().unwrap().join("new/journal.jsonl");
    let mut journal = Strings::open(&path).unwrap();
    assert!(!path.parent().unwrap().exists());
    journal.begin(AT, &"one".into()).unwrap();
    assert!(path.exists());
}

#[test]
fn only_open_intents_can_go_on() {
    let (_folder, path) = folder();
    let mut journal = Strings::open(&path).unwrap();
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
fn cut_at_every_byte_it_opens_with_all_whole_records_and_can_go_on() {
    let (_folder, path) = folder();
    let whole = sample(&path);
    for length in 0..whole.len() {
        let cut = &whole[..length];
        put(&path, cut);
        let mut journal = Strings::open(&path).unwrap();
        // A record that lacks nothing but its line break is whole as well.
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
        let again = Strings::open(&path).unwrap();
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
fn with_every_byte_flipped_it_invents_nothing_and_keeps_what_was_before() {
    let (_folder, path) = folder();
    let whole = sample(&path);
    let original = records(&whole);
    for place in 0..whole.len() {
        let n_before = n_line_breaks(&whole[..place]);
        for mask in [
            0x01,
            0x02,
            0x20,
            0x80,
            0xff,
            whole[place] ^ b'\n',
            whole[place],
        ] {
            if mask == 0 {
                continue;
            }
            let mut flipped = whole.clone();
            flipped[place] ^= mask;
            // Not through the disk, whose sync would take most of the time; the next test does that.
            let journal = Strings::from_bytes(&path, &flipped);
            let found = records(&flipped);
            assert!(
                found.iter().all(|record| original.contains(record)),
                "{place} ^ {mask:#x}"
            );
            assert_eq!(
                found[..n_before],
                original[..n_before],
                "{place} ^ {mask:#x}"
            );
            assert!(found.len() >= original.len() - 2, "{place} ^ {mask:#x}");
            // The very last line break may be lost without harm: the record proves itself.
            let is_harmless = place == whole.len() - 1 && found.len() == original.len();
            assert!(
                !journal.damage().is_empty() || is_harmless,
                "{place} ^ {mask:#x}"
            );
        }
    }
}

#[test]
fn after_a_flipped_byte_new_intents_get_new_numbers_and_read_back() {
    let (_folder, path) = folder();
    let whole = sample(&path);
    for place in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[place] ^= 0x04;
        put(&path, &flipped);
        let mut journal = Strings::open(&path).unwrap();
        let id = journal.begin(AT, &"later".into()).unwrap();
        assert!(id.0 > 6, "{place}: {id} may have been given before");
        let again = Strings::open(&path).unwrap();
        assert_eq!(again.open_intents(), journal.open_intents(), "{place}");
        assert_eq!(again.open_intents().last().unwrap().id, id);
    }
}

#[test]
fn steps_of_an_intent_whose_beginning_is_lost_are_reported() {
    let (_folder, path) = folder();
    let text = String::from_utf8(sample(&path)).unwrap();
    put(&path, text.replacen("one", "eno", 1).as_bytes());
    let journal = Strings::open(&path).unwrap();
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
    let journal = Strings::open(&path).unwrap();
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
    let mut newer = Journal::<Vec<u8>>::open(&path).unwrap();
    let ended = newer.begin(AT, &vec![1]).unwrap();
    let id = newer.begin(AT, &vec![2]).unwrap();
    newer.done(id, 1).unwrap();
    newer.end(ended, AT, Outcome::Completed, "").unwrap();

    let mut journal = Strings::open(&path).unwrap();
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
    assert_eq!(Strings::open(&path).unwrap().damage(), []);
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
    line = line.replacen("\"v\":1,\"seq\":6", "\"v\":2,\"seq\":7", 1);
    let crc = line.find("\"crc\":\"").unwrap() + 7;
    let rest = [&line.as_bytes()[..crc], &line.as_bytes()[crc + 8..]].concat();
    line.replace_range(crc..crc + 8, &blake3::hash(&rest).to_hex()[..8]);
    let _tail = Log::open(&path).unwrap().append(line.as_bytes()).unwrap();
    let journal = Strings::open(&path).unwrap();
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
        let line = record::encode(seq, None, &begin(id)).unwrap();
        let _tail = log.append(line.as_bytes()).unwrap();
    }
    let mut journal = Strings::open(&path).unwrap();
    assert_eq!(journal.damage().len(), 4);
    assert!(
        journal
            .damage()
            .iter()
            .all(|damage| damage.kind == DamageKind::OutOfOrder)
    );
    journal.begin(AT, &"later".into()).unwrap();
    assert_eq!(
        Strings::open(&path).unwrap().open_intents(),
        journal.open_intents()
    );
}

#[test]
fn a_body_that_would_not_read_back_is_refused_before_the_crash() {
    let (_folder, path) = folder();
    let mut journal = Journal::<f64>::open(&path).unwrap();
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
    assert!(matches!(Strings::open(&path), Err(Error::NotAFile { path: named }) if named == path));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn reading_back_gives_what_the_writer_knew(
        steps in prop::collection::vec((0u8..4, 0u64..12, "\\PC{0,12}"), 0..12)
    ) {
        let (_folder, path) = folder();
        let mut journal = Strings::open(&path).unwrap();
        for (kind, id, text) in steps {
            let id = IntentId(id);
            match kind {
                0 | 1 => drop(journal.begin(&text, &text).unwrap()),
                2 => drop(journal.done(id, 1)),
                _ => drop(journal.end(id, AT, Outcome::Completed, &text)),
            }
        }
        let again = Strings::open(&path).unwrap();
        prop_assert_eq!(again.open_intents(), journal.open_intents());
        prop_assert_eq!(again.damage(), []);
    }

    #[test]
    fn any_bytes_open_without_panic_and_hold_no_record(bytes: Vec<u8>) {
        let (_folder, path) = folder();
        put(&path, &bytes);
        let journal = Strings::open(&path).unwrap();
        prop_assert_eq!(journal.open_intents(), []);
    }
}
