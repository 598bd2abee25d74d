import { expect, test } from 'vitest'
import { mergeRoundOptions } from './round-options.ts'

test('What a call does not say holds as its client says, also when it says undefined', () => {
  const client = { limit: 3, restart: false, answerTimeoutMs: 5 }
  expect(mergeRoundOptions(client, { limit: 0, restart: undefined })).toEqual({
    limit: 0,
    restart: false,
    answerTimeoutMs: 5,
  })
})
