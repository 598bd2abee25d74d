import { expect, test } from 'vitest'
import { type KeyInput, randomKey, sealedState, type StateCodec } from '../src/node.ts'

const claims = { purpose: 'tools/call', binding: 'ada' }
const [oldKey, newKey] = [randomKey(), randomKey()]

/**
 * Three instances, each with its own ring. Returns whether a token of each opens on all: `undefined`, or the first
 * error code.
 */
async function refusals(instances: readonly StateCodec[]): Promise<readonly string[]> {
  const refused: string[] = []
  for (const maker of instances) {
    const token = await maker.seal('state', claims)
    for (const reader of instances) {
      await reader.open(token, claims).catch(({ code }: { code: string }) => refused.push(code))
    }
  }
  return refused
}

/** Restarts the instances one by one with another ring, and tries every pair of instances at each step. */
async function roll(from: readonly KeyInput[], to: readonly KeyInput[]): Promise<readonly string[]> {
  const refused: string[] = []
  for (let restarted = 0; restarted <= 3; restarted++) {
    const instances = [0, 1, 2].map((at) => sealedState({ keys: at < restarted ? to : from }))
    refused.push(...(await refusals(instances)))
  }
  return refused
}

test('keys rotate in two phases, and every token opens on every instance', async () => {
  expect(await roll([oldKey], [oldKey, newKey])).toEqual([])
  expect(await roll([oldKey, newKey], [newKey, oldKey])).toEqual([])
})

test('a token that was made before the rotation opens until its key is removed', async () => {
  const token = await sealedState({ keys: [oldKey] }).seal('state', claims)
  expect(await sealedState({ keys: [newKey, oldKey] }).open(token, claims)).toBe('state')
  await expect(sealedState({ keys: [newKey] }).open(token, claims)).rejects.toMatchObject({ code: 'unknown_key' })
})

test('without the first phase, tokens of the new key do not open on instances that were not restarted yet', async () => {
  expect(new Set(await roll([oldKey], [newKey, oldKey]))).toEqual(new Set(['unknown_key']))
})

test("instances with different keys reject each other's tokens, and the log has the reason", async () => {
  const token = await sealedState({ keys: [oldKey] }).seal('state', claims)
  await expect(sealedState({ keys: [newKey] }).open(token, claims)).rejects.toMatchObject({
    code: 'unknown_key',
    detail: expect.stringContaining('the instances do not have the same keys'),
  })
})
