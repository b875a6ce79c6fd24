#!/usr/bin/env bash
# One night: what is new in a bucket of recordings goes into the wiki, onto one branch, and into one pull request.
#
# Installed as `wiki-nightly`. Run it in a clone of its own of the wiki's repository, as
# `wiki lock "$WIKI_STATE/_wiki.lock" -- wiki-nightly`; docs/nightly.md has the job files, and what can go wrong.
#
#   WIKI_BUCKET    the recordings: s3://BUCKET/PREFIX (or gs://, az://)
#   WIKI_STATE     where the journal of paid answers is kept: s3://BUCKET/OTHER-PREFIX (none: only beside the wiki)
#   WIKI_FOLDER    the wiki in the repository (wiki)
#   WIKI_BASE      the branch that pull requests go to (main)
#   WIKI_BRANCH    the one branch that they come from (wiki/nightly)
#   WIKI_REMOTE    the remote of both (origin)
#   WIKI_OPTIONS   more words for `wiki ingest`, as "--max-new-pages 20 --engine anthropic --max-usd 5"
#   WIKI_LINKS     what links in the pull request begin with: https://github.com/OWNER/REPOSITORY/blob/BRANCH
#   WIKI_OUTPUT    a folder for the pull request's body and the reports of the runs (a temporary one)
#   WIKI_FORGE     github (by gh), gitlab (by curl, with WIKI_TOKEN), or none: the branch is pushed, nothing else
#
# The exit code is that of `wiki ingest`, once all that it found is pushed: 1 if some recording failed, 3 at a limit of
# cost or time; 2 if nothing could be done.
set -euo pipefail

wiki=${WIKI_FOLDER:-wiki}
base=${WIKI_BASE:-main}
branch=${WIKI_BRANCH:-wiki/nightly}
remote=${WIKI_REMOTE:-origin}
forge=${WIKI_FORGE:-none}
read -ra options <<< "${WIKI_OPTIONS:-}"
case " ${options[*]} " in # a pull request that stays open gets no more new pages than that
  *" --max-new-pages"*) options+=(--new-since "$remote/$base") ;;
esac
if [ -n "${WIKI_STATE:-}" ]; then options+=(--journal-store "$WIKI_STATE/journal"); fi
output=${WIKI_OUTPUT:-$(mktemp -d)}
under_way=$wiki/.wiki/night-under-way # in a folder that git ignores
runs=0
run_code=0
has_resolved=false # a conflict, which the forge would find again
stopped=0
shown=

say() { printf 'nightly: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 2
}

# The branch continues, so that nothing is read or paid twice; after its pull request was merged it starts from the base.
start_branch() {
  git fetch --quiet "$remote" "+refs/heads/$base:refs/remotes/$remote/$base"
  started=$remote/$base
  local there=0
  git ls-remote --exit-code --heads "$remote" "refs/heads/$branch" > /dev/null || there=$?
  if [ "$there" -eq 0 ]; then
    fetch_branch
    if ! git merge-base --is-ancestor "$remote/$branch" "$remote/$base"; then
      started=$remote/$branch
      shown=$(git rev-parse "$started") # what the pull request held before this night
    fi
  elif [ "$there" -ne 2 ]; then # 2: there is no such branch
    fail "$remote cannot be asked for its branches"
  fi
  clear_what_a_night_left
  git checkout --quiet --no-track -B "$branch" "$started"
  take_in "$remote/$base"
  mkdir -p "$wiki/.wiki"
  touch "$under_way"
}

fetch_branch() { git fetch --quiet "$remote" "+refs/heads/$branch:refs/remotes/$remote/$branch"; }

# A night that was killed leaves changes that nobody committed. The journal keeps what was paid for them.
clear_what_a_night_left() {
  if [ -z "$(git status --porcelain)" ]; then return; fi
  [ -e "$under_way" ] || fail "somebody's changes are in this clone: commit them; a night needs a clone of its own"
  git merge --abort 2> /dev/null || true
  git reset --quiet --hard
  git clean --quiet --force -d -- "$wiki"
}

