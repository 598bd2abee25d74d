import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JsonValue, KeyInput, TokenContext, SealOptions, StateErrorCode } from '../src/index.ts'
import * as portable from '../src/index.ts'
import * as onNode from '../src/node.ts'
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
  readonly claims: TokenContext
  readonly token: string
}
type Vector = Opening & { readonly claims: SealOptions; readonly nonce?: string; readonly value: JsonValue }
type StoredVector = Pick<Opening, 'name' | 'now' | 'audience' | 'claims' | 'token'> & {
  /** The key and the text in the store. */
  readonly key: string
  readonly record: string
  readonly value: JsonValue
}
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

describe.each([
  ['node:crypto', onNode.storedState],
  ['Web Crypto', portable.storedState],
])('in a store, with %s', (_, createCodec) => {
  test.each(read<StoredVector>('stored'))('$name: the value of the handle is opened', async (vector) => {
    const { now, audience, claims, token, key, record, value } = vector
    const records = new Map([[key, record]])
    const store = {
      add: () => Promise.resolve(false),
      get: (recordKey: string) => Promise.resolve(records.get(recordKey)),
      delete: () => Promise.resolve(),
    }
    const codec = createCodec({ store, audience, runtime: { now: () => now } })
    expect(await codec.open(token, claims)).toEqual(value)
  })
})

// The files belong to this package, and the test that reads an entry uses all of its members.
function read<T>(name: string): readonly T[] {
  return JSON.parse(readFileSync(new URL(`./vectors/${name}.json`, import.meta.url), 'utf8'))
}
