import { expect, test, vi } from 'vitest'
import { createServer, memoryBus, type ServerDefinition, tool } from '../index.ts'
import { sendRequest, callTool } from '../testing/ask.ts'

const fail = tool('q', {
  description: 'Fails',
  run: () =>
    Promise.reject(new TypeError('rows is not iterable', { cause: new Error('password authentication failed') })),
})
const odd = tool('a b', { description: 'Has an unusual name', run: () => '' })

async function linesOf(options: Partial<ServerDefinition>, use: (made: ReturnType<typeof createServer>) => unknown) {
  using printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  await use(createServer({ name: 'demo', version: '1.0.0', tools: [fail], state: false, ...options }))
  return printed.mock.calls.map((values) => values.join(' '))
}

test('without a log a tool that fails is one line, with the reason that its client does not see', async () => {
  const [line, ...others] = await linesOf({}, (server) => callTool(server, 'q'))
  expect(line).toMatch(
    /^@x\/server: tools\/call "q": TypeError: rows is not iterable \(cause: Error: password auth.*at /,
  )
  expect(line).toContain('settings.test.ts')
  expect(others).toEqual([])
})

test('without a log a warning is one line', async () => {
  expect(await linesOf({ tools: [odd] }, () => {})).toEqual([
    expect.stringMatching(/^@x\/server: tools\/call "a b": The name of tool "a b"/),
  ])
})

test('errors of the change bus, and of what makes the server ready, are lines too', async () => {
  const bus = memoryBus()
  await bus.listen({
    onChange() {
      throw new Error('a listener')
    },
    onGap: () => {},
  })
  const ready = () => Promise.reject(new Error('no database'))
  const lines = await linesOf({ subscriptions: { bus }, ready }, async (server) => {
    await server.notifyListChanged('tools')
    await server.ready()
  })
  expect(lines).toEqual([
    expect.stringMatching(/^@x\/server: change bus: Error: a listener/),
    expect.stringMatching(/^@x\/server: ready: Error: no database/),
  ])
})

test('an error that the peer receives whole is not logged', async () => {
  expect(await linesOf({}, (server) => sendRequest(server, 'tools/call', { name: 'unknown' }))).toEqual([])
})

test('a log that does nothing silences errors and warnings', async () => {
  const options = { tools: [fail, odd], log: () => {} }
  expect(await linesOf(options, (server) => callTool(server, 'q'))).toEqual([])
})
