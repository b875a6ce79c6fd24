#!/usr/bin/env bash
# One night: what is new in a bucket of recordings goes into the wiki, onto one branch, and into one pull request.
#
# Installed as `wiki-nightly`. Run it in a clone of its own of the wiki's repository, as
# `wiki lock "$WIKI_STATE/_wiki.lock" -- wiki-nightly`; docs/nightly.md has the job files, and what can go wrong.
#
#   WIKI_BUCKET    the recordings: s3://BUCKET/PREFIX (or gs://, az://)
#   WIKI_STATE     where the journal of paid answers is kept: s3://BUCKET/OTHER-PREFIX, not below WIKI_BUCKET (none:
#                  only beside the wiki)
#   WIKI_FOLDER    the wiki in the repository (wiki)
#   WIKI_BASE      the branch that pull requests go to (main)
#   WIKI_BRANCH    the one branch that they come from (wiki/nightly)
#   WIKI_REMOTE    the remote of both (origin)
#   WIKI_OPTIONS   more words for `wiki ingest`, as "--max-new-pages 20 --engine anthropic --max-usd 5"
#   WIKI_LINKS     what links in the pull request begin with: https://github.com/OWNER/REPOSITORY/blob/BRANCH
#   WIKI_NIGHT     what the runs of one night have in common: an object that fails in several has failed once (the date)
#   WIKI_OUTPUT    a folder for the pull request's body and the reports of the runs (a temporary one)
#   WIKI_PAUSE     seconds before the remote or the forge is asked once more (20)
#   WIKI_FORGE     github (by gh), gitlab (by curl, with WIKI_TOKEN), or none: the branch is pushed, nothing else
#
# The exit code is that of `wiki ingest`, once all that it found is pushed: 1 if some recording failed, 3 at a limit of
# cost or time; 2 if nothing could be done, or the last step could not, which the next night then does.
set -eEuo pipefail
trap 'fail "this failed: $BASH_COMMAND"' ERR # of git, where the line before says why

without_slashes() { # at its end
  local path=$1
  while [ "$path" != "${path%/}" ]; do path=${path%/}; done
  printf '%s' "$path"
}

wiki=$(without_slashes "${WIKI_FOLDER:-wiki}")
while [ "$wiki" != "${wiki#./}" ]; do wiki=${wiki#./}; done # as git names it
within=$wiki/ # what the paths of its files begin with: nothing where it is the whole checkout
if [ "$wiki" = . ]; then within=; fi
base=${WIKI_BASE:-main}
branch=${WIKI_BRANCH:-wiki/nightly}
remote=${WIKI_REMOTE:-origin}
forge=${WIKI_FORGE:-none}
pause=${WIKI_PAUSE:-20}
options=()
output=${WIKI_OUTPUT:-$(mktemp -d)}
runs=0
run_code=0
is_searched=false # for secrets, as the wiki is now
has_resolved=false # a conflict, which the forge would find again
stopped=0
shown=
opens=true # a pull request where there is none
title="Wiki: what was read in the bucket"
unsaid= # why nobody could say what is new

say() { printf 'nightly: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 2
}

if [ $# -gt 0 ]; then
  case $1 in
    -h | --help)
      echo "Usage: wiki-nightly (no arguments; it is set up by these variables)"
      sed -n '/^#   WIKI_/,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) fail "$1: it takes no arguments; \`wiki-nightly --help\` says how it is set up" ;;
  esac
fi

# The words of WIKI_OPTIONS, which may be on several lines. Nothing takes quotes off them: an exclusion would fit nothing.
read_options() {
  local word
  read -r -d '' -a options <<< "${WIKI_OPTIONS:-}" || true # there is no NUL to end at
  for word in ${options[@]+"${options[@]}"}; do
    case $word in
      [\'\"]* | *=[\'\"]*) fail "WIKI_OPTIONS: $word: write it without quotes" ;;
    esac
  done
  case " ${options[*]} " in # a pull request that stays open gets no more new pages than that
    *" --max-new-pages"*) options+=(--new-since "$remote/$base") ;;
  esac
  if [ -n "${WIKI_STATE:-}" ]; then options+=(--journal-store "$WIKI_STATE/journal"); fi
}

# What a night needs, before anything is done for it: a line for each thing that is not there.
check_what_is_needed() {
  local is_lacking=false program variable programs=(git wiki python3) variables=()
  if [ -z "${WIKI_BUCKET:-}" ]; then
    say "WIKI_BUCKET is not set: it is to be the address of the recordings, as s3://BUCKET/PREFIX"
    is_lacking=true
  fi
  case $forge in
    none) ;;
    github) programs+=(gh) ;;
    gitlab)
      programs+=(curl)
      variables=(WIKI_TOKEN CI_API_V4_URL CI_PROJECT_ID)
      ;;
    *)
      say "WIKI_FORGE=$forge: there is github, gitlab or none"
      is_lacking=true
      ;;
  esac
  for program in "${programs[@]}"; do
    if ! command -v "$program" > /dev/null; then
      say "$program is not on the PATH, and a night with WIKI_FORGE=$forge needs it"
      is_lacking=true
    fi
  done
  for variable in "${variables[@]}"; do
    if [ -z "${!variable:-}" ]; then
      say "$variable is not set, and WIKI_FORGE=$forge needs it (a job of GitLab has the ones that begin with CI_)"
      is_lacking=true
    fi
  done
  if "$is_lacking"; then exit 2; fi
}

