//! Decisions as data: a table's rows are tried from the top, and the first that fits decides.
//!
//! A protocol says in its `table.rs` which inputs a decision has, each with all its values, and which
//! row gives which verdict. Code evaluates the table, the documentation is a print of it, and tests
//! go through every combination of inputs: `check` holds that each one fits a row and that each
//! row decides somewhere. A decision over one closed set needs none of this: there an exhaustive
//! `match` is the table, and the compiler goes through it.

/// A value that an input of a decision can have.
pub trait Value: Copy + PartialEq + 'static {
    /// Every value there is.
    const ALL: &'static [Self];

    /// Returns the value as documentation has it.
    fn word(self) -> &'static str;
}

impl Value for bool {
    const ALL: &'static [Self] = &[false, true];

    fn word(self) -> &'static str {
        if self { "yes" } else { "no" }
    }
}

/// Makes an enum whose values are inputs of a decision.
#[macro_export]
macro_rules! values {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$value_doc])* $value,)*
        }

        impl $name {
            /// Returns the word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $word,)* }
            }
        }

        impl $crate::table::Value for $name {
            const ALL: &'static [Self] = &[$(Self::$value,)*];

            fn word(self) -> &'static str {
                self.as_str()
            }
        }
    };
}
pub use crate::values;

/// What a row asks of one input.
#[derive(Debug)]
pub enum Cell<T: 'static> {
    /// Nothing.
    Any,
    /// That it has this value.
    Is(T),
    /// That it has one of these.
    In(&'static [T]),
}

impl<T: Value> Cell<T> {
    /// Returns whether a value is one that is asked for.
    pub fn admits(&self, value: T) -> bool {
        match self {
            Self::Any => true,
            Self::Is(wanted) => *wanted == value,
            Self::In(wanted) => wanted.contains(&value),
        }
    }

    /// Returns what is asked for, in words.
    pub fn shown(&self) -> String {
        match self {
            Self::Any => String::new(),
            Self::Is(wanted) => wanted.word().to_owned(),
            Self::In(wanted) => {
                let mut others = T::ALL.iter().filter(|value| !wanted.contains(value));
                match (others.next(), others.next()) {
                    (Some(other), None) if wanted.len() > 2 => format!("not {}", other.word()),
                    _ => {
                        let words: Vec<&str> = wanted.iter().map(|value| value.word()).collect();
                        words.join("; ")
                    }
                }
            }
        }
    }
}

/// All that one decision depends on.
pub trait Input: Copy + std::fmt::Debug + 'static {
    /// What a row asks of all inputs together.
    type When: std::fmt::Debug + 'static;
    /// The inputs' names as documentation has them.
    const COLUMNS: &'static [&'static str];

    /// Returns whether this is what a row asks for.
    fn fits(self, when: &Self::When) -> bool;

    /// Returns every combination of inputs.
    fn all() -> impl Iterator<Item = Self>;

    /// Returns what a row asks for, a text for each input.
    fn shown(when: &Self::When) -> Vec<String>;
}

/// Takes the next input out of the number of a combination.
pub fn digit<T: Value>(number: &mut usize) -> T {
    let value = T::ALL[*number % T::ALL.len()];
    *number /= T::ALL.len();
    value
}

/// Makes the struct of a decision's inputs, and the one of what a row asks of each.
#[macro_export]
macro_rules! inputs {
    (
        $(#[$doc:meta])* $name:ident asked by $when:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $title:literal,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        #[doc = concat!("What a row asks of [`", stringify!($name), "`].")]
        #[derive(Debug)]
        pub struct $when {
            $(#[doc = $title] pub $field: $crate::table::Cell<$type>,)*
        }

        impl $when {
            /// Nothing is asked for.
            pub const ANY: Self = Self { $($field: $crate::table::Cell::Any,)* };
        }

        impl $crate::table::Input for $name {
            type When = $when;
            const COLUMNS: &'static [&'static str] = &[$($title,)*];

            fn fits(self, when: &$when) -> bool {
                $(when.$field.admits(self.$field))&&*
            }

            fn all() -> impl Iterator<Item = Self> {
                let n_combinations = 1 $(* <$type as $crate::table::Value>::ALL.len())*;
                (0..n_combinations).map(|mut number| Self {
                    $($field: $crate::table::digit(&mut number),)*
                })
            }

            fn shown(when: &$when) -> Vec<String> {
                vec![$(when.$field.shown(),)*]
            }
        }
    };
}
pub use crate::inputs;

/// Makes a decision table with one line for each row: what it asks for, the verdict, the rule.
///
/// The last row is `[]`, or `else [...]` where documentation names what is left.
///
/// ```ignore
/// table! {
///     static DUE: Circumstances, asked by When => Due;
///     "What is due", "One round does one kind of thing.";
///     [is_paused: Is(true)] => Due::Unpause, "a pause ends first";
///     [can_land: Is(true), gate: In(&[Gate::Nothing])] => Due::Land, "finished work lands";
///     [] => Due::Finish, "nothing else is left";
/// }
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[$doc:meta])*
        $vis:vis static $name:ident: $input:ty, asked by $when:ident => $verdict:ty;
        $title:literal, $about:expr;
        $([$($field:ident: $cell:expr),+ $(,)?] => $then:expr, $source:expr;)*
        [] => $last:expr, $last_source:expr;
    ) => {
        $crate::table! {
            $(#[$doc])*
            $vis static $name: $input, asked by $when => $verdict;
            $title, $about;
            $([$($field: $cell),+] => $then, $source;)*
            else [] => $last, $last_source;
        }
    };
    (
        $(#[$doc:meta])*
        $vis:vis static $name:ident: $input:ty, asked by $when:ident => $verdict:ty;
        $title:literal, $about:expr;
        $([$($field:ident: $cell:expr),+ $(,)?] => $then:expr, $source:expr;)*
        else [$($last_field:ident: $last_cell:expr),*] => $last:expr, $last_source:expr;
    ) => {
        $(#[$doc])*
        $vis static $name: $crate::table::Table<$input, $verdict> = $crate::table::Table {
            title: $title,
            about: $about,
            rows: &[$($crate::table::Row {
                when: $when { $($field: $cell,)+ ..$when::ANY },
                then: $then,
                source: $source,
            },)*],
            last: $crate::table::Row {
                when: $when { $($last_field: $last_cell,)* ..$when::ANY },
                then: $last,
                source: $last_source,
            },
        };
    };
}
pub use crate::table;

/// A verdict as documentation has it.
pub trait Verdict: 'static {
    /// The names of its parts.
    const COLUMNS: &'static [&'static str];

    /// Returns its parts in words.
    fn shown(&self) -> Vec<String>;
}

