import { createClient } from '@x/client'
import { createServer, sealedState, type SheddingOptions, type Tool } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { type ServerKit, testClient } from '@x/testing'
import { connectHttp } from '@x/transport-http/client'
import { expect, test, vi } from 'vitest'
import * as programs from '../src/shedding.ts'

const keys = ['00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff']
const clientInfo = { name: 'test', version: '1.0.0' }

/** Creates an archive of books with three pages, which records its calls. */
function createArchive(): programs.Archive & { readonly done: string[] } {
  const done: string[] = []
  return {
    done,
    pages: async (book) => (done.push(`pages of ${book}`), 3),
    index: async (book, page) => (done.push(`${book} ${page}`), page * 100),
  }
}

/** Calls a tool with each round at another instance, and counts the rounds. */
async function call(tool: Tool, args: Record<string, number | string>, shedding: SheddingOptions) {
  const definition = { name: 'guide', version: '1', tools: [tool] }
  const createInstance = (kit: ServerKit) => createServer({ ...definition, ...kit, strictReplay: false })
  await using client = testClient(createInstance, { shedding, restartBetweenRounds: true })
  const { content } = await client.callTool(tool.name, args)
  return { text: content[0]?.type === 'text' ? content[0].text : '', rounds: client.observations.rounds.length }
}

const always = sheddingSettings({ calls: 'all', minWorkMs: 0, policy: () => true, budget: 3 })

test('several instances index a book, each page once', async () => {
  const archive = createArchive()
  const { text, rounds } = await call(programs.indexBook(archive), { book: 'Emma' }, always)
  expect([text, rounds]).toEqual(['600 words on 3 pages', 4])
  expect(archive.done).toEqual(['pages of Emma', 'Emma 1', 'Emma 2', 'Emma 3'])
})

test('primes are counted correctly with and without a hand-off', async () => {
  const moved = await call(programs.countPrimes, { limit: 10_000 }, always)
  const stayed = await call(programs.countPrimes, { limit: 10_000 }, sheddingSettings({ policy: () => false }))
  expect([moved.text, stayed.text]).toEqual(['1229 primes up to 10000', '1229 primes up to 10000'])
  expect([moved.rounds, stayed.rounds]).toEqual([4, 1])
})

test('the server of the guide serves calls, and is not ready while it drains', async () => {
  const server = programs.server(sealedState({ keys }), createArchive())
  await using http = await programs.serve(server)
  const connection = connectHttp(http.url)
  await createClient(connection, clientInfo).callTool('count_primes', { limit: 10 })
  await connection.close()
  expect((await fetch(new URL('/readyz', http.url))).status).toBe(200)
  const undrain = server.drain()
  expect((await fetch(new URL('/readyz', http.url))).status).toBe(503)
  undrain()
})

test('a server with its own limits reports hand-offs', async () => {
  vi.stubEnv('STATE_KEYS', keys[0])
  const server = programs.tuned()
  const { content } = await testClient(server).callTool('count_primes', { limit: 10 })
  expect(content).toEqual([{ type: 'text', text: '4 primes up to 10' }])
  expect(server.load.counters.handOffs).toEqual({ load: 0, policy: 0, stopping: 0 })
  vi.unstubAllEnvs()
})
