import { createServer as createHttpServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { isJsonObject } from '@x/schema'
import { createServer, tool } from '@x/server'
import { tasksClient } from '@x/tasks/client'
import { tasks } from '@x/tasks/server'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { listenLocally } from './listen-locally.ts'

const info = { name: 'e2e', version: '1.0.0' }
const reason = 'the user left'

describe('what a program gives up right before it closes its connection is cancelled at the server:', () => {
  test('a task [TSK-040]', async () => {
    const answered: string[] = []
    const waits = tool('waits', {
      description: 'Waits',
      task: 'required',
      run: (_, { signal }) =>
        new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    const server = createServer({
      ...info,
      tools: [waits],
      use: [(next) => (request, call) => next(request, call).finally(() => answered.push(request.method))],
      extensions: [tasks({ store: 'memory:' })],
    })
    await using http = await serveHttp(server)
    const connection = connectAny(http.url, { revision: '2026-07-28' })
    const controller = new AbortController()
    const client = createClient(connection, {
      ...info,
      extensions: [tasksClient({ onTask: () => controller.abort(reason) })],
    })
    await expect(client.callTool('waits', {}, { signal: controller.signal })).rejects.toBe(reason)
    await connection.close()
    expect(answered).toEqual(['tools/call', 'tasks/cancel'])
  })

  test('a call of an older server without sessions [LEX-005]', async () => {
    const received: unknown[] = []
    const controller = new AbortController()
    const http = createHttpServer(async (request, response) => {
      const message: unknown = await json(request)
      const { id, method } = isJsonObject(message) ? message : {}
      received.push(method)
      if (method === 'tools/call') return controller.abort(reason)
      response.writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json' })
      const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: info }
      response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    const connection = connectAny(`http://127.0.0.1:${await listenLocally(http)}/mcp`, { revision: 'older' })
    const client = createClient(connection, info)
    await expect(client.callTool('waits', {}, { signal: controller.signal })).rejects.toBe(reason)
    await connection.close()
    expect(received).toEqual(['initialize', 'notifications/initialized', 'tools/call', 'notifications/cancelled'])
    http.close()
  })
})
