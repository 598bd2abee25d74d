import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { isBuilt, rememberBuild } from './built-state.mjs'
import { exitCode, pnpm, root } from './pnpm.mjs'

/** The oldest Node that everything here runs on. */
const oldestNode = [20, 19]
const apps = ['ado-work-items', 'load-shedding', 'gateway']

const [first, ...rest] = process.argv.slice(2)
process.exitCode = await (apps.includes(first) ? start(first, rest) : start(apps[0], process.argv.slice(2)))

/** Installs and builds what has changed, and runs a reference server; resolves to the exit code. */
async function start(app, args) {
  if (!nodeIsNewEnough()) {
    console.error(
      `This needs Node ${oldestNode.join('.')} or newer; this is ${process.versions.node}. Get a newer one from https://nodejs.org`,
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
    console.error(`\nCould not ${name}; the output above says why. The command was: pnpm ${command.join(' ')}`)
    return false
  }
  rememberBuild(app)
  return true
}

function nodeIsNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
}

/** Its progress goes to the error output: with --stdio, the output is the protocol's. */
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

/** Runs the application as it was built. It ends by itself when the channel to this process closes. */
async function run(app, args) {
  const main = join(root, 'apps', app, 'dist', 'main.js')
  const child = spawn(process.execPath, ['--conditions=dist', main, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    windowsHide: true,
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  return exitCode(child)
}
