import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeName, encodeName, findUpstreamNameProblem, isToolName, mayHaveDigest } from './names.ts'
import vectors from './names.vectors.json' with { type: 'json' }
import { decodeUri, encodeUri } from './uris.ts'

const upstreams = fc.stringMatching(/^[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,5}){0,3}$/)
const uris = fc.oneof(
  fc.string(),
  fc.webUrl(),
  fc.tuple(fc.constantFrom('ui://', 'skill://', 'UI://', 'ui:', 'note://'), fc.string()).map((parts) => parts.join('')),
)

describe('every instance creates the same names and URIs [GWY-008]', () => {
  test.each(vectors.names)('the name $inner of $upstream', async ({ upstream, inner, name }) => {
    expect(await encodeName(upstream, inner)).toBe(name)
  })

  test.each(vectors.uris)('the URI $inner of $upstream', ({ upstream, inner, uri }) => {
    expect(encodeUri(upstream, inner)).toBe(uri)
    expect(decodeUri(uri)).toEqual({ upstream, inner })
  })
})

describe('a name or a URI contains the upstream [GWY-001]', () => {
  test('names of any upstream and any tool or prompt', async () => {
    await fc.assert(
      fc.asyncProperty(upstreams, fc.string({ maxLength: 90 }), async (upstream, inner) => {
        expect(findUpstreamNameProblem(upstream)).toBeUndefined()
        const name = await encodeName(upstream, inner)
        expect(name.length).toBeLessThanOrEqual(64)
        expect(decodeName(name)?.upstream).toBe(upstream)
        if (!mayHaveDigest(name)) expect(decodeName(name)).toEqual({ upstream, inner })
      }),
    )
  })

  test('URIs of any upstream and any resource', () => {
    fc.assert(
      fc.property(upstreams, uris, (upstream, inner) => {
        expect(decodeUri(encodeUri(upstream, inner))).toEqual({ upstream, inner })
      }),
    )
  })

  test.each(['sum', '__sum', '', 'crm_sum'])('%j is not a name of any upstream', (name) => {
    expect(decodeName(name)).toBeUndefined()
  })

  test.each(['note://x', 'ui://page', '', '+x', 'https://host/a+b', 'ui:crm/x'])(
    '%j is not a URI of any upstream',
    (uri) => {
      expect(decodeUri(uri)).toBeUndefined()
    },
  )
})

test.each(['', 'CRM', 'c_rm', 'c--rm', '-crm', 'crm-', '1crm', 'crm+', 'a'.repeat(33), 'crm\n'])(
  'an upstream cannot be named %j, because its name could contain a separator',
  (name) => {
    expect(findUpstreamNameProblem(name)).toMatch(/lower-case/)
  },
)

test.each([
  ['sum', true],
  ['a.b-C_1', true],
  ['sum ', false],
  ['sum\u200b', false],
  ['ѕum', false],
  ['', false],
])('the tool name %j is offered: %s', (name, isOffered) => {
  expect(isToolName(name)).toBe(isOffered)
})
