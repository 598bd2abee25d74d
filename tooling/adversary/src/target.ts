import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Answer, Memory, Question } from './answer-parent.ts'

/** The process that is attacked: a server of ours, or a client. */
export interface Target extends AsyncDisposable {
  /** Asks the process. Rejects once it has died, with the end of what it wrote to stderr. */
  ask<T>(question: string, given?: unknown): Promise<T>
  memory(options?: { readonly sockets?: number }): Promise<Memory>
  /** Milliseconds of CPU time so far. */
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
  let death: Error | undefined
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-2000)
  })
  // A message to a process that has died is lost, and its death is reported by `ask`.
  child.stdin?.on('error', () => {})
  child.on('message', ({ id, value, error }: Answer) => {
    const waiting = pending.get(id)
    pending.delete(id)
    if (error === undefined) waiting?.resolve(value)
    else waiting?.reject(new Error(error))
  })
  child.once('exit', (code, signal) => {
    const why = /FATAL ERROR: .*|[A-Za-z]*Error: .*/.exec(stderr)?.[0] ?? stderr.slice(-200)
    death = new Error(`the process died (${code ?? signal}): ${why}`)
    for (const { reject } of pending.values()) reject(death)
    pending.clear()
  })

  let lastId = 0
  const ask = <T>(question: string, given: unknown = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      if (death !== undefined) return reject(death)
      lastId += 1
      // The program is of this package, and answers with what the caller names.
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
