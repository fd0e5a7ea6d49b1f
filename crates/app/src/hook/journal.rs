//! The log of failed hooks: a hook has nobody else to report to.

use rekindle_fs::Content;
use rekindle_text::{excerpt, format_seconds};

use super::nearest;
use crate::{Error, Project};

/// Old lines are removed when the log is longer.
const LONGEST: usize = 64 * 1024;
/// A larger log is not ours.
const LARGEST: u64 = 1024 * 1024;
/// How often the log is read again while others write it.
const MOST_TRIES: u32 = 3;

/// Writes one line to the log of hooks, if the project has a workflow of any protocol.
///
/// The log is `.rekindle/hook.log` and never grows beyond 64 KiB.
pub fn complain(project: &Project, moment: &str, problem: &str) -> Result<(), Error> {
    let Some(project) = nearest(project) else {
        return Ok(());
    };
    let line = format!(
        "{} {}: {}\n",
        format_seconds(project.now()),
        excerpt(moment, 40),
        excerpt(problem, 400)
    );
    let folder = project.state();
    folder.ensure()?;
    let path = folder.hook_log()?;
    for _ in 0..MOST_TRIES {
        let before = rekindle_fs::read_within(project.folder(), &path, LARGEST)?;
        let seen = before.as_deref().map_or(Content::Absent, Content::of);
        let new = with_line(before.unwrap_or_default(), &line);
        match rekindle_fs::replace(&path, &seen, &new) {
            Err(rekindle_fs::Error::Changed { .. }) => {}
            other => return Ok(other?),
        }
    }
    Ok(())
}

/// Appends a line and removes the oldest lines, whole lines only.
fn with_line(mut log: Vec<u8>, line: &str) -> Vec<u8> {
    let surplus = (log.len() + line.len()).saturating_sub(LONGEST);
    if surplus > 0 {
        let cut = log.iter().skip(surplus).position(|&byte| byte == b'\n');
        log.drain(..cut.map_or(log.len(), |end| surplus + end + 1));
    }
    log.extend_from_slice(line.as_bytes());
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_lines_go_whole_when_the_log_is_full() {
        let mut log = Vec::new();
        for n in 0..5000 {
            log = with_line(log, &format!("line {n} of the log\n"));
            assert!(log.len() <= LONGEST);
        }
        let text = String::from_utf8(log).unwrap();
        assert!(text.starts_with("line ") && text.ends_with("line 4999 of the log\n"));
        assert!(text.len() > LONGEST - 100);
    }
}
