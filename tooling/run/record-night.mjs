import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { root } from './pnpm.mjs'

// Writes the record of the last night, with the commit that it has run.
const times = JSON.parse(readFileSync(join(root, '.results/times.json'), 'utf8'))
const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' })
const { seconds, stages, slowest, passed, failed } = times
const record = {
  commit: stdout.trim(),
  ended: new Date().toISOString(),
  node: process.version,
  cores: availableParallelism(),
  passed,
  failed,
  seconds,
  stages,
  slowest,
}
writeFileSync(join(root, '.ci/nightly.json'), `${JSON.stringify(record, null, 2)}\n`)
