import { manualClock, type ManualClock } from '@tooling/vitest/manual-clock'
import { type CallOptions, type Client, type ClientOptions, createClient } from '@x/client'
import type { Call, ConnectionView, Exchange } from '@x/exchange'
import { isJsonObject, type JsonObject, type WireError } from '@x/schema'
import type { TasksClientOptions } from '../client/settings.ts'
import type { TaskHandle } from '../client/task-handle.ts'
import { type TasksClient, tasksClient } from '../client/tasks-client.ts'

export interface ReceivedRequest {
  readonly method: string
  /** The params without `_meta`. */
  readonly params: JsonObject
  readonly meta: JsonObject
  readonly id: string | number
  readonly call: Call
  /** When it arrived, by the test's clock. */
  readonly at: number
}

/** A result, a JSON-RPC error, or a promise. */
export type Answer = JsonObject | { readonly error: WireError } | Promise<JsonObject>

/** Answers to the requests of one method, in order. The last one is repeated. */
export type Script = readonly (Answer | ((received: ReceivedRequest) => Answer))[]

/** A server with scripted answers, and a client that follows its tasks by the test's clock. */
export interface ScriptedTasks {
  readonly clock: ManualClock
  readonly received: ReceivedRequest[]
  readonly connection: ConnectionView & { readonly url: string }
  readonly client: Client & { readonly tasks: TasksClient }
  /** Received requests of one method. */
  of(method: string): ReceivedRequest[]
  /** Moves the clock in steps. After each step, waits until all work without timers is done. */
  pass(ms: number, steps?: number): Promise<void>
}

const taskId = 'task-1'
const taskTimes = { createdAt: '2026-07-28T10:00:00Z', lastUpdatedAt: '2026-07-28T10:00:00Z', ttlMs: 60_000 }

/** A state of the only task of these tests. */
export function createTaskState(status: string, more: JsonObject = {}): JsonObject {
  return { taskId, status, ...taskTimes, pollIntervalMs: 1000, ...more }
}

export function toGetTaskResult(status: string, more: JsonObject = {}): JsonObject {
  return { resultType: 'complete', ...createTaskState(status, more) }
}

export function toCreateTaskResult(more: JsonObject = {}): JsonObject {
  return { resultType: 'task', ...createTaskState('working'), ...more }
}

export function createTextResult(text: string): JsonObject {
  return { resultType: 'complete', content: [{ type: 'text', text }] }
}

export const completedTaskResult = toGetTaskResult('completed', { result: createTextResult('done') })

/** Asks for names, one for each key. */
export function createInputRequiredTask(...keys: readonly string[]): JsonObject {
  return toGetTaskResult('input_required', {
    inputRequests: Object.fromEntries(keys.map((key) => [key, createQuestion(key)])),
  })
}

export function createQuestion(message: string): JsonObject {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } }
}

/** Never settles. */
export const unresolvedPromise = new Promise<JsonObject>(() => {})

export const acknowledgementResult: JsonObject = { resultType: 'complete' }

export const host = { name: 'host', version: '1.0.0' } as const

/** By default, the task stays `working` and each request about it is acknowledged. */
export function scriptedTasks(
  script: Readonly<Record<string, Script>>,
  options: { readonly tasks?: TasksClientOptions; readonly client?: Partial<ClientOptions> } = {},
): ScriptedTasks {
  const clock = manualClock()
  const received: ReceivedRequest[] = []
  const rows = new Map(Object.entries({ ...defaultScript, ...script }))
  const counts = new Map<string, number>()

  const answer = (one: ReceivedRequest): Answer => {
    const answers = rows.get(one.method) ?? []
    const count = counts.get(one.method) ?? 0
    counts.set(one.method, count + 1)
    const found = answers[Math.min(count, answers.length - 1)]
    if (found === undefined) return { error: { code: -32601, message: `no ${one.method} here` } }
    return isFunction(found) ? found(one) : found
  }
  const exchange: Exchange = async ({ id, method, params = {} }, call) => {
    const { _meta, ...others } = params
    const one = { id, method, params: others, meta: isJsonObject(_meta) ? _meta : {}, call, at: clock.monotonicNow() }
    received.push(one)
    const answered = await answer(one)
    if (isRefusal(answered)) return { jsonrpc: '2.0', id, error: answered.error }
    return { jsonrpc: '2.0', id, result: answered }
  }
  const connection = { exchange, url: 'https://example.com/mcp' }
  const extension = tasksClient({ runtime: clock, random: () => 0, user: 'ada', ...options.tasks })
  return {
    clock,
    received,
    connection,
    client: createClient(connection, { ...host, runtime: clock, ...options.client, extensions: [extension] }),
    of: (method) => received.filter((one) => one.method === method),
    pass: async (ms, steps = 1) => {
      await flushAsyncWork()
      for (let step = 0; step < steps; step += 1) {
        clock.advance(ms)
        await flushAsyncWork()
      }
    },
  }
}

function isFunction(found: Script[number]): found is (received: ReceivedRequest) => Answer {
  return typeof found === 'function'
}

const defaultScript = {
  'tools/call': [toCreateTaskResult()],
  'tasks/get': [toGetTaskResult('working')],
  'tasks/update': [acknowledgementResult],
  'tasks/cancel': [acknowledgementResult],
}

function isRefusal(answer: JsonObject | { readonly error: WireError }): answer is { readonly error: WireError } {
  return !('resultType' in answer) && isJsonObject(answer.error)
}

/** Waits until all code has run that only awaits promises. */
export async function flushAsyncWork(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
}

/** Starts a call, and returns the task that it becomes. */
export async function beginTask(
  client: { readonly tasks: TasksClient },
  options: CallOptions = {},
): Promise<TaskHandle> {
  const started = await client.tasks.start('work', {}, options)
  if (started.status === 'task') return started.task
  throw new Error('the call did not become a task')
}

/** Turns a rejection into a value, so that it is never unhandled. */
export function outcome<T>(promise: Promise<T>): Promise<T | { readonly error: unknown }> {
  return promise.catch((error: unknown) => ({ error }))
}
