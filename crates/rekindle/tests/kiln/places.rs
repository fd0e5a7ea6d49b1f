//! Where the memory is found, and the messages when it is not.

use anyhow::{Result, ensure};

use crate::project::{Project, out};

fn planning() -> Result<Project> {
    Project::new("stage: planning\nstatus: paused\n", "")
}

#[test]
fn a_project_behind_a_link_is_named_as_the_shell_does() -> Result<()> {
    let project = planning()?;
    let link = project.sandbox.root().join("link");
    std::os::unix::fs::symlink(project.sandbox.project(), &link)?;
    let encoded = link.as_str().replace('/', "-");
    let moved = project.memory_dir().with_file_name("moved");
    fs_err::rename(project.memory_dir(), &moved)?;
    let by_link = project
        .sandbox
        .root()
        .join(format!("home/.claude/projects/{encoded}/memory"));
    fs_err::create_dir_all(&by_link)?;
    fs_err::copy(moved.join("MEMORY.md"), by_link.join("MEMORY.md"))?;
    let ran = project
        .alone(&["--yes", "--no-agent"])
        .from(link.clone())
        .with("PWD", link.as_str())
        .run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(out(&ran).contains("Stage:   planning\n"), "{ran}");
    ensure!(fs_err::read_to_string(by_link.join("MEMORY.md"))?.contains("- Resumed: "));
    // A variable that names another folder does not count.
    let ran = project
        .alone(&["--yes", "--no-agent"])
        .from(link)
        .with("PWD", "/tmp")
        .run()?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    Ok(())
}

#[test]
fn a_memory_in_the_folder_of_claude_code_is_found_and_reported() -> Result<()> {
    let project = planning()?;
    let dashes = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let encoded: String = project
        .sandbox
        .project()
        .as_str()
        .chars()
        .map(dashes)
        .collect();
    let projects = project.sandbox.root().join("home/.claude/projects");
    let by_seed = project.sandbox.project().as_str().replace('/', "-");
    if encoded != by_seed {
        fs_err::rename(projects.join(&by_seed), projects.join(&encoded))?;
        let ran = project.alone(&["--yes", "--no-agent"]).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        ensure!(ran.stderr().contains("MEMORY_ELSEWHERE"), "{ran}");
        ensure!(
            fs_err::read_to_string(projects.join(&encoded).join("memory/MEMORY.md"))?
                .contains("- Resumed: ")
        );
    }
    Ok(())
}

#[test]
fn without_a_home_nothing_is_read_at_the_root() -> Result<()> {
    let project = planning()?;
    let ran = project
        .alone(&["--yes", "--no-agent"])
        .without("HOME")
        .run()?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    ensure!(
        out(&ran).starts_with("[kiln:resume] No memory found at $HOME/.claude/projects/-"),
        "{ran}"
    );
    Ok(())
}

#[test]
fn a_deleted_working_folder_is_reported() -> Result<()> {
    let project = planning()?;
    let binary = project.sandbox.binary();
    let script =
        format!("mkdir gone && cd gone && rmdir ../gone && exec {binary} resume --protocol kiln");
    let ran = project
        .sandbox
        .typed(&[])
        .through(&["sh", "-c", &script])
        .run()?;
    let words = "Cannot determine project path. Please run this command from the project root.\n";
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert_eq!((out(&ran).as_str(), ran.stderr().as_ref()), (words, ""));
    Ok(())
}

#[test]
fn a_linked_memory_folder_is_edited_in_place() -> Result<()> {
    let project = planning()?;
    let (link, kept) = (project.memory_dir(), project.sandbox.root().join("kept"));
    fs_err::rename(&link, &kept)?;
    std::os::unix::fs::symlink(&kept, &link)?;
    let ran = project.alone(&["--yes", "--no-agent"]).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(project.memory()?.contains("- Resumed: "), "{ran}");
    ensure!(link.is_symlink() && kept.exists(), "{ran}");
    Ok(())
}

#[test]
fn a_memory_file_that_is_a_link_is_not_edited() -> Result<()> {
    let project = planning()?;
    let link = project.memory_dir().join("MEMORY.md");
    let kept = project.sandbox.root().join("kept");
    fs_err::rename(&link, &kept)?;
    std::os::unix::fs::symlink(&kept, &link)?;
    let before = fs_err::read(&kept)?;
    let ran = project.alone(&["--yes", "--no-agent"]).run()?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(ran.stderr().contains("is a symbolic link"), "{ran}");
    assert_eq!(fs_err::read(&kept)?, before);
    Ok(())
}

#[test]
fn a_linked_memory_is_not_archived() -> Result<()> {
    let project = Project::new("stage: complete\nstatus: complete\n", "")?;
    let kept = project.sandbox.root().join("kept");
    fs_err::rename(project.memory_dir(), &kept)?;
    std::os::unix::fs::symlink(&kept, project.memory_dir())?;
    let ran = project.alone(&[]).answering("4\n").run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(ran.stderr().contains("the memory is a link to"), "{ran}");
    ensure!(kept.join("MEMORY.md").exists() && project.memory_dir().is_symlink());
    Ok(())
}

#[test]
fn a_project_is_found_without_naming_the_protocol() -> Result<()> {
    let project = planning()?;
    let ran = project.sandbox.run(&["status"])?;
    ensure!(out(&ran).contains("ledger-api, planning"), "{ran}");
    let ran = project
        .sandbox
        .typed(&["resume", "--yes", "--no-agent"])
        .run()?;
    ensure!(
        out(&ran).contains("Resuming planning stage (dual_plan).\n"),
        "{ran}"
    );
    // Claude Code's own notes in that folder are not kiln's.
    project.write_memory("MEMORY.md", "# Memory\n- likes tabs\n")?;
    let ran = project.sandbox.run(&["status"])?;
    ensure!(!out(&ran).contains("ledger-api"), "{ran}");
    Ok(())
}

#[test]
fn a_phase_is_explained() -> Result<()> {
    let project = Project::new(
        "stage: execution\nstatus: paused\n",
        "- phase_number: 1 | phase_name: Storage | phase_status: completed\n",
    )?;
    let ran = project.sandbox.run(&["explain", "kiln:ledger-api", "1"])?;
    ensure!(
        ran.code() == Some(0) && out(&ran).contains("completed"),
        "{ran}"
    );
    ensure!(out(&ran).contains("phase_status: completed"), "{ran}");
    Ok(())
}

#[test]
fn the_hint_for_a_corrupt_project_is_inspect() -> Result<()> {
    let project = planning()?;
    project.write_memory("MEMORY.md", "# Kiln Project Memory\nstage: tea\n")?;
    let ran = project.sandbox.run(&["status"])?;
    ensure!(out(&ran).contains("ledg  unreadable"), "{ran}");
    ensure!(
        ran.stderr().contains("`rekindle inspect") && !ran.stderr().contains("rekindle resume"),
        "{ran}"
    );
    Ok(())
}
