import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { delimiter, join } from 'node:path'
import { compilers } from '../../typescript-versions/src/index.mjs'
import { workspaceRoot } from './workspace.mjs'

/**
 * `after` is the step that must have ended before, with or without success. A quick step is part of `pnpm check`, where
 * `drawing` is its command there: it may draw and format files, and needs no build.
 * @typedef {{ name: string, command: readonly string[], drawing?: readonly string[], remedy?: string, isQuick?: boolean,
 *   after?: string }} Step
 */

// tooling/run is not a package, and private packages may list types in `dependencies`. TypeScript 7 compiles in a
// quarter of the time of 6, which stays where its API is used.
const sherif = 'sherif --fail-on-warnings -i typescript -r packages-without-package-json -r types-in-dependencies'

const tsc = [...compilers].at(-1)?.[1] ?? ''

/** @type {readonly Step[]} */
const steps = [
  { name: 'build', command: ['turbo', 'run', 'build', '--output-logs=errors-only', '--concurrency=2'] },
  // The longest chain of steps, so it begins as early as it can.
  { name: 'reference', command: ['typedoc', '--logLevel', 'Warn'], after: 'build' },
  { name: 'site', command: ['pnpm', '--silent', '--filter', '@apps/site', 'site'], after: 'reference' },
  {
    name: 'format',
    command: ['biome', 'format', '--config-path=tooling/lint', '.'],
    drawing: ['biome', 'format', '--config-path=tooling/lint', '--write', '.'],
    remedy: 'run pnpm format',
    isQuick: true,
  },
  {
    name: 'types',
    command: [tsc, '-p', 'tooling/tsconfig/all.json'],
    // The benchmarks import what was built.
    drawing: [tsc, '-p', 'tooling/tsconfig/unbuilt.json'],
    after: 'build',
    isQuick: true,
  },
  {
    name: 'sources',
    command: ['node', 'tooling/checks/src/sources.mjs'],
    drawing: ['node', 'tooling/checks/src/sources.mjs', '--write'],
    after: 'format',
    isQuick: true,
  },
  { name: 'lint', command: ['pnpm', '--silent', 'lint'], isQuick: true },
  {
    name: 'manifests',
    command: sherif.split(' '),
    remedy: 'run node_modules/.bin/sherif --fix in tooling/checks, which corrects most of it',
    isQuick: true,
  },
  {
    name: 'unused',
    command: ['knip', '--config', 'tooling/checks/knip.json', '--no-progress', '--no-config-hints'],
    remedy: 'remove the unused code, or list what is missing in package.json',
    isQuick: true,
  },
  { name: 'types of pages', command: [tsc, '-p', 'tooling/tsconfig/pages.json'] },
  { name: 'types of mcpx dev', command: [tsc, '-p', 'packages/cli/web'] },
  { name: 'types of scripts', command: [tsc, '-p', 'tooling/tsconfig/scripts.json'] },
  { name: 'package shape', command: ['node', 'tooling/checks/src/package-shape.mjs'], after: 'build' },
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

/** @param {Step} step @returns {Promise<boolean>} True if it passed. */
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
      if (code !== 0) {
        const text = `${Buffer.concat(output).toString('utf8').trim()}\n${step.remedy ?? ''}`.trim()
        console.log(text.replaceAll(/^/gm, '       '))
      }
      resolve(code === 0)
    })
  })
}

/**
 * Runs the steps, at most two at a time, and returns the number of failed ones.
 * @param {readonly Step[]} all
 */
async function runAll(all) {
  const waiting = [...all]
  const names = all.map(({ name }) => name)
  /** @type {Set<string>} */
  const ended = new Set()
  /** @type {Set<Promise<void>>} */
  const running = new Set()
  let failed = 0
  while (waiting.length > 0 || running.size > 0) {
    const next = waiting.findIndex(({ after = '' }) => !names.includes(after) || ended.has(after))
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
const isCheck = flags.includes('--check')
const chosen = flags.filter((flag) => !flag.startsWith('--'))
const unknown = chosen.filter((name) => ![...steps, tests].some((step) => step.name === name))
if (unknown.length > 0) {
  console.error(
    `No step has the name ${unknown.join(', ')}. The steps are: ${[...steps, tests].map(({ name }) => name).join(', ')}`,
  )
  process.exit(2)
}
// A step that is not selected is not waited for.
const selected = steps
  .filter(({ name, isQuick }) => (chosen.length === 0 ? !isCheck || isQuick : chosen.includes(name)))
  .map((step) => (isCheck ? { ...step, command: step.drawing ?? step.command } : step))
const withTests = chosen.length === 0 ? !isCheck && !flags.includes('--no-tests') : chosen.includes('tests')
// The tests run after the other steps, because they use all cores.
const failed = (await runAll(selected)) + (withTests && !(await runStep(tests)) ? 1 : 0)
const count = selected.length + (withTests ? 1 : 0)
console.log(failed === 0 ? `${count} steps passed` : `${failed} of ${count} steps failed`)
process.exitCode = failed === 0 ? 0 : 1
