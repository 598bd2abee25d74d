import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { findFreePort } from '@tooling/real-servers/free-port'

/**
 * Runs a program to its end and resolves to its output.
 *
 * @param place The working directory, or one with variables beside those of this process.
 * @throws Error with the program's output when it fails or takes more than five minutes.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  place: string | { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const { folder, env } = typeof place === 'string' ? { folder: place, env: {} } : place
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: folder,
      timeout: 300_000,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...cleanEnvironment(), ...env },
    })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(output)
      reject(new Error(`${command} ${args.join(' ')} ended with ${code ?? signal} in ${folder}:\n${output}${errors}`))
    })
  })
}

/** A server that `npm start` runs. It ends with its scope. */
export interface StartedProject extends AsyncDisposable {
  readonly url: string
}

/** Starts a project on a free port, and resolves when it has printed its URL. */
export async function startProject(folder: string, parameters: readonly string[] = []): Promise<StartedProject> {
  const child = spawn('npm', ['start', '--silent', '--', ...parameters], {
    cwd: folder,
    // A process group of its own, because npm passes no signal on.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...cleanEnvironment(), PORT: '0' },
  })
  const url = await findUrl(child.stdout)
  const dispose = async (): Promise<void> => {
    const closed = once(child, 'close')
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await closed
  }
  return { url, [Symbol.asyncDispose]: dispose }
}

/** Starts a project that is a Worker, whose `npm start` takes its port as an option. */
export async function startWorker(folder: string): Promise<StartedProject> {
  return startProject(folder, ['--port', String(await findFreePort())])
}

/** Returns the first URL that a program prints, and reads on, so that the program never waits. */
function findUrl(output: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    output.setEncoding('utf8').on('data', (piece: string) => {
      text += stripVTControlCharacters(piece)
      const [url] = /https?:\/\/(?:localhost|127\.0\.0\.1)\S*(?=\s)/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
    output.once('close', () => reject(new Error(`The program ended before it printed a URL:\n${text}`)))
  })
}

/** Returns the environment without variables of pnpm and vitest, which change the behaviour of npm and of programs. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_|vitest|node_options|node_env$)/i.test(name),
  )
  return Object.fromEntries(entries)
}
