//! Long results that are read page by page, so that all pages are of the same result.
//!
//! A call that is repeated for the next page would read the project again, and pages of two
//! different results do not fit together.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many long results are kept; an agent reads one at a time.
const MOST: usize = 8;

/// The long results that are being read, newest last, each with its request.
#[derive(Debug, Default)]
pub(crate) struct Pages(Mutex<VecDeque<(String, String)>>);

impl Pages {
    /// Keeps a result whose first page is sent.
    pub(crate) fn keep(&self, asked: String, answer: String) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|(known, _)| *known != asked);
        pages.push_back((asked, answer));
        while pages.len() > MOST {
            pages.pop_front();
        }
    }

    /// Returns the stored result of the same request.
    pub(crate) fn find(&self, asked: &str) -> Option<String> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pages.iter().find(|(known, _)| known == asked);
        found.map(|(_, answer)| answer.clone())
    }
}
