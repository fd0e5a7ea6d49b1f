//! Paints what happened to a workflow: SVG, trace and a page that needs nothing else.
//!
//! Every painter takes a [`Picture`](rekindle_wire::Picture) and returns text; the same picture always
//! gives the same bytes. There are no rules in here: states, words and the story come with the picture.
//! Start reading at [`timeline()`], then [`page()`].

mod axis;
mod bar;
mod graph;
mod icon;
mod label;
mod legend;
mod page;
mod scene;
mod svg;
mod table;
mod timeline;
mod trace;

pub use graph::graph;
pub use page::page;
pub use timeline::timeline;
pub use trace::trace;

#[cfg(test)]
mod picture_tests;
