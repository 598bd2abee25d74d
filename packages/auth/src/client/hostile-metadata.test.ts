import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAuthError } from './auth-error.ts'
import { callWithAuth, createTestEnvironment, rejectionOf, completeResponse } from '../testing/world.ts'

const keys = fc.constantFrom(
  'issuer',
  'token_endpoint',
  'authorization_endpoint',
  'resource',
  'authorization_servers',
  '__proto__',
)
const values = fc.oneof(
  fc.constantFrom(
    '',
    'x',
    'javascript:alert(1)',
    'http://10.0.0.1/',
    'https://a:b@c/',
    '/relative',
    'file:///etc/passwd',
  ),
  fc.constantFrom<unknown>(null, 0, true, {}, [], [null], 'x'.repeat(50_000)),
  fc.integer({ min: 10, max: 2000 }).map((count) => Array<object>(count).fill({})),
  fc.integer({ min: 100, max: 50_000 }).map((depth) => '['.repeat(depth)),
)
const changes = fc.array(fc.tuple(keys, values), { minLength: 1, maxLength: 4 })
const texts = fc.oneof(
  fc.constantFrom('', 'null', '[]', '"x"', '<html>', '{"issuer":', '{"issuer":"a","issuer":"b"}', '['.repeat(100_000)),
  fc.string({ unit: 'binary' }),
)

test.each(['resource', 'authorization server'])(
  'hostile metadata of the %s is an error of its own, or of no effect',
  async (of) => {
    await using w = await createTestEnvironment()
    const [server, path] =
      of === 'resource'
        ? [w.resource, '/.well-known/oauth-protected-resource/mcp']
        : [w.authorizationServer, '/.well-known/oauth-authorization-server']
    const { metadata } = server
    const body = fc.oneof(
      texts,
      changes.map((entries) => ({ ...metadata, ...Object.fromEntries(entries) })),
    )
    const property = fc.asyncProperty(body, async (given) => {
      server.routes.set(path, () => ({ body: given }))
      const running = callWithAuth(w.resource.url, w.createOAuth())
      const error = await rejectionOf(running)
      if (error === undefined) {
        expect(await running).toMatchObject(completeResponse)
        return
      }
      expect(isAuthError(error), String(error)).toBe(true)
      expect(String(error).length).toBeLessThan(2000)
    })
    await fc.assert(property, { numRuns: 60 })
    expect(Object.keys(Object.prototype)).toEqual([])
  },
)
