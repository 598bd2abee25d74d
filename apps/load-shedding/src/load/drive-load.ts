import { setMaxListeners } from 'node:events'
import { type Client, type ClientEvent, type ClientExtension, createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { Agent } from 'undici'
import type { Board } from '../board/board.ts'
import { heavy, isExpectedResult, type Job } from '../primes/job.ts'
import { callKey } from '../primes/prime-tool.ts'
import { createPlan } from './plan.ts'

/** The clients that call the fleet. */
export interface Load {
  /** Sets the mean number of calls per second. The rate 0 sends no calls. */
  setRate(perSecond: number): void
  /** Sends a number of heavy calls at once. */
  burst(count: number): void
  /** Resolves when no call is running, including calls that start while it waits. */
  whenIdle(): Promise<void>
  /** Cancels every call, and closes the connections. */
  stop(): Promise<void>
}

/** Options of the clients. */
export interface LoadOptions {
  readonly url: string
  readonly board: Board
  /** The seed of the random arrivals. */
  readonly seed: number
}

/** The limit of concurrent calls. Further calls are not sent. */
const maxConcurrentCalls = 60
const maxAttempts = 10
/**
 * The timeout of a request in milliseconds. Node's cluster does not close a connection that it was passing to an
 * instance when that instance was killed, so its client waits until this timeout.
 */
const timeoutMs = 30_000
const retryDelayMs = 250

/** Creates clients that send no calls before a rate is set. */
export function driveLoad({ url, board, seed }: LoadOptions): Load {
  // A new connection for each request, so that the balancer chooses an instance for each request.
  const agent = new Agent({ pipelining: 0 })
  const connection = connectHttp(url, { dispatcher: agent })
  const extensions = [reportMoves(board)]
  const client = createClient(connection, { name: 'load', version: '0.1.0', cache: false, timeoutMs, extensions })
  const stopping = new AbortController()
  const { signal } = stopping
  // Each running call adds a listener to the signal.
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

/** Sends a call, and sends it again from the beginning after each attempt without a result. */
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

/** Creates a client extension that records each hand-off on the board. */
function reportMoves(board: Board): ClientExtension {
  const observe = (event: ClientEvent): void => {
    if (event.type === 'round' && event.status === 'input_required')
      board.recordMoved(String(event.options.meta?.[callKey]))
  }
  return { extends: 'client', name: 'reportMoves', start: () => ({ observe }) }
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
