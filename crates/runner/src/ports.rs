//! Ports for what agents and checks start: ten for each worktree, so that servers of parallel tasks
//! do not collide.
//!
//! The blocks of a project begin at a place that its path decides, so that they are the same in
//! every run, and those of two projects differ. A block in which somebody listens is left out; who
//! listens is read from the kernel's tables, without opening anything.

use std::collections::BTreeSet;

use camino::Utf8Path;
use rekindle_fs::{Fingerprint, GuardedFile};

/// The ports of a block.
const BLOCK: u16 = 10;
/// The first port of all blocks; the kernel gives out ports from 32768.
const FIRST: u16 = 20_000;
/// The number of blocks.
const BLOCKS: u64 = 1000;
/// Slots of a project that never share a block.
const SLOTS: u64 = 65;
/// The slot of the worktree of checks; there are at most 64 workers.
pub(crate) const OF_CHECKS: u32 = 64;
/// The largest table of sockets; a line has 150 bytes.
const LARGEST_TABLE: u64 = 16 * 1024 * 1024;
/// The state of a listening socket in the kernel's tables.
const LISTENS: &str = "0A";

/// Returns the variables of commands in a worktree.
pub(crate) fn variables(project: &Utf8Path, slot: u32) -> [(String, String); 2] {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let taken = tables.iter().flat_map(|table| {
        let table = GuardedFile::open((*table).into()).ok().flatten();
        let text = table.and_then(|table| table.bytes(LARGEST_TABLE).ok());
        listening(&String::from_utf8_lossy(&text.unwrap_or_default()))
    });
    let port = first_port(project, slot, &taken.collect());
    [
        ("REKINDLE_SLOT".to_owned(), slot.to_string()),
        ("REKINDLE_PORT".to_owned(), port.to_string()),
    ]
}

/// Returns the first port of a block in which nobody listens, or of the first block of all.
fn first_port(project: &Utf8Path, slot: u32, taken: &BTreeSet<u16>) -> u16 {
    let digest = Fingerprint::of(project.as_str().as_bytes()).to_hex();
    let start = u64::from_str_radix(&digest[..8], 16).unwrap_or_default();
    let block = |round: u64| {
        let number = (start + u64::from(slot) % SLOTS + round * SLOTS) % BLOCKS;
        FIRST + u16::try_from(number).unwrap_or_default() * BLOCK
    };
    let is_free = |first: &u16| taken.range(*first..*first + BLOCK).next().is_none();
    let mut blocks = (0..BLOCKS / SLOTS).map(block);
    blocks.find(is_free).unwrap_or_else(|| block(0))
}

/// Reads which ports are listened to from a table such as `/proc/net/tcp`.
fn listening(table: &str) -> BTreeSet<u16> {
    let port = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (local, _, state) = (words.next()?, words.next()?, words.next()?);
        let (_, port) = local.rsplit_once(':')?;
        (state == LISTENS).then_some(u16::from_str_radix(port, 16).ok()?)
    };
    table.lines().filter_map(port).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_ports_are_read_from_the_kernels_table() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n\
             0: 0100007F:4E20 00000000:0000 0A 00000000:00000000\n\
             1: 0100007F:4E21 0100007F:9C40 01 00000000:00000000\n\
             2: 00000000000000000000000000000000:1F90 0:0 0A 0\n\
             3: torn\n4: x:zz y 0A\n";
        assert_eq!(listening(table), BTreeSet::from([20_000, 8080]));
        assert!(listening("").is_empty());
    }

    #[test]
    fn slots_have_blocks_of_their_own_and_one_in_use_is_left_out() {
        let project = Utf8Path::new("/home/me/shop");
        let none = BTreeSet::new();
        let ports: BTreeSet<u16> = (0..=OF_CHECKS)
            .map(|slot| first_port(project, slot, &none))
            .collect();
        assert_eq!(ports.len(), 65);
        assert!(
            ports
                .iter()
                .all(|port| (20_000..30_000).contains(port) && port % 10 == 0)
        );
        let first = first_port(project, 0, &none);
        assert_eq!(first_port(project, 0, &none), first);
        for taken in [first, first + 9] {
            let next = first_port(project, 0, &BTreeSet::from([taken]));
            assert!(!ports.contains(&next), "{next}");
        }
        let all = (20_000..30_000).collect();
        assert_eq!(first_port(project, 0, &all), first);
    }
}
