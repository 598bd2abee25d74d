import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { ServerQuestion, Usage } from './peers/serve-measured.ts'

/** A process of a benchmark. It answers every question with exactly one message. */
export interface Program<Question, Answer> extends AsyncDisposable {
  readonly child: ChildProcess
  ask(question: Question): Promise<Answer>
}

/** The programs of a file, which `startProgram` runs in processes of their own. Arguments follow the name. */
export type Programs = Readonly<Record<string, (...args: string[]) => unknown>>

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** States in the header of a report whether each process runs on one core. */
export const pinning = canPin ? 'server on core 0, load on core 1' : 'not pinned: taskset or a second core is missing'

/** Pins a process with all of its threads to one core, and leaves its channels open. */
export function pinProcess(processId: number | undefined, core: 0 | 1): void {
  if (canPin) spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(core), String(processId)])
}

/** The arguments of Node that run a program of this package, in any process. Tests run what was built, too. */
export function argumentsOf(name: string): readonly string[] {
  return ['--conditions=dist', join(import.meta.dirname, '../dist/main.js'), '--program', name]
}

/** How a process starts. */
export interface StartOptions {
  /** The core of its process. Default: any. */
  readonly core?: 0 | 1 | undefined
  readonly environment?: NodeJS.ProcessEnv
  /** The arguments of Node: its flags, a file and more. Default: those of the program. */
  readonly run?: readonly string[]
  readonly folder?: string
  readonly hasPipes?: boolean
}

/**
 * Starts a process.
 *
 * @param name The file of a program, its name in `programs` of that file, and its argument: `our-servers/tools/500`.
 */
export async function startProgram<Question extends object | string, Answer>(
  name: string,
  { core, environment, run = argumentsOf(name), folder, hasPipes = false }: StartOptions = {},
): Promise<Program<Question, Answer>> {
  // Some implementations log to the output.
  const pipe = hasPipes ? 'pipe' : 'ignore'
  const stdio = [pipe, pipe, 'inherit', 'ipc'] as const
  const child = spawn(process.execPath, run, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: [...stdio],
  })
  if (core !== undefined) pinProcess(child.pid, core)
  await once(child, 'spawn')
  return { child, ask: (question) => ask(child, question), [Symbol.asyncDispose]: () => stopProcess(child) }
}

function ask<Answer>(child: ChildProcess, question: object | string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`process ${child.pid} ended with code ${code}`))
    child.once('exit', ended)
    child.once('message', (answer) => {
      child.off('exit', ended)
      // This package compiles both ends of the channel, so the answer has the type that the caller names.
      resolve(answer as Answer)
    })
    child.send(question)
  })
}

/** Ends a process, and waits until it has ended. */
async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Stops processes, and waits until they have ended. */
export async function stopAll(programs: readonly AsyncDisposable[]): Promise<void> {
  await Promise.all(programs.map((program) => program[Symbol.asyncDispose]()))
}

/** A server in a process of its own. */
export interface MeasuredServer extends Program<ServerQuestion, Usage> {
  readonly url: string
  /** Returns the microseconds of CPU that the process has used. */
  cpu(): Promise<number>
}

/** Starts a server, on core 0 unless the options name another, and waits until it listens. */
export async function startServer(name: string, options: StartOptions = {}): Promise<MeasuredServer> {
  const program = await startProgram<ServerQuestion, Usage>(name, { core: 0, ...options })
  const { url } = await program.ask('usage')
  return { ...program, url, cpu: async () => (await program.ask('usage')).cpu }
}
