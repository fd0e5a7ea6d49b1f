//! The validators of specs and plans, with the verdicts of the scripts that they replace.
//!
//! Like the scripts they search for plain text, also in the middle of a word.

use std::fmt::Write as _;

use rekindle_model::{Code, Finding, Place};
use rekindle_protocol::capability::Validation;
use rekindle_text::excerpt;
use rekindle_world::World;

use super::layout;
use super::read::{is_placeholder, text};

/// The mandatory sections of a spec.
const SPEC_SECTIONS: [&str; 3] = [
    "User Scenarios & Testing",
    "Requirements",
    "Review & Acceptance Checklist",
];
/// Words about an implementation, which a spec must not have before its checklist; a dot is any
/// character.
const KEYWORDS: [&str; 8] = [
    "database",
    "API endpoint",
    "React",
    "Node.js",
    "PostgreSQL",
    "MongoDB",
    "framework",
    "library",
];
/// The mandatory sections of a plan.
const PLAN_SECTIONS: [&str; 4] = [
    "Technical Context",
    "Constitution Check",
    "Phase 0: ACE-Enhanced Research & Exploration",
    "Phase 1: Design & Contracts",
];

/// Returns the sections that a spec lacks.
pub(super) fn missing_from_spec(text: &str) -> Vec<&'static str> {
    missing_sections(text, &SPEC_SECTIONS)
}

/// Returns the sections that a plan lacks.
pub(super) fn missing_from_plan(text: &str) -> Vec<&'static str> {
    missing_sections(text, &PLAN_SECTIONS)
}

const RULE: &str = "=====================";

/// Checks a spec like `validate-spec.sh`; `None` is a missing file.
pub(super) fn validate_spec(path: &str, text: Option<&str>) -> Validation {
    let Some(text) = text else {
        return not_there(
            "❌ Error: Specification file not found or not provided\nUsage: validate-spec.sh <path-to-spec.md>\n",
            path,
            "there is no specification",
        );
    };
    let missing = missing_sections(text, &SPEC_SECTIONS);
    let n_markers = count(text, "[NEEDS CLARIFICATION:");
    let head: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("## Review & Acceptance Checklist"))
        .collect();
    let keywords: Vec<&str> = KEYWORDS
        .into_iter()
        .filter(|word| head.iter().any(|line| mentions(line, word)))
        .collect();
    let has_requirement = text.lines().any(is_requirement);

    let mut report =
        format!("🔍 Validating specification: {path}\n\n📊 Validation Results:\n{RULE}\n");
    let mut faults = Vec::new();
    sections_line(&mut report, &mut faults, &missing);
    markers_line(&mut report, &mut faults, n_markers, "⚠️ ");
    if keywords.is_empty() {
        report.push_str("✅ No implementation details found\n");
    } else {
        let words = keywords.join(", ");
        line(
            &mut report,
            &format!("❌ Implementation details found: {words}"),
        );
        faults.push(format!("it speaks of an implementation: {words}"));
    }
    if has_requirement {
        report.push_str("✅ Functional requirements found\n");
    } else {
        report.push_str("❌ No functional requirements found (- **FR-001**: …)\n");
        faults.push("it has no functional requirement (`- **FR-001**: …`)".to_owned());
    }
    let is_valid = faults.is_empty();
    report.push_str(if is_valid {
        "\n🎉 Specification validation PASSED\n"
    } else {
        "\n🚫 Specification validation FAILED\n"
    });
    Validation {
        path: path.to_owned(),
        is_valid,
        report,
        faults,
    }
}

