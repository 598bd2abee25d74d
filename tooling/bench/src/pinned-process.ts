import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/** A program of this benchmark in a process of its own; it answers every message with exactly one. */
export interface PinnedProcess<Question, Answer> {
  ask(question: Question): Promise<Answer>
  /** Ends the process, by its own id. */
  stop(): Promise<void>
}

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** Says whether processes are held to one core each, for the head of a report. */
export const pinning = canPin ? 'server on core 0, load on core 1' : 'not pinned: taskset or a second core is missing'

/**
 * Starts a built program of this package on one core.
 *
 * @param path relative to this file's folder, such as `http/load.js`.
 * @param environment variables beside those of this process.
 */
export async function startPinned<Question extends object, Answer>(
  path: string,
  core: 0 | 1,
  environment: NodeJS.ProcessEnv = {},
): Promise<PinnedProcess<Question, Answer>> {
  const env = { ...process.env, ...environment }
  const child = fork(fileURLToPath(new URL(path, import.meta.url)), { execArgv: ['--conditions=dist'], env })
  // taskset moves the process that runs already, with every thread of it, so that the channel of `fork` stays.
  pinProcess(child.pid, core)
  await once(child, 'spawn')
  return { ask: (question) => ask(child, question), stop: () => stop(child) }
}

/** Holds this process to one core, for benchmarks whose server runs in it. */
export function pinThisProcess(core: 0 | 1): void {
  pinProcess(process.pid, core)
}

/** Holds a process with all of its threads to one core. */
export function pinProcess(processId: number | undefined, core: 0 | 1): void {
  if (canPin) spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(core), String(processId)])
}

function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`process ${child.pid} ended with code ${code}`))
    child.once('exit', ended)
    child.once('message', (answer) => {
      child.off('exit', ended)
      // Both ends of the channel are compiled from this package, so the answer is what the caller names.
      resolve(answer as Answer)
    })
    child.send(question)
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