# The lock differs each night: read as a recording it would make each night one with news.
refuse_state_among_recordings() {
  local state bucket
  state=$(without_slashes "${WIKI_STATE:-}")
  bucket=$(without_slashes "$WIKI_BUCKET")
  case $state/ in
    "$bucket"/*)
      fail "WIKI_STATE ($WIKI_STATE) lies below WIKI_BUCKET ($WIKI_BUCKET), and would be read as recordings: name another place"
      ;;
  esac
}

# The branch continues, so that nothing is read or paid twice; after its pull request was merged it starts from the base.
start_branch() {
  if [ -e "$under_way" ]; then find "$(git rev-parse --git-dir)" -name '*.lock' -delete; fi # of a git that was killed
  git fetch --quiet "$remote" "+refs/heads/$base:refs/remotes/$remote/$base" || fail "$remote/$base cannot be fetched"
  started=$remote/$base
  local there=0
  git ls-remote --exit-code --heads "$remote" "refs/heads/$branch" > /dev/null || there=$?
  if [ "$there" -eq 0 ]; then
    fetch_branch || fail "$remote/$branch cannot be fetched"
    if ! git merge-base --is-ancestor "$remote/$branch" "$remote/$base"; then
      started=$remote/$branch
      shown=$(git rev-parse "$started") # what the pull request held before this night
    fi
  elif [ "$there" -ne 2 ]; then # 2: there is no such branch
    fail "$remote cannot be asked for its branches"
  fi
  clear_what_a_night_left
  touch "$under_way" # before anything that a killed git leaves half done
  git checkout --quiet --no-track -B "$branch" "$started"
  know_squash_merge
  take_in "$remote/$base"
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

# A squash merge leaves no trace in the history, and all that it brought would be merged again with what people made of
# it since. So the commit that it is on the base is recorded as a merge of what the branch was then.
know_squash_merge() {
  local from squash each
  from=$(git merge-base HEAD "$remote/$base") || return 0
  while IFS= read -r squash; do
    while IFS= read -r each; do
      if is_squash_of "$squash" "$each"; then
        take_in "$(git commit-tree -p "$each" -p "$squash" -m "Wiki: merged into $base as one commit" "$squash^{tree}")"
        return
      fi
    done < <(git rev-list "$from..HEAD")
  done < <(git rev-list --first-parent "$from..$remote/$base" -- "$wiki")
}

# Whether a commit of the base ($1) holds the wiki of one of the branch ($2), or what merging that into its parent gives,
# which differs where the base had changes of its own (git older than 2.38 cannot say).
is_squash_of() {
  local held merged
  held=$(wiki_in "$1") || return 1
  if [ "$held" = "$(wiki_in "$2")" ]; then return; fi
  merged=$(git merge-tree --write-tree "$1^" "$2" 2> /dev/null) || return 1
  [ "$held" = "$(wiki_in "$merged")" ]
}

wiki_in() { git rev-parse --quiet --verify "$1:${within%/}"; }

# Merge another branch. What both sides generated is united (.gitattributes of the wiki), and rendered again later. Of
# a session that both sides mined anew the other side's record counts. A page that one side took out stays for now: if
# nobody edited it, it goes when it is rendered.
take_in() {
  if git merge --quiet --no-edit "$1" >&2; then return; fi
  local path
  while IFS= read -r -d '' path; do
    case $path in
      "$within"_sessions/* | "$within"_corpus/*)
        if git checkout --quiet --theirs -- "$path" 2> /dev/null; then git add -- "$path"; else git rm --quiet -- "$path"; fi
        ;;
      "$within"guidelines/* | "$within"skills/* | "$within"tasks/* | "$within"summaries/* | "$within"_*/*)
        git checkout --quiet --theirs -- "$path" 2> /dev/null || git checkout --quiet --ours -- "$path" 2> /dev/null \
          || git rm --quiet -- "$path"
        if [ -e "$path" ]; then git add -- "$path"; fi
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
  if [ "$run_code" -eq 2 ]; then fail "nothing is pushed"; fi
}

