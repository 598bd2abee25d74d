import { prompt, resource, resourceTemplate, tool, ToolError } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createGate } from '@tooling/vitest/gate'
import { overEveryTransport } from './over-every-transport.ts'
import { resultOf, send } from './raw-request.ts'

const greet = tool('greet', {
  description: 'Greets',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `Hello, ${name}!`,
})
const sum = tool('sum', {
  description: 'Adds',
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.object({ total: z.number() }),
  run: ({ a, b }) => ({ total: a + b }),
})
const broken = tool('broken', {
  description: 'Fails',
  run: () => {
    throw new ToolError('the disk is full')
  },
})

overEveryTransport('a tool call', (serve) => {
  test.each([1, 'one', 0, 'ä'])('returns the id %j and a complete result [BAS-006 BAS-007 BAS-008]', async (id) => {
    await using served = await serve({ tools: [greet] })
    const call = { method: 'tools/call', params: { name: 'greet', arguments: { name: 'Ada' } }, id }
    const { response } = await send(served.connect().exchange, call)
    expect(response).toMatchObject({
      jsonrpc: '2.0',
      id,
      result: { resultType: 'complete', content: [{ type: 'text', text: 'Hello, Ada!' }] },
    })
  })

  test('names the server in the _meta of its result [BAS-059]', async () => {
    await using served = await serve({ tools: [greet] })
    const call = { method: 'tools/call', params: { name: 'greet', arguments: { name: 'Ada' } } }
    const { response } = await send(served.connect().exchange, call)
    expect(resultOf(response)['_meta']).toMatchObject({
      'io.modelcontextprotocol/serverInfo': { name: 'e2e-server', version: '1.0.0' },
    })
  })

  test('keeps text in all scripts unchanged [TRI-001]', async () => {
    await using served = await serve({ tools: [greet] })
    const { content } = await served.connect().client.callTool('greet', { name: 'Ζωή 漢字 🎈\u2028\u0000' })
    expect(content).toEqual([{ type: 'text', text: 'Hello, Ζωή 漢字 🎈\u2028\u0000!' }])
  })

  test('returns structured content as data and as text [TOL-029 TOL-030]', async () => {
    await using served = await serve({ tools: [sum] })
    const result = await served.connect().client.callTool('sum', { a: 2, b: 3 })
    expect(result.structuredContent).toEqual({ total: 5 })
    expect(result.content).toEqual([{ type: 'text', text: '{"total":5}' }])
  })

  test('that fails returns a result with isError and the reason [TOL-033]', async () => {
    await using served = await serve({ tools: [broken] })
    const result = await served.connect().client.callTool('broken')
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('disk is full') }],
    })
  })

  test('with arguments that its schema rejects returns a result with isError that names the field [TOL-033 TOL-035]', async () => {
    await using served = await serve({ tools: [greet] })
    const result = await served.connect().client.callTool('greet', { name: 7 })
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringContaining('name') }] })
  })

  test('runs concurrently with slower calls [BAS-028]', async () => {
    const gate = createGate()
    const slow = tool('slow', { description: 'Waits', run: () => gate.opened.then(() => 'slow') })
    await using served = await serve({ tools: [slow, greet] })
    const { client } = served.connect()
    const first = client.callTool('slow')
    expect((await client.callTool('greet', { name: 'Ada' })).content).toEqual([{ type: 'text', text: 'Hello, Ada!' }])
    gate.open()
    expect((await first).content).toEqual([{ type: 'text', text: 'slow' }])
  })
})

overEveryTransport('a prompt', (serve) => {
  const review = prompt('review', {
    description: 'Reviews code',
    input: z.object({ language: z.string() }),
    complete: { language: (value) => ['rust', 'ruby', 'go'].filter((name) => name.startsWith(value)) },
    run: ({ language }) => `Review this ${language} code.`,
  })

  test('is rendered with its arguments', async () => {
    await using served = await serve({ prompts: [review] })
    const { messages } = await served.connect().client.getPrompt('review', { language: 'rust' })
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review this rust code.' } }])
  })

  test('completes its arguments', async () => {
    await using served = await serve({ prompts: [review] })
    const { client } = served.connect()
    const { completion } = await client.complete(
      { type: 'ref/prompt', name: 'review' },
      { name: 'language', value: 'ru' },
    )
    expect(completion.values).toEqual(['rust', 'ruby'])
  })
})

overEveryTransport('a resource', (serve) => {
  test('is read as text', async () => {
    const readme = resource('file:///readme', { name: 'readme', mimeType: 'text/plain', read: () => 'Read me' })
    await using served = await serve({ resources: [readme] })
    const { contents } = await served.connect().client.readResource('file:///readme')
    expect(contents).toEqual([{ uri: 'file:///readme', mimeType: 'text/plain', text: 'Read me' }])
  })

  test('is read as bytes', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    const image = resource('file:///image', { name: 'image', mimeType: 'image/png', read: () => bytes })
    await using served = await serve({ resources: [image] })
    const { contents } = await served.connect().client.readResource('file:///image')
    expect(contents).toEqual([
      { uri: 'file:///image', mimeType: 'image/png', blob: Buffer.from(bytes).toString('base64') },
    ])
  })

  test('of a template receives its variables, in every script [SHT-035 SHT-055]', async () => {
    const page = resourceTemplate('wiki://{page}', { name: 'page', read: ({ page: name }) => `Page ${name}` })
    await using served = await serve({ resourceTemplates: [page] })
    const { contents } = await served.connect().client.readResource(`wiki://${encodeURIComponent('Ζωή')}`)
    expect(contents).toMatchObject([{ text: 'Page Ζωή' }])
  })

  test('with a name that a header cannot contain is read [SHT-035 SHT-055]', async () => {
    const uri = 'note://Ζωή'
    const note = resource(uri, { name: 'note', read: () => 'A note' })
    await using served = await serve({ resources: [note] })
    expect((await served.connect().client.readResource(uri)).contents).toMatchObject([{ uri, text: 'A note' }])
  })
})
