import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { findFreePort } from '@tooling/real-servers/free-port'
import { z } from 'zod'

/**
 * Runs a program until it ends and resolves to its output.
 *
 * @param place The working directory, or a record with additional environment variables.
 * @throws Error with the program's output if the program fails or runs for more than 14 minutes, so that its test can report it.
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
      timeout: 14 * 60_000,
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

/** A server that runs as a child process. Its disposal stops the server. */
export interface StartedProject extends AsyncDisposable {
  readonly url: string
  /** Waits until the program has printed a text so many times. */
  see(text: string, times: number): Promise<void>
}

/** Runs what the Dockerfile of a project runs, and starts its server with no other variables than those of the file. */
export async function startAsImage(folder: string): Promise<StartedProject> {
  const lines = (await readFile(`${folder}/Dockerfile`, 'utf8')).split('\n')
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1))
  for (const command of valuesOf('RUN')) await runCommand('sh', ['-c', command], folder)
  const variables = valuesOf('ENV')
    .flatMap((line) => line.split(' '))
    .map((pair) => pair.split('='))
  const command: unknown = JSON.parse(valuesOf('CMD').at(-1) ?? '[]')
  return startProgram(
    z.array(z.string()).parse(command),
    folder,
    z.record(z.string(), z.string()).parse(Object.fromEntries(variables)),
  )
}

/** Starts a program on a free port, and resolves when it has printed its URL. */
export async function startProgram(
  [program = '', ...parameters]: readonly string[],
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<StartedProject> {
  const child = spawn(program, parameters, {
    cwd: folder,
    // npm does not forward signals, so the project runs in its own process group.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...cleanEnvironment(), ...variables, PORT: '0' },
  })
  let output = ''
  const see = async (text: string, times: number): Promise<void> => {
    while (output.split(text).length <= times) await once(child.stdout, 'data')
  }
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece))
  const url = await findUrl(child.stdout)
  const dispose = async (): Promise<void> => {
    const closed = once(child, 'close')
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await closed
  }
  return { url, see, [Symbol.asyncDispose]: dispose }
}

/** Starts a Worker project, whose `npm start` has an option for the port. */
export async function startWorker(folder: string): Promise<StartedProject> {
  return startProgram(['npm', 'start', '--silent', '--', '--port', String(await findFreePort())], folder, {})
}

/**
 * Returns the first URL that a program prints. It continues to read, so that a full pipe does not block the program.
 */
function findUrl(output: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    output.setEncoding('utf8').on('data', (piece: string) => {
      text += stripVTControlCharacters(piece)
      const [url] = /https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0)\S*(?=\s)/.exec(text) ?? []
      if (url !== undefined) resolve(url)
    })
    output.once('close', () => reject(new Error(`The program ended before it printed a URL:\n${text}`)))
  })
}

/**
 * Returns the environment without the variables of pnpm and vitest, which change the behaviour of npm and of programs.
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_|vitest|node_options|node_env$)/i.test(name),
  )
  return Object.fromEntries(entries)
}
