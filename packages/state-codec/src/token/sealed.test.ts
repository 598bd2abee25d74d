import { describe, expect, test } from 'vitest'
import * as portable from '../index.ts'
import * as onNode from '../node.ts'

describe.each([
  ['node:crypto', onNode, portable],
  ['Web Crypto', portable, onNode],
])('tokens made with %s', (_, maker, reader) => {
  test.each(['sealed', 'signed'] as const)('%s tokens open with the other', async (kind) => {
    const keys = [onNode.randomKey()]
    const value = { answers: { name: 'Ada', ünïcode: ['😀', 1, null, true] } }
    const token = await maker[kind]({ keys }).seal(value, { purpose: 'test', binding: { subject: 'ada' } })
    expect(token).toMatch(/^[A-Za-z0-9._-]+$/)
    expect(await reader[kind]({ keys }).open(token, { purpose: 'test', binding: { subject: 'ada' } })).toEqual(value)
  })
})
