import { expect, test } from 'vitest'
import { ConfigurationError } from '../azure-devops/connection.ts'
import { shareStateKey, stateFrom } from './state-key.ts'

const [older, newer] = ['0f1e2d3c4b5a69788796a5b4c3d2e1f0', '8f1d2c3b4a5968778695a4b3c2d1e0ff'].map(
  (half) => half + half,
)
const claims = { purpose: 'test' }

test('a fleet without a key gets one of its own, another one at each start', () => {
  const [first, second] = [shareStateKey({}), shareStateKey({ STATE_KEY: '' })]
  expect(first['STATE_KEY']).toMatch(/^[0-9a-f]{64}$/)
  expect(first).not.toEqual(second)
})

test('a key that is set is the one that instances share', async () => {
  const shared = shareStateKey({ STATE_KEY: `${newer},${older}` })
  expect(shared).toEqual({ STATE_KEY: `${newer},${older}` })
  const token = await codec({ STATE_KEY: older }).seal({ a: 1 }, claims)
  await expect(codec(shared).open(token, claims)).resolves.toEqual({ a: 1 })
  await expect(codec({ STATE_KEY: newer }).open(token, claims)).rejects.toMatchObject({ name: 'StateError' })
})

test.each(['correct horse battery staple', '0f1e', `${older},`])(
  'the key "%s" is refused before anything starts',
  (key) => {
    const environment = { STATE_KEY: key }
    expect(() => shareStateKey(environment)).toThrow(ConfigurationError)
    expect(() => shareStateKey(environment)).toThrow('STATE_KEY cannot be used: keys[')
  },
)

function codec(environment: NodeJS.ProcessEnv) {
  const state = stateFrom(environment)
  if (!state) throw new Error('there should be a codec')
  return state
}
