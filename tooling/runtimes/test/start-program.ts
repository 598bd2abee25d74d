import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** The folder of this package. */
export const folder = fileURLToPath(new URL('..', import.meta.url))

/** The path of a built program, for runtimes without TypeScript. */
export const builtProgram = (name: string): string => `${folder}dist/programs/${name}.js`

/** A program that runs until it is disposed of. */
export interface RunningProgram extends AsyncDisposable {
  /** The first group of the pattern, in the first line of output that matches. */
  readonly announced: string
  /** Sends SIGTERM. Resolves with the code, or the signal, with which the program ends. */
  terminate(): Promise<number | NodeJS.Signals | null>
}

/** A program and its arguments. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd?: string
}

/**
 * Starts a program, and waits for the line with its address. `from` is the file descriptor of that line. Rejects if the
 * program ends before it.
 */
export async function startProgram(command: Command, pattern: RegExp, from: 1 | 3 = 1): Promise<RunningProgram> {
  const child = spawnProgram(command)
  const output = child.stdio[from] as Readable
  const errors = collect(child.stderr)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const announced = await new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    void ended.then(() => reject(new Error(`${command.program} ended: ${errors()}`)))
    createInterface(output).on('line', (line) => {
      const found = pattern.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  return {
    announced,
    async terminate() {
      child.kill('SIGTERM')
      await ended
      return child.exitCode ?? child.signalCode
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Runs a program until it exits, and returns its output. Rejects if it fails. */
export function runProgram(command: Command): Promise<string> {
  const child = spawnProgram(command)
  const [output, errors] = [collect(child.stdout), collect(child.stderr)]
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(output())
      else reject(new Error(`${command.program} ended with code ${code}: ${errors()}${output()}`))
    })
  })
}

function spawnProgram({ program, args, cwd = folder }: Command): ChildProcess {
  const env = {
    ...process.env,
    NEXT_TELEMETRY_DISABLED: '1',
    DENO_NO_UPDATE_CHECK: '1',
    NODE_ENV: undefined,
    VITEST: undefined,
  }
  return spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
}

function collect(stream: Readable | null): () => string {
  let text = ''
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return () => text
}
