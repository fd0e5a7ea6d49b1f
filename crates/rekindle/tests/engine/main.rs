//! The engine end to end: real git, real workers, real kills.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

mod attempts;
mod checkouts;
mod cut_short;
mod landing;
mod outfit;
mod pool;
mod processes;
mod start;

use std::process::Output;

use rekindle_testkit::repository::text;

#[track_caller]
fn assert_done(output: &Output) {
    assert!(
        output.status.success(),
        "{}\n{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}
