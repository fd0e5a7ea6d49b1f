//! The user's time zone: a name, a rule or a file.

use camino::Utf8Path;
use jiff::tz::TimeZone;

/// The rules of a time zone are some kilobytes.
const LARGEST: u64 = 1024 * 1024;

/// Where the user's time zone comes from.
#[derive(Debug, Clone)]
pub enum Zone {
    /// The system's, else UTC. It is looked up on demand, since that goes through the list of all
    /// zones.
    System,
    /// This one.
    Fixed(TimeZone),
}

impl Zone {
    /// Parses `TZ`: empty, a rule, a name, or the path of an ordinary file; `None` for anything
    /// else. A colon before a name or path is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Fixed(TimeZone::UTC));
        }
        let named = text.strip_prefix(':').unwrap_or(text);
        // A path into the system's list is equivalent to the name at its end.
        let name = named
            .rsplit_once("zoneinfo/")
            .map_or(named, |(_, name)| name);
        let is_rule = named == text;
        let zone = is_rule.then(|| TimeZone::posix(text).ok()).flatten();
        zone.or_else(|| TimeZone::get(name).ok())
            .or_else(|| from_file(named.into()))
            .map(Self::Fixed)
    }

    /// Returns the time zone.
    pub fn get(&self) -> TimeZone {
        match self {
            Self::System => TimeZone::try_system().unwrap_or(TimeZone::UTC),
            Self::Fixed(zone) => zone.clone(),
        }
    }
}

fn from_file(path: &Utf8Path) -> Option<TimeZone> {
    let bytes = rekindle_fs::read_followed(path, LARGEST).ok()??;
    TimeZone::tzif("", &bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    fn shown(text: &str) -> Option<String> {
        let zone = Zone::parse(text)?.get();
        let noon = "2026-07-01T12:00:00Z".parse::<jiff::Timestamp>().unwrap();
        Some(zone.to_offset(noon).to_string())
    }

    #[test]
    fn a_zone_is_a_name_a_rule_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        // A file of version 1 with one kind of time, two hours east.
        let mut rules = b"TZif".to_vec();
        rules.extend([0; 16]);
        for count in [0_u32, 0, 0, 0, 1, 4] {
            rules.extend(count.to_be_bytes());
        }
        rules.extend(7200_i32.to_be_bytes());
        rules.extend([0, 0]);
        rules.extend(b"XYZ\0");
        let mut file = fs_err::File::create(path("rules")).unwrap();
        file.write_all(&rules).unwrap();
        fs_err::File::create(path("sparse"))
            .unwrap()
            .set_len(8 << 30)
            .unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let (here, fifo) = (rustix::fs::CWD, rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(here, path("pipe"), fifo, mode, 0).unwrap();
        symlink("/dev/zero", path("endless")).unwrap();
        for (text, expected) in [
            ("", Some("+00")),
            ("UTC", Some("+00")),
            ("Europe/Oslo", Some("+02")),
            (":Europe/Oslo", Some("+02")),
            ("/usr/share/zoneinfo/Europe/Oslo", Some("+02")),
            (":../zoneinfo/Europe/Oslo", Some("+02")),
            ("EST5EDT,M3.2.0,M11.1.0", Some("-04")),
            (&path("rules"), Some("+02")),
            ("Mars/Olympus", None),
            ("/dev/zero", None),
            (":/dev/tty", None),
            ("/dev/null", None),
            (&path(""), None),
            (&path("pipe"), None),
            (&path("sparse"), None),
            (&path("endless"), None),
            (&path("not-there"), None),
        ] {
            assert_eq!(shown(text).as_deref(), expected, "{text}");
        }
    }
}
