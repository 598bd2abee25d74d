import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { type OlderPeer, overHttp, overRemote, overStdio } from './older-client.ts'

let program: ChildProgram
beforeAll(async () => {
  program = await bundleProgram(new URL('./programs/all-revisions.ts', import.meta.url))
})
afterAll(() => program?.[Symbol.asyncDispose]())

const question = { name: 'resolve', arguments: { id: 4522 } }
const answer = { content: [{ type: 'text', text: '#4522 duplicates #17 (save 1)' }] }
const asked = ['How was #4522 resolved?', 'Of which item?']

test('the official v1 client over mcp-remote answers two questions during a call, whose work is done once [LEG-001 LEG-003 LEG-089]', async () => {
  await using peer = await overRemote()
  expect([await peer.client.callTool(question), peer.asked]).toEqual([answer, asked])
})

describe.each([
  ['HTTP', overHttp],
  ['stdio', () => overStdio(program.path)],
] as const)('the official v1 client over %s', (_, connect: () => Promise<OlderPeer>) => {
  let peer: OlderPeer
  beforeAll(async () => {
    peer = await connect()
  })
  afterAll(() => peer?.[Symbol.asyncDispose]())

  test('answers two questions during a call, whose work is done once [LEG-001 LEG-003 LEG-089]', async () => {
    expect([await peer.client.callTool(question), peer.asked]).toEqual([answer, asked])
  })

  test('reads lists, prompts, resources and completions', async () => {
    const { tools, nextCursor } = await peer.client.listTools()
    expect([tools.length > 0, typeof nextCursor]).toEqual([true, 'string'])
    const ref = { type: 'ref/prompt', name: 'review' } as const
    const { completion } = await peer.client.complete({ ref, argument: { name: 'language', value: 'ru' } })
    expect(completion.values).toEqual(['ruby', 'rust'])
    const { messages } = await peer.client.getPrompt({ name: 'review', arguments: { language: 'go' } })
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review this go' } }])
    const { contents } = await peer.client.readResource({ uri: 'test://one' })
    expect(contents).toEqual([{ uri: 'test://one', mimeType: 'text/plain', text: 'Text one' }])
  })

  test('receives progress and errors', async () => {
    const steps: number[] = []
    const counting = peer.client.callTool({ name: 'count', arguments: {} }, undefined, {
      onprogress: ({ progress }) => {
        steps.push(progress)
        if (progress === 3) void peer.client.callTool({ name: 'received', arguments: {} })
      },
    })
    expect(await counting).toMatchObject({ content: [{ text: 'counted' }] })
    expect(steps).toEqual([1, 2, 3])
    expect(await peer.client.callTool({ name: 'broken', arguments: {} })).toMatchObject({ isError: true })
    await expect(peer.client.readResource({ uri: 'test://none' })).rejects.toMatchObject({ code: -32002 })
  })

  test('cancels a call, and its handler stops [LEG-052]', async () => {
    const controller = new AbortController()
    const waiting = peer.client.callTool({ name: 'wait', arguments: {} }, undefined, { signal: controller.signal })
    await peer.client.ping()
    controller.abort('the user pressed stop')
    await expect(waiting).rejects.toThrow('the user pressed stop')
    expect(await peer.client.callTool({ name: 'stopped', arguments: {} })).toMatchObject({
      content: [{ text: 'stopped' }],
    })
  })

  test('sends pings, sets a log level and subscribes', async () => {
    expect(await peer.client.ping()).toEqual({})
    expect(await peer.client.setLoggingLevel('error')).toEqual({})
    expect(await peer.client.subscribeResource({ uri: 'test://one' })).toEqual({})
    expect(await peer.client.unsubscribeResource({ uri: 'test://one' })).toEqual({})
  })
})
