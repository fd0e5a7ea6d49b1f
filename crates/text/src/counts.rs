//! Numbers of things, in words.

/// Returns a number with what is counted, whose plural has an `s`: "1 task", "2 tasks".
pub fn count(n: usize, noun: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{s}")
}

/// Returns how often something happened: "once", "twice", "3 times".
pub fn times(n: u32) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        let counted = [0, 1, 2].map(|n| count(n, "task"));
        assert_eq!(counted, ["0 tasks", "1 task", "2 tasks"]);
        assert_eq!([1, 2].map(times), ["once", "twice"]);
    }
}