/// Checks a plan like `validate-plan.sh`; `None` is a missing file.
pub(super) fn validate_plan(path: &str, text: Option<&str>, has_rules: bool) -> Validation {
    let Some(text) = text else {
        return not_there(
            "❌ Error: Plan file not found or not provided\nUsage: validate-plan.sh <path-to-plan.md> [RULES.md]\n",
            path,
            "there is no plan",
        );
    };
    let missing = missing_sections(text, &PLAN_SECTIONS);
    let n_markers = count(text, "[NEEDS CLARIFICATION]");
    let mut report = format!("🔍 Validating plan: {path}\n\n📊 Validation Results:\n{RULE}\n");
    let mut faults = Vec::new();
    sections_line(&mut report, &mut faults, &missing);
    markers_line(&mut report, &mut faults, n_markers, "❌");
    if has_rules {
        match text.lines().filter(|text| is_rule(text)).count() {
            0 => report.push_str("⚠️  No rule of the constitution is referred to\n"),
            n => line(
                &mut report,
                &format!("✅ {n} rules of the constitution are referred to"),
            ),
        }
    } else {
        report.push_str("⚠️  No rules file, so no rules are counted\n");
    }
    for word in ["data-model.md", "contracts", "failing test"] {
        let is_there = text.lines().any(|line| line.to_lowercase().contains(word));
        let words = if is_there {
            "✅ Mentions"
        } else {
            "⚠️  Does not mention"
        };
        line(&mut report, &format!("{words} {word}"));
    }
    report.push_str(if text.contains("| Violation | Justification |") {
        "✅ Complexity is tracked\n"
    } else {
        "⚠️  Complexity is not tracked\n"
    });
    let n_critical = missing.len() + n_markers;
    if n_critical == 0 {
        report.push_str("\n🎉 Plan validation PASSED\n");
    } else {
        line(
            &mut report,
            &format!("\n🚫 Plan validation FAILED ({n_critical} critical issues)"),
        );
    }
    Validation {
        path: path.to_owned(),
        is_valid: n_critical == 0,
        report,
        faults,
    }
}

/// Validates the spec of a feature, and its plan unless it is a placeholder.
///
/// # Errors
/// The finding about an invalid name or an unreadable file.
pub(super) fn validate_feature(world: &dyn World, name: &str) -> Result<Vec<Validation>, Finding> {
    let bad = |reason: &str| {
        let message = format!(
            "`{}` is not a valid feature name: {reason}",
            excerpt(name, 120)
        );
        Finding::new(Code::BadFeatureName, message)
    };
    let name = layout::feature_name(name).map_err(bad)?;
    if !layout::is_inside(world, &layout::folder(&name)) {
        return Err(bad("its folder is a link that leads out of the project"));
    }
    let page = |file: &str| {
        let path = layout::file(&name, file);
        let found = text(world, &path).map_err(|reason| {
            let message = format!(
                "`{}` cannot be validated: {reason}",
                excerpt(path.as_str(), 200)
            );
            Finding::new(Code::UnreadableFile, message).at(Place::path(&path))
        });
        Ok((path.into_string(), found?))
    };
    let (path, spec) = page("spec.md")?;
    let mut all = vec![validate_spec(&path, spec.as_deref())];
    let (path, plan) = page("plan.md")?;
    if let Some(plan) = plan.filter(|plan| !is_placeholder(plan)) {
        let has_rules = world.is_file(&world.project().join(layout::RULES));
        all.push(validate_plan(&path, Some(&plan), has_rules));
    }
    Ok(all)
}

fn not_there(report: &str, path: &str, what: &str) -> Validation {
    Validation {
        path: path.to_owned(),
        is_valid: false,
        report: report.to_owned(),
        faults: vec![format!("{what} at `{path}`")],
    }
}

