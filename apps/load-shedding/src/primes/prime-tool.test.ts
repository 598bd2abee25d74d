import { createServer, type SheddingOptions } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { stopAtEveryStep, type ServerKit, testClient } from '@x/testing'
import { expect, test } from 'vitest'
import type { InstanceMessage } from '../instance/instance-message.ts'
import { isExpectedResult, light } from './job.ts'
import { callKey, countPrimes } from './prime-tool.ts'

/** Opens a fleet in which another instance serves each round, and records its messages. */
function openFleet(shedding: false | SheddingOptions) {
  const reported: { readonly instance: number; readonly message: InstanceMessage }[] = []
  let instances = 0
  const createInstance = (kit: ServerKit) => {
    const instance = instances++
    const tools = [countPrimes((message) => reported.push({ instance, message }))]
    return createServer({ name: 'primes', version: '1.0.0', tools, ...kit, strictReplay: false })
  }
  return { client: testClient(createInstance, { shedding, restartBetweenRounds: true, cache: false }), reported }
}

/** Returns settings that shed each call a number of times, as soon as possible. */
const shedTimes = (times: number): SheddingOptions =>
  sheddingSettings({ calls: 'all', minWorkMs: 0, policy: (_, { shedCount }) => shedCount < times })

const meta = { [callKey]: 'call-1' }

test('a call that is shed five times has the same result, byte by byte, as one that was never shed', async () => {
  const sheddingFleet = openFleet(shedTimes(5))
  const plainFleet = openFleet(false)
  const moved = await sheddingFleet.client.callTool('count_primes', { limit: light.limit }, { meta })
  const expected = await plainFleet.client.callTool('count_primes', { limit: light.limit }, { meta })
  expect(JSON.stringify(moved)).toBe(JSON.stringify(expected))
  expect(isExpectedResult(light, moved.structuredContent)).toBe(true)

  const begins = sheddingFleet.reported.filter(({ message }) => message.kind === 'begin')
  expect(begins.map(({ instance }) => instance)).toEqual([0, 1, 2, 3, 4, 5])
  const chunksOf = (reported: typeof sheddingFleet.reported) =>
    reported.flatMap(({ message }) => (message.kind === 'work' ? [message.from] : []))
  expect(chunksOf(sheddingFleet.reported)).toEqual(chunksOf(plainFleet.reported))
  const ends = sheddingFleet.reported.filter(({ message }) => message.kind === 'end')
  expect(ends.map(({ message }) => message)).toEqual(ends.map(() => ({ kind: 'end', call: 'call-1' })))
  expect(ends).toHaveLength(begins.length)
})

test('a call has the same result, whichever chunk its instance stops after', async () => {
  const createInstance = (kit: ServerKit) =>
    createServer({ name: 'primes', version: '1.0.0', tools: [countPrimes(() => {})], ...kit })
  const { stoppedSteps } = await stopAtEveryStep(createInstance, {
    call: (client) => client.callTool('count_primes', { limit: 200_000 }, { meta }),
  })
  expect(stoppedSteps.length).toBeGreaterThan(1)
})

test('a call without an id gets one that all of its instances use', async () => {
  const { client, reported } = openFleet(shedTimes(1))
  await client.callTool('count_primes', { limit: 200_000 }, { meta: { [callKey]: 'x'.repeat(65) } })
  const ids = new Set(reported.flatMap(({ message }) => ('call' in message ? [message.call] : [])))
  expect([...ids]).toEqual([expect.stringMatching(/^[\da-f-]{36}$/)])
})

test.each([1, 50_000_001, 2.5])('the limit %d is rejected before the count starts', async (limit) => {
  const { client, reported } = openFleet(false)
  expect(await client.callTool('count_primes', { limit })).toMatchObject({ isError: true })
  expect(reported).toEqual([])
})
