import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Answer, Memory, Question } from './answer-parent.ts'

/** The attacked process: our server or our client. */
export interface Target extends AsyncDisposable {
  /** Asks the process a question. Rejects after its exit, with the last lines of its stderr. */
  ask<T>(question: string, given?: unknown): Promise<T>
  memory(options?: { readonly sockets?: number }): Promise<Memory>
  /** Returns the milliseconds of CPU time so far. */
  cpu(): Promise<number>
  readonly child: ChildProcess
}

/** Starts a built program of this package with a heap of 256 MB, such as `server/target-server.js`. */
export async function startTarget(program: string): Promise<Target> {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), {
    execArgv: ['--max-old-space-size=256', '--conditions=dist'],
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  })
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let stderr = ''
  let exitError: Error | undefined
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-2000)
  })
  // A message to an ended process is lost, and `ask` reports its exit.
  child.stdin?.on('error', () => {})
  child.on('message', ({ id, value, error }: Answer) => {
    const resolvers = pending.get(id)
    pending.delete(id)
    if (error === undefined) resolvers?.resolve(value)
    else resolvers?.reject(new Error(error))
  })
  child.once('exit', (code, signal) => {
    const reason = /FATAL ERROR: .*|[A-Za-z]*Error: .*/.exec(stderr)?.[0] ?? stderr.slice(-200)
    exitError = new Error(`the process exited (${code ?? signal}): ${reason}`)
    for (const { reject } of pending.values()) reject(exitError)
    pending.clear()
  })

  let lastId = 0
  const ask = <T>(question: string, given: unknown = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      if (exitError !== undefined) return reject(exitError)
      lastId += 1
      // The program belongs to this package, so the answer has the type that the caller names.
      pending.set(lastId, { resolve: resolve as (value: unknown) => void, reject })
      child.send({ id: lastId, ask: question, with: given } satisfies Question)
    })
  await once(child, 'spawn')
  return {
    ask,
    child,
    cpu: () => ask('cpu'),
    memory: (options) => ask('memory', options),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
