import { setMaxListeners } from 'node:events'
import { type Client, type ClientEvent, type ClientExtension, createClient } from '@x/client'
import { telemetry } from '@x/client/otel'
import { connectHttp } from '@x/transport-http/client'
import { Agent } from 'undici'
import type { Board } from '../board/board.ts'
import { heavy, isExpectedResult, type Job } from '../primes/job.ts'
import { callKey } from '../primes/prime-tool.ts'
import { createPlan } from './plan.ts'

/** Clients that call the fleet. */
export interface Load {
  /** The average number of calls per second; 0 for none. */
  setRate(perSecond: number): void
  /** Sends so many heavy calls at once. */
  burst(count: number): void
  /** Resolves when no call is under way; calls that come meanwhile are waited for too. */
  whenIdle(): Promise<void>
  /** Ends every call. */
  stop(): Promise<void>
}

/** The events of clients. */
export interface LoadOptions {
  readonly url: string
  readonly board: Board
  readonly seed: number
}

/** Calls beyond the limit are not sent, as at a provider that limits its concurrency. */
const maxConcurrentCalls = 60
const maxAttempts = 10
/**
 * Node's cluster leaves a connection open that was on its way to an instance when this was killed: its client waits for
 * so long.
 */
const timeoutMs = 30_000
const retryDelayMs = 250

/** Makes clients that are quiet until they are given a rate. */
export function driveLoad({ url, board, seed }: LoadOptions): Load {
  // A connection for each request, as if each came from another client: none sticks to an instance.
  const agent = new Agent({ pipelining: 0 })
  const connection = connectHttp(url, { dispatcher: agent })
  const extensions = [telemetry(), reportMoves(board)]
  const client = createClient(connection, { name: 'load', version: '0.1.0', cache: false, timeoutMs, extensions })
  const stopping = new AbortController()
  const { signal } = stopping
  // Every call that is under way listens.
  setMaxListeners(0, signal)
  const runningCalls = new Set<Promise<void>>()
  const nextArrival = createPlan(seed)
  let timer: NodeJS.Timeout | undefined
  let sent = 0

  const send = (job: Job): void => {
    if (runningCalls.size >= maxConcurrentCalls || signal.aborted) return
    const ended = callUntilDone(`call-${++sent}`, job, { client, board, signal })
    runningCalls.add(ended)
    void ended.finally(() => runningCalls.delete(ended))
  }
  const setRate = (perSecond: number): void => {
    clearTimeout(timer)
    if (perSecond <= 0 || signal.aborted) return
    const { afterMs, job } = nextArrival(perSecond)
    timer = setTimeout(() => {
      send(job)
      setRate(perSecond)
    }, afterMs)
  }
  const whenIdle = async (): Promise<void> => {
    while (runningCalls.size > 0) await Promise.race(runningCalls)
  }
  return {
    setRate,
    burst(count) {
      for (let index = 0; index < count; index++) send(heavy)
    },
    whenIdle,
    async stop() {
      clearTimeout(timer)
      stopping.abort()
      await whenIdle()
      await connection.close()
      await agent.destroy()
    },
  }
}

interface CallContext {
  readonly client: Client
  readonly board: Board
  readonly signal: AbortSignal
}

/** Calls as a user does: who gets no result tries again. */
async function callUntilDone(call: string, job: Job, context: CallContext): Promise<void> {
  const { board, signal } = context
  board.recordSent(call, job.size)
  for (let attempts = 0; attempts < maxAttempts && !signal.aborted; attempts++) {
    const isDone = await sendCall(call, job, context).then(
      () => true,
      () => false,
    )
    if (isDone) return
    if (!signal.aborted) board.recordLost(call)
    await sleep(retryDelayMs, signal)
  }
  board.recordDropped(call)
}

async function sendCall(call: string, job: Job, { client, board, signal }: CallContext): Promise<void> {
  const options = { signal, meta: { [callKey]: call } }
  const result = await client.callTool('count_primes', { limit: job.limit }, options)
  board.recordCompleted(call, isExpectedResult(job, result.structuredContent))
}

/** Reports each call that an instance hands off to the board. */
function reportMoves(board: Board): ClientExtension {
  const observe = (event: ClientEvent): void => {
    if (event.type === 'round' && event.status === 'input_required')
      board.recordMoved(String(event.options.meta?.[callKey]))
  }
  return { side: 'client', name: 'reportMoves', start: () => ({ observe }) }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
