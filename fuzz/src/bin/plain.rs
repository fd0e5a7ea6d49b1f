//! Changes inputs by chance and gives them to a target, for machines without a C++ compiler.
//!
//! `plain TARGET RUNS SEED FOLDER…`: every file of the folders as it is, then changed ones. Nothing here sees
//! which code an input reaches, so it finds far less than libFuzzer does with as many runs.

use std::process::ExitCode;

use rekindle_fuzz::{ALL, Target};

/// Longer inputs are cut; libFuzzer does so too.
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
    let target = target_of(target)?;
    let number = |text: &String| {
        text.parse::<u64>()
            .map_err(|_| format!("`{text}` is no number"))
    };
    let (n_runs, seed) = (number(n_runs)?, number(seed)?);
    let mut inputs = vec![Vec::new()];
    for folder in folders {
        let cannot = |e| format!("cannot read `{folder}`: {e}");
        for entry in std::fs::read_dir(folder).map_err(cannot)? {
            inputs.push(std::fs::read(entry.map_err(cannot)?.path()).map_err(cannot)?);
        }
    }
    // The order in which a folder lists its names is no order.
    inputs.sort();
    let mut chance = Chance(seed);
    for at in 0..n_runs {
        let input = match usize::try_from(at).ok().and_then(|at| inputs.get(at)) {
            Some(input) => input.clone(),
            None => changed(&inputs, &mut chance),
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

fn target_of(name: &str) -> Result<Target, String> {
    let found = ALL.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, target)| *target)
        .ok_or_else(|| format!("there is no target `{name}`"))
}

/// Takes an input and cuts, repeats, flips or splices it a few times.
fn changed(inputs: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut input = inputs[chance.below(inputs.len())].clone();
    for _ in 0..=chance.below(4) {
        let at = chance.below(input.len() + 1);
        let end = (at + chance.below(32)).min(input.len());
        match chance.below(5) {
            0 => drop(input.drain(at..end)),
            1 => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            2 => {
                let byte = u8::try_from(chance.below(256)).unwrap_or_default();
                input.splice(at..end.min(at + 1), [byte]);
            }
            3 => {
                let other = &inputs[chance.below(inputs.len())];
                let from = chance.below(other.len() + 1);
                let piece = &other[from..(from + chance.below(200)).min(other.len())];
                input.splice(at..at, piece.iter().copied());
            }
            _ => input.truncate(at),
        }
    }
    input.truncate(LONGEST);
    input
}

/// Numbers that look random and are the same for a seed (`SplitMix64`).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let mixed = usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap_or_default();
        mixed % end.max(1)
    }
}
