import { createHash } from 'node:crypto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { sha256Hex, sha256HexSync } from './runtime.ts'

const texts = ['', 'abc', 'ü 😀', 'x'.repeat(10_000)]
const expectedDigest = (text: string): string => createHash('sha256').update(text).digest('hex')

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

describe('a digest', () => {
  test.each(texts)('of %j is had at once', (text) => {
    expect(sha256Hex(text)).toBe(expectedDigest(text))
    expect(sha256HexSync(text)).toBe(expectedDigest(text))
  })

  test('is the same on a platform with Web Crypto alone, as a promise', async () => {
    // The rest of it stays, because vitest uses it at any time.
    vi.stubGlobal('process', { ...process, getBuiltinModule: undefined })
    const web = await import('./runtime.ts')
    vi.unstubAllGlobals()
    for (const text of texts) {
      const digest = web.sha256Hex(text)
      expect(digest).toBeInstanceOf(Promise)
      expect(await digest).toBe(expectedDigest(text))
      expect(web.sha256HexSync(text)).toBeUndefined()
    }
  })
})
