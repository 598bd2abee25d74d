import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { isBuilt, rememberBuild } from './built-state.mjs'
import { exitCode, pnpm, root } from './pnpm.mjs'

/** The oldest supported version of Node. */
const oldestNode = [20, 19]
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
    ['build', ['exec', 'turbo', 'run', 'build', `--filter=@apps/${app}...`, '--output-logs=errors-only', '--no-color']],
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
  const started = performance.now()
  process.stderr.write(`${name} … `)
  const code = await pnpm(command, {
    quiet: true,
    env: { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
  })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stderr.write(code === 0 ? `${seconds} s\n` : 'failed\n')
  return code
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
