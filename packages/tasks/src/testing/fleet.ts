import type { ChangeBus, LogRecord } from '@x/core'
import { type CallHeaders, callHeadersKey, createCall, type Principal, withContext } from '@x/exchange'
import {
  type ClientCapabilities,
  isJsonObject,
  type JsonObject,
  metaKeys,
  protocolVersion,
  type RpcNotification,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import {
  createServer,
  type McpServer,
  sealedState,
  type ServerDefinition,
  type TaskChoice,
  type Tool,
  tool,
} from '@x/server'
import { type ManualClock, manualClock } from '@tooling/vitest/manual-clock'
import { z } from 'zod'
import type { TaskEngine } from '../engines/engine.ts'
import { memoryEngine } from '../engines/memory-engine.ts'
import { tasksCapability } from '../schema/task-params.ts'
import type { TaskOptions } from '../server/options.ts'
import { tasks, type TasksApi } from '../server/tasks.ts'

export const tasksClientCapabilities = {
  elicitation: { form: {}, url: {} },
  ...tasksCapability,
} as const satisfies ClientCapabilities

/** A client that supports input requests, but no tasks. */
export const plain = { elicitation: { form: {}, url: {} } } as const satisfies ClientCapabilities

const stateKeys = ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef']

export interface AskOptions {
  readonly principal?: Principal | undefined
  readonly capabilities?: ClientCapabilities | undefined
  readonly meta?: JsonObject | undefined
  readonly headers?: CallHeaders
  readonly signal?: AbortSignal | undefined
  readonly notify?: (message: RpcNotification) => void
}

/** One instance, with a clock that only the test moves. */
export interface Instance {
  readonly server: McpServer & { readonly tasks: TasksApi }
  readonly clock: ManualClock
  readonly errors: unknown[]
  ask(method: string, params?: JsonObject, options?: AskOptions): Promise<RpcResponse>
  /** Sends a request for its result. Throws if the response is an error. */
  result(method: string, params?: JsonObject, options?: AskOptions): Promise<JsonObject>
  /** Sends a request for its error. Throws if the response is a result. */
  error(method: string, params?: JsonObject, options?: AskOptions): Promise<WireError>
  /** Calls a tool that becomes a task, and returns the task's id. */
  start(name: string, args?: JsonObject, options?: AskOptions): Promise<string>
  see(taskId: string, options?: AskOptions): Promise<JsonObject>
  /** Waits until a task has a status, or fulfils a condition, and returns its state. */
  reach(taskId: string, wanted: string | ((task: JsonObject) => boolean)): Promise<JsonObject>
}

/** Instances that share an engine. */
export interface Fleet {
  readonly engine: TaskEngine
  /** Moves the engine's clock, but not those of instances. */
  pass(ms: number): void
  add(tools: readonly Tool[], options?: Partial<TaskOptions>, definition?: Partial<ServerDefinition>): Instance
}

export function createFleet(around: (engine: TaskEngine) => TaskEngine = (engine) => engine): Fleet {
  let time = Date.UTC(2026, 6, 28)
  const engine = around(memoryEngine({ wallClock: () => time }))
  return {
    engine,
    pass: (ms) => void (time += ms),
    add(tools, options = {}, definition = {}) {
      const clock = manualClock()
      const errors: unknown[] = []
      const log = ({ err, message }: LogRecord): void => void errors.push(err ?? message)
      const { extensions = [], ...offers } = definition
      const store = typeof options.store === 'object' ? options.store : engine
      const server = createServer({
        name: 'demo',
        version: '1',
        tools,
        state: sealedState({ keys: stateKeys }),
        log,
        ...offers,
        extensions: [tasks({ runtime: clock, ...options, store }), ...extensions],
      })
      // Starts the worker, as a host does that serves `/readyz`.
      void server.ready()
      return { server, clock, errors, ...createRequestSenders(server, store.notifications) }
    },
  }
}

function createRequestSenders(
  server: McpServer,
  bus: ChangeBus | undefined,
): Omit<Instance, 'server' | 'clock' | 'errors'> {
  let id = 0
  const ask: Instance['ask'] = (method, params = {}, options = {}) => {
    const { capabilities = tasksClientCapabilities, meta, headers, ...init } = options
    const call = createCall(init)
    const _meta = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: capabilities, ...meta }
    id += 1
    const request = { jsonrpc: '2.0', id, method, params: { ...params, _meta } } as const
    return server.exchange(request, headers ? withContext(call, callHeadersKey, headers) : call)
  }
  const result: Instance['result'] = async (...asked) => {
    const response = await ask(...asked)
    if ('error' in response) throw new Error(`${asked[0]} was answered with ${JSON.stringify(response.error)}`)
    return response.result
  }
  const error: Instance['error'] = async (...asked) => {
    const response = await ask(...asked)
    if ('error' in response) return response.error
    throw new Error(`${asked[0]} was answered with ${JSON.stringify(response.result)}`)
  }
  const see: Instance['see'] = (taskId, options) => result('tasks/get', { taskId }, options)
  return {
    ask,
    result,
    error,
    see,
    start: async (name, args = {}, options = {}) => {
      const { resultType, taskId } = await result('tools/call', { name, arguments: args }, options)
      if (resultType !== 'task' || typeof taskId !== 'string') throw new Error(`${name} was not answered with a task`)
      return taskId
    },
    reach: async (taskId, wanted) => {
      const isIt = typeof wanted === 'function' ? wanted : ({ status }: JsonObject) => status === wanted
      let changed = createBell()
      const stop = await bus?.listen({ onChange: () => changed.ring(), onGap: () => {} })
      try {
        for (;;) {
          const task = await see(taskId)
          if (isIt(task)) return task
          await changed.rung
          changed = createBell()
        }
      } finally {
        stop?.()
      }
    },
  }
}

