import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTokenChallenge, mayAskForToken, parseChallenges } from './challenges.ts'

describe('A WWW-Authenticate header', () => {
  test.each([
    ['Bearer', [['bearer', {}]]],
    ['Bearer realm="a"', [['bearer', { realm: 'a' }]]],
    ['bearer  Realm=a , SCOPE = "b c"', [['bearer', { realm: 'a', scope: 'b c' }]]],
    [
      'Basic realm="x, Bearer y=\\"z\\"", Bearer scope="a"',
      [
        ['basic', { realm: 'x, Bearer y="z"' }],
        ['bearer', { scope: 'a' }],
      ],
    ],
    [
      'Negotiate, Bearer',
      [
        ['negotiate', {}],
        ['bearer', {}],
      ],
    ],
    [
      'Negotiate dGVzdA==, Bearer a=b',
      [
        ['negotiate', {}],
        ['bearer', { a: 'b' }],
      ],
    ],
    ['Bearer scope="first", scope="second"', [['bearer', { scope: 'first' }]]],
    [
      ',, Bearer a="b",, DPoP algs="ES256"',
      [
        ['bearer', { a: 'b' }],
        ['dpop', { algs: 'ES256' }],
      ],
    ],
    [
      'Bearer scope="unclosed',
      [
        ['bearer', {}],
        ['scope', {}],
      ],
    ],
    ['="x"', []],
    ['', []],
  ])('%s is read [AUD-009]', (header, expected) => {
    const found = parseChallenges(header).map(({ scheme, params }) => [scheme, Object.fromEntries(params)])
    expect(found).toEqual(expected)
  })

  test('of more than 8 KiB is not read', () => {
    expect(parseChallenges(`Bearer a="${'x'.repeat(8192)}"`)).toEqual([])
  })

  const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/)
  const value = fc.string({ unit: 'binary-ascii', maxLength: 20 })
  const params = fc.dictionary(
    token.map((name) => `p${name.toLowerCase()}`),
    value,
    { minKeys: 1, maxKeys: 5, noNullPrototype: false },
  )

  test('that is written by the grammar is read as it was meant', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(token, params), { minLength: 1, maxLength: 4 }), (challenges) => {
        const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`
        const header = challenges
          .map(
            ([scheme, fields]) =>
              `${scheme} ${Object.entries(fields)
                .map(([name, text]) => `${name}=${quote(text)}`)
                .join(', ')}`,
          )
          .join(', ')
        const found = parseChallenges(header).map(({ scheme, params: read }) => [scheme, Object.fromEntries(read)])
        expect(found).toEqual(challenges.map(([scheme, fields]) => [scheme.toLowerCase(), { ...fields }]))
      }),
    )
  })

  test('that is noise ends without an error', () => {
    const noise = fc.array(fc.constantFrom('Bearer', ' ', ',', '=', '"', '\\', 'a', 'scope', '\u0000', 'é', '=='), {
      maxLength: 400,
    })
    fc.assert(fc.property(noise, (parts) => void parseChallenges(parts.join(''))))
  })
})

test('A demand is read from the Bearer or DPoP challenge at any position', () => {
  const header =
    'Basic realm="scope=x", Bearer error="insufficient_scope", scope="a b a \\"c", resource_metadata="https://x.test/m"'
  expect(parseTokenChallenge(header)).toEqual({
    metadataUrl: 'https://x.test/m',
    scopes: ['a', 'b'],
    error: 'insufficient_scope',
  })
})

test.each([
  [undefined, true],
  ['Bearer', true],
  ['Basic realm="x", DPoP algs="ES256"', true],
  ['Basic realm="Bearer"', false],
])('A response with %s may be answered with a token: %s', (header, expected) => {
  expect(mayAskForToken(header)).toBe(expected)
})
