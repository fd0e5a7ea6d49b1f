use proptest::prelude::*;

use super::*;

fn ids(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn needs(pairs: &[(&str, &[&str])]) -> Dependencies {
    pairs
        .iter()
        .map(|(id, needed)| ((*id).to_owned(), ids(needed)))
        .collect()
}

#[test]
fn subtasks_follow_their_dependencies_and_otherwise_keep_their_order() {
    let all = ids(&["a", "b", "c", "d"]);
    assert_eq!(sorted(&all, &needs(&[("d", &["a"])])), Ok(all.clone()));
    let backwards = needs(&[("a", &["d"]), ("b", &["x", "b"])]);
    assert_eq!(sorted(&all, &backwards), Ok(ids(&["b", "c", "d", "a"])));
    let circle = needs(&[("b", &["c"]), ("c", &["b"]), ("d", &["c"])]);
    assert_eq!(sorted(&all, &circle), Err(ids(&["b", "c", "d"])));
}

#[test]
fn a_duplicate_id_is_kept_if_it_has_no_dependencies() {
    let twice = ids(&["a", "a", "b"]);
    assert_eq!(sorted(&twice, &needs(&[("b", &["a"])])), Ok(twice.clone()));
    let waiting = ids(&["a", "b", "b"]);
    assert_eq!(sorted(&waiting, &needs(&[("b", &["a"])])), Err(Vec::new()));
}

fn nodes(rows: &[(&str, &[&str], &[&str])]) -> IndexMap<String, Node> {
    let rows = rows.iter().map(|(id, needed, files)| {
        let node = Node {
            needs: ids(needed),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
        };
        ((*id).to_owned(), node)
    });
    rows.collect()
}

#[test]
fn waves_are_levels_without_shared_files() {
    let plan = nodes(&[
        ("ST-9", &[], &["a"]),
        ("ST-10", &[], &["b"]),
        ("ST-3", &["ST-9", "gone"], &["a"]),
        ("ST-2", &["ST-9"], &["a", "c"]),
        ("ST-4", &["ST-9"], &[]),
        ("ST-5", &["ST-9"], &["d"]),
    ]);
    let expected = [
        ids(&["ST-10", "ST-9"]),
        ids(&["ST-2", "ST-5"]),
        ids(&["ST-3"]),
        ids(&["ST-4"]),
    ];
    assert_eq!(waves(&plan), Some(expected.to_vec()));
    assert_eq!(waves(&IndexMap::new()), Some(Vec::new()));
}

#[test]
fn a_subtask_that_names_itself_or_another_twice_is_circular() {
    assert_eq!(waves(&nodes(&[("a", &["a"], &[])])), None);
    assert_eq!(
        waves(&nodes(&[("a", &[], &[]), ("b", &["a", "a"], &[])])),
        None
    );
    assert_eq!(
        waves(&nodes(&[("a", &["b"], &[]), ("b", &["a"], &[])])),
        None
    );
}

proptest! {
    #[test]
    fn sorting_keeps_every_id_and_every_dependency(
        edges in prop::collection::vec((0..8_usize, 0..8_usize), 0..14)
    ) {
        let all: Vec<String> = (0..8).map(|n| format!("ST-{n}")).collect();
        let mut dependencies = Dependencies::new();
        for (from, to) in edges {
            dependencies.entry(format!("ST-{from}")).or_default().push(format!("ST-{to}"));
        }
        if let Ok(order) = sorted(&all, &dependencies) {
            let mut same = order.clone();
            same.sort();
            prop_assert_eq!(&same, &all);
            let place = |id: &String| order.iter().position(|known| known == id);
            for (id, needed) in &dependencies {
                for needed in needed.iter().filter(|needed| *needed != id) {
                    prop_assert!(place(needed) < place(id));
                }
            }
        }
    }
}
