import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { UsageError } from '@apps/front/usage'
import { expect, test } from 'vitest'
import { startBalancer } from './balancer.ts'

test('a request keeps its body', async () => {
  await using fixture = await balanced(['a'])
  const body = 'x'.repeat(3_000_000)
  expect(await fixture.ask(body)).toBe(`a: ${body}`)
})

test('two requests in a row never go to the same target, though one target leaves and another one comes', async () => {
  await using fixture = await balanced(['a', 'b', 'c', 'd'])
  fixture.offer(['a', 'b', 'c'])
  const before = [await fixture.ask('1'), await fixture.ask('2')]
  fixture.offer(['a', 'c'])
  const meanwhile = await fixture.ask('3')
  fixture.offer(['a', 'c', 'd'])
  const after = [await fixture.ask('4'), await fixture.ask('5'), await fixture.ask('6')]
  expect([...before, meanwhile, ...after]).toEqual(['a: 1', 'b: 2', 'c: 3', 'd: 4', 'a: 5', 'c: 6'])
})

test('a target that is gone is passed over', async () => {
  await using fixture = await balanced(['a', 'b'])
  fixture.stop('a')
  expect([await fixture.ask('1'), await fixture.ask('2'), await fixture.ask('3')]).toEqual(['b: 1', 'b: 2', 'b: 3'])
})

test('a connection is closed when there is no target, or when its target breaks off', async () => {
  await using fixture = await balanced(['a'])
  await expect(fixture.ask('break off')).rejects.toThrow('fetch failed')
  await expect(fixture.ask('break off in the middle')).rejects.toThrow('terminated')
  fixture.stop('a')
  await expect(fixture.ask('anybody?')).rejects.toThrow('fetch failed')
})

test('requests within a session of an older revision go to one target, also when another one is gone', async () => {
  await using fixture = await balanced(['a', 'b', 'c'])
  const ask = (number: number) => fixture.ask('1', { 'Mcp-Session-Id': `s${number}` })
  const numbers = Array.from({ length: 12 }, (_, index) => index)
  const before = []
  for (const number of numbers) before.push(await ask(number))
  fixture.stop('a')
  for (const number of numbers) {
    // An answer and a GET for the rest of the stream come at once.
    const [answer, other] = await Promise.all([ask(number), ask(number)])
    expect(answer).toBe(other)
    if (before[number] !== 'a: 1') expect(answer).toBe(before[number])
  }
  fixture.offer(['b', 'c'])
  const after = []
  for (const number of numbers) after.push(await ask(number))
  fixture.offer(['b', 'c', 'a'])
  for (const number of numbers) expect(await ask(number)).toBe(after[number])
})

test('requests of 2026-07-28 go by turns within a session too', async () => {
  await using fixture = await balanced(['a', 'b'])
  const headers = { 'Mcp-Session-Id': 's1', 'Mcp-Method': 'tools/call' }
  expect([await fixture.ask('1', headers), await fixture.ask('2', headers)]).toEqual(['a: 1', 'b: 2'])
})

test('a port in use is rejected with a remedy', async () => {
  await using fixture = await balanced([])
  const again = startBalancer(fixture.port, () => [])
  await expect(again).rejects.toThrow(UsageError)
  await expect(again).rejects.toThrow(`port ${fixture.port} is taken by another program`)
})

async function balanced(names: readonly string[]) {
  const servers = new Map(await Promise.all(names.map(async (name) => [name, await serveEcho(name)] as const)))
  let ports = [...servers.values()].map((server) => server.port)
  const balancer = await startBalancer(0, () => ports)
  return {
    port: balancer.port,
    offer: (offered: readonly string[]) => {
      ports = offered.flatMap((name) => servers.get(name)?.port ?? [])
    },
    ask: async (body: string, headers: Record<string, string> = {}) =>
      (await fetch(`http://127.0.0.1:${balancer.port}/`, { method: 'POST', headers, body })).text(),
    stop: (name: string) => servers.get(name)?.close(),
    [Symbol.asyncDispose]: async () => {
      await balancer.close()
      for (const server of servers.values()) server.close()
    },
  }
}

async function serveEcho(name: string) {
  const server = createServer(async (request, response) => {
    const question = await text(request)
    if (question === 'break off in the middle') response.write('half', () => request.socket.resetAndDestroy())
    else if (question === 'break off') request.socket.resetAndDestroy()
    else response.end(`${name}: ${question}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}
