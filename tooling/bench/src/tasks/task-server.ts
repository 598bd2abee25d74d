import type { Exchange } from '@x/schema'
import { createServer, form, type Log, type McpServer, tool } from '@x/server'
import type { TaskEngine } from '@x/tasks'
import { tasks, type TasksApi } from '@x/tasks/server'
import * as z from 'zod'
import { type Arrivals, createArrivals } from './arrivals.ts'
import { createMoments, type Moments } from './moments.ts'
import { countRun, resultOf } from './runner.ts'

/** A server with tasks, and what is noted of them. */
export interface WatchedServer {
  /** Notes when requests are sent and answered. */
  readonly exchange: Exchange
  readonly server: McpServer & { readonly tasks: TasksApi }
  readonly moments: Moments
  /** Ends of tasks that are kept, by the task's id. */
  readonly ends: Arrivals
  /** How often the step of a token was done. */
  readonly runs: ReadonlyMap<string, number>
  readonly errors: readonly unknown[]
}

/** How a server is to be. */
export interface ServerPlan {
  readonly concurrency: number
  readonly pollIntervalMs?: number | undefined
}

/** A server as users have it, whose engine tells of each end besides. */
export function openServer(openEngine: (log: Log) => TaskEngine, plan: ServerPlan): WatchedServer {
  const moments = createMoments()
  const ends = createArrivals()
  const runs = new Map<string, number>()
  const errors: unknown[] = []
  const log: Log = ({ level, err, message }) => {
    if (level !== 'error') return
    errors.push(err ?? message)
    ends.fail(err ?? message)
  }
  const engine = openEngine(log)
  const tools = toolsThat(moments, runs)
  const watched: TaskEngine = {
    ...engine,
    finish: async (lease, end) => {
      const written = await engine.finish(lease, end)
      if (written) ends.arrive(lease.id)
      return written
    },
  }
  const extensions = [tasks({ ...plan, store: watched })] as const
  const server = createServer({
    name: 'bench',
    version: '1.0.0',
    state: false,
    strictReplay: false,
    log,
    tools,
    extensions,
  })
  return { exchange: noting(server.exchange, moments), server, moments, ends, runs, errors }
}

const confirmation = form(z.object({ sure: z.boolean() }))

/**
 * One tool that does something and has done, and one that asks before. A client without tasks calls the first as any
 * other tool.
 */
function toolsThat(moments: Moments, runs: Map<string, number>) {
  const input = z.object({ token: z.string() })
  const work = tool('work', {
    description: 'Does something',
    input,
    task: 'allowed',
    async run({ token }, ctx) {
      moments.note('begun', token)
      return ctx.step('work', () => {
        countRun(runs, token)
        return resultOf(token)
      })
    },
  })
  const ask = tool('ask', {
    description: 'Asks, and does something',
    input,
    task: 'required',
    async run({ token }, ctx) {
      const { sure } = await ctx.elicit('sure', { message: 'Sure?', schema: confirmation })
      moments.note('resumed', token)
      return ctx.step('work', () => {
        countRun(runs, token)
        return sure ? resultOf(token) : 'nothing'
      })
    },
  })
  return [work, ask]
}

/** Notes when the client sends what makes a task or answers one, and when it has its answer. */
function noting(server: Exchange, moments: Moments): Exchange {
  const tokens = new Map<unknown, string>()
  return async (request, call) => {
    const { method, params = {} } = request
    if (method === 'tasks/update') moments.note('updated', tokens.get(params['taskId']) ?? '')
    if (method !== 'tools/call') return server(request, call)
    const token = tokenOf(params['arguments'])
    moments.note('sent', token)
    const response = await server(request, call)
    moments.note('answered', token)
    if ('result' in response) tokens.set(response.result['taskId'], token)
    return response
  }
}

function tokenOf(given: unknown): string {
  return typeof given === 'object' && given !== null && 'token' in given ? String(given.token) : ''
}
