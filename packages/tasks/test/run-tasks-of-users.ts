import { AsyncLocalStorage } from 'node:async_hooks'
import { createCall, type Middleware } from '@x/exchange'
import { type JsonObject, metaKeys, protocolVersion, type RpcNotification } from '@x/schema'
import { createServer, tool } from '@x/server'
import { expect } from 'vitest'
import type { TaskEngine } from '../src/engines/engine.ts'
import { tasksCapability } from '../src/schema/task-params.ts'
import { tasks } from '../src/server/tasks.ts'

const storage = new AsyncLocalStorage<string>()
const runAsCaller: Middleware = (next) => (request, call) =>
  storage.run(call.principal?.subject ?? '', () => next(request, call))

/** The params of a request, and the parts of its call that a stream needs. */
interface RequestOfUser {
  readonly params?: JsonObject
  readonly signal?: AbortSignal
  readonly notify?: (message: RpcNotification) => void
}

/** A server whose tool notes the stores in which its tasks run and are cancelled, and requests of its users. */
function createInstance(store: TaskEngine) {
  const stores = new Set<string | undefined>()
  const noteStore = (): void => void stores.add(storage.getStore())
  const work = tool('work', {
    description: 'Waits until it is cancelled, after a first step',
    task: 'required',
    run: async (_, ctx) => {
      noteStore()
      ctx.signal.addEventListener('abort', noteStore)
      await ctx.step('one', noteStore)
      ctx.progress(1, 2, 'Half')
      await new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
      return ''
    },
  })
  const server = createServer({
    name: 'demo',
    version: '1',
    tools: [work],
    use: [runAsCaller],
    extensions: [tasks({ store, pollIntervalMs: 50 })],
  })
  const send = async (
    subject: string,
    method: string,
    { params = {}, ...stream }: RequestOfUser = {},
  ): Promise<JsonObject> => {
    const _meta = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: tasksCapability }
    const request = { jsonrpc: '2.0', id: crypto.randomUUID(), method, params: { ...params, _meta } } as const
    const call = createCall({ principal: { subject }, ...stream })
    const response = await server.exchange(request, call)
    if ('error' in response) throw new Error(response.error.message)
    return response.result
  }
  return { server, stores, send }
}

/** Runs and cancels tasks of two users at two instances, which first received a request of a third user. */
export async function runTasksOfUsers(openEngine: () => TaskEngine): Promise<void> {
  const instances = [createInstance(openEngine()), createInstance(openEngine())] as const
  const [here, there] = instances
  for (const { server, send } of instances) {
    await send('ada', 'tools/list')
    await server.ready()
  }
  const notified: string[] = []
  await Promise.all(
    ['bob', 'eve'].map(async (subject) => {
      const { taskId } = await here.send(subject, 'tools/call', { params: { name: 'work', arguments: {} } })
      const stream = new AbortController()
      const ended = new Promise<void>((resolve, reject) => {
        const notify = ({ params = {} }: RpcNotification): void => {
          notified.push(`${subject} ${storage.getStore()}`)
          if (params['status'] === 'cancelled') resolve()
          if (params['statusMessage'] === 'Half')
            there.send(subject, 'tasks/cancel', { params: { taskId: String(taskId) } }).catch(reject)
        }
        const params = { notifications: { taskIds: [String(taskId)] } }
        there.send(subject, 'subscriptions/listen', { params, notify, signal: stream.signal }).catch(reject)
      })
      await ended
      stream.abort()
    }),
  )
  expect([...here.stores, ...there.stores].filter((store) => store !== undefined)).toEqual([])
  expect(new Set(notified)).toEqual(new Set(['bob bob', 'eve eve']))
  for (const { server } of instances) await server.close()
}