has_changed() { # in a condition no failure ends the script
  if [ -d "$wiki" ]; then git add --all -- "$wiki" || fail "what the night made cannot be added"; fi
  "$has_resolved" || ! git diff --cached --quiet "$started" -- "$wiki"
}

# The pull request's body and title; false when there is nothing new to review, or nobody can say what is.
describe() {
  local arguments=(--wiki "$wiki" --base "$remote/$base" --pr "$output/body.md" --exit-code) run code=0
  for run in "$output"/run-*.json; do arguments+=(--run "$run"); done
  if [ -n "${WIKI_LINKS:-}" ]; then arguments+=(--link-base "$WIKI_LINKS"); fi
  if [ -n "$shown" ]; then arguments+=(--seen "$(last_shown)"); fi
  wiki report "${arguments[@]}" >&2 || code=$?
  if { [ "$code" -ne 0 ] && [ "$code" -ne 3 ]; } || ! title=$(json_value title "$output/body.json"); then
    unsaid="no report of what is new (exit code $code)"
    return 1
  fi
  [ "$code" -eq 0 ]
}

# The commit that the open request was last written for. Where nobody says which, it is what the branch held before.
last_shown() {
  local said=
  case $forge in
    github) said=$(open_request_on_github) || true ;;
    gitlab) said=$(requests_on_gitlab | grep --max-count 1 ' opened ') || true ;;
  esac
  said=$(grep --only-matching --extended-regexp '<!-- [0-9a-f]{40,64} -->' <<< "$said" | tail -n 1) || true
  said=${said//[!0-9a-f]/}
  if [ -n "$said" ] && git merge-base --is-ancestor "$said" HEAD 2> /dev/null; then
    printf '%s' "$said"
  else
    printf '%s' "$shown"
  fi
}

json_value() { python3 -c 'import json, sys; print(json.load(open(sys.argv[2], encoding="utf-8"))[sys.argv[1]])' "$@"; }

commit() {
  local subject=$1
  if [ -d "$wiki" ]; then git add --all -- "$wiki"; fi
  if git diff --cached --quiet; then return; fi
  if git diff --cached --quiet -- . ":(exclude,top)${within}_buckets.jsonl"; then
    subject="Wiki: state of the bucket, no page changed"
  fi
  git commit --quiet --message "$subject"
}

