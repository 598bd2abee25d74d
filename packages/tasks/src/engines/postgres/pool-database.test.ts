import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { poolDatabase } from './pool-database.ts'

/** A message of PostgreSQL's protocol: a letter, a length and what it is about. */
function message(letter: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(letter), length, body])
}

/** Says yes to whoever comes and ends the connection, all in one packet, as a server does that is being stopped. */
const stopping = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')),
])

let server: Server
let port: number
beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(stopping))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  port = typeof address === 'object' ? (address?.port ?? 0) : 0
})
afterAll(() => server.close())

test('a connection that is ended with the packet that opened it costs its transaction, and not the process', async () => {
  const pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  pool.on('error', () => {})
  const settings = { channel: 'mcp_tasks', timeoutMs: 1000, onError: () => {}, end: async () => {} }
  const database = poolDatabase({ ...settings, pool, listenPool: pool })
  for (let times = 0; times < 5; times++) {
    await expect(database.transaction((query) => query('SELECT 1'))).rejects.toThrow(/not queryable|terminat|closed/i)
    await expect(database.query('SELECT 1')).rejects.toThrow(/not queryable|terminat|closed/i)
    await expect(database.bus.listen({ onChange: () => {}, onGap: () => {} })).rejects.toThrow('PostgreSQL')
  }
  await pool.end()
})
