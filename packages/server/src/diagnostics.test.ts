import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerEvent } from '@x/exchange'
import { randomKey, sealedState } from '@x/state-codec'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createServer, tool } from './index.ts'
import { diagnostics } from './node.ts'
import { callTool, errorOf, resultOf } from './testing/ask.ts'

test('each event of a server is published to the channel of its type', async () => {
  const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })
  const server = createServer({ name: 'demo', version: '1.0.0', tools: [greet], extensions: [diagnostics()] })
  const published: unknown[] = []
  const listen = (event: unknown): void => void published.push(event)
  subscribe('x:run', listen)
  await callTool(server, 'greet')
  unsubscribe('x:run', listen)
  await callTool(server, 'greet')
  expect(published).toMatchObject([{ type: 'run', method: 'tools/call', name: 'greet', end: 'finished' }])
})

const canary = 'canary-of-diagnostics'
const observedTypes = ['resume', 'run', 'step', 'question', 'answer', 'state_rejected', 'warning'] as const

test('no member of an event besides its call has an argument, answer, result or state [OPS-001]', async () => {
  const ask = tool('ask', {
    description: 'Asks',
    input: z.object({ secret: z.string() }),
    run: async (_, ctx) => {
      const { name } = await ctx.elicit('name', { message: canary, schema: z.object({ name: z.string() }) })
      await ctx.step('save', () => canary)
      return name
    },
  })
  const definition = { name: 'demo', version: '1.0.0', tools: [ask], state: sealedState({ keys: [randomKey()] }) }
  const server = createServer({ ...definition, strictReplay: false, log: () => {}, extensions: [diagnostics()] })
  const published: object[] = []
  const listen = (event: unknown): void => {
    // The cast is safe, because these channels have only the events of a server.
    const { call: _, ...members } = event as ServerEvent & { call?: unknown }
    published.push(members)
  }
  for (const type of observedTypes) subscribe(`x:${type}`, listen)
  const options = { meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} }, secret: canary } }
  const args = { name: 'ask', arguments: { secret: canary } }
  const { requestState } = await resultOf(server, 'tools/call', args, options)
  const inputResponses = { name: { action: 'accept', content: { name: canary } } }
  await resultOf(server, 'tools/call', { ...args, requestState, inputResponses }, options)
  await errorOf(server, 'tools/call', { ...args, requestState: `${canary}${requestState}`, inputResponses }, options)
  for (const type of observedTypes) unsubscribe(`x:${type}`, listen)
  const types = published.map((event) => ('type' in event ? event.type : undefined))
  expect(new Set(types)).toEqual(new Set(['question', 'run', 'resume', 'answer', 'step', 'state_rejected']))
  const text = JSON.stringify(published)
  expect(text).not.toContain(canary)
  expect(text).not.toContain(String(requestState).slice(0, 40))
})
