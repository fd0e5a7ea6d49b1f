//! Holds the shape of the code: who depends on whom, what pure code may name, how files are cut.
//!
//! Each rule is one table or one constant; a failure names the place and says what to do instead.
//! `layers` is about crates, `names` about protocols, `sources` about what code says, `shape` about files and their names.

mod layers;
mod names;
mod shape;
mod sources;
mod workspace;
