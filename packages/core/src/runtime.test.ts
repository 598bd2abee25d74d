import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { captureAsyncContext, sha256Hex, sha256HexSync } from './runtime.ts'

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

describe('a captured asynchronous context', () => {
  test('is the context of what runs in it, and of what that starts', async () => {
    const storage = new AsyncLocalStorage<string>()
    const runInOrigin = captureAsyncContext()
    const runAsAda = storage.run('ada', captureAsyncContext)
    const readLater = async (): Promise<string | undefined> => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      return storage.getStore()
    }
    await storage.run('bob', async () => {
      expect([runInOrigin(() => storage.getStore()), await runInOrigin(readLater)]).toEqual([undefined, undefined])
      expect([runAsAda(() => storage.getStore()), await runAsAda(readLater)]).toEqual(['ada', 'ada'])
      expect(storage.getStore()).toBe('bob')
    })
  })

  test('is the present one on a platform without contexts', async () => {
    vi.stubGlobal('process', { ...process, getBuiltinModule: undefined })
    const web = await import('./runtime.ts')
    vi.unstubAllGlobals()
    expect(web.captureAsyncContext()(() => 'value')).toBe('value')
  })
})