fn missing_sections(text: &str, sections: &[&'static str]) -> Vec<&'static str> {
    let is_missing = |section: &&&'static str| !text.contains(&format!("## {section}"));
    sections.iter().filter(is_missing).copied().collect()
}

/// Reports the clarification markers.
fn markers_line(report: &mut String, faults: &mut Vec<String>, n_markers: usize, sign: &str) {
    if n_markers == 0 {
        report.push_str("✅ No clarification markers left\n");
        return;
    }
    line(
        report,
        &format!("{sign} {n_markers} clarification markers found"),
    );
    faults.push(format!("{n_markers} lines need clarification"));
}

fn sections_line(report: &mut String, faults: &mut Vec<String>, missing: &[&str]) {
    if missing.is_empty() {
        report.push_str("✅ All mandatory sections found\n");
        return;
    }
    let names = missing.join(", ");
    line(report, &format!("❌ Missing sections: {names}"));
    faults.push(format!("it lacks the sections {names}"));
}

fn line(report: &mut String, text: &str) {
    // Writing to a string cannot fail.
    writeln!(report, "{text}").ok();
}

/// Counts the lines that hold a text.
fn count(text: &str, part: &str) -> usize {
    text.lines().filter(|line| line.contains(part)).count()
}

/// Returns whether a line contains a word in any case; a dot in the word is any character.
fn mentions(line: &str, word: &str) -> bool {
    let line: Vec<char> = line.chars().collect();
    let word: Vec<char> = word.chars().collect();
    let is_same =
        |(found, wanted): (&char, &char)| *wanted == '.' || found.eq_ignore_ascii_case(wanted);
    line.windows(word.len())
        .any(|found| found.iter().zip(&word).all(is_same))
}

/// Returns whether a line is a functional requirement: `- **FR-001**:`.
fn is_requirement(line: &str) -> bool {
    let digits = line
        .strip_prefix("- **FR-")
        .and_then(|rest| rest.split_once("**:"));
    digits.is_some_and(|(digits, _)| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns whether a line refers to a rule of the constitution: `**Rule 1`.
fn is_rule(line: &str) -> bool {
    line.match_indices("**Rule ").any(|(at, found)| {
        let rest = line.get(at + found.len()..).unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "## User Scenarios & Testing\n### Requirements\n- **FR-001**: x\n\
        ## Review & Acceptance Checklist\n- no database, no React\n";
    const PLAN: &str = "## Technical Context\n## Constitution Check\n\
        ## Phase 0: ACE-Enhanced Research & Exploration\n## Phase 1: Design & Contracts\n";

    #[test]
    fn validates_specs_like_the_script() {
        let table = [
            (SPEC.to_owned(), true),
            (SPEC.replace("FR-001", "FR-1"), true),
            (SPEC.replace("- **FR", "  - **FR"), false),
            (SPEC.replace("FR-001", "FR-"), false),
            (SPEC.replace("### Requirements", "Requirements"), false),
            (
                format!("a [NEEDS CLARIFICATION] and [TBD: b]\n{SPEC}"),
                true,
            ),
            (format!("a [NEEDS CLARIFICATION: b]\n{SPEC}"), false),
            (format!("a reaction\n{SPEC}"), false),
            (format!("Node-js\n{SPEC}"), false),
            (format!("an api ENDPOINT\n{SPEC}"), false),
            (format!("nodejs\n{SPEC}"), true),
            (String::new(), false),
        ];
        for (text, is_valid) in table {
            let found = validate_spec("spec.md", Some(&text));
            assert_eq!(found.is_valid, is_valid, "{}", found.report);
            assert_eq!(found.faults.is_empty(), is_valid);
        }
        assert!(!validate_spec("spec.md", None).is_valid);
    }

    #[test]
    fn counts_clarification_markers_by_line() {
        let two = "[NEEDS CLARIFICATION: a] [NEEDS CLARIFICATION: b]\n[NEEDS CLARIFICATION: c]\n";
        let found = validate_spec("spec.md", Some(&format!("{two}{SPEC}")));
        assert!(
            found
                .report
                .contains("\n⚠️  2 clarification markers found\n"),
            "{}",
            found.report
        );
        assert!(
            found
                .report
                .ends_with("\n🚫 Specification validation FAILED\n")
        );
    }

    #[test]
    fn plans_fail_only_by_sections_and_bare_markers() {
        let found = |text: &str| validate_plan("plan.md", Some(text), true);
        assert!(found(PLAN).is_valid);
        assert!(found(&format!("{PLAN}[NEEDS CLARIFICATION: x]\n")).is_valid);
        let bad = format!("{PLAN}[NEEDS CLARIFICATION] x\n").replace("## Constitution Check\n", "");
        let last = found(&bad).report;
        assert!(
            last.ends_with("\n🚫 Plan validation FAILED (2 critical issues)\n"),
            "{last}"
        );
        assert!(!found("").is_valid && !validate_plan("plan.md", None, false).is_valid);
    }

    #[test]
    fn reports_optional_parts_of_a_plan() {
        let text = format!(
            "{PLAN}- **Rule 1 (x)**: y\n**Rule x\nData-Model.md\n| Violation | Justification |\n"
        );
        let report = validate_plan("plan.md", Some(&text), true).report;
        for said in [
            "✅ 1 rules",
            "✅ Mentions data-model.md",
            "✅ Mentions contracts",
            "⚠️  Does not mention failing test",
            "✅ Complexity",
        ] {
            assert!(report.contains(said), "{said}: {report}");
        }
    }
}
