import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { fingerprintOf } from './fingerprint.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

/** The function as it is where there is no module of Node's. */
async function elsewhere(): Promise<typeof fingerprintOf> {
  vi.resetModules()
  vi.stubGlobal('process', undefined)
  return (await import('./fingerprint.ts')).fingerprintOf
}

test('the same question has the same fingerprint on every platform', async () => {
  const onWeb = await elsewhere()
  vi.unstubAllGlobals()
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
      const known = createHash('sha256').update(text).digest('hex').slice(0, 32)
      expect([await fingerprintOf(text), await onWeb(text)]).toEqual([known, known])
    }),
  )
})
