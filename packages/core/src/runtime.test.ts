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
  test.each(texts)('of %j is computed synchronously on Node', (text) => {
    expect(sha256Hex(text)).toBe(expectedDigest(text))
    expect(sha256HexSync(text)).toBe(expectedDigest(text))
  })

  test('is a promise of the same digits on a platform that has only Web Crypto', async () => {
    // The other members remain, because vitest uses them at any time.
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
  test('is the context of a function that runs in it, and of the work that the function starts', async () => {
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

  test('is the current context on a platform without contexts', async () => {
    vi.stubGlobal('process', { ...process, getBuiltinModule: undefined })
    const web = await import('./runtime.ts')
    vi.unstubAllGlobals()
    expect(web.captureAsyncContext()(() => 'value')).toBe('value')
  })
})
