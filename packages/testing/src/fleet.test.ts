import { createServer, form, sealedState, type ServerDefinition, tool } from '@x/server'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type ServerKit, testClient } from './index.ts'

const greet = tool('greet', {
  description: 'Greets',
  async run(_, ctx) {
    const who = await ctx.elicit('name', { message: 'Who are you?', schema: form(z.object({ name: z.string() })) })
    const when = await ctx.elicit('day', { message: 'When?', schema: form(z.object({ day: z.string() })) })
    return `${who.name} ${when.day}`
  },
})
const definition: ServerDefinition = { name: 'demo', version: '1', tools: [greet] }
const make = (kit: ServerKit) => createServer({ ...definition, ...kit })
const answers = { name: { name: 'Ada' }, day: { day: 'friday' } }

test('a factory that ignores its kit gets an error that says so when a state does not open', async () => {
  const forgetful = () => createServer({ ...definition, log: () => {} })
  await using client = testClient(forgetful, { answers, restartBetweenRounds: true })
  await expect(client.callTool('greet')).rejects.toMatchObject({
    code: 'kit_unused',
    message: expect.stringContaining('createServer({ ...definition, ...kit })'),
  })
})

test('a factory may ignore its kit when the definition has a state of its own', async () => {
  const state = sealedState({ keys: ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef'] })
  await using client = testClient(() => createServer({ ...definition, state }), { answers, restartBetweenRounds: true })
  expect((await client.callTool('greet')).content).toEqual([{ type: 'text', text: 'Ada friday' }])
})

test('restarts need a factory', () => {
  const server = createServer(definition)
  expect(() => testClient(server, { restartBetweenRounds: true })).toThrow('needs another instance')
  expect(() => testClient(server).restart()).toThrow('needs another instance')
})

test('several instances take turns, until another one alone answers', async () => {
  await using client = testClient(make, { answers, instanceCount: 2, cache: false })
  await client.callTool('greet')
  client.restart()
  await client.callTool('greet')
  expect(client.observations.rounds.map(({ instance }) => instance)).toEqual([0, 1, 0, 2, 2, 2])
  expect(client.instances).toHaveLength(3)
})

test.each([0, 1.5])('%d instances are no number of instances, and a server that was given is one', (instances) => {
  expect(() => testClient(make, { instanceCount: instances })).toThrow(
    `instances is ${instances}; expected a whole number from 1`,
  )
  expect(() => testClient(createServer(definition), { instanceCount: 2 })).toThrow('instances needs another instance')
})

test('a factory returns a server, and no promise of one', () => {
  // As untyped code would.
  const late = (async (kit: ServerKit) => make(kit)) as unknown as typeof make
  expect(() => testClient(late)).toThrow('The factory must return a server at once')
})

test('a client closes the instances of a factory, and leaves a server alone that was given', async () => {
  const server = createServer(definition)
  const own = vi.spyOn(server, 'close')
  await testClient(server).close()
  expect(own).not.toHaveBeenCalled()
  const client = testClient(make)
  const made = [client.instances[0], client.restart()].map((instance) => vi.spyOn(instance ?? server, 'close'))
  await client.close()
  for (const close of made) expect(close).toHaveBeenCalledOnce()
})
