//! Reading a SQLite database that another program may have open, without changing anything.
//!
//! A killed program leaves its last writes in a write-ahead log next to the database. SQLite reads
//! it without writing if the log's index is read-only. Without a log, the file is read as
//! immutable.

use std::io::Read as _;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, params_from_iter};

use crate::real::open;
use crate::{DatabaseQuestion, DatabaseRow, ReadError};

/// SQLite steps between two checks of the limit.
const STEPS_A_LOOK: i32 = 100_000;
/// How many checks an answer may take: a damaged or hostile database must not block us.
const MOST_LOOKS: u32 = 100;
/// The headers of a log and of its first page, and the smallest page.
const SHORTEST_LOG: usize = 32 + 24 + 512;

/// How long to wait: in some states of a log SQLite retries for ten seconds without a step.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// The longest text, in bytes.
const LONGEST_TEXT: i32 = 16 << 20;
/// The memory limit of SQLite, in bytes.
const MOST_MEMORY: i64 = 256 << 20;

pub(crate) fn ask(
    database: &Utf8Path,
    question: &DatabaseQuestion,
) -> Result<Vec<DatabaseRow>, ReadError> {
    drop(open(database)?);
    let (answer, answered) = mpsc::sync_channel(1);
    let (database, question) = (database.to_owned(), question.clone());
    // An answer that comes too late is dropped.
    thread::spawn(move || answer.send(answer_to(&database, &question)));
    let slow = |_| ReadError::Failed("it takes too long to answer".to_owned());
    answered.recv_timeout(LONGEST_WAIT).map_err(slow)?
}

fn answer_to(
    database: &Utf8Path,
    question: &DatabaseQuestion,
) -> Result<Vec<DatabaseRow>, ReadError> {
    let mut connection = connect(database)?;
    let mut n_looks = 0;
    let is_enough = move || {
        n_looks += 1;
        n_looks > MOST_LOOKS
    };
    connection
        .progress_handler(STEPS_A_LOOK, Some(is_enough))
        .map_err(failed)?;
    let mut statement = connection.prepare(&question.sql).map_err(failed)?;
    let rows = statement
        .query_map(params_from_iter(&question.parameters), texts)
        .map_err(failed)?;
    rows.collect::<Result<_, _>>().map_err(failed)
}

fn connect(database: &Utf8Path) -> Result<Connection, ReadError> {
    let length = |end: &str| {
        let meta = fs_err::metadata(format!("{database}{end}"));
        meta.map_or(0, |meta| meta.len())
    };
    if length("-journal") > 0 {
        return Err(ReadError::Failed("a change of it is under way".to_owned()));
    }
    let way = match (has_log(database), length("-shm")) {
        (false, _) => "immutable=1",
        // The log is needed, and its index would have to be created in the folder.
        (true, 0) => return Err(ReadError::Failed("its log has no index".to_owned())),
        (true, _) => "readonly_shm=1",
    };
    let path = database.as_str();
    let path = path.replace('%', "%25");
    let path = path.replace('?', "%3f").replace('#', "%23");
    let connection = Connection::open_with_flags(
        format!("file:{path}?mode=ro&{way}"),
        OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(failed)?;
    for (setting, is_on) in [
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        // The last connection to close would otherwise checkpoint the log.
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
    ] {
        connection.set_db_config(setting, is_on).map_err(failed)?;
    }
    connection
        .set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_TEXT)
        .map_err(failed)?;
    connection
        .pragma_update(None, "hard_heap_limit", MOST_MEMORY)
        .map_err(failed)?;
    Ok(connection)
}

/// Returns whether there is a log with at least one page after a known header.
fn has_log(database: &Utf8Path) -> bool {
    let mut head = [0; SHORTEST_LOG];
    let log = open(&Utf8PathBuf::from(format!("{database}-wal")));
    let is_read = log.is_ok_and(|log| log.into_file().read_exact(&mut head).is_ok());
    is_read && matches!(head, [0x37, 0x7f, 0x06, 0x82 | 0x83, ..])
}

fn texts(row: &Row<'_>) -> rusqlite::Result<DatabaseRow> {
    let n_columns = row.as_ref().column_count();
    (0..n_columns)
        .map(|column| {
            Ok(match row.get_ref(column)? {
                ValueRef::Null => None,
                ValueRef::Integer(number) => Some(number.to_string()),
                ValueRef::Real(number) => Some(number.to_string()),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    Some(String::from_utf8_lossy(bytes).into_owned())
                }
            })
        })
        .collect()
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn failed(error: rusqlite::Error) -> ReadError {
    ReadError::Failed(error.to_string())
}

#[cfg(test)]
#[path = "real_database_tests.rs"]
mod tests;