/// Makes enums with words verdicts of one column; `code` prints the word as code.
#[macro_export]
macro_rules! verdicts {
    (@cell $self:ident) => { $self.as_str().to_owned() };
    (@cell $self:ident code) => { format!("`{}`", $self.as_str()) };
    ($($verdict:ty: $column:literal $($code:ident)?;)*) => {$(
        impl $crate::table::Verdict for $verdict {
            const COLUMNS: &'static [&'static str] = &[$column];

            fn shown(&self) -> Vec<String> {
                vec![$crate::verdicts!(@cell self $($code)?)]
            }
        }
    )*};
}
pub use crate::verdicts;

/// One row: what it asks for, what it decides, and who says so.
#[derive(Debug)]
pub struct Row<I: Input, V> {
    /// What it asks for.
    pub when: I::When,
    /// What it decides.
    pub then: V,
    /// The rule that says so.
    pub source: &'static str,
}

/// A decision.
#[derive(Debug)]
pub struct Table<I: Input, V: 'static> {
    /// What is decided, in a few words.
    pub title: &'static str,
    /// What is decided, in a sentence or two.
    pub about: &'static str,
    /// The rows, tried from the top.
    pub rows: &'static [Row<I, V>],
    /// The row of all that is left; that it asks for nothing else, `check` holds.
    pub last: Row<I, V>,
}

impl<I: Input, V> Table<I, V> {
    /// Returns the verdict on these inputs.
    pub fn decide(&'static self, input: I) -> &'static V {
        let first = self.rows.iter().find(|row| input.fits(&row.when));
        &first.unwrap_or(&self.last).then
    }

    fn all_rows(&self) -> impl Iterator<Item = &Row<I, V>> {
        self.rows.iter().chain([&self.last])
    }
}

impl<I: Input, V: Verdict> Table<I, V> {
    /// Returns the table as documentation has it; an input that no row asks for is none there.
    pub fn printed(&self) -> Decision {
        let headings = I::COLUMNS.iter().chain(V::COLUMNS).chain(&["rule"]);
        let rows: Vec<Vec<String>> = self
            .all_rows()
            .map(|row| {
                let mut cells = I::shown(&row.when);
                cells.extend(row.then.shown());
                cells.push(row.source.to_owned());
                cells
            })
            .collect();
        Decision {
            title: self.title,
            about: format!(
                "{}\nThe first row that matches decides; the rows cover all {} combinations.",
                self.about,
                I::all().count()
            ),
            headings: headings.copied().collect(),
            rows,
        }
    }
}

/// One decision of a protocol, for its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What is decided.
    pub title: &'static str,
    /// What the table says, one sentence a line.
    pub about: String,
    /// The names of the columns.
    pub headings: Vec<&'static str>,
    /// The rows; an empty cell asks for nothing.
    pub rows: Vec<Vec<String>>,
}

impl Decision {
    /// Returns a decision whose rows have a cell for each heading.
    pub fn new<const N: usize, Cell: Into<String>>(
        title: &'static str,
        about: impl Into<String>,
        headings: [&'static str; N],
        rows: impl IntoIterator<Item = [Cell; N]>,
    ) -> Self {
        Self {
            title,
            about: about.into(),
            headings: headings.to_vec(),
            rows: rows
                .into_iter()
                .map(|row| row.map(Into::into).to_vec())
                .collect(),
        }
    }
}

/// For tests: checks that every combination of inputs fits a row and that every row decides somewhere.
///
/// # Panics
///
/// If a combination fits no row, or a row never decides.
pub fn check<I: Input, V>(table: &'static Table<I, V>) {
    let mut n_decided = vec![0_usize; table.rows.len() + 1];
    for input in I::all() {
        let row = table.all_rows().position(|row| input.fits(&row.when));
        let row = row.unwrap_or_else(|| panic!("{}: nothing fits {input:?}", table.title));
        n_decided[row] += 1;
    }
    let idle = n_decided.iter().position(|n| *n == 0);
    assert_eq!(idle, None, "{}: a row that never decides", table.title);
}
