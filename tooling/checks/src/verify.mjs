import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { delimiter, join } from 'node:path'
import { compilers } from '../../typescript-versions/src/index.mjs'
import { workspaceRoot } from './workspace.mjs'

/**
 * `after` is the step that must have ended before, with or without success.
 * @typedef {{ name: string, command: readonly string[], remedy?: string, after?: string | undefined }} Step
 */

/** @param {string} file */
const check = (file) => ['node', `tooling/checks/src/${file}.mjs`]

// tooling/run is not a package, and private packages may list types in `dependencies`. A test that runs on several
// versions of Node depends on several of them. TypeScript 7 compiles in a quarter of the time of 6, which stays where
// its API is used.
const sherifExceptions = [
  '-i',
  'node',
  '-i',
  'typescript',
  '-r',
  'packages-without-package-json',
  '-r',
  'types-in-dependencies',
]

const tsc = [...compilers].at(-1)?.[1] ?? ''

// All packages with the same options are checked as one program, which takes a third of the time. These have other
// options.
const ownOptions = [
  'apps/ado-work-items/web',
  'apps/load-shedding/web',
  'packages/cli/web',
  'tooling/bundle',
  'tooling/checks',
]

/** @type {readonly Step[]} */
const steps = [
  { name: 'build', command: ['turbo', 'run', 'build', '--output-logs=errors-only', '--concurrency=2'] },
  { name: 'format', command: ['biome', 'format', '--config-path=tooling/lint', '.'], remedy: 'run pnpm format' },
  { name: 'lint', command: ['pnpm', '--silent', 'lint'] },
  { name: 'names', command: check('names') },
  { name: 'paths', command: check('paths') },
  {
    name: 'manifests',
    command: ['sherif', '--fail-on-warnings', ...sherifExceptions],
    remedy: 'sherif --fix corrects most of it',
  },
  { name: 'borders', command: check('borders') },
  { name: 'docs', command: check('docs') },
  { name: 'pages', command: check('pages') },
  { name: 'mentions', command: check('mentions') },
  { name: 'collections', command: check('collections') },
  { name: 'platform-sources', command: check('platform-sources') },
  { name: 'regular-expressions', command: check('regular-expressions') },
  { name: 'requirements', command: [...check('requirements'), '--quiet'] },
  {
    name: 'unused',
    command: ['knip', '--config', 'tooling/checks/knip.json', '--no-progress', '--no-config-hints'],
    remedy: 'remove the unused code',
  },
  { name: 'types', command: [tsc, '-p', 'tooling/tsconfig/all.json'], after: 'build' },
  ...ownOptions.map((folder) => ({ name: `types of ${folder}`, command: [tsc, '-p', folder], after: 'build' })),
  { name: 'api', command: check('api'), after: 'build' },
  { name: 'package shape', command: check('package-shape'), after: 'build' },
  { name: 'reference', command: ['typedoc', '--logLevel', 'Warn'], after: 'build' },
  { name: 'site', command: ['pnpm', '--silent', '--filter', '@apps/site', 'site'], after: 'reference' },
]

/** @type {Step} */
const tests = { name: 'tests', command: ['node', 'tooling/run/test.mjs'] }

const environment = {
  ...process.env,
  NO_COLOR: '1',
  FORCE_COLOR: '0',
  TURBO_TELEMETRY_DISABLED: '1',
  PATH: [
    join(workspaceRoot, 'node_modules/.bin'),
    join(workspaceRoot, 'tooling/checks/node_modules/.bin'),
    process.env['PATH'] ?? '',
  ].join(delimiter),
}

/**
 * @param {Step} step
 * @returns {Promise<boolean>} True if it passed.
 */
function runStep(step) {
  const started = performance.now()
  const [program = '', ...parameters] = step.command
  const child = spawn(program, parameters, { cwd: workspaceRoot, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  /** @type {Buffer[]} */
  const output = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stderr.on('data', (chunk) => output.push(chunk))
  return new Promise((resolve) => {
    child.on('error', (error) => output.push(Buffer.from(String(error))))
    child.on('close', (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6)
      console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${step.name.padEnd(14)} ${seconds} s`)
      if (code !== 0) printFailure(step, Buffer.concat(output).toString('utf8'))
      resolve(code === 0)
    })
  })
}

/**
 * @param {Step} step
 * @param {string} output
 */
function printFailure(step, output) {
  const lines = output.trim().split('\n')
  console.log(lines.map((line) => `       ${line}`).join('\n'))
  if (step.remedy !== undefined) console.log(`       ${step.remedy}`)
}

/**
 * Runs the steps, at most two at a time, and returns the number of failed ones.
 * @param {readonly Step[]} all
 */
async function runAll(all) {
  const waiting = [...all]
  /** @type {Set<string>} */
  const ended = new Set()
  /** @type {Set<Promise<void>>} */
  const running = new Set()
  let failed = 0
  while (waiting.length > 0 || running.size > 0) {
    const next = waiting.findIndex(({ after }) => after === undefined || ended.has(after))
    if (running.size >= Math.min(2, availableParallelism()) || next === -1) {
      await Promise.race(running)
      continue
    }
    const [step] = waiting.splice(next, 1)
    if (step === undefined) break
    const result = runStep(step).then((passed) => {
      ended.add(step.name)
      running.delete(result)
      if (!passed) failed += 1
    })
    running.add(result)
  }
  return failed
}

const flags = process.argv.slice(2)
const chosen = flags.filter((flag) => !flag.startsWith('--'))
const unknown = chosen.filter((name) => ![...steps, tests].some((step) => step.name === name))
if (unknown.length > 0) {
  console.error(
    `No check has the name ${unknown.join(', ')}. The checks are: ${[...steps, tests].map(({ name }) => name).join(', ')}`,
  )
  process.exit(2)
}
const selected = steps.filter(({ name }) => chosen.length === 0 || chosen.includes(name))
const ready = selected.map((step) =>
  selected.some(({ name }) => name === step.after) ? step : { ...step, after: undefined },
)
const withTests = chosen.length === 0 ? !flags.includes('--no-tests') : chosen.includes('tests')
// The tests run after the other steps, because they use all cores.
const failed = (await runAll(ready)) + (withTests && !(await runStep(tests)) ? 1 : 0)
const count = selected.length + (withTests ? 1 : 0)
console.log(failed === 0 ? `${count} checks passed` : `${failed} of ${count} checks failed`)
process.exitCode = failed === 0 ? 0 : 1
