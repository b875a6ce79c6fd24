#!/usr/bin/env bash
#SBATCH --job-name=wiki-shards
#SBATCH --array=1-8
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
# Eight shards as a job array, on a file system that all nodes share (or a bucket). Recordings first, then any options:
#
#   export OUT=/shared/run-7 WIKI=/shared/wiki SHARDS=8
#   job=$(sbatch --parsable deploy/slurm-array.sh /shared/traces)
#   sbatch --dependency="afterany:$job" --wrap "wiki join $OUT --wiki $WIKI"   # says which shards are missing
#
# A task that has failed or run out of time: `sbatch --array=3 deploy/slurm-array.sh /shared/traces`. It continues where
# it was. SHARDS says of how many, since such an array has only one; it has to be the same for all.
#
# Tried: this script with the variables that Slurm sets, without Slurm. Not tried: a cluster.
set -euo pipefail
exec wiki ingest "$@" --durable --shard "$SLURM_ARRAY_TASK_ID/${SHARDS:?of how many}" --out "${OUT:?where to}" \
  --wiki "${WIKI:?the wiki that they will be joined to}" --jobs "${SLURM_CPUS_PER_TASK:-1}"
