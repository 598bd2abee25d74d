import { memoryStore, randomKey, type StateCodec } from '@x/state-codec'
import { expect, test } from 'vitest'
import {
  createCodec,
  createMigratingCodec,
  createPaymentCodec,
  createStoredCodec,
  openOrExplain,
} from '../src/state.ts'

const keys = [randomKey()]
const claims = { purpose: 'update_work_item' }

test.each([
  ['sealed', createCodec(keys)],
  ['stored', createStoredCodec()],
  ['single-use', createPaymentCodec(keys, memoryStore())],
  ['migrating', createMigratingCodec('dual', memoryStore(), keys)],
] as const)('the %s codec of the guide seals and opens a state', async (_, codec: StateCodec) => {
  const bound = { ...claims, binding: { principal: 'ada', arguments: { id: 4522 } } }
  const token = await codec.seal({ resolution: 'Duplicate' }, bound)
  expect(await codec.open(token, bound)).toEqual({ resolution: 'Duplicate' })
})

test('the client receives a general message, and the log the reason', async () => {
  const lines: string[] = []
  const token = await createCodec([randomKey()]).seal(1, claims)
  expect(await openOrExplain(createCodec(keys), token, (line) => lines.push(line))).toBe('Invalid or expired state')
  expect(lines).toEqual([expect.stringMatching(/^unknown_key: /)])
})
