#!/bin/sh
# Lays hostile repositories out in the current folder, and proves with plain git that they are live.
# `$MARKS` is a folder in which every program that runs leaves a file with the name of its way.
set -eu
top=$PWD
canary=$MARKS/../canary
export GIT_CONFIG_COUNT=0

make_canary() {
  printf '#!/bin/sh\n: >"%s/$1"\nexit 1\n' "$MARKS" >"$canary"
  chmod 755 "$canary"
}

# The project becomes a repository with one commit, if it is none.
make_repository() {
  [ -e .git ] || git init -q
  echo bait >bait-clean; echo bait >bait-process; echo bait >bait-worktree; echo bait >bait-diff
  printf '# Bait\n\n- [ ] T001 Bait\n' >bait-plan.md; cp bait-plan.md todo.md
  git add -A . >/dev/null 2>&1 || git add bait-*
  git commit -qm base
}

# Settings that name a program, in the repository at `$1`.
hostile_settings() {
  dir=$1
  set_to() { git --git-dir="$dir" config "$1" "$2"; }
  set_to core.repositoryFormatVersion 1
  set_to extensions.worktreeConfig true
  set_to include.path included
  git config -f "$dir/included" core.fsmonitor "$canary fsmonitor"
  git config -f "$dir/config.worktree" filter.w.clean "$canary filter-of-config-worktree"
  set_to filter.c.clean "$canary filter-clean"
  set_to filter.p.process "$canary filter-process"
  set_to diff.d.textconv "$canary textconv"
  set_to diff.e.command "$canary diff-command"
  set_to diff.external "$canary diff-external"
  set_to core.pager "$canary pager"
  set_to pager.status "$canary pager"
  set_to core.editor "$canary editor"
  set_to core.askPass "$MARKS/../askpass"
  set_to credential.helper "!$canary credential-helper"
  set_to alias.evil "!$canary alias"
  set_to gpg.program "$MARKS/../gpg"
  set_to log.showSignature true
  set_to trailer.evil.key Evil
  set_to trailer.evil.command "$canary trailer"
  set_to core.alternateRefsCommand "$canary alternate-refs"
  set_to tar.evil.command "$canary archive"
  set_to merge.m.driver "$canary merge-driver"
  set_to status.submoduleSummary true
  for way in askpass gpg; do
    printf '#!/bin/sh\nexec "%s" %s\n' "$canary" "$way" >"$MARKS/../$way"
    chmod 755 "$MARKS/../$way"
  done
  mkdir -p "$dir/info" "$dir/hooks" "$dir/objects/info"
  printf '%s\n' 'bait-clean filter=c' 'bait-process filter=p' 'bait-worktree filter=w' \
    'bait-diff diff=d merge=m' 'bait-clean diff=e' 'tasks.md filter=c' >>"$dir/info/attributes"
  for hook in post-index-change reference-transaction post-checkout; do
    printf '#!/bin/sh\n"%s" hook-%s\nexit 0\n' "$canary" "$hook" >"$dir/hooks/$hook"
    chmod 755 "$dir/hooks/$hook"
  done
  git init -q "$MARKS/../alternate"
  echo "$MARKS/../alternate/.git/objects" >"$dir/objects/info/alternates"
}

# A submodule whose own repository names programs.
add_submodule() {
  git init -q sub
  (
    cd sub
    echo bait >bait
    git add bait
    git commit -qm inner
    git config filter.s.clean "$canary submodule-filter"
    git config core.fsmonitor "$canary submodule-fsmonitor"
    echo 'bait filter=s' >.git/info/attributes
  )
  printf '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n\tupdate = checkout\n' >.gitmodules
  git -c advice.addEmbeddedRepo=false add sub .gitmodules
  git commit -qm submodule
}

# The commit of HEAD gets a signature, so that showing it starts a program.
sign() {
  tree=$(git rev-parse 'HEAD^{tree}')
  parent=$(git rev-parse HEAD)
  commit=$(printf 'tree %s\nparent %s\nauthor t <t@x> 1700000000 +0000\ncommitter t <t@x> 1700000000 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n' \
    "$tree" "$parent" | git hash-object -t commit -w --stdin)
  git update-ref HEAD "$commit"
}

# Two commits that change the same file, for a merge.
fork() {
  for side in one two; do
    blob=$(echo "$side" | git hash-object -w --stdin)
    tree=$(git ls-tree HEAD | sed "s|blob [0-9a-f]*\tbait-diff\$|blob $blob\tbait-diff|" | git mktree --missing)
    git update-ref "refs/heads/side-$side" "$(git commit-tree -p HEAD -m "$side" "$tree")"
  done
}

