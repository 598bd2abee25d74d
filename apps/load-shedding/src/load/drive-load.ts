import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, type ClientEvent, type ClientExtension, createClient } from '@x/client'
import { connectHttp, type HttpConnection } from '@x/transport-http/client'
import { Agent } from 'undici'
import type { Board } from '../board/board.ts'
import { heavy, isExpectedResult, type Job } from '../primes/job.ts'
import { callKey } from '../primes/prime-tool.ts'
import { type Arrival, createPlan } from './plan.ts'

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

/** The clients that call the fleet. They send no calls before a rate is set. */
export class Load {
  readonly #board: Board
  // A new connection for each request, so that the balancer chooses an instance for each request.
  readonly #agent = new Agent({ pipelining: 0 })
  readonly #connection: HttpConnection
  readonly #client: Client
  readonly #stopping = new AbortController()
  readonly #runningCalls = new Set<Promise<void>>()
  readonly #nextArrival: (perSecond: number) => Arrival
  #timer: NodeJS.Timeout | undefined
  #sent = 0

  constructor({ url, board, seed }: LoadOptions) {
    this.#board = board
    this.#connection = connectHttp(url, { dispatcher: this.#agent })
    const extensions = [reportMoves(board)]
    this.#client = createClient(this.#connection, {
      name: 'load',
      version: '0.1.0',
      cache: false,
      timeoutMs,
      extensions,
    })
    this.#nextArrival = createPlan(seed)
    // Each running call adds a listener to the signal.
    setMaxListeners(0, this.#stopping.signal)
  }

  /** Sets the mean number of calls per second. The rate 0 sends no calls. */
  setRate(perSecond: number): void {
    clearTimeout(this.#timer)
    if (perSecond <= 0 || this.#stopping.signal.aborted) return
    const { afterMs, job } = this.#nextArrival(perSecond)
    this.#timer = setTimeout(() => {
      this.#send(job)
      this.setRate(perSecond)
    }, afterMs)
  }

  /** Sends a number of heavy calls at once. */
  burst(count: number): void {
    for (let index = 0; index < count; index++) this.#send(heavy)
  }

  /** Resolves when no call is running, including calls that start while it waits. */
  async whenIdle(): Promise<void> {
    while (this.#runningCalls.size > 0) await Promise.race(this.#runningCalls)
  }

  /** Cancels every call, and closes the connections. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    this.#stopping.abort()
    await this.whenIdle()
    await this.#connection.close()
    await this.#agent.destroy()
  }

  #send(job: Job): void {
    const { signal } = this.#stopping
    if (this.#runningCalls.size >= maxConcurrentCalls || signal.aborted) return
    const context = { client: this.#client, board: this.#board, signal }
    const ended = callUntilDone(`call-${++this.#sent}`, job, context)
    this.#runningCalls.add(ended)
    void ended.finally(() => this.#runningCalls.delete(ended))
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
    await sleep(retryDelayMs, undefined, { signal }).catch(() => {})
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
