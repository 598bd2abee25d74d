import { spawn } from 'node:child_process'
import { existsSync, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { exitCode, pnpm, root } from './pnpm.mjs'

const apps = ['ado-work-items', 'load-shedding', 'gateway']

/** The time without a change after which a build counts as complete, in milliseconds. */
const settledMs = 500

const [first, ...rest] = process.argv.slice(2)
process.exitCode = await (apps.includes(first) ? develop(first, rest) : develop(apps[0], process.argv.slice(2)))

/**
 * Builds a reference server, and restarts it after each change of a source file of the application or of a package.
 * `node --watch` watches only the files of the first process, and sends its own messages to the processes that it
 * starts.
 */
async function develop(app, args) {
  const filter = `--filter=@apps/${app}...`
  const env = { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }
  const built = await pnpm(['exec', 'turbo', 'run', 'build', filter, '--output-logs=errors-only'], { env })
  if (built !== 0) return built
  const server = createRestartable([
    process.execPath,
    '--conditions=dist',
    join(root, 'apps', app, 'dist/main.js'),
    ...args,
  ])
  const watchers = listBuilt(app).map((folder) => watch(folder, { recursive: true }, server.restartSoon))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, server.stop)
  const builder = pnpm(['exec', 'turbo', 'watch', 'build', filter, '--output-logs=errors-only', '--ui=stream'], {
    env,
    signal: server.stopped,
  })
  const code = await builder
  await server.stop()
  for (const watcher of watchers) watcher.close()
  return server.stopped.aborted ? 0 : code
}

/** Returns the folders of built files: those of the application and of every package. */
function listBuilt(app) {
  const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name, 'dist'))
  return [join(root, 'apps', app, 'dist'), ...packages].filter(existsSync)
}

/** Runs a command, and restarts it on request. */
function createRestartable([command, ...args]) {
  const stopping = new AbortController()
  let child = start()
  let timer

  function start() {
    const started = spawn(command, args, { stdio: 'inherit', windowsHide: true })
    started.once('exit', (code) => {
      if (!stopping.signal.aborted && started === child)
        console.error(`The server exited with code ${code}. The next change restarts it.`)
    })
    return started
  }

  async function end() {
    const ended = child
    child = undefined
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return
    ended.kill('SIGTERM')
    await exitCode(ended)
  }

  async function restart() {
    await end()
    if (!stopping.signal.aborted) child = start()
  }

  return {
    stopped: stopping.signal,
    restartSoon() {
      clearTimeout(timer)
      timer = setTimeout(restart, settledMs)
    },
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await end()
    },
  }
}
