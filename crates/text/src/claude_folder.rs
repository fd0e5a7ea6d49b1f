//! The folder name that Claude Code derives from the path of a project.

/// Claude Code truncates longer names.
const LONGEST: usize = 200;

/// Returns the folder name of a project's path, which has all links resolved.
///
/// Every UTF-16 unit except letters and digits becomes a dash, and a long name is truncated and gets
/// a hash of the path. Two paths can share a name, so readers must check the owner of a session.
pub fn claude_folder_name(path: &str) -> String {
    let dash = |unit: u16| match u8::try_from(unit) {
        Ok(c) if c.is_ascii_alphanumeric() => char::from(c),
        Ok(_) | Err(_) => '-',
    };
    let encoded: String = path.encode_utf16().map(dash).collect();
    match encoded.get(..LONGEST) {
        Some(short) if encoded.len() > LONGEST => {
            let hash = path.encode_utf16().fold(0_i32, |hash, unit| {
                hash.wrapping_mul(31).wrapping_add(i32::from(unit))
            });
            format!("{short}-{}", base36(hash.unsigned_abs()))
        }
        Some(_) | None => encoded,
    }
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_utf16_units_and_long_ones_are_truncated() {
        assert_eq!(
            claude_folder_name("/tmp/x/my_app.v2 x"),
            "-tmp-x-my-app-v2-x"
        );
        assert_eq!(claude_folder_name("/é/🔥"), "-----");
        let exact = format!("/{}", "a".repeat(199));
        assert_eq!(claude_folder_name(&exact), exact.replace('/', "-"));
        // The hashes were computed independently.
        let long = format!("/{}", "a".repeat(200));
        assert_eq!(
            claude_folder_name(&long),
            format!("-{}-b6ymvl", "a".repeat(199))
        );
        let other = format!("/{}.é🔥", "b".repeat(250));
        assert_eq!(
            claude_folder_name(&other),
            format!("-{}-ywhd3i", "b".repeat(199))
        );
    }
}
