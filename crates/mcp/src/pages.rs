//! Long answers that are read page by page, so that all pages are of the same answer.
//!
//! What is asked again for the next page would be answered from the project as it is then, and pieces
//! of two answers make none.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many long answers are kept; an agent reads one at a time.
const MOST: usize = 8;

/// The long answers that this server has begun to give, newest last, each with what was asked.
#[derive(Debug, Default)]
pub(crate) struct Pages(Mutex<VecDeque<(String, String)>>);

impl Pages {
    /// Keeps an answer of which the first page is being given.
    pub(crate) fn keep(&self, asked: String, answer: String) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|(known, _)| *known != asked);
        pages.push_back((asked, answer));
        while pages.len() > MOST {
            pages.pop_front();
        }
    }

    /// Returns the answer that was begun for the same question.
    pub(crate) fn find(&self, asked: &str) -> Option<String> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pages.iter().find(|(known, _)| known == asked);
        found.map(|(_, answer)| answer.clone())
    }
}
