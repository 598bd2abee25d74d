import { describe, expect, test } from 'vitest'
import { createNodeEncryption, nodeCrypto } from './crypto-provider-node.ts'
import type { CreateCipher } from './crypto-provider.ts'
import { randomKey } from './keys.ts'
import { createSealedTokenType } from './token-types.ts'
import { createTokenCodec } from './token-codec.ts'

const context = { purpose: 'session', binding: 'ada' }
const cached = { ...context, cacheContent: true }

/** Creates a codec that counts its decryptions, and whose time the test sets. */
function createCountedCodec() {
  const observed = { decryptions: 0, now: 0 }
  const createCipher: CreateCipher = async (key) => {
    const cipher = await createNodeEncryption(key)
    return {
      ...cipher,
      open(segments) {
        observed.decryptions += 1
        return cipher.open(segments)
      },
    }
  }
  const options = { keys: [randomKey()], runtime: { now: () => observed.now } }
  return { codec: createTokenCodec(createSealedTokenType(createCipher), options, nodeCrypto), observed }
}

describe('a token whose content may be cached', () => {
  test('is decrypted once, and each opening has a value of its own', async () => {
    const { codec, observed } = createCountedCodec()
    const token = await codec.seal({ items: ['one'] }, context)
    const first = await codec.open(token, cached)
    Object.assign(first ?? {}, { items: 'altered by its reader' })
    expect(await codec.open(token, cached)).toEqual({ items: ['one'] })
    expect(observed.decryptions).toBe(1)
  })

  test('is decrypted at every opening without the option', async () => {
    const { codec, observed } = createCountedCodec()
    const token = await codec.seal('value', context)
    for (let opening = 0; opening < 3; opening++) await codec.open(token, context)
    expect(observed.decryptions).toBe(3)
  })

  test.each([
    ['another binding', { binding: 'eve' }, 'binding'],
    ['no binding', { binding: undefined }, 'binding'],
    ['another audience', { audience: 'elsewhere' }, 'audience'],
    ['another purpose', { purpose: 'state' }, 'forged'],
  ])('is rejected for %s, though its content is known', async (_, other, code) => {
    const { codec } = createCountedCodec()
    const token = await codec.seal('value', context)
    await codec.open(token, cached)
    await expect(codec.open(token, { ...cached, ...other })).rejects.toMatchObject({ code })
  })

  test('is rejected once it has expired, though its content is known', async () => {
    const { codec, observed } = createCountedCodec()
    const token = await codec.seal('value', { ...context, ttlMs: 1000 })
    await codec.open(token, cached)
    observed.now = 1000
    await expect(codec.open(token, cached)).rejects.toMatchObject({ code: 'expired' })
  })

  test('that was altered is decrypted and rejected each time', async () => {
    const { codec, observed } = createCountedCodec()
    const token = await codec.seal('value', context)
    await codec.open(token, cached)
    const altered = `${token.slice(0, -22)}${token.at(-22) === 'A' ? 'B' : 'A'}${token.slice(-21)}`
    for (let opening = 0; opening < 2; opening++) {
      await expect(codec.open(altered, cached)).rejects.toMatchObject({ code: 'forged' })
    }
    expect(observed.decryptions).toBe(3)
  })

  test('is decrypted again after 512 others, and when it is longer than 2,048 characters', async () => {
    const { codec, observed } = createCountedCodec()
    const tokens = await Promise.all(Array.from({ length: 513 }, (_, index) => codec.seal(index, context)))
    for (const token of tokens) await codec.open(token, cached)
    const [first = '', last = ''] = [tokens[0], tokens[512]]
    expect(await Promise.all([codec.open(last, cached), codec.open(first, cached)])).toEqual([512, 0])
    expect(observed.decryptions).toBe(514)
    const long = await codec.seal('x'.repeat(2048), context)
    await codec.open(long, cached)
    await codec.open(long, cached)
    expect(observed.decryptions).toBe(516)
  })
})
