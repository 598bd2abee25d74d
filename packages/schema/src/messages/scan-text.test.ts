import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createCallText, refusalOf } from '../testing/refusal.ts'
import { defaultBounds } from './scan-text.ts'
import { errorCodes } from '../basic/mcp-error.ts'
import { parseMessage } from './parse-message.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('bounds hold before anything is built (CVE-2026-111768, GHSA-f897-62hf-6gxq)', () => {
  const nested = (depth: number): string => createCallText(`,"params":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)
  const many = (count: number): string => createCallText(`,"params":{"a":[${Array(count).fill(0).join(',')}]}`)

  test.each([
    ['4 MiB of zeros', `[${'0,'.repeat(2 ** 21 - 2)}0]`, 'elements'],
    ['4 MiB of members', `{${'"a":0,'.repeat(699_000)}"a":0}`, 'elements'],
    ['4 MiB of empty objects', `[${'{},'.repeat(1_398_000)}{}]`, 'elements'],
    ['100,000 arrays in one another', nested(100_000), 'levels'],
    ['2,000,000 unclosed objects', '{"a":'.repeat(800_000), 'levels'],
    ['100,000 levels behind a string that ends in backslashes', `["\\\\",${'['.repeat(100_000)}`, 'levels'],
    ['a byte more than 4 MiB', createCallText(`,"params":{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`), '4194304 bytes'],
  ])('%s', (_, text, limit) => {
    const parse = vi.spyOn(JSON, 'parse')
    const refusal = refusalOf(text)
    expect(parse).not.toHaveBeenCalled()
    expect(refusal).toMatchObject({ code: errorCodes.parse, message: expect.stringContaining(limit) })
  })

  test('a text may be as deep as the bound, and not one level deeper', () => {
    const bounds = { ...defaultBounds, depth: 10 }
    expect(parseMessage(nested(8), bounds)).toMatchObject({ id: 7 })
    expect(refusalOf(nested(9), bounds).message).toContain('10 levels')
  })

  test('a text may have as many elements as the bound, and not one more', () => {
    const bounds = { ...defaultBounds, elements: 20 }
    expect(parseMessage(many(15), bounds)).toMatchObject({ id: 7 })
    expect(refusalOf(many(16), bounds).message).toContain('20 elements')
  })

  test('empty arrays and objects have no elements', () => {
    const bounds = { ...defaultBounds, elements: 5 }
    expect(parseMessage(createCallText(',"params":{ "a": [ ] }'), bounds)).toMatchObject({ id: 7 })
  })

  test.each([
    ['ASCII', 'x'],
    ['two bytes', 'é'],
    ['three bytes', '世'],
    ['a pair of surrogates', '🙂'],
    ['half a pair', '\ud83d'],
  ])('bytes are those of UTF-8: %s', (_, unit) => {
    const text = createCallText(`,"params":{"a":"${unit.repeat(9)}"}`)
    const bytes = new TextEncoder().encode(text).length
    expect(parseMessage(text, { ...defaultBounds, bytes })).toMatchObject({ id: 7 })
    expect(refusalOf(text, { ...defaultBounds, bytes: bytes - 1 }).message).toContain(`${bytes - 1} bytes`)
  })

  test('brackets, quotes and commas in strings count for nothing', () => {
    const text = createCallText(`,"params":{"a":${JSON.stringify('[{,"\\'.repeat(5000))}}`)
    expect(parseMessage(text, { ...defaultBounds, depth: 2, elements: 5 })).toEqual(JSON.parse(text))
  })

  test('any JSON passes with bounds of its own size, and fails with bounds one smaller', () => {
    const json = fc.jsonValue({ maxDepth: 6 })
    fc.assert(
      fc.property(json, fc.nat(3), (value, indent) => {
        const text = JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { value } }, undefined, indent)
        const message: unknown = JSON.parse(text)
        const bounds = { bytes: 1e6, depth: depthOf(message), elements: elementsOf(message) }
        expect(parseMessage(text, bounds)).toEqual(message)
        expect(() => parseMessage(text, { ...bounds, depth: bounds.depth - 1 })).toThrow('levels')
        expect(() => parseMessage(text, { ...bounds, elements: bounds.elements - 1 })).toThrow('elements')
      }),
    )
  })
})

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

function elementsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, member) => sum + 1 + elementsOf(member), 0)
}
