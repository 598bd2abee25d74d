import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JsonValue, KeyInput, OpenClaims, SealClaims, StateErrorCode } from '../src/index.ts'
import { createNodeEncryption, createNodeSigning, nodeCrypto } from '../src/token/crypto-provider-node.ts'
import { createWebEncryption, createWebSigning, webCrypto } from '../src/token/crypto-provider-web.ts'
import { createTokenCodec } from '../src/token/token-codec.ts'
import { createSealedTokenType, createSignedTokenType } from '../src/token/token-types.ts'

interface Opening {
  readonly name: string
  readonly kind: 'sealed' | 'signed'
  readonly keys: readonly KeyInput[]
  readonly now: number
  readonly audience?: string
  readonly claims: OpenClaims
  readonly token: string
}
type Vector = Opening & { readonly claims: SealClaims; readonly nonce?: string; readonly value: JsonValue }
type Forgery = Opening & { readonly code: StateErrorCode }

const platforms = [
  ['node:crypto', nodeCrypto, createNodeEncryption, createNodeSigning],
  ['Web Crypto', webCrypto, createWebEncryption, createWebSigning],
] as const

describe.each(platforms)('with %s', (_, provider, createEncryption, createSigning) => {
  const codecOf = ({ kind, keys, now, audience }: Opening, nonce = '') =>
    createTokenCodec(
      kind === 'sealed' ? createSealedTokenType(createEncryption) : createSignedTokenType(createSigning),
      { keys, audience, runtime: { now: () => now } },
      { ...provider, random: () => Buffer.from(nonce, 'hex') },
    )

  test.each(read<Vector>('tokens'))('$name: the token is reproduced and opened ($kind)', async (vector) => {
    const codec = codecOf(vector, vector.nonce)
    expect(await codec.seal(vector.value, vector.claims)).toBe(vector.token)
    expect(await codec.open(vector.token, vector.claims)).toEqual(vector.value)
  })

  test.each(read<Forgery>('forgeries'))('$name: the token is rejected as $code ($kind) [MRT-009]', async (forgery) => {
    const opening = codecOf(forgery).open(forgery.token, forgery.claims)
    await expect(opening).rejects.toMatchObject({
      name: 'StateError',
      code: forgery.code,
      message: 'Invalid or expired state',
    })
  })
})

// The files belong to this package, and the test that reads an entry uses all of its members.
function read<T>(name: string): readonly T[] {
  return JSON.parse(readFileSync(new URL(`./vectors/${name}.json`, import.meta.url), 'utf8'))
}
