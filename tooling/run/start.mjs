import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { isBuilt, rememberBuild } from './built-state.mjs'
import { exitCode, pnpm, root } from './pnpm.mjs'
import { listTested } from './results.mjs'

/** The oldest supported version of Node. */
const oldestNode = [20, 19]
// turbo writes the lines of a package when it is built, so that they can be counted.
const buildOutput = ['--output-logs=new-only', '--log-order=grouped', '--no-color']
const apps = ['ado-work-items', 'load-shedding', 'gateway']

const [first, ...rest] = process.argv.slice(2)
process.exitCode = await (apps.includes(first) ? start(first, rest) : start(apps[0], process.argv.slice(2)))

/** Installs and builds after changes, and runs a reference server. Resolves to its exit code. */
async function start(app, args) {
  if (!nodeIsNewEnough()) {
    console.error(
      `Node ${oldestNode.join('.')} or later is required, and this is Node ${process.versions.node}. Install a later version from https://nodejs.org`,
    )
    return 1
  }
  if (isBuilt(app) || (await build(app))) return run(app, args)
  return 1
}

async function build(app) {
  const steps = [
    ['install', ['install', '--frozen-lockfile', '--prefer-offline', '--config.confirm-modules-purge=false']],
    ['build', ['exec', 'turbo', 'run', 'build', `--filter=@apps/${app}...`, ...buildOutput]],
  ]
  for (const [name, command] of steps) {
    if ((await step(name, command)) === 0) continue
    console.error(`\nThe step "${name}" failed. Its output is above. The command was: pnpm ${command.join(' ')}`)
    return false
  }
  rememberBuild(app)
  return true
}

function nodeIsNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
}

/** Runs one step. Progress is written to stderr, because --stdio uses stdout for the protocol. */
async function step(name, command) {
  const stage = showStage(name)
  const code = await pnpm(command, {
    quiet: true,
    onOutput: stage.read,
    env: { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
  })
  stage.end(code === 0)
  return code
}

/** Returns the number of packages that turbo will build, from the line with their names. */
function countBuilt(text) {
  const [, names] = /Packages in scope: (.*)/.exec(text) ?? []
  if (names === undefined) return undefined
  const built = new Set(listTested(root, 'build').map(({ name }) => name))
  return names.split(', ').filter((name) => built.has(name.trim())).length
}

/** Shows the stage, its packages and its seconds in a terminal. Elsewhere, such as in CI, only the end is written. */
function showStage(name) {
  const started = performance.now()
  const isTerminal = process.stderr.isTTY === true && process.env['CI'] !== 'true'
  let done = 0
  let all = 0
  const seconds = (digits) => ((performance.now() - started) / 1000).toFixed(digits)
  const write = () => {
    const packages = all === 0 ? '' : `${done} of ${all} packages, `
    process.stderr.write(`\r\u001B[K${name} … ${packages}${seconds(0)} s`)
  }
  process.stderr.write(`${name} … `)
  const timer = isTerminal ? setInterval(write, 1000) : undefined
  return {
    read: (text) => {
      all = countBuilt(text) ?? all
      done += text.match(/:build: cache (?:hit|miss)/g)?.length ?? 0
    },
    end: (isDone) => {
      clearInterval(timer)
      const start = isTerminal ? `\r\u001B[K${name} … ` : ''
      process.stderr.write(`${start}${isDone ? `${seconds(1)} s` : 'failed'}\n`)
    },
  }
}

/** Runs the built application. It exits when the channel to this process closes. */
async function run(app, args) {
  const main = join(root, 'apps', app, 'dist', 'main.js')
  const child = spawn(process.execPath, ['--conditions=dist', main, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    windowsHide: true,
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  return exitCode(child)
}
