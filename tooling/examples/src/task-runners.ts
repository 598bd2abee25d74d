import { once } from 'node:events'
import { createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2'
import * as restate from '@restatedev/restate-sdk'
import type { TaskRunner, TasksApi } from '@x/tasks/server'

// #region restate
/** Sends each task to the object `task` at Restate, with the task's id as the key. */
export const restateRunner = (ingress: string): TaskRunner => ({
  dispatch: async (id, delayMs) => {
    const delay = delayMs > 0 ? `?delay=${Math.ceil(delayMs)}ms` : ''
    const response = await fetch(`${ingress}/task/${encodeURIComponent(id)}/run/send${delay}`, { method: 'POST' })
    if (!response.ok) throw new Error(`Restate answered ${response.status}: ${await response.text()}`)
  },
})

/** Creates the object that runs tasks. Restate makes one call at a time for each key, and repeats a lost call. */
export const taskObject = (tasks: TasksApi): restate.VirtualObjectDefinition<'task', unknown> =>
  restate.object({
    name: 'task',
    handlers: {
      run: async (ctx: restate.ObjectContext): Promise<string> => {
        const { attemptCompletedSignal: signal } = ctx.request()
        for (;;) {
          const outcome = await ctx.run('run', () => tasks.run(ctx.key, { signal }))
          if (outcome.status !== 'busy') return outcome.status
          await ctx.sleep(outcome.retryAfterMs)
        }
      },
    },
  })

/** Serves the object to Restate. Returns the function that ends this, for the option `close` of `createServer`. */
export async function serveRestate(
  object: restate.VirtualObjectDefinition<'task', unknown>,
  port: number,
): Promise<() => Promise<void>> {
  const sessions = new Set<ServerHttp2Session>()
  const endpoint = createHttp2Server(restate.createEndpointHandler({ services: [object] }))
  endpoint.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  endpoint.listen(port)
  await once(endpoint, 'listening')
  return async () => {
    const closed = once(endpoint, 'close')
    endpoint.close()
    // Restate keeps its connections open, and repeats a call that is lost here.
    for (const session of sessions) session.destroy()
    await closed
  }
}
// #endregion restate

// #region function
/** The functions of a queue that delivers a message at least once, to a function with a time limit. */
export interface FunctionQueue {
  send(message: { readonly taskId: string }, options: { readonly delaySeconds: number }): Promise<void>
}

export const queueRunner = (queue: FunctionQueue): TaskRunner => ({
  dispatch: (taskId, delayMs) => queue.send({ taskId }, { delaySeconds: Math.ceil(delayMs / 1000) }),
})

/** Handles one message. `remainingMs` is the time that is left until the platform ends the function. */
export async function runQueuedTask(
  tasks: TasksApi,
  queue: FunctionQueue,
  { taskId, remainingMs }: { readonly taskId: string; readonly remainingMs: number },
): Promise<void> {
  const outcome = await tasks.run(taskId, { budgetMs: remainingMs / 2 })
  if (outcome.status === 'busy') await queueRunner(queue).dispatch(taskId, outcome.retryAfterMs)
}
// #endregion function