# What was merged, edited or written by an earlier version was not redacted by this run. A secret that is on the branch
# already is as bad as one that would come: no night passes over it. $1: whether the night has something to push.
check_for_secrets() {
  if "$is_searched" || [ ! -d "$wiki" ]; then return; fi
  if wiki secrets --wiki "$wiki" >&2; then
    is_searched=true
  elif "$1"; then
    fail "$wiki holds secrets: nothing was pushed"
  else
    fail "$wiki on $started holds secrets, or cannot be searched: replace the keys, and take them out there (wiki redact)"
  fi
}

# What git says of a push that another try cannot mend: whoever pushes may not, or the remote takes no such push.
refused='declined|denied|not allowed|not granted|protected branch|Authentication failed|could not read (Username|Password)'
refused+='|returned error: 40[0134]|[Rr]epository +not found|not appear to be a git repository|Host key verification failed'

# A plain push: what somebody else pushed onto the branch is never overwritten, but taken in.
push() {
  local attempt said code
  for attempt in 1 2 3; do
    check_for_secrets true
    code=0
    said=$(LC_ALL=C git push --quiet "$remote" "HEAD:refs/heads/$branch" 2>&1) || code=$?
    if [ -n "$said" ]; then printf '%s\n' "$said" >&2; fi
    if [ "$code" -eq 0 ]; then return; fi
    if [ "$stopped" -ne 0 ]; then break; fi
    # Of a race git says so; what it names, such as the remote's address in quotes, refuses nothing.
    if ! grep --quiet -E '\((fetch first|non-fast-forward)\)' <<< "$said" &&
      sed -E "/^To /d; s/(^| )'[^']*'/ /g" <<< "$said" | grep --quiet --extended-regexp "$refused"; then
      fail "$branch could not be pushed: $remote refuses it"
    fi
    say "push $attempt failed; taking in what is on $branch now"
    if ! fetch_branch; then
      sleep "$pause"
      continue
    fi
    take_in "$remote/$branch"
    ingest
    is_searched=false
    commit "Wiki: two nights joined"
  done
  fail "$branch could not be pushed"
}

request_review() { # $1: whether there is something new on the branch
  if [ "$forge" != none ]; then # by which a later night knows what the request says
    commit_shown=$(git rev-parse "$remote/$branch")
    printf '\n<!-- %s -->\n' "$commit_shown" >> "$output/body.md"
  fi
  case $forge in
    github) request_review_on_github "$1" || fail "$branch is pushed, but the forge did not take its pull request" ;;
    gitlab) request_review_on_gitlab "$1" || fail "$branch is pushed, but the forge did not take its merge request" ;;
    none)
      local what="$branch is pushed"
      if ! "$1"; then what="nothing new is pushed onto $branch"; fi
      say "$what; the body for a pull request is $output/body.md"
      ;;
  esac
}

listed_on_github=(--head "$branch" --base "$base" --limit 1000) # of which the newest may all be those of forks
own_on_github='map(select(.isCrossRepository | not))'            # a fork may have a branch of this name

open_request_on_github() { # its number and its body; nothing where there is none
  again gh pr list "${listed_on_github[@]}" --state open --json number,body,isCrossRepository \
    --jq "$own_on_github"' | .[0] // empty | "\(.number) \(.body)"'
}

# Without anything new there is a pull request to open only if a night died before it could, not if somebody closed it;
# and one to update only if a night died before that. (Called behind `||`, so each step says what its failure is.)
request_review_on_github() {
  local found heads
  found=$(open_request_on_github) || return 1
  if [ -n "$found" ]; then
    if ! "$1" && grep --quiet --fixed-strings "$commit_shown" <<< "$found"; then return; fi
    again gh pr edit "${found%% *}" --title "$title" --body-file "$output/body.md" >&2
    return
  fi
  heads=$(again gh pr list "${listed_on_github[@]}" --state all --json headRefOid,isCrossRepository \
    --jq "$own_on_github | .[].headRefOid") || return 1
  if "$opens" && { "$1" || ! grep --quiet "$commit_shown" <<< "$heads"; }; then
    gh pr create --head "$branch" --base "$base" --title "$title" --body-file "$output/body.md" >&2
  fi
}

