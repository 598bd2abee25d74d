import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram, programs } from '../vitest/programs.mjs'
import { pnpm, root } from './pnpm.mjs'
import { isNight } from '../vitest/scope.mjs'
import { countLine, listLeftOut, listTested, readResults } from './results.mjs'
import { measureTimes, showProgress, timeLines, writeTimes } from './times.mjs'

/** The oldest supported version of Node. */
const oldestNode = [20, 19]
const install = ['install', '--frozen-lockfile', '--prefer-offline', '--config.confirm-modules-purge=false']
/** The packages with the slowest tests: together they take as long as half of all others. */
const longest = ['@tooling/e2e', '@x/cli']

const scope = scopeOf(process.argv.slice(2))
process.env['MCP_TEST_SCOPE'] = scope
// Coverage is printed beside the counts. Nothing judges a change by it, and it costs half the time of the tests again.
process.env['COVERAGE'] ??= scope === 'change' ? '0' : '1'

process.exitCode = await main(process.argv.slice(2))

/**
 * Installs, builds and runs every test. `npm test -- <package> [filter …]` runs the tests of one package, and `--watch`
 * repeats them after each change. Resolves to the exit code.
 */
async function main(args) {
  const isWatching = args.includes('--watch')
  const [only, ...filters] = args.filter((arg) => arg !== '--watch')
  if (!nodeIsNewEnough()) {
    console.error(`Node ${oldestNode.join('.')} or later is required, and this is Node ${process.versions.node}`)
    return 1
  }
  const all = listTested(root)
  const tested = all.filter(({ name, folder }) => only === undefined || name === only || folder.endsWith(`/${only}`))
  if (tested.length === 0) {
    const names = all.map(({ name }) => name).join(', ')
    console.error(`No package with tests has the name "${only}". The packages are: ${names}`)
    return 1
  }
  if (isWatching && only === undefined) {
    console.error(
      `Name the package to watch, as in "pnpm test:watch client": ${all.map(({ name }) => name).join(', ')}`,
    )
    return 1
  }
  const started = performance.now()
  console.log('installing')
  if ((await pnpm(install, { quiet: true })) !== 0) return 1
  if (isWatching) return pnpm(['--filter', tested[0].name, 'exec', 'vitest', 'watch', ...filters])
  // Results of an earlier run must not be counted. turbo restores the results of unchanged packages.
  for (const { directory } of tested) rmSync(join(directory, '.results'), { recursive: true, force: true })
  if (only !== undefined) return report(tested, { code: await runOne(tested[0], filters), started })
  console.log('building and testing; the output of failures follows')
  const alone = listTested(root, 'test-alone').map((one) => ({ ...one, name: `${one.name}, alone` }))
  const everything = [...tested, ...alone]
  const stopProgress = showProgress(everything)
  const code = await runAll()
  stopProgress()
  return report(everything, { code, started })
}

/** Returns what a run is for. It decides which test files are left out. */
function scopeOf(args) {
  if (args.some((arg) => arg !== '--watch')) return 'package'
  if (isNight) return 'night'
  return process.env['CI'] === 'true' ? 'change' : 'newcomer'
}

function nodeIsNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
}

/** Runs the tests of every package, and then the tests that run alone. Resolves to the exit code. */
async function runAll() {
  // Tests wait for processes and timers half of the time, so three packages use two processors fully.
  const together = process.env['CI'] === 'true' ? await testInCi() : await turbo(['build', 'test', '--concurrency=3'])
  const alone = await turbo(['test-alone', '--concurrency=1'])
  return together === 0 ? alone : together
}

/**
 * Builds all packages, and then runs the slowest tests, one package after the other, beside all others. In one run with the
 * builds, turbo starts them among the last, because they depend on most others. Then one of two processors is idle at the
 * end.
 */
async function testInCi() {
  const built = await turbo(['build', '--concurrency=2'])
  if (built !== 0) return built
  // `--only` hides from turbo the sources that a test depends on, so a result must not be reused.
  const test = ['test', '--only', '--force']
  const codes = await Promise.all([
    turbo([...test, ...longest.map((name) => `--filter=${name}`), '--concurrency=1']),
    turbo([...test, ...longest.map((name) => `--filter=!${name}`), '--concurrency=2']),
  ])
  return codes.find((code) => code !== 0) ?? 0
}

function turbo(parameters) {
  const available = [...programs.keys()].filter((name) => findProgram(name) !== undefined)
  const command = ['exec', 'turbo', 'run', ...parameters]
  return pnpm([...command, '--continue=dependencies-successful', '--output-logs=errors-only'], {
    env: {
      TURBO_TELEMETRY_DISABLED: '1',
      TURBO_NO_UPDATE_NOTIFIER: '1',
      // A cached result with skipped tests is invalid once the missing program is installed.
      MCP_TEST_PROGRAMS: available.join(','),
    },
  })
}

function runOne({ name }, filters) {
  return pnpm(['--filter', name, 'exec', 'vitest', 'run', ...filters])
}

/** Prints the results of the packages. The last line is the count. */
function report(tested, { code, started }) {
  const results = tested.map((one) => ({ ...one, ...readResults(one) }))
  const width = Math.max(...results.map(({ name }) => name.length))
  console.log('')
  for (const { name, passed, failed, skipped, coverage, seconds } of results) {
    const counts = `${String(passed).padStart(5)} passed ${String(failed.length).padStart(4)} failed ${seconds.toFixed(0).padStart(4)} s`
    const extra = [skipped.length === 0 ? '' : `${skipped.length} skipped`, coverage].filter((text) => text !== '')
    console.log([`${name.padEnd(width)} ${counts}`, ...extra].join('  '))
  }
  list('failed:', results, ({ failed }) => failed)
  list('skipped:', results, ({ skipped }) => skipped)
  list(`left out of this run, and run by "npm test -- PACKAGE":`, unique(results), ({ directory }) =>
    listLeftOut(directory, scope),
  )
  const times = measureTimes(results, { scope, seconds: (performance.now() - started) / 1000 })
  console.log(`\n${timeLines(times).join('\n')}`)
  writeTimes(join(root, '.results/times.json'), times)
  const passed = results.every(({ failed }) => failed.length === 0)
  if (code !== 0 && passed)
    console.log(`\nevery test passed, but the run exited with code ${code}: see its output above`)
  console.log(`\n${countLine(results)}`)
  return code === 0 && passed ? 0 : 1
}

/** Returns one row for each package: the tests that run alone have a row of their own. */
function unique(results) {
  return results.filter(({ script }) => script === 'test')
}

function list(heading, results, pick) {
  const lines = results.flatMap((one) => pick(one).map((title) => `  ${one.name}: ${title}`))
  if (lines.length > 0) console.log(`\n${heading}\n${lines.join('\n')}`)
}
