//! Owner, extended attributes and mode of a file, which a replacement keeps.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use crate::disk;

/// Copies them from the old file to the new one, as far as the system allows.
pub(crate) fn keep(new: &File, old: &File) -> io::Result<()> {
    let (found, wanted) = (new.metadata()?, old.metadata()?);
    if (found.uid(), found.gid()) != (wanted.uid(), wanted.gid()) {
        // Only root may give files away. An editor that saves a file of another user becomes its
        // owner too, so a refusal is fine.
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

    let length = match rustix::fs::flistxattr_query(old) {
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
        other => other?,
    };
    let mut names = vec![0; length];
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
            // The new file gets labels that only the system or root may set from its folder.
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
