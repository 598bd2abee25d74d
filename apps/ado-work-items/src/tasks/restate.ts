import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { PageHandler } from '@apps/front/serve-page'
import { type ObjectContext, object } from '@restatedev/restate-sdk'
import { createEndpointHandler } from '@restatedev/restate-sdk/fetch'
import type { TaskRunner, TasksApi } from '@x/tasks/server'

/** The path at which instances receive task runs from Restate. */
export const restatePath = '/restate'

/** Creates the runner that sends each task to Restate, with the task's id as the object key. */
export function restateRunner(ingress: string): TaskRunner {
  return {
    dispatch: async (id, delayMs) => {
      const delay = delayMs > 0 ? `?delay=${Math.ceil(delayMs)}ms` : ''
      const response = await fetch(`${ingress}/task/${encodeURIComponent(id)}/run/send${delay}`, { method: 'POST' })
      if (!response.ok) throw new Error(`Restate answered ${response.status}: ${await response.text()}`)
    },
  }
}

/**
 * Creates the handler that receives task runs from Restate over HTTP/1.1. The balancer sends each run to another
 * instance, as it does with the calls of clients.
 */
export function serveRestate(tasks: TasksApi): PageHandler {
  const handle = createEndpointHandler({ services: [createTaskObject(tasks)] })
  return (request, response) => {
    if (request.url?.startsWith(`${restatePath}/`) !== true) return false
    const answer = async (): Promise<void> => {
      const { status, headers, body } = await handle(toWebRequest(request, response))
      response.writeHead(status, Object.fromEntries(headers))
      if (body === null) response.end()
      else await pipeline(Readable.fromWeb(body as ReadableStream), response)
    }
    // Restate retries a call if its connection breaks.
    answer().catch(() => response.destroy())
    return true
  }
}

/** Converts a Node request to a web `Request`. Its signal aborts when the connection closes. */
function toWebRequest(request: IncomingMessage, response: ServerResponse): Request {
  const { method = 'GET', url = '/', headers, headersDistinct } = request
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  const lines = Object.entries(headersDistinct).map(([name, values = []]): [string, string] => [
    name,
    values.join(', '),
  ])
  return new Request(`http://${headers.host}${url}`, {
    method,
    headers: lines,
    body: method === 'POST' ? Readable.toWeb(request) : null,
    duplex: 'half',
    signal: closed.signal,
  })
}

/** Restate runs one call at a time for each object key, so two runs of one task never overlap. */
function createTaskObject(tasks: TasksApi) {
  return object({
    name: 'task',
    handlers: {
      run: async (ctx: ObjectContext): Promise<string> => {
        const { attemptCompletedSignal: signal } = ctx.request()
        for (;;) {
          const outcome = await ctx.run('run', () => tasks.run(ctx.key, { signal }))
          if (outcome.status !== 'busy') return outcome.status
          await ctx.sleep(outcome.retryAfterMs)
        }
      },
    },
  })
}
