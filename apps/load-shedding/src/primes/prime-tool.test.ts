import { randomBytes } from 'node:crypto'
import { createClient } from '@x/client'
import type { Exchange } from '@x/schema'
import { createServer, sealedState, type SheddingOptions } from '@x/server'
import { expect, test } from 'vitest'
import type { InstanceMessage } from '../instance/instance-message.ts'
import { isRight, light } from './job.ts'
import { callKey, countPrimes } from './prime-tool.ts'

/** Instances that take turns, and what they told. */
function openFleet(size: number, shedding: false | SheddingOptions) {
  const told: { readonly instance: number; readonly message: InstanceMessage }[] = []
  const state = sealedState({ keys: [randomBytes(32)] })
  const instances = Array.from({ length: size }, (_, instance) => {
    const tools = [countPrimes((message) => told.push({ instance, message }))]
    return createServer({ name: 'primes', version: '1.0.0', tools, state, shedding, strictReplay: false })
  })
  let turn = 0
  const exchange: Exchange = (request, call) => {
    const instance = instances[turn++ % size]
    if (instance === undefined) throw new Error('there is no instance')
    return instance.exchange(request, call)
  }
  return { client: createClient(exchange, { name: 'test', version: '1.0.0', cache: false }), told }
}

const meta = { [callKey]: 'call-1' }

test('a call that is shed five times over three processes gives the same bytes as one that never moved', async () => {
  const policy: SheddingOptions['policy'] = (_, { sheds }) => sheds < 5
  const moving = openFleet(3, { calls: 'all', minWorkMs: 0, policy })
  const still = openFleet(1, false)
  const moved = await moving.client.callTool('count_primes', { limit: light.limit }, { meta })
  const stayed = await still.client.callTool('count_primes', { limit: light.limit }, { meta })
  expect(JSON.stringify(moved)).toBe(JSON.stringify(stayed))
  expect(isRight(light, moved.structuredContent)).toBe(true)

  const begins = moving.told.filter(({ message }) => message.kind === 'begin')
  expect(begins.map(({ instance }) => instance)).toEqual([0, 1, 2, 0, 1, 2])
  const chunksOf = (told: typeof moving.told) =>
    told.flatMap(({ message }) => (message.kind === 'work' ? [message.from] : []))
  expect(chunksOf(moving.told)).toEqual(chunksOf(still.told))
  const ends = moving.told.filter(({ message }) => message.kind === 'end')
  expect(ends.map(({ message }) => message)).toEqual(ends.map(() => ({ kind: 'end', call: 'call-1' })))
  expect(ends).toHaveLength(begins.length)
})

test('a call without a name is given one that it keeps', async () => {
  const { client, told } = openFleet(2, { calls: 'all', minWorkMs: 0, policy: (_, { sheds }) => sheds < 1 })
  await client.callTool('count_primes', { limit: 200_000 }, { meta: { [callKey]: 'x'.repeat(65) } })
  const names = new Set(told.flatMap(({ message }) => ('call' in message ? [message.call] : [])))
  expect([...names]).toEqual([expect.stringMatching(/^[\da-f-]{36}$/)])
})

test.each([1, 50_000_001, 2.5])('the limit %d is refused before anything is counted', async (limit) => {
  const { client, told } = openFleet(1, false)
  expect(await client.callTool('count_primes', { limit })).toMatchObject({ isError: true })
  expect(told).toEqual([])
})
