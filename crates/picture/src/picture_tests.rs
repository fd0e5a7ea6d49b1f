use proptest::prelude::*;
use rekindle_wire::{
    FindingOut, LifeOut, NeedOut, Picture, PictureAttempt, PictureCounts, PictureTask, ReportPage,
    TaskDetail, WaitOut,
};

use crate::axis::Axis;
use crate::scene::{MOST_ROWS, Scene};
use crate::{graph, page, timeline, trace};

/// An hour of 2026, in seconds.
const BEGIN: i64 = 1_768_813_200;

fn at(second: i64) -> String {
    let at = BEGIN + second;
    let day = at.div_euclid(86_400) - 20_454;
    let rest = at.rem_euclid(86_400);
    format!(
        "2026-01-{:02}T{:02}:{:02}:{:02}Z",
        day + 1,
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

fn attempt(number: u32, from: i64, to: Option<i64>, end: &str) -> PictureAttempt {
    PictureAttempt {
        number,
        from: at(from),
        to: to.map(at),
        end: end.to_owned(),
        delivered: None,
        landed: (end == "done").then(|| at(to.unwrap_or(from) + 5)),
        commit: None,
        saved: (end == "killed").then(|| "run/T1/1".to_owned()),
        beats: vec![10, 40],
        stage: None,
        reason: None,
        cost_microdollars: None,
    }
}

fn task(id: &str, state: &str, attempts: Vec<PictureAttempt>) -> PictureTask {
    PictureTask {
        id: id.to_owned(),
        title: format!("Title of {id}"),
        state: state.to_owned(),
        word: state.to_owned(),
        reason: None,
        needs: Vec::new(),
        layer: 0,
        place: 0,
        cost_microdollars: None,
        attempts,
        findings: Vec::new(),
    }
}

fn picture(tasks: Vec<PictureTask>) -> Picture {
    Picture {
        schema: "rekindle.picture/1",
        id: "agent-memory:run".to_owned(),
        title: "Orders API".to_owned(),
        state: "running".to_owned(),
        word: "running".to_owned(),
        story: vec!["1 of 2 tasks has landed.".to_owned()],
        now: at(7200),
        utc_offset: 0,
        branch: Some("orders".to_owned()),
        lives: vec![
            LifeOut {
                from: at(0),
                to: Some(at(1800)),
                end: "interrupted".to_owned(),
            },
            LifeOut {
                from: at(3600),
                to: None,
                end: "alive".to_owned(),
            },
        ],
        waits: vec![WaitOut {
            from: at(4000),
            to: Some(at(5000)),
        }],
        marks: Vec::new(),
        tasks,
        needs_person: Vec::new(),
        findings: Vec::new(),
        counts: PictureCounts::default(),
    }
}

fn report(picture: Picture) -> ReportPage {
    ReportPage {
        schema: "rekindle.report/1",
        picture,
        details: Vec::new(),
    }
}

/// Checks that the brackets of XML match, and returns the names of the elements.
fn elements(xml: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut names = Vec::new();
    let mut rest = xml;
    while let Some(begin) = rest.find('<') {
        let end = rest[begin..].find('>').expect("an end") + begin;
        let tag = &rest[begin + 1..end];
        assert!(!tag.contains('<'), "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else {
            let name: String = tag
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect();
            names.push(name.clone());
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = &rest[end + 1..];
    }
    assert_eq!(open, Vec::<String>::new());
    names
}

const HOSTILE: &str = "</script></title></svg><img src=x onerror=alert(1)>&\"'\u{1b}[2J\u{202e}";

fn hostile() -> ReportPage {
    let mut bad = task(
        HOSTILE,
        "needs_person",
        vec![attempt(1, 5, Some(9), "killed")],
    );
    bad.title = HOSTILE.to_owned();
    bad.word = HOSTILE.to_owned();
    bad.reason = Some(HOSTILE.to_owned());
    bad.attempts[0].reason = Some(HOSTILE.to_owned());
    bad.attempts[0].saved = Some(HOSTILE.to_owned());
    let mut picture = picture(vec![bad]);
    picture.title = HOSTILE.to_owned();
    picture.id = HOSTILE.to_owned();
    picture.branch = Some(HOSTILE.to_owned());
    picture.story = vec![HOSTILE.to_owned(); 2];
    picture.needs_person.push(NeedOut {
        task: Some(HOSTILE.to_owned()),
        text: HOSTILE.to_owned(),
        command: Some(HOSTILE.to_owned()),
    });
    picture.findings.push(FindingOut {
        code: HOSTILE.to_owned(),
        severity: HOSTILE.to_owned(),
        message: HOSTILE.to_owned(),
        place: Some(HOSTILE.to_owned()),
        hint: Some(HOSTILE.to_owned()),
    });
    let mut report = report(picture);
    report.details.push(TaskDetail {
        task: 0,
        why: None,
        output: None,
        diff: Some(rekindle_wire::DiffOut {
            commit: HOSTILE.to_owned(),
            text: HOSTILE.to_owned(),
            is_cut: false,
        }),
    });
    report
}

#[test]
fn hostile_text_ends_no_element_and_makes_none() {
    let report = hostile();
    for svg in [timeline(&report.picture), graph(&report.picture)] {
        let names = elements(&svg);
        assert!(!names.contains(&"img".to_owned()), "{names:?}");
        assert!(!svg.contains('\u{1b}') && !svg.contains('\u{202e}'));
    }
    let html = page(&report);
    assert_eq!(html.matches("<img").count(), 0);
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script>").count(), 2);
    assert_eq!(html.matches("</title>").count(), 1);
    assert!(!html.contains('\u{1b}') && !html.contains(" style="));
    serde_json::from_str::<serde_json::Value>(&trace(&report.picture)).unwrap();
}

#[test]
fn the_policy_names_the_one_script_and_the_one_style() {
    let html = page(&report(picture(Vec::new())));
    let between = |open: &str, close: &str| {
        let begin = html.find(open).unwrap() + open.len();
        html[begin..begin + html[begin..].find(close).unwrap()].to_owned()
    };
    assert_eq!(html.matches("<style>").count(), 1);
    assert_eq!(html.matches("<script>").count(), 1);
    for (name, open, close) in [
        ("script-src", "<script>", "</script>"),
        ("style-src", "<style>", "</style>"),
    ] {
        let digest = crate::page::digest(&between(open, close));
        assert!(
            html.contains(&format!("{name} 'sha256-{digest}'")),
            "{name}"
        );
    }
    // As `printf abc | openssl dgst -sha256 -binary | base64` prints it.
    let digest = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
    assert_eq!(crate::page::digest("abc"), digest);
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "eval(",
        "fetch(",
        "http",
    ] {
        assert!(!include_str!("../assets/page.js").contains(word), "{word}");
    }
}

#[test]
fn many_tasks_are_drawn_as_far_as_they_matter() {
    let mut tasks: Vec<PictureTask> = (0..10_000)
        .map(|n| {
            task(
                &format!("T{n}"),
                "done",
                vec![attempt(1, n, Some(n + 9), "done")],
            )
        })
        .collect();
    tasks[5000].state = "needs_person".to_owned();
    tasks[7000].attempts = vec![
        attempt(1, 7000, Some(7001), "killed"),
        attempt(2, 7002, Some(7100), "done"),
    ];
    for (n, task) in tasks.iter_mut().enumerate().skip(1) {
        task.needs = vec![n - 1];
        task.layer = n.min(50);
    }
    let picture = picture(tasks);
    let scene = Scene::new(&picture);
    let places: Vec<usize> = scene.rows.iter().map(|row| row.place).collect();
    assert!(places.contains(&5000) && places.contains(&7000) && places.len() <= MOST_ROWS);
    let svg = timeline(&picture);
    assert!(svg.contains("more tasks are not drawn"), "{}", svg.len());
    assert!(svg.len() < 400_000 && graph(&picture).len() < 60_000);
}

#[test]
fn pictures_without_times_or_tasks_are_drawn_too() {
    let mut empty = picture(Vec::new());
    empty.lives.clear();
    empty.waits.clear();
    for svg in [timeline(&empty), graph(&empty)] {
        elements(&svg);
    }
    assert!(!page(&report(empty)).contains("h-time"));
}

/// Reads a trace as strictly as a viewer does.
fn check_trace(text: &str) -> usize {
    let trace: serde_json::Value = serde_json::from_str(text).unwrap();
    let mut open: std::collections::BTreeMap<u64, Vec<i64>> = std::collections::BTreeMap::new();
    let mut last = i64::MIN;
    let mut n = 0;
    for event in trace["traceEvents"].as_array().unwrap() {
        let phase = event["ph"].as_str().unwrap();
        let track = event["tid"].as_u64().unwrap();
        if phase == "M" {
            continue;
        }
        let at = event["ts"].as_i64().unwrap();
        assert!(at >= last, "events are in the order of time");
        last = at;
        match phase {
            "B" => {
                let stack = open.entry(track).or_default();
                assert!(stack.is_empty(), "nothing overlaps on a track");
                stack.push(at);
                n += 1;
            }
            "E" => assert!(open.get_mut(&track).and_then(Vec::pop).unwrap() < at),
            "i" | "s" | "f" | "b" | "e" => {}
            other => panic!("{other}"),
        }
    }
    assert!(open.values().all(Vec::is_empty));
    n
}

proptest! {
    #[test]
    fn bars_of_a_row_never_overlap_and_every_attempt_is_drawn(
        lengths in proptest::collection::vec((0_i64..4000, 0_i64..4000, 0_usize..7), 0..12),
    ) {
        const ENDS: [&str; 7] = ["done", "delivered", "killed", "failed", "limited", "stopped", "odd"];
        let mut free = 0;
        let mut attempts = Vec::new();
        for (number, (pause, length, end)) in (1..).zip(&lengths) {
            let from = free + pause;
            free = from + length;
            attempts.push(attempt(number, from, Some(free), ENDS[*end]));
        }
        let picture = picture(vec![task("T1", "interrupted", attempts)]);
        let scene = Scene::new(&picture);
        let axis = Axis::new((scene.from, scene.to), &scene.pauses(), (0.0, 900.0), 0);
        let bars = &scene.rows[0].bars;
        prop_assert_eq!(bars.len(), lengths.len());
        let spans = crate::bar::spans(bars, &axis);
        for pair in spans.windows(2) {
            prop_assert!(pair[0].0 < pair[0].1 && pair[0].1 < pair[1].0);
        }
        let svg = timeline(&picture);
        elements(&svg);
        prop_assert_eq!(svg.matches("class=\"bar ").count(), lengths.len());
        prop_assert_eq!(check_trace(&trace(&picture)), lengths.len() + 2);
        prop_assert_eq!(&svg, &timeline(&picture));
    }
}