function createBell(): { readonly ring: () => void; readonly rung: Promise<void> } {
  let ring = (): void => {}
  const rung = new Promise<void>((resolve) => {
    ring = resolve
  })
  return { ring: () => ring(), rung }
}

/** A gate that the test opens. A handler waits at it, and the test can wait until the handler is there. */
export interface Gate {
  pass(): Promise<void>
  /** Resolves when a handler waits at the gate. */
  readonly reached: Promise<void>
  open(): void
}

export function createGate(): Gate {
  const opened = createBell()
  const reached = createBell()
  return {
    pass: () => {
      reached.ring()
      return opened.rung
    },
    reached: reached.rung,
    open: () => opened.ring(),
  }
}

/** Text of a tool's result, also if the result is part of a task. */
export function textOf(value: unknown): unknown {
  const content = isJsonObject(value) ? value['content'] : undefined
  const [first] = Array.isArray(content) ? content : []
  return isJsonObject(first) ? first['text'] : undefined
}

export function accept(content: JsonObject): JsonObject {
  return { action: 'accept', content }
}

/** Handlers run in two ways: once per run, or again from the top at every await. */
export const replayModes = [{ strictReplay: false }, { strictReplay: true }] as const

/** Lists the steps that tools have done, at any instance. */
export function createWorkRecorder(): { readonly done: string[]; readonly work: (what: string) => string } {
  const done: string[] = []
  return { done, work: (what) => (done.push(what), what) }
}

export function sendTaskAnswer(instance: Instance, taskId: string, inputResponses: JsonObject): Promise<JsonObject> {
  return instance.result('tasks/update', { taskId, inputResponses })
}

/** Greets by name. `task` determines if calls become tasks. */
export const createGreetTool = (task?: TaskChoice): Tool =>
  tool('greet', {
    description: 'Greets',
    input: z.object({ name: z.string() }),
    task,
    run: ({ name }) => `Hello, ${name}!`,
  })

export const greetAdaParams = { name: 'greet', arguments: { name: 'Ada' } }
