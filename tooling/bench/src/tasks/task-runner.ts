import { type Client, createClient } from '@x/client'
import { createCall, type Exchange } from '@x/exchange'
import type { CallToolResult } from '@x/schema'
import type { Log } from '@x/server'
import type { TaskEngine } from '@x/tasks'
import { type TasksClient, type TaskHandle, tasksClient } from '@x/tasks/client'
import { runConcurrently } from './run-concurrently.ts'
import { checkRuns, type Runner, resultOf } from './runner.ts'
import { type ObservedServer, openServer } from './task-server.ts'

/** A server with tasks and its clients in memory. */
export interface TaskRunner extends Runner {
  /** Calls the tool that asks a question, follows its task by listening, and answers at once. */
  ask(token: string): Promise<void>
}

/** Opens an engine, which logs errors of its background work. */
export type OpenEngine = (log: Log) => TaskEngine

/** The name and version of the clients. */
export const host = { name: 'bench', version: '1.0.0' } as const

/** The options of a runner. */
export interface TaskRunnerPlan {
  readonly concurrency: number
  /** The number of users. They create the tasks in turn. */
  readonly users: number
}

/** Opens a server over an engine, with clients that follow tasks. */
export function openTaskRunner(openEngine: OpenEngine, { concurrency, users }: TaskRunnerPlan): TaskRunner {
  const observed = openServer(openEngine, { concurrency })
  const { exchange, server, timestamps, ends } = observed
  const clients = Array.from({ length: users }, (_, index) => clientOf(exchange, `user-${index}`))
  let turns = 0
  const nextClient = (): UserClient => {
    const client = clients[turns % users]
    turns += 1
    if (client === undefined) throw new RangeError(`there are ${users} users: pass at least one`)
    return client
  }
  const handles = new Map<string, TaskHandle>()
  return {
    timestamps,
    create: async (token) => {
      const started = await nextClient().tasks.start('work', { token })
      if (started.status !== 'task') throw new Error(`the call of ${token} created no task: the server must create one`)
      handles.set(token, started.task)
    },
    ended: (token) => ends.wait(handleOf(handles, token).taskId),
    // The promise of `ended` resolves only after the result is stored.
    settle: async () => {},
    ask: async (token) => checkResult(token, await nextClient().callTool('ask', { token })),
    check: async (tokens) => {
      checkServer(observed, tokens)
      await runConcurrently(16, tokens, async (token) => {
        const state = await handleOf(handles, token).status()
        if (state.status !== 'completed')
          throw new Error(`the task of ${token} is ${state.status}: it must be completed`)
        checkText(token, state.result['content'])
      })
    },
    close: () => server.close({ graceMs: 1000 }),
  }
}

type UserClient = Client & { readonly tasks: TasksClient }

/** Creates a client of one user that accepts every question. The principal is the one that a transport would set. */
function clientOf(exchange: Exchange, subject: string): UserClient {
  const accept = () => ({ action: 'accept', content: { sure: true } }) as const
  const asUser: Exchange = (request, call) => exchange(request, createCall({ ...call, principal: { subject } }))
  return createClient(asUser, { ...host, elicit: accept, extensions: [tasksClient({ follow: 'listen' })] })
}

function handleOf(handles: ReadonlyMap<string, TaskHandle>, token: string): TaskHandle {
  const handle = handles.get(token)
  if (handle === undefined) throw new Error(`${token} has no task: create it first`)
  return handle
}

/** Throws if the server logged an error, or if the work of a token was not done exactly once. */
export function checkServer({ errors, runs }: ObservedServer, tokens: readonly string[]): void {
  if (errors.length > 0)
    throw new Error('the server logged an error, so the measurement is invalid', { cause: errors[0] })
  checkRuns(runs, tokens)
}

/** Throws unless a call returned the right result. */
export function checkResult(token: string, { content }: CallToolResult): void {
  checkText(token, content)
}

function checkText(token: string, content: unknown): void {
  const text = JSON.stringify(content)
  const wanted = JSON.stringify([{ type: 'text', text: resultOf(token) }])
  if (text !== wanted) throw new Error(`the result of ${token} is ${text}: it must be ${wanted}`)
}
