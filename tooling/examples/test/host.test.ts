import { randomBytes } from 'node:crypto'
import { createClient } from '@x/client'
import { legacy } from '@x/legacy'
import { createServer, type McpServer, sealedState, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { testClient } from '@x/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { answerAt, callLines, connectAll, connectTo, runHost, type Terminal } from '../src/host.ts'

function createDefinition() {
  const schema = z.object({ resolution: z.enum(['Fixed', 'Duplicate']), original: z.int().optional() })
  const resolve = tool('resolve', {
    description: 'Resolves a work item',
    input: z.object({ id: z.int() }),
    run: async ({ id }, ctx) => {
      const { resolution, original } = await ctx.elicit('resolution', { message: `How was #${id} resolved?`, schema })
      return original === undefined ? `#${id} is ${resolution}` : `#${id} is a ${resolution} of #${original}`
    },
  })
  const pay = tool('pay', {
    description: 'Sends its user to a page',
    run: async (_, ctx) => {
      await ctx.elicitUrl('page', { message: 'Pay here', url: 'https://pay.example/17' })
      return 'paid'
    },
  })
  const tools = [resolve, pay]
  return { name: 'tracker', version: '1.0.0', tools }
}

function createTracker(): McpServer {
  const state = sealedState({ keys: [randomBytes(32)] })
  return createServer({ ...createDefinition(), state, extensions: [legacy()] })
}

/** Creates a terminal whose user enters these lines, one for each question. */
function scriptedTerminal(...lines: string[]): Terminal & { readonly shown: readonly string[] } {
  const shown: string[] = []
  return {
    shown,
    question: async (text) => {
      const line = lines.shift() ?? ''
      shown.push(`${text}${line}`)
      return line
    },
    write: (text) => void shown.push(text.trimEnd()),
  }
}

test.each([
  ['2026-07-28', 'probe'],
  ['2025-11-25', 'older'],
] as const)('a host in a terminal uses a server of revision %s', async (revision, given) => {
  await using http = await serveHttp(createTracker())
  await using connection = connectTo([http.url], given)
  const terminal = scriptedTerminal('resolve {"id":4522}', 'Duplicate', '17', 'pay', 'y', 'resolve {"id":1}', '', '')
  await runHost(connection, terminal)
  expect(terminal.shown).toEqual([
    `The server speaks ${revision} and has resolve, pay`,
    '> resolve {"id":4522}',
    expect.stringMatching(/^resolve of tracker.* asks: How was #4522 resolved\?$/),
    'resolution (Fixed, Duplicate): Duplicate',
    'original: 17',
    '#4522 is a Duplicate of #17',
    '> pay',
    expect.stringMatching(/^pay of tracker.* asks: Pay here\nOpen https:\/\/pay\.example\/17\? \(y\/n\) y$/),
    'paid',
    '> resolve {"id":1}',
    expect.stringMatching(/asks: How was #1 resolved\?$/),
    'resolution (Fixed, Duplicate): ',
    'The user dismissed the question "resolution"',
    '> ',
  ])
})

test('a host in a terminal answers questions of any instance', async () => {
  const terminal = scriptedTerminal('resolve {"id":4522}', 'Duplicate', '17', 'pay', 'n', '')
  await using client = testClient((kit) => createServer({ ...createDefinition(), ...kit }), {
    ...answerAt(terminal),
    restartBetweenRounds: true,
  })
  await callLines(client, terminal)
  const { rounds, errors } = client.observations
  expect(rounds.map(({ target, instance, status }) => [target, instance, status])).toEqual([
    ['resolve', 0, 'input_required'],
    ['resolve', 1, 'complete'],
    ['pay', 1, 'input_required'],
    ['pay', 2, 'complete'],
  ])
  expect([terminal.shown.at(-2), errors]).toEqual(['The user declined to answer the question "page"', []])
})

test('a host in a terminal prints the failure, and continues', async () => {
  await using http = await serveHttp(createTracker())
  await using connection = connectTo([http.url])
  const terminal = scriptedTerminal('nothing', 'resolve 7')
  await runHost(connection, terminal)
  expect(terminal.shown.slice(2, 5)).toEqual([
    expect.stringContaining('Unknown tool'),
    '> resolve 7',
    'Failed: Arguments must be a JSON object',
  ])
})

/** A server of 2025-06-18 that has one tool. */
const program = `
  const { createInterface } = require('node:readline')
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...message }) + '\\n')
    const serverInfo = { name: 'plain', version: '1' }
    if (method === 'initialize') {
      send({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } })
    } else if (method === 'tools/list') send({ result: { tools: [{ name: 'add', inputSchema: { type: 'object' } }] } })
    else if (id !== undefined) send({ error: { code: -32601, message: 'Method not found' } })
  })`

test('a host in a terminal uses a server that is a command', async () => {
  await using connection = connectTo([process.execPath, '-e', program])
  const terminal = scriptedTerminal()
  await runHost(connection, terminal)
  expect(terminal.shown[0]).toBe('The server speaks 2025-06-18 and has add')
})

test('each entry of a configuration has a connection', async () => {
  await using http = await serveHttp(createTracker())
  const text = JSON.stringify({
    mcpServers: {
      tracker: { type: 'http', url: http.url, headers: { 'x-host': 'terminal' } },
      plain: { type: 'stdio', command: process.execPath, args: ['-e', program], env: {} },
    },
  })
  const connections = [...connectAll(JSON.parse(text))]
  const listed = connections.map(async ([name, connection]) => {
    await using _closed = connection
    const tools = await createClient(connection, { name: 'host', version: '1.0.0' }).listTools()
    return [name, tools.map((tool) => tool.name)]
  })
  expect(await Promise.all(listed)).toEqual([
    ['tracker', ['resolve', 'pay']],
    ['plain', ['add']],
  ])
})
