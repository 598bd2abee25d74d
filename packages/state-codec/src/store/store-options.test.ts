import { expect, test } from 'vitest'
import { postgresStore } from '../postgres.ts'
import { redisStore } from '../redis.ts'

test.each([
  ['redisStore', redisStore],
  ['postgresStore', postgresStore],
])('%s refuses a time limit beyond the timers of the platform, which would end each command at once', (_, create) => {
  expect(() => create('redis://localhost', { timeoutMs: 2 ** 31 })).toThrow(
    'timeoutMs is 2147483648: write a whole number from 1 to 2147483647',
  )
})
