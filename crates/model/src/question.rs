//! Questions as data: a protocol adds one without touching anything else.

/// A question that only a person can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The name by which its protocol knows it.
    pub id: &'static str,
    /// The word above the question, if the protocol prescribes one.
    pub header: Option<&'static str>,
    /// The question.
    pub text: String,
    /// The answers that are understood, each with what it does; the recommended one first.
    pub answers: Vec<(&'static str, &'static str)>,
    /// Whether the answers are labels, which can be chosen by number.
    pub is_list: bool,
    /// The safe answer, which `no` means; `yes` means the first.
    pub no: Option<&'static str>,
    /// What `--yes` does.
    pub with_yes: WithYes,
    /// The message if nobody answers.
    pub unanswered: String,
    /// Whether the workflow has failed as long as nobody answers.
    pub fails_unanswered: bool,
    /// Whether the question is about what keeps the workflow from being resumed.
    pub is_about_a_blocker: bool,
}

/// What a resume with `--yes` does with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithYes {
    /// It asks all the same.
    Ask,
    /// It leaves the question open and ends.
    LeaveOpen,
    /// It gives this answer.
    Answer(&'static str),
}

impl Question {
    /// The answer `no` to a question that offers no alternative: everything stays as it is.
    pub const LEAVE: &'static str = "Leave";

    /// Returns a question that is answered with words, such as `approve` or `revise: FEEDBACK`.
    pub fn words(
        id: &'static str,
        text: impl Into<String>,
        answers: Vec<(&'static str, &'static str)>,
    ) -> Self {
        Self {
            id,
            header: None,
            text: text.into(),
            answers,
            is_list: false,
            no: None,
            with_yes: WithYes::Ask,
            unanswered: String::new(),
            fails_unanswered: false,
            is_about_a_blocker: false,
        }
    }

    /// Returns a question with a list of labels, of which `--yes` chooses the first.
    pub fn labels(
        id: &'static str,
        text: impl Into<String>,
        answers: Vec<(&'static str, &'static str)>,
    ) -> Self {
        let first = answers.first().map(|(label, _)| *label);
        Self {
            is_list: true,
            with_yes: first.map_or(WithYes::Ask, WithYes::Answer),
            ..Self::words(id, text, answers)
        }
    }

    /// Sets the word above the question.
    #[must_use]
    pub const fn header(mut self, header: &'static str) -> Self {
        self.header = Some(header);
        self
    }

    /// Sets the safe answer.
    #[must_use]
    pub const fn no(mut self, answer: &'static str) -> Self {
        self.no = Some(answer);
        self
    }

    /// Leaves the question open with `--yes`, if `is_open`.
    #[must_use]
    pub const fn open_with_yes(mut self, is_open: bool) -> Self {
        if is_open {
            self.with_yes = WithYes::LeaveOpen;
        }
        self
    }

    /// Sets the message if nobody answers.
    #[must_use]
    pub fn unanswered(mut self, message: impl Into<String>) -> Self {
        self.unanswered = message.into();
        self
    }

    /// Makes a missing answer a failure of the workflow.
    #[must_use]
    pub const fn fails_unanswered(mut self) -> Self {
        self.fails_unanswered = true;
        self
    }

    /// Makes it a question about what keeps the workflow from being resumed.
    #[must_use]
    pub const fn about_a_blocker(mut self) -> Self {
        self.is_about_a_blocker = true;
        self.fails_unanswered()
    }

    /// Returns an answer as the protocol knows it, or `None` if it is not understood.
    ///
    /// `revise: FEEDBACK` understands `revise: anything`. A label is understood by its number, in
    /// full, or by its first word.
    pub fn understood(&self, answer: &str) -> Option<String> {
        let said = answer.trim().to_ascii_lowercase();
        let mut labels = (1..).zip(self.answers.iter().map(|(label, _)| *label));
        match (self.no, said.as_str()) {
            (Some(_), "y" | "yes") => return labels.next().map(|(_, label)| label.to_owned()),
            (Some(no), "n" | "no") => return Some(no.to_owned()),
            _ => {}
        }
        if self.is_list {
            let means = |(number, label): &(usize, &str)| {
                let label = label.to_ascii_lowercase();
                said == number.to_string()
                    || said == label
                    || label.split(' ').next() == Some(&said)
            };
            return labels.find(means).map(|(_, label)| label.to_owned());
        }
        let word = |text: &str| {
            let (word, rest) = text.split_once(':').unwrap_or((text, ""));
            (word.trim().to_ascii_lowercase(), !rest.trim().is_empty())
        };
        let (said, has_rest) = word(answer);
        let is_known = labels.any(|(_, known)| {
            let (known, wants_rest) = word(known);
            said == known && (has_rest || !wants_rest)
        });
        is_known.then(|| answer.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_words_is_understood_by_its_first_word_and_may_need_a_text() {
        let answers = vec![
            ("approve", ""),
            ("revise: FEEDBACK", ""),
            ("skip consolidation", ""),
        ];
        let question = Question::words("approval", "", answers);
        for good in [
            "approve",
            " Approve ",
            "revise: more tests",
            "skip consolidation",
        ] {
            assert_eq!(question.understood(good).as_deref(), Some(good));
        }
        for bad in ["", "yes", "1", "revise", "revise:", "revised: x"] {
            assert_eq!(question.understood(bad), None, "{bad}");
        }
        assert_eq!(question.with_yes, WithYes::Ask);
    }

    #[test]
    fn a_label_is_understood_by_its_number_in_full_or_by_its_first_word() {
        let answers = vec![
            ("Resume (recommended)", ""),
            ("Start fresh", ""),
            ("Abort", ""),
        ];
        let question = Question::labels("resume", "", answers).no("Abort");
        let table = [
            ("1", Some("Resume (recommended)")),
            (" RESUME ", Some("Resume (recommended)")),
            ("resume (Recommended)", Some("Resume (recommended)")),
            ("2", Some("Start fresh")),
            ("start", Some("Start fresh")),
            ("start fresh", Some("Start fresh")),
            ("3", Some("Abort")),
            ("abort", Some("Abort")),
            ("", None),
            ("0", None),
            ("4", None),
            ("fresh", None),
            ("start over", None),
            ("y", Some("Resume (recommended)")),
            ("No", Some("Abort")),
        ];
        for (said, known) in table {
            assert_eq!(question.understood(said).as_deref(), known, "{said}");
        }
        assert_eq!(question.with_yes, WithYes::Answer("Resume (recommended)"));
    }

    #[test]
    fn a_question_by_labels_takes_no_by_its_label_and_yes_by_the_first() {
        let answers = vec![("Continue", "try again"), ("Stop", "leave it as it is")];
        let question = Question::labels("breaker", "Try again?", answers)
            .no("Stop")
            .unanswered("nothing was changed");
        assert_eq!(question.understood("n").as_deref(), Some("Stop"));
        assert_eq!(question.with_yes, WithYes::Answer("Continue"));
    }
}
