import { createServer, prompt, tool, type TypesOf } from '@x/server'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { Client } from '../client.ts'
import type { ClientExtension } from '../extensions/client-extension.ts'
import { createClient } from '../create-client.ts'
import { hostInfo } from '../testing/scripted-exchange.ts'

const greet = tool('greet', {
  description: 'Greets a person',
  input: z.object({ name: z.string(), times: z.number().optional() }),
  output: z.object({ text: z.string() }),
  run: ({ name }) => ({ text: `Hello, ${name}!` }),
})
const ping = tool('ping', { description: 'Answers', run: () => 'pong' })
const issue = tool('get-issue', { description: 'An issue', input: { type: 'object' }, run: (args) => `${args['id']}` })
const review = prompt('review', { input: z.object({ code: z.string() }), run: ({ code }) => `Review ${code}` })
const count = prompt('count', { input: z.object({ to: z.coerce.number() }), run: ({ to }) => `Count to ${to}` })
const prompts = [review, count]
const server = createServer({ name: 'demo', version: '1.0.0', tools: [greet, ping, issue], prompts })
interface Api extends TypesOf<typeof server> {}

const counter: ClientExtension<'counter', { count(): number }> = {
  extends: 'client',
  name: 'counter',
  identifier: 'com.example/counter',
  start: () => {
    let calls = 0
    return {
      api: { count: () => calls },
      wrapCall: (next) => (call) => {
        calls += 1
        return next(call)
      },
    }
  },
}

describe('A client that knows the types of its server', () => {
  test('has a function per tool and per prompt', async () => {
    const client = createClient(server, hostInfo)
    const { structuredContent, content } = await client.tools.greet({ name: 'Ada' })
    expectTypeOf(structuredContent).toEqualTypeOf<{ text: string } | undefined>()
    expect([structuredContent?.text, content]).toEqual(['Hello, Ada!', [{ type: 'text', text: expect.any(String) }]])
    expect((await client.tools.ping()).content).toEqual([{ type: 'text', text: 'pong' }])
    expect((await client.tools['get-issue']({ id: 7 })).content).toEqual([{ type: 'text', text: '7' }])
    const { messages } = await client.prompts.review({ code: 'x = 1' })
    expect(messages).toMatchObject([{ content: { text: 'Review x = 1' } }])
    await expect(client.prompts.count({ to: '3' })).resolves.toMatchObject({ messages: [{ role: 'user' }] })
  })

  test('passes the options of a call', async () => {
    const client = createClient(server, hostInfo)
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(client.tools.ping({}, { signal })).rejects.toThrow('stopped')
  })

  test('has the types of a server that runs elsewhere, by its type or an interface of it', async () => {
    const byServer = createClient<typeof server>(server.exchange, hostInfo)
    const byInterface = createClient<Api>(server.exchange, hostInfo)
    for (const client of [byServer, byInterface]) {
      const greeting = await client.tools.greet({ name: 'Bo', times: 1 })
      if (greeting.isError) throw new Error('the tool failed')
      expectTypeOf(greeting.structuredContent).toEqualTypeOf<{ text: string }>()
      expect(greeting.structuredContent.text).toBe('Hello, Bo!')
    }
    expectTypeOf(byServer).toExtend<Client>()
    expectTypeOf(byInterface).toExtend<Client>()
  })

  test('refuses other names, arguments and members of results', () => {
    void (async (client: Client<Api>) => {
      // @ts-expect-error: there is no such tool
      await client.tools.great({ name: 'Ada' })
      // @ts-expect-error: there is no such argument
      await client.tools.greet({ nam: 'Ada' })
      // @ts-expect-error: an argument is absent
      await client.tools.greet()
      // @ts-expect-error: there is no such member
      void (await client.tools.greet({ name: 'Ada' })).structuredContent?.txt
      // @ts-expect-error: the tool takes nothing
      await client.tools.ping({ name: 'Ada' })
      // @ts-expect-error: an argument is absent
      await client.prompts.review({})
      // @ts-expect-error: the schema makes a number of a text
      await client.prompts.count({ to: 3 })
    })
  })

  test('calls tools through its extensions', async () => {
    const client = createClient(server, { ...hostInfo, extensions: [counter] })
    await client.tools.ping()
    expect(client.counter.count()).toBe(1)
  })
})

test('a client without these types checks no names, and has no functions by its type', async () => {
  const client = createClient(server.exchange, hostInfo)
  expect((await client.callTool('greet', { name: 'Ada' })).structuredContent).toEqual({ text: 'Hello, Ada!' })
  // @ts-expect-error: write createClient<typeof server>(…)
  expect((await client.tools.ping()).content).toEqual([{ type: 'text', text: 'pong' }])
})

test('the functions of tools may be awaited, printed and serialized without a call', async () => {
  const sent: string[] = []
  const client = createClient<Api>(
    (request) => Promise.reject(new Error(sent.push(request.method).toString())),
    hostInfo,
  )
  expect(await client.tools).toBe(client.tools)
  expect(JSON.stringify(client.tools)).toBe('{}')
  expect(String(client.tools)).toBe('[object Object]')
  expect(client.tools.greet).toBe(client.tools.greet)
  expect(sent).toEqual([])
})
