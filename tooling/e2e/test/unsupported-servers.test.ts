import { createClient } from '@x/client'
import type { Connection } from '@x/exchange'
import { connectHttp } from '@x/transport-http/client'
import { connectStdio } from '@x/transport-stdio'
import { expect, test } from 'vitest'
import { official } from './official-v1-server.ts'
import { everythingOverHttp, memory, serverOfRevision } from './older-server-peers.ts'

const overStdio = async (...args: string[]) => ({ connection: connectStdio({ command: process.execPath, args }) })

/** Connects to an older server without `@x/legacy`. */
async function overHttp(
  peer: Promise<AsyncDisposable & { readonly connection: { readonly url?: string | undefined } }>,
) {
  const running = await peer
  return { connection: connectHttp(running.connection.url ?? ''), running }
}

test.each<[string, string, () => Promise<{ connection: Connection; running?: AsyncDisposable }>]>([
  ['server-memory over stdio', '2025-11-25', () => overStdio(memory)],
  ['the official SDK of 2025-06-18 over stdio', '2025-06-18', () => overStdio(serverOfRevision, '2025-06-18')],
  ['server-everything over HTTP', '2025-11-25', () => overHttp(everythingOverHttp())],
  ['the official SDK with sessions over HTTP', '2025-11-25', () => overHttp(official(true))],
  ['the official SDK without sessions over HTTP', '2025-11-25', () => overHttp(official(false))],
])('the error of %s names the older revision', async (_, revision, connect) => {
  const { connection, running } = await connect()
  const client = createClient(connection, { name: 'host', version: '1.0.0' })
  await expect(client.listTools()).rejects.toMatchObject({
    name: 'ClientError',
    code: 'unsupported_version',
    message: expect.stringContaining(`this client speaks only MCP 2026-07-28; the server answered as ${revision}`),
  })
  await connection.close()
  await running?.[Symbol.asyncDispose]()
})
