//! Passes randomly changed inputs to a target, for machines without a C++ compiler.
//!
//! `plain TARGET RUNS SEED FOLDER…`: every file of the folders unchanged, then changed ones. Without
//! coverage it finds far less than libFuzzer with as many runs.

use std::process::ExitCode;

use rekindle_fuzz::ALL;

/// Longer inputs are truncated, as by libFuzzer.
const LONGEST: usize = 16 * 1024;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(n_runs) => {
            println!("{n_runs} runs");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<u64, String> {
    let [target, n_runs, seed, folders @ ..] = args else {
        return Err("usage: plain TARGET RUNS SEED FOLDER...".to_owned());
    };
    let found = ALL.iter().find(|(name, _)| name == target);
    let (_, target) = found.ok_or_else(|| format!("unknown target `{target}`"))?;
    let number = |text: &String| text.parse().map_err(|_| format!("invalid number `{text}`"));
    let (n_runs, seed): (u64, u64) = (number(n_runs)?, number(seed)?);
    let mut inputs = vec![Vec::new()];
    for folder in folders {
        let cannot = |e| format!("cannot read `{folder}`: {e}");
        for entry in std::fs::read_dir(folder).map_err(cannot)? {
            inputs.push(std::fs::read(entry.map_err(cannot)?.path()).map_err(cannot)?);
        }
    }
    // Folders list their names in any order.
    inputs.sort();
    let mut random = Random(seed);
    for at in 0..n_runs {
        let input = match usize::try_from(at).ok().and_then(|at| inputs.get(at)) {
            Some(input) => input.clone(),
            None => changed(&inputs, &mut random),
        };
        let outcome = std::panic::catch_unwind(|| target(&input));
        if outcome.is_err() {
            let file = format!("plain-{at}-of-{seed}");
            std::fs::write(&file, &input).map_err(|e| format!("cannot write `{file}`: {e}"))?;
            return Err(format!("run {at} panicked; its input is in `{file}`"));
        }
    }
    Ok(n_runs)
}

/// Truncates, repeats, flips or splices one of the inputs a few times.
fn changed(inputs: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = inputs[random.below(inputs.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(input.len() + 1);
        let end = (at + random.below(32)).min(input.len());
        match random.below(5) {
            0 => drop(input.drain(at..end)),
            1 => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            2 => {
                let byte = u8::try_from(random.below(256)).unwrap_or_default();
                input.splice(at..end.min(at + 1), [byte]);
            }
            3 => {
                let other = &inputs[random.below(inputs.len())];
                let from = random.below(other.len() + 1);
                let piece = &other[from..(from + random.below(200)).min(other.len())];
                input.splice(at..at, piece.iter().copied());
            }
            _ => input.truncate(at),
        }
    }
    input.truncate(LONGEST);
    input
}

/// Pseudorandom numbers (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let mixed = usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap_or_default();
        mixed % end.max(1)
    }
}
