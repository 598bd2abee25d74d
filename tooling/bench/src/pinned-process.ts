import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/** A program of this benchmark in a separate process. It answers every message with exactly one message. */
export interface PinnedProcess<Question, Answer> {
  ask(question: Question): Promise<Answer>
  /** Kills the process by its id. */
  stop(): Promise<void>
}

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** States in the header of a report whether each process runs on one core. */
export const pinning = canPin ? 'server on core 0, load on core 1' : 'not pinned: taskset or a second core is missing'

/**
 * Starts a built program of this package on one core.
 *
 * @param path A path relative to the folder of this file, such as `http/load.js`.
 * @param environment Variables in addition to those of this process.
 */
export async function startPinned<Question extends object, Answer>(
  path: string,
  core: 0 | 1,
  environment: NodeJS.ProcessEnv = {},
): Promise<PinnedProcess<Question, Answer>> {
  const env = { ...process.env, ...environment }
  const child = fork(fileURLToPath(new URL(path, import.meta.url)), { execArgv: ['--conditions=dist'], env })
  // taskset moves the running process with all of its threads, so the channel of `fork` stays open.
  pinProcess(child.pid, core)
  await once(child, 'spawn')
  return { ask: (question) => ask(child, question), stop: () => stop(child) }
}

/** Pins this process to one core, for benchmarks whose server runs in it. */
export function pinThisProcess(core: 0 | 1): void {
  pinProcess(process.pid, core)
}

/** Pins a process with all of its threads to one core. */
export function pinProcess(processId: number | undefined, core: 0 | 1): void {
  if (canPin) spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(core), String(processId)])
}

function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
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

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
