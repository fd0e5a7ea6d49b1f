//! What a file has next to its bytes: owner, extended attributes and mode, kept by a replacement.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use crate::disk;

/// Gives a new file what the file it replaces has, as far as the system lets us.
pub(crate) fn keep(new: &File, old: &File) -> io::Result<()> {
    let (found, wanted) = (new.metadata()?, old.metadata()?);
    if (found.uid(), found.gid()) != (wanted.uid(), wanted.gid()) {
        // Only root may give files away. An editor that saves somebody else's file in a shared
        // folder becomes its owner as well, so this is no reason to refuse.
        disk::give_to(new, Some(wanted.uid()), Some(wanted.gid()))
            .or_else(|_| disk::give_to(new, None, Some(wanted.gid())))
            .ok();
    }
    // After the owner, because changing that clears the set-id bits and capabilities.
    copy_extended(new, old)?;
    disk::set_mode_of(new, Permissions::from_mode(wanted.mode() & 0o7777))
}

/// Signatures of the old contents; the system makes new ones.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
const OF_THE_CONTENTS: [&[u8]; 2] = [b"security.ima", b"security.evm"];

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn copy_extended(new: &File, old: &File) -> io::Result<()> {
    use rustix::fs::{fgetxattr, flistxattr};
    use rustix::io::Errno;

    let mut names = Vec::new();
    // Most files have none, and then nothing more is asked.
    let length = match rustix::fs::flistxattr_query(old) {
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
        other => other?,
    };
    names.resize(length, 0);
    let n_listed = flistxattr(old, names.as_mut_slice())?;
    names.truncate(n_listed);
    for name in names
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
    {
        if OF_THE_CONTENTS.contains(&name) {
            continue;
        }
        let mut value = vec![0; rustix::fs::fgetxattr_query(old, name)?];
        let n_read = fgetxattr(old, name, value.as_mut_slice())?;
        match disk::set_attribute(new, name, &value[..n_read]) {
            // What only the system or root may give, such as labels, the new file gets from its folder.
            Ok(()) | Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn copy_extended(_new: &File, _old: &File) -> io::Result<()> {
    Ok(())
}
