import { PassThrough } from 'node:stream'
import { type Client, createClient } from '@x/client'
import type { Connection } from '@x/exchange'
import { createServer } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { connectStreams, serveStdio } from '@x/transport-stdio'
import { expect, test } from 'vitest'

interface Joined extends AsyncDisposable {
  readonly connection: Connection
}

const server = createServer({ name: 'e2e-server', version: '1.0.0', tools: [] })

async function overHttp(): Promise<Joined> {
  const http = await serveHttp(server)
  return { connection: connectHttp(http.url), [Symbol.asyncDispose]: () => http.close({ graceMs: 0 }) }
}

function overStreams(): Promise<Joined> {
  const [there, back] = [new PassThrough(), new PassThrough()]
  const service = serveStdio(server, { input: there, output: back })
  const connection = connectStreams({ input: back, output: there })
  return Promise.resolve({ connection, [Symbol.asyncDispose]: () => service.close() })
}

async function nextOf(client: Client): Promise<AsyncIterator<unknown>> {
  const events = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]()
  expect((await events.next()).value).toMatchObject({ type: 'opened' })
  return events
}

test.each([
  ['HTTP', overHttp],
  ['streams', overStreams],
])('a subscription over %s ends when its connection is closed, instead of reopening for ever', async (_title, join) => {
  await using joined = await join()
  const { connection } = joined
  const events = await nextOf(createClient(connection, { name: 'e2e-client', version: '1.0.0' }))
  expect(connection.closed.aborted).toBe(false)
  const ended = events.next().catch((error: unknown) => error)
  await connection.close()
  expect(await ended).toMatchObject({ code: 'transport' })
  expect(connection.closed.aborted).toBe(true)
  await expect(events.next()).resolves.toEqual({ done: true, value: undefined })
})