# Number, state and commit of each of this project, and the comment that says for which commit it was written.
known_requests='
import json, re, sys
for each in json.load(sys.stdin):
    if str(each.get("source_project_id", sys.argv[1])) != sys.argv[1]:
        continue  # of a fork, which may have a branch of this name
    said = re.findall("<!-- [0-9a-f]{40,64} -->", each["description"] or "") or ["-"]
    print(each["iid"], each["state"], each["sha"], said[-1])'

requests_on_gitlab() { # a line each
  again gitlab --get "$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests?per_page=100" \
    --data-urlencode "source_branch=$branch" --data-urlencode "target_branch=$base" \
    | python3 -c "$known_requests" "$CI_PROJECT_ID"
}

request_review_on_gitlab() {
  local requests=$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests known open
  local said=(--form-string "title=$title" --form "description=<$output/body.md")
  known=$(requests_on_gitlab) || return 1
  open=$(grep --max-count 1 ' opened ' <<< "$known") || true
  if [ -n "$open" ]; then
    if ! "$1" && grep --quiet --fixed-strings "<!-- $commit_shown -->" <<< "$open"; then return; fi
    again gitlab --request PUT "$requests/${open%% *}" "${said[@]}" > /dev/null
  elif "$opens" && { "$1" || ! grep --quiet "$commit_shown" <<< "$known"; }; then
    gitlab --request POST "$requests" "${said[@]}" \
      --form-string "source_branch=$branch" --form-string "target_branch=$base" > /dev/null
  fi
}

# A forge that is busy is asked three times; what is asked so may be asked twice.
again() {
  local attempt
  for attempt in 1 2 3; do
    if "$@"; then return; fi
    sleep "$pause"
  done
  return 1
}

gitlab() { # the token is in no list of processes
  printf 'header = "PRIVATE-TOKEN: %s"\n' "$WIKI_TOKEN" | curl --fail --silent --show-error --config - "$@"
}

main() {
  check_what_is_needed
  refuse_state_among_recordings
  read_options
  options+=(--night "${WIKI_NIGHT:-$(date -u +%F)}")
  local root
  root=$(git rev-parse --show-toplevel 2> /dev/null) || fail "$PWD is in no clone of a repository, which a night needs"
  cd "$root"
  if ! git config user.email > /dev/null; then
    export GIT_AUTHOR_NAME=wiki-nightly GIT_AUTHOR_EMAIL=wiki-nightly@localhost
    export GIT_COMMITTER_NAME=wiki-nightly GIT_COMMITTER_EMAIL=wiki-nightly@localhost
  fi
  under_way=$(git rev-parse --git-dir)/wiki-night-under-way
  mkdir -p "$output"
  rm -f "$output"/run-*.json "$output"/body.*
  start_branch
  ingest
  local is_changed=false
  if has_changed; then is_changed=true; fi
  if [ "$stopped" -eq 0 ]; then check_for_secrets "$is_changed"; fi # before a body says that all is well
  if [ "$stopped" -ne 0 ]; then
    if "$is_changed"; then
      commit "Wiki: a night that was stopped"
      push
    fi
    say "stopped; the next night continues"
  elif git diff --cached --quiet "$remote/$base" -- "$wiki"; then
    if "$is_changed"; then # a conflict that left nothing but what is on the base: the forge must not find it again
      commit "Wiki: as it is on $base"
      push
    fi
    say "nothing new"
  else
    local is_news=false
    if describe; then is_news=true; fi
    if "$is_changed"; then
      commit "$title"
      push
      if [ "$runs" -gt 1 ]; then describe || is_news=false; fi
    fi
    if [ -n "$unsaid" ]; then fail "$unsaid; what there is, is pushed"; fi
    if "$is_news"; then
      request_review "$is_changed"
    else
      say "nothing new to review"
      if "$is_changed" && [ "$forge" != none ]; then # what an open request says is on the branch no more
        opens=false
        request_review false
      fi
    fi
  fi
  git reset --quiet --hard
  rm -f "$under_way"
  exit "$run_code"
}

main
