import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { UsageError } from '@apps/front/usage'
import { startBalancer } from './balancer.ts'

test('requests go to the targets by turns, and bytes both ways', async () => {
  await using fixture = await balanced(['a', 'b', 'c'])
  const answers = []
  for (let asked = 0; asked < 4; asked++) answers.push(await fixture.ask(`hello ${asked}`))
  expect(answers).toEqual(['a: hello 0', 'b: hello 1', 'c: hello 2', 'a: hello 3'])
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
  await expect(fixture.ask('break off')).resolves.toBe('')
  fixture.stop('a')
  await expect(fixture.ask('anybody?')).resolves.toBe('')
})

test('a large body passes whole', async () => {
  await using fixture = await balanced(['a'])
  const body = 'x'.repeat(3_000_000)
  expect((await fixture.ask(body)).length).toBe(body.length + 3)
})

test('requests within a session of an older revision go to one target, also when another one is gone', async () => {
  await using fixture = await balanced(['a', 'b', 'c'])
  const targets = new Map<string, string>()
  // The ports are random: of 60 sessions, one in ten thousand million runs leaves a target without any.
  for (let number = 0; number < 60; number++) {
    const session = `Mcp-Session-Id: s${number}`
    const answers = [await fixture.ask('1', session), await fixture.ask('1', session.toLowerCase())]
    expect(answers[1]).toBe(answers[0])
    targets.set(session, answers[0] ?? '')
  }
  expect(new Set(targets.values())).toEqual(new Set(['a: 1', 'b: 1', 'c: 1']))
  fixture.stop('a')
  for (const [session, target] of targets) {
    const answer = await fixture.ask('1', session)
    if (target !== 'a: 1') expect(answer).toBe(target)
    else expect(['b: 1', 'c: 1']).toContain(answer)
  }
})

test('a session of an older revision keeps its target when other sessions begin', async () => {
  await using fixture = await balanced(['a', 'b', 'c', 'd', 'e', 'f'])
  fixture.offer(['a', 'b'])
  const sessions = Array.from({ length: 12 }, (_, number) => `Mcp-Session-Id: s${number}`)
  const ask = async (): Promise<string[]> => {
    const answers = []
    for (const session of sessions) answers.push(await fixture.ask('1', session))
    return answers
  }
  const before = await ask()
  fixture.offer(['a', 'b', 'c', 'd', 'e', 'f'])
  expect(await ask()).toEqual(before)
  fixture.offer(['c', 'd', 'e', 'f'])
  const after = await ask()
  for (const answer of after) expect(['c: 1', 'd: 1', 'e: 1', 'f: 1']).toContain(answer)
  fixture.offer(['a', 'b', 'c', 'd', 'e', 'f'])
  expect(await ask()).toEqual(after)
})

test('requests of 2026-07-28 go by turns within a session too', async () => {
  await using fixture = await balanced(['a', 'b'])
  const headers = 'Mcp-Session-Id: s1\r\nMcp-Method: tools/call'
  expect([await fixture.ask('1', headers), await fixture.ask('2', headers)]).toEqual(['a: 1', 'b: 2'])
})

test('an instance closes each connection after its response, even if the client asks to keep it', async () => {
  await using fixture = await balanced(['a'])
  expect(await fixture.ask('which head?', 'Connection: keep-alive')).toBe('a: POST / HTTP/1.1\r\nConnection: close')
})

test('a connection that sends no head is closed', async () => {
  await using fixture = await balanced(['a'])
  const sent = ['', 'GET / HTTP/1.1\r\n', `GET / HTTP/1.1\r\nX: ${'x'.repeat(70_000)}`]
  for (const bytes of sent) expect(await exchangeBytes(bytes, fixture.port)).toBe('')
})

test('a port in use is rejected with a remedy', async () => {
  await using fixture = await balanced([])
  const again = startBalancer(fixture.port, () => [])
  await expect(again).rejects.toThrow(UsageError)
  await expect(again).rejects.toThrow(
    `port ${fixture.port} is taken by another program: stop that, or give another one`,
  )
})

async function balanced(names: readonly string[]) {
  const servers = new Map(await Promise.all(names.map(async (name) => [name, await echo(name)] as const)))
  let ports = [...servers.values()].map((server) => server.port)
  const balancer = await startBalancer(0, () => ports)
  return {
    port: balancer.port,
    offer: (offered: readonly string[]) => {
      ports = offered.flatMap((name) => servers.get(name)?.port ?? [])
    },
    ask: (question: string, headers = 'Host: test') =>
      exchangeBytes(`POST / HTTP/1.1\r\n${headers}\r\n\r\n${question}`, balancer.port),
    stop: (name: string) => servers.get(name)?.close(),
    [Symbol.asyncDispose]: async () => {
      await balancer.close()
      for (const server of servers.values()) server.close()
    },
  }
}

async function echo(name: string) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let received = ''
    socket.on('data', (chunk) => (received += String(chunk)))
    socket.on('end', () => {
      const [head = '', question = ''] = received.split('\r\n\r\n')
      if (question === 'which head?') socket.end(`${name}: ${head}`)
      else if (question === 'break off') socket.resetAndDestroy()
      else socket.end(`${name}: ${question}`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  return { port, close: () => void server.close() }
}

/** Sends the bytes and returns the response. Returns an empty string if the connection breaks. */
async function exchangeBytes(bytes: string, port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.end(bytes)
  return text(socket).catch(() => '')
}