# Merge another branch. What both sides generated is united (.gitattributes of the wiki), and rendered again later. Of
# a session that both sides mined anew the other side's record counts.
take_in() {
  if git merge --quiet --no-edit "$1" >&2; then return; fi
  local path
  while IFS= read -r -d '' path; do
    case $path in
      "$wiki"/_sessions/* | "$wiki"/_corpus/*)
        if git checkout --quiet --theirs -- "$path" 2> /dev/null; then git add -- "$path"; else git rm --quiet -- "$path"; fi
        ;;
      *)
        git merge --abort
        fail "$path: $1 cannot be merged into $branch; merge it by hand and push $branch"
        ;;
    esac
  done < <(git diff --name-only --diff-filter=U -z)
  git commit --quiet --no-edit
  has_resolved=true
}

# The wiki with all that is new in the bucket. Nobody may pay twice, so a signal ends the run, and what it has is kept.
ingest() {
  runs=$((runs + 1))
  run_code=0
  trap 'stopped=143' TERM
  trap 'stopped=130' INT
  wiki ingest "$WIKI_BUCKET" --wiki "$wiki" --durable --json "${options[@]}" > "$output/run-$runs.json" || run_code=$?
  trap '' TERM INT # what there is, is pushed
  if [ "$run_code" -eq 130 ] || [ "$run_code" -eq 143 ]; then stopped=$run_code; fi
  if [ "$stopped" -ne 0 ]; then run_code=$stopped; fi
  if [ "$run_code" -eq 2 ]; then fail "nothing was changed"; fi
}

has_changed() {
  git add --all -- "$wiki"
  "$has_resolved" || ! git diff --cached --quiet "$started" -- "$wiki"
}

# The pull request's body and title; false when there is nothing new to review.
describe() {
  local arguments=(--wiki "$wiki" --base "$remote/$base" --pr "$output/body.md" --exit-code) run code=0
  for run in "$output"/run-*.json; do arguments+=(--run "$run"); done
  if [ -n "${WIKI_LINKS:-}" ]; then arguments+=(--link-base "$WIKI_LINKS"); fi
  if [ -n "$shown" ]; then arguments+=(--seen "$shown"); fi
  wiki report "${arguments[@]}" >&2 || code=$?
  if [ "$code" -ne 0 ] && [ "$code" -ne 3 ]; then fail "no report of what is new"; fi
  title=$(json_value title "$output/body.json") || fail "no title of what is new"
  [ "$code" -eq 0 ]
}

json_value() { python3 -c 'import json, sys; print(json.load(open(sys.argv[2], encoding="utf-8"))[sys.argv[1]])' "$@"; }

commit() {
  git add --all -- "$wiki"
  if git diff --cached --quiet; then return; fi
  git commit --quiet --message "$1"
}

# What was merged, edited or written by an earlier version was not redacted by this run.
check_for_secrets() { wiki secrets --wiki "$wiki" >&2 || fail "$wiki holds secrets: nothing was pushed"; }

# A plain push: what somebody else pushed onto the branch is never overwritten, but taken in.
push() {
  local attempt
  for attempt in 1 2 3; do
    check_for_secrets
    if git push --quiet "$remote" "HEAD:refs/heads/$branch" >&2; then return; fi
    if [ "$stopped" -ne 0 ]; then break; fi
    say "push $attempt failed; taking in what is on $branch now"
    fetch_branch || continue
    take_in "$remote/$branch"
    ingest
    commit "Wiki: two nights joined"
  done
  fail "$branch could not be pushed"
}

request_review() { # $1: whether there is something new on the branch
  case $forge in
    github) request_review_on_github "$1" ;;
    gitlab) request_review_on_gitlab "$1" ;;
    none) say "$branch is pushed; the body for a pull request is $output/body.md" ;;
    *) fail "WIKI_FORGE=$forge: github, gitlab or none" ;;
  esac
}

# Without anything new there is a pull request to open only if a night died before it could, not if somebody closed it.
request_review_on_github() {
  local number of_branch=(--head "$branch" --base "$base")
  number=$(gh pr list "${of_branch[@]}" --state open --json number --jq '.[0].number // empty')
  if [ -n "$number" ]; then
    if "$1"; then gh pr edit "$number" --title "$title" --body-file "$output/body.md" >&2; fi
  elif "$1" || ! gh pr list "${of_branch[@]}" --state all --json headRefOid --jq '.[].headRefOid' \
    | grep --quiet "$(git rev-parse "$remote/$branch")"; then
    gh pr create "${of_branch[@]}" --title "$title" --body-file "$output/body.md" >&2
  fi
}

# Number, state and commit of each, a line each.
known_requests='
import json, sys
for each in json.load(sys.stdin):
    print(each["iid"], each["state"], each["sha"])'

request_review_on_gitlab() {
  local requests=$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests known number
  local said=(--form-string "title=$title" --form "description=<$output/body.md")
  local branches=("source_branch=$branch" "target_branch=$base")
  known=$(gitlab --get "$requests" --data-urlencode "${branches[0]}" --data-urlencode "${branches[1]}" \
    | python3 -c "$known_requests")
  number=$(sed -n 's/ opened .*//p' <<< "$known" | head -n 1)
  if [ -n "$number" ]; then
    if "$1"; then gitlab --request PUT "$requests/$number" "${said[@]}" > /dev/null; fi
  elif "$1" || ! grep --quiet "$(git rev-parse "$remote/$branch")" <<< "$known"; then
    gitlab --request POST "$requests" "${said[@]}" \
      --form-string "${branches[0]}" --form-string "${branches[1]}" > /dev/null
  fi
}

gitlab() { # the token is in no list of processes
  printf 'header = "PRIVATE-TOKEN: %s"\n' "$WIKI_TOKEN" | curl --fail --silent --show-error --config - "$@"
}

main() {
  : "${WIKI_BUCKET:?is to be the address of the recordings, as s3://BUCKET/PREFIX}"
  cd "$(git rev-parse --show-toplevel)"
  if ! git config user.email > /dev/null; then
    export GIT_AUTHOR_NAME=wiki-nightly GIT_AUTHOR_EMAIL=wiki-nightly@localhost
    export GIT_COMMITTER_NAME=wiki-nightly GIT_COMMITTER_EMAIL=wiki-nightly@localhost
  fi
  mkdir -p "$output"
  rm -f "$output"/run-*.json
  start_branch
  ingest
  local is_changed=false
  if has_changed; then is_changed=true; fi
  if [ "$stopped" -ne 0 ]; then
    if "$is_changed"; then
      commit "Wiki: a night that was stopped"
      push
    fi
    say "stopped; the next night continues"
  elif git diff --cached --quiet "$remote/$base" -- "$wiki"; then
    say "nothing new"
  else
    local is_news=false
    if describe; then is_news=true; fi
    if "$is_changed"; then
      if "$is_news"; then commit "$title"; else commit "Wiki: what was read in the bucket"; fi
      push
      if [ "$runs" -gt 1 ]; then describe || is_news=false; fi
    fi
    if "$is_news"; then request_review "$is_changed"; else say "nothing new to review"; fi
  fi
  git reset --quiet --hard
  rm -f "$under_way"
  exit "$run_code"
}

main
