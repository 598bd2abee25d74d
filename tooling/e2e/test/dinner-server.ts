import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { createClient } from '@x/client'
import type { ClientTarget } from '@x/exchange'
import { connectStdio } from '@x/transport-stdio'
import { textOf } from './asking.ts'
import { bundleProgram } from './child-program.ts'

/** What the user has got, and the number of processes that were started for it. */
interface Order {
  readonly text: string
  readonly startCount: number
}

/**
 * The program `dinner.ts`, whose process is killed while the user thinks. It is stopped first, so that its sockets and
 * pipes stay open, as those of a process that is being killed do. It is killed when something was written to it.
 */
export interface DinnerServer extends AsyncDisposable {
  /** A clock for which each answer of the user takes a minute. */
  readonly runtime: {
    monotonicNow(): number
    setTimeout(callback: () => void, ms: number): unknown
    clearTimeout(timer: unknown): void
  }
  orderOverHttp(port: number, target: ClientTarget, tool: string): Promise<Order>
  orderOverStdio(): Promise<Order>
}

const host = { name: 'host', version: '1.0.0' }
const answer = { action: 'accept', content: { dish: 'ramen' } } as const

export async function bundleDinnerServer(): Promise<DinnerServer> {
  const program = await bundleProgram(new URL('./programs/dinner.ts', import.meta.url))
  let thoughtMs = 0
  const runtime: DinnerServer['runtime'] = {
    monotonicNow: () => performance.now() + thoughtMs,
    setTimeout: (callback, ms) => setTimeout(callback, ms),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  }
  const think = (): void => void (thoughtMs += 60_000)
  const startAt = async (port: number) => {
    const child = spawn(process.execPath, [program.path, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    return child
  }

  const orderOverHttp: DinnerServer['orderOverHttp'] = async (port, target, tool) => {
    let child = await startAt(port)
    let startCount = 1
    const replace = async (): Promise<void> => {
      child.kill('SIGKILL')
      await once(child, 'exit')
      child = await startAt(port)
      startCount += 1
    }
    let replaced: Promise<void> | undefined
    const elicit = () => {
      think()
      child.kill('SIGSTOP')
      onceSent(() => (replaced = replace()))
      return answer
    }
    try {
      return { text: textOf(await createClient(target, { ...host, elicit }).callTool(tool)), startCount }
    } finally {
      await replaced
      child.kill('SIGKILL')
    }
  }

  return {
    runtime,
    orderOverHttp,
    orderOverStdio: () => orderOverStdio(program.path, runtime, think),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

/** Resolves with what the user has got, as `orderOverHttp` does. */
async function orderOverStdio(path: string, runtime: DinnerServer['runtime'], think: () => void): Promise<Order> {
  let onWrite = (): void => {}
  await using connection = connectStdio({
    command: process.execPath,
    args: [path],
    runtime,
    wrapStreams: ({ input, output }) => {
      const written = new PassThrough().on('data', () => onWrite())
      written.pipe(output)
      return { input, output: written }
    },
  })
  const elicit = () => {
    think()
    const pid = connection.process.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    onWrite = () => {
      onWrite = () => {}
      process.kill(pid, 'SIGKILL')
    }
    return answer
  }
  const text = textOf(await createClient(connection, { ...host, elicit }).callTool('order'))
  return { text, startCount: connection.process.restartCount + 1 }
}

/** Calls a function after the next HTTP request of this process was written. */
function onceSent(listener: () => void): void {
  const channel = 'undici:request:bodySent'
  const onSent = (): void => {
    unsubscribe(channel, onSent)
    listener()
  }
  subscribe(channel, onSent)
}
