//! Answers to many questions, computed on all cores.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the answers in the order of the questions; `None` where a thread was lost. A thread
/// takes `batch` questions at a time.
pub(crate) fn side_by_side<Q: Sync, A: Send + Sync>(
    questions: &[Q],
    batch: usize,
    ask: impl Fn(&Q) -> A + Sync,
) -> Vec<Option<A>> {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let n_threads = n_cores.min(questions.len().div_ceil(batch));
    let next = AtomicUsize::new(0);
    let answers: Vec<OnceLock<A>> = questions.iter().map(|_| OnceLock::new()).collect();
    let work = || {
        loop {
            let first = next.fetch_add(batch, Ordering::Relaxed);
            if first >= questions.len() {
                return;
            }
            for (question, answer) in questions.iter().zip(&answers).skip(first).take(batch) {
                answer.get_or_init(|| ask(question));
            }
        }
    };
    std::thread::scope(|scope| {
        // This thread takes part, and does everything if no other can be started.
        for _ in 1..n_threads {
            std::thread::Builder::new().spawn_scoped(scope, work).ok();
        }
        work();
    });
    answers.into_iter().map(OnceLock::into_inner).collect()
}
