import { connect, createServer as createTcpServer } from 'node:net'
import { PassThrough } from 'node:stream'
import { findFreePort } from '@tooling/real-servers/free-port'
import { createClient } from '@x/client'
import { createServer, form, type Log, prompt, resource, tool, ToolError } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { serveStdio } from '@x/transport-stdio'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { keys, stateWith } from './asking.ts'

// The first half of a pair, as text has that was cut in the middle of a character.
const half = '🛠'.slice(0, 1)
// JSON within JSON has the backslash twice.
const halfInJson = /\\ud[89a-f][0-9a-f]{2}/i

function createCutServer(log: Log) {
  const results = tool('results', {
    description: `Cut ${half}`,
    input: z.looseObject({}),
    output: z.record(z.string(), z.string()),
    run(_, ctx) {
      ctx.progress(1, 2, `cut ${half}`)
      ctx.log('info', { [half]: half })
      return { [`key ${half}`]: half }
    },
  })
  const fails = tool('fails', {
    description: 'Fails',
    run: () => {
      throw new ToolError(`cut ${half}`)
    },
  })
  const asks = tool('asks', {
    description: 'Asks, between steps with cut text',
    async run(_, ctx) {
      const step = await ctx.step('step', () => ({ [`key ${half}`]: half }))
      const schema = form(z.object({ name: z.string() }))
      const { name } = await ctx.elicit('name', { message: `cut ${half}`, schema })
      return [...Object.entries(step).flat(), name].join()
    },
  })
  const says = prompt('says', {
    description: 'Says',
    input: z.object({ text: z.string() }),
    run: ({ text }) => text + half,
  })
  const page = resource('test://page', { name: `cut ${half}`, read: () => `cut ${half}` })
  const state = stateWith(keys.first)
  const definitions = { tools: [results, fails, asks], prompts: [says], resources: [page] }
  return createServer({ name: 'cut', version: '1.0.0', state, log, strictReplay: false, ...definitions })
}

test('no message of a client and a server over HTTP has half of a surrogate pair [ROB-005]', async () => {
  using printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const log = vi.fn<Log>()
  await using http = await serveHttp(createCutServer(log))
  let seen = ''
  const port = await findFreePort()
  const recorder = createTcpServer((socket) => {
    const upstream = connect(http.port, '127.0.0.1')
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      from.on('data', (bytes: Buffer) => (seen += bytes.toString('latin1'))).pipe(to)
      from.on('error', () => to.destroy())
    }
  }).listen(port, '127.0.0.1')
  await using connection = connectHttp(`http://127.0.0.1:${port}/mcp`)
  const elicit = async () => ({ action: 'accept', content: { name: `answer ${half}` } }) as const
  const client = createClient(connection, { name: `cut ${half}`, version: '1.0.0', elicit })
  const onLog = vi.fn()
  const onProgress = vi.fn()
  expect(await client.callTool('results', { [half]: half }, { onLog, onProgress })).toMatchObject({
    content: [{ text: '{"key \uFFFD":"\uFFFD"}' }],
    structuredContent: { 'key \uFFFD': '\uFFFD' },
  })
  expect(onProgress).toHaveBeenCalledWith(expect.objectContaining({ message: 'cut \uFFFD' }))
  expect(onLog).toHaveBeenCalledWith(expect.objectContaining({ data: { '\uFFFD': '\uFFFD' } }))
  expect(await client.callTool('fails')).toMatchObject({ content: [{ text: 'cut \uFFFD' }], isError: true })
  expect(await client.callTool('asks')).toMatchObject({
    content: [{ text: 'key \uFFFD,\uFFFD,answer \uFFFD' }],
  })
  expect(await client.getPrompt('says', { text: half })).toMatchObject({
    messages: [{ content: { text: '\uFFFD\uFFFD' } }],
  })
  expect(await client.readResource('test://page')).toMatchObject({ contents: [{ text: 'cut \uFFFD' }] })
  await client.listTools()
  await client.listResources()
  expect(seen).toContain('"answer')
  expect(seen).not.toMatch(halfInJson)
  expect(log.mock.calls.filter(([{ code }]) => code === 'lone_surrogate')).toHaveLength(1)
  // The clients of a process say it once, so another test may have seen it.
  expect(printed.mock.calls.length).toBeLessThanOrEqual(1)
  recorder.close()
})

test('no message of a server over stdio has half of a surrogate pair [ROB-005]', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const log = vi.fn<Log>()
  await using _service = serveStdio(createCutServer(log), { input, output })
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    progressToken: half,
  }
  const params = { name: 'results', arguments: {}, _meta }
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: half, method: 'tools/call', params })}\n`)
  let seen = ''
  for await (const chunk of output.setEncoding('utf8')) {
    seen += String(chunk)
    if (seen.includes('"result"')) break
  }
  expect(seen).toContain('"id":"\uFFFD"')
  expect(seen).not.toMatch(halfInJson)
  expect(log.mock.calls).toMatchObject([[{ code: 'lone_surrogate' }]])
})