# HEAD is at a commit that is not there, and four remotes promise to have it.
lack_head() {
  dir=$1
  set_to() { git --git-dir="$dir" config "$1" "$2"; }
  set_to core.repositoryFormatVersion 1
  set_to extensions.partialClone upload
  set_to protocol.ext.allow always
  set_to protocol.file.allow always
  set_to core.sshCommand "$canary fetch-ssh; false"
  set_to core.gitProxy "$MARKS/../proxy"
  printf '#!/bin/sh\nexec "%s" fetch-git-proxy\n' "$canary" >"$MARKS/../proxy"
  chmod 755 "$MARKS/../proxy"
  for remote in upload ext ssh proxy; do set_to remote.$remote.promisor true; done
  set_to remote.upload.url .
  set_to remote.upload.uploadpack "$canary fetch-upload-pack </dev/null; false"
  set_to remote.ext.url "ext::$canary fetch-ext"
  set_to remote.ssh.url ssh://host.invalid/x
  set_to remote.proxy.url git://host.invalid/x
  branch=$(git --git-dir="$dir" symbolic-ref HEAD)
  rm -f "$dir/packed-refs"
  mkdir -p "$(dirname "$dir/$branch")"
  echo 1111111111111111111111111111111111111111 >"$dir/$branch"
}

touch_bait() {
  find . -name tasks.md -exec touch -d '2001-02-03' {} +
  for file in bait-clean bait-process bait-worktree sub/bait; do
    [ ! -e "$file" ] || touch -d '2001-02-03' "$file"
  done
}

archive() {
  make_canary
  make_repository
  add_submodule
  sign
  fork
  echo changed >>bait-diff
  hostile_settings "$top/.git"
}

prove_archive() {
  plain() { "$@" >/dev/null 2>&1 </dev/null || true; }
  touch_bait
  GIT_OPTIONAL_LOCKS=0 plain git status
  # A filter that talks and fails ends git before it comes to the next one.
  GIT_OPTIONAL_LOCKS=0 plain git -c filter.p.process= status
  plain git -c core.fsmonitor=false diff HEAD -- bait-diff
  plain git -c core.fsmonitor=false -c diff.external= diff HEAD
  touch_bait
  plain git -c core.fsmonitor=false diff --no-ext-diff HEAD -- bait-diff
  GIT_EXTERNAL_DIFF= plain git -c core.fsmonitor=false -c filter.c.clean=cat diff side-one side-two -- bait-diff
  echo changed >>bait-clean
  plain git -c core.fsmonitor=false -c filter.c.clean=cat diff HEAD -- bait-clean
  plain git log -1
  plain git config --edit
  plain git evil
  printf 'protocol=https\nhost=x\n\n' | GIT_TERMINAL_PROMPT=0 git credential fill >/dev/null 2>&1 || true
  echo | git interpret-trailers >/dev/null 2>&1 || true
  plain git rev-list --alternate-refs
  plain git archive --format=evil HEAD
  plain git merge-tree --write-tree side-one side-two
  plain git -c core.fsmonitor=false update-index --force-write-index
  plain git update-ref refs/heads/other HEAD
  plain git -c core.fsmonitor=false worktree add --detach "$MARKS/../made" side-one
  plain git worktree prune
  git -c core.fsmonitor=false checkout -q -- bait-clean >/dev/null 2>&1 || true
}

case $1 in
  archive) archive ;;
  prove-archive | prove-link) prove_archive ;;
  link)
    archive
    mv .git elsewhere
    echo 'gitdir: elsewhere' >.git
    ;;
  partial)
    make_canary
    make_repository
    lack_head "$top/.git"
    ;;
  bare)
    make_canary
    make_repository
    # Work that was registered elsewhere is not what is shown here.
    lack_head "$top/.git"
    git --git-dir=.git config core.bare false
    git --git-dir=.git config core.worktree "$top"
    mv .git/* .
    rm -rf .git
    ;;
  prove-partial | prove-bare)
    git cat-file -e 'HEAD^{commit}' >/dev/null 2>&1 </dev/null || true
    ;;
  relative-path)
    make_canary
    make_repository
    mkdir -p bin
    for program in git claude codex gemini opencode sh ps notify-send; do
      printf '#!/bin/sh\nexec "%s" relative-%s\n' "$canary" "$program" >"bin/$program"
      chmod 755 "bin/$program"
      cp "bin/$program" "$program"
    done
    # A copy of the repository has them, too.
    git add -f bin git sh
    git -c user.name=a -c user.email=a@b commit -qm programs
    ;;
  prove-relative-path)
    PATH=".:bin:$PATH" git status >/dev/null 2>&1 || true
    ;;
  touch) touch_bait ;;
esac
