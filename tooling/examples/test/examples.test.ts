import { testClient } from '@x/testing'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { copyFiles, divideOne, listRemoteTools, local } from '../src/client.ts'
import { serve, serveKnownCallers, worker } from '../src/http.ts'
import { server as notes } from '../src/prompts-and-resources.ts'
import { offerOnlyGreeting, server, strict } from '../src/server.ts'
import { connectGuide } from '../src/typed-client.ts'

test('the tools of the guide return the results in the guide', async () => {
  await expect(local.callTool('greet', { name: 'Ada' })).resolves.toMatchObject({ content: [{ text: 'Hello, Ada!' }] })
  await expect(local.callTool('divide', { dividend: 6, divisor: 3 })).resolves.toMatchObject({
    structuredContent: { quotient: 2 },
  })
  await expect(local.callTool('divide', { dividend: 6, divisor: 0 })).resolves.toMatchObject({ isError: true })
  await expect(local.callTool('query', { region: 'eu', query: 'q' })).resolves.toMatchObject({
    content: [{ text: 'Ran in eu' }],
  })
  await expect(testClient(strict).callTool('echo', {})).resolves.toMatchObject({ isError: true })
})

test('a tool with visibleTo is hidden from other callers', async () => {
  await using open = await serve()
  await using known = await serveKnownCallers()
  expect(await listRemoteTools(open.url)).not.toContain('shut_down')
  expect(await listRemoteTools(known.url)).toContain('shut_down')
  await expect(local.callTool('shut_down')).rejects.toMatchObject({ rpc: { message: 'Unknown tool: "shut_down"' } })
})

test('progress reaches the caller', async () => {
  await expect(copyFiles(local, ['a', 'b'])).resolves.toBeUndefined()
})

test('calls have the types of the server, in the same process and over HTTP', async () => {
  expect([await divideOne(4), await divideOne(0)]).toEqual([0.25, undefined])
  await using open = await serve()
  await using connection = connectHttp(open.url)
  const { content } = await connectGuide(connection).tools.greet({ name: 'Ada' })
  expect(content).toEqual([{ type: 'text', text: 'Hello, Ada!' }])
})

test('prompts, resources and completions return the values in the guide', async () => {
  const local = testClient(notes)
  const { messages } = await local.getPrompt('review', { language: 'go', code: 'x' })
  expect(messages[0]?.content).toMatchObject({ text: 'Review this go code:\n\nx' })
  await expect(local.readResource('notes://days/monday')).resolves.toMatchObject({ contents: [{ text: 'Buy milk' }] })
  await expect(local.readResource('notes://days/friday')).rejects.toMatchObject({ rpc: { code: -32602 } })
  await expect(local.readResource('notes://changelog')).resolves.toMatchObject({ ttlMs: 60_000 })
  const { completion } = await local.complete({ type: 'ref/prompt', name: 'review' }, { name: 'language', value: 'ty' })
  expect(completion.values).toEqual(['typescript'])
})

test('the fetch handler rejects a host that is not allowed', async () => {
  const response = await worker.fetch(new Request('https://evil.example/mcp', { method: 'POST', body: '{}' }))
  expect(response.status).toBe(403)
})

test('an update replaces the tools', async () => {
  offerOnlyGreeting()
  expect((await testClient(server).listTools()).map(({ name }) => name)).toEqual(['greet'])
})
