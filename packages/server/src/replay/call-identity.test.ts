import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { createStateRecorder, type RunHandler, send, serve } from '../testing/rounds.ts'
import { fingerprintOf } from './call-identity.ts'
import { expandUuid } from './short-id.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

/** The function as it is where there is no module of Node's. */
async function elsewhere(): Promise<typeof fingerprintOf> {
  vi.resetModules()
  vi.stubGlobal('process', { ...process, getBuiltinModule: undefined })
  return (await import('./call-identity.ts')).fingerprintOf
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

test('a question has the fingerprint of its canonical JSON and its call, so that another version recognizes it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (message) => {
      const { codec, sealed } = createStateRecorder()
      const schema = { type: 'object', properties: { sure: { type: 'boolean', title: message } } }
      const url = 'https://example.com'
      const run: RunHandler = async (ctx) => {
        await Promise.all([ctx.elicit('form', { message, schema }), ctx.elicitUrl('url', { message, url })])
        return 'done'
      }
      const { response } = await send(serve(run, { state: codec, strictReplay: false }))
      const requests = 'result' in response ? (response.result['inputRequests'] ?? {}) : {}
      // `elicitationId` is made of the URL, and no part of the question.
      const texts = Object.values(requests).map((request) =>
        JSON.stringify(request, (name, value) => (name === 'elicitationId' ? undefined : value)),
      )
      const callId = expandUuid(JSON.parse(sealed[0] ?? '').flow)
      const prints = texts.map((text) =>
        createHash('sha256').update(`${callId} ${text}`).digest('base64url').slice(0, 10),
      )
      expect(prints).toHaveLength(2)
      for (const print of prints) expect(sealed[0]).toContain(`["${print}"]`)
    }),
    { numRuns: 50 },
  )
})
