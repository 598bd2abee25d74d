import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { exitCode, pnpm, root } from './pnpm.mjs'

const apps = ['ado-work-items', 'load-shedding']
const [first, ...rest] = process.argv.slice(2)
process.exitCode = await (apps.includes(first) ? develop(first, rest) : develop(apps[0], process.argv.slice(2)))

/** Builds a reference server, and runs it again after each change of a source file, its own or of a package. */
async function develop(app, args) {
  const filter = `--filter=@apps/${app}...`
  const env = { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }
  const built = await pnpm(['exec', 'turbo', 'run', 'build', filter, '--output-logs=errors-only'], { env })
  if (built !== 0) return built
  const main = join(root, 'apps', app, 'dist', 'main.js')
  const server = spawn(process.execPath, ['--watch', '--conditions=dist', main, ...args], { stdio: 'inherit' })
  const builder = pnpm(['exec', 'turbo', 'watch', 'build', filter, '--output-logs=errors-only', '--ui=stream'], { env })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal))
  const code = await Promise.race([exitCode(server), builder])
  server.kill()
  return code
}
