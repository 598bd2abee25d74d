import type { Exchange } from '@x/exchange'
import { createServer, form, type Log, type McpServer, tool } from '@x/server'
import type { TaskEngine } from '@x/tasks'
import { tasks, type TasksApi } from '@x/tasks/server'
import * as z from 'zod'
import { type Completions, createCompletions } from './completions.ts'
import { createTimestamps, type Timestamps } from './timestamps.ts'
import { countRun, resultOf } from './runner.ts'

/** A server with tasks, and the records of its tasks. */
export interface ObservedServer {
  /** The exchange of the server. It records the times of requests and responses. */
  readonly exchange: Exchange
  readonly server: McpServer & { readonly tasks: TasksApi }
  readonly timestamps: Timestamps
  /** Completions of tasks by task id. A task is complete when its result is stored. */
  readonly ends: Completions
  /** The number of runs of the step, by token. */
  readonly runs: ReadonlyMap<string, number>
  readonly errors: readonly unknown[]
}

/** The options of a server. */
export interface ServerPlan {
  readonly concurrency: number
  readonly pollIntervalMs?: number | undefined
}

/** Opens a server with a standard configuration. Its engine also reports the end of each task. */
export function openServer(openEngine: (log: Log) => TaskEngine, plan: ServerPlan): ObservedServer {
  const timestamps = createTimestamps()
  const ends = createCompletions()
  const runs = new Map<string, number>()
  const errors: unknown[] = []
  const log: Log = ({ level, err, message }) => {
    if (level !== 'error') return
    errors.push(err ?? message)
    ends.fail(err ?? message)
  }
  const engine = openEngine(log)
  const tools = createTools(timestamps, runs)
  const observed: TaskEngine = {
    ...engine,
    finish: async (lease, end) => {
      const written = await engine.finish(lease, end)
      if (written) ends.complete(lease.id)
      return written
    },
  }
  const extensions = [tasks({ ...plan, store: observed })] as const
  const server = createServer({
    name: 'bench',
    version: '1.0.0',
    state: false,
    strictReplay: false,
    log,
    tools,
    extensions,
  })
  return { exchange: recordRequests(server.exchange, timestamps), server, timestamps, ends, runs, errors }
}

const confirmation = form(z.object({ sure: z.boolean() }))

/**
 * Creates a tool with one step, and a tool that asks a question before the step. The first one also runs without tasks.
 */
function createTools(timestamps: Timestamps, runs: Map<string, number>) {
  const input = z.object({ token: z.string() })
  const work = tool('work', {
    description: 'Runs one step',
    input,
    task: 'allowed',
    async run({ token }, ctx) {
      timestamps.record('begun', token)
      return ctx.step('work', () => {
        countRun(runs, token)
        return resultOf(token)
      })
    },
  })
  const ask = tool('ask', {
    description: 'Asks a question, and runs one step',
    input,
    task: 'required',
    async run({ token }, ctx) {
      const { sure } = await ctx.elicit('sure', { message: 'Sure?', schema: confirmation })
      timestamps.record('resumed', token)
      return ctx.step('work', () => {
        countRun(runs, token)
        return sure ? resultOf(token) : 'nothing'
      })
    },
  })
  return [work, ask]
}

/** Records when the client sends a call or an answer, and when it receives the response to a call. */
function recordRequests(server: Exchange, timestamps: Timestamps): Exchange {
  const tokens = new Map<unknown, string>()
  return async (request, call) => {
    const { method, params = {} } = request
    if (method === 'tasks/update') timestamps.record('updated', tokens.get(params['taskId']) ?? '')
    if (method !== 'tools/call') return server(request, call)
    const token = tokenOf(params['arguments'])
    timestamps.record('sent', token)
    const response = await server(request, call)
    timestamps.record('answered', token)
    if ('result' in response) tokens.set(response.result['taskId'], token)
    return response
  }
}

function tokenOf(given: unknown): string {
  return typeof given === 'object' && given !== null && 'token' in given ? String(given.token) : ''
}
