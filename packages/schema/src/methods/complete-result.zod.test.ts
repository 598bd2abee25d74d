import * as z from 'zod'
import * as mini from 'zod/mini'
import { expect, test } from 'vitest'
import { shapes, zodOf } from '../zod.ts'
import { issueOf } from './complete-result.zod.ts'

test('a value that a validator accepts has no issue', () => {
  expect(issueOf(zodOf(shapes.callToolResult), { resultType: 'complete', content: [] })).toBeUndefined()
})

test('an issue says where it is and what belongs there', () => {
  const wrong = { resultType: 'complete', content: [{ type: 'text', text: 1 }] }
  const issue = issueOf(zodOf(shapes.callToolResult), wrong)
  expect(issue?.path).toBe('content.0')
  expect(issueOf(mini.array(mini.object({ text: mini.string() })), [{ text: 1 }])).toEqual({
    path: '0.text',
    message: 'Invalid input: expected string, received number',
  })
})

test.each([
  ['zod', z.string()],
  ['zod/mini', mini.string()],
])('a validator of %s words it in the same way in every locale of zod', (_name, validator) => {
  const { localeError } = z.config()
  z.config({ localeError: () => 'anders' })
  try {
    expect(validator.safeParse(1).error?.issues[0]?.message).toBe('anders')
    expect(issueOf(validator, 1)).toEqual({ path: '', message: 'Invalid input: expected string, received number' })
  } finally {
    z.config({ localeError })
  }
})
