import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { Attack } from '../attack.ts'
import { callOf, type Message } from '../requests.ts'
import type { Attacker } from './attacker.ts'
import { expectResult, fromCaller, newCaller } from './callers.ts'
import { guardedResource, maxProofs } from './endpoints.ts'

const answer = callOf('answer', {})
const withAuthorization = (authorization: string, dpop?: string): Message => ({
  body: answer.body,
  headers: { ...answer.headers, authorization, ...(dpop !== undefined && { dpop }) },
})
const opaque = (start: string, length = 0): Message =>
  withAuthorization(`Bearer ${start}-${randomUUID().padEnd(length, 'x')}`)

/** The limit of concurrent introspections per caller. */
const introspections = 64

/** Attacks on a server that requires access tokens. */
export const tokenAttacks: readonly Attack<Attacker>[] = [
  {
    name: 'made-up-tokens',
    run: async (peer, scale) => {
      const eve = newCaller()
      const madeUp = Array.from({ length: 150 * scale }, () => statusOf(peer, fromCaller(eve, opaque('slow'))))
      const good = await Promise.all(
        Array.from({ length: 20 }, () => statusOf(peer, fromCaller(newCaller(), opaque('good')))),
      )
      const notServed = good.filter((status) => status !== 200)
      if (notServed.length > 0)
        throw new Error(`${notServed.length} of 20 valid tokens were rejected with status ${notServed[0]}`)
      const statuses = await Promise.all(madeUp)
      const introspected = statuses.filter((status) => status === 401).length
      const rejected = statuses.filter((status) => status === 429).length
      if (introspected < introspections || rejected === 0 || introspected + rejected !== statuses.length)
        throw new Error(
          `${introspected} made-up tokens were introspected, and ${rejected} of ${statuses.length} returned 429`,
        )
    },
    cost: {
      size: 3000,
      send: async (peer, size) => expectStatus(await statusOf(peer, opaque('made-up', size)), 401),
      sendValid: async (peer, size) => expectStatus(await statusOf(peer, opaque('good', size)), 200),
    },
  },
  {
    name: 'proofs-of-one-key',
    run: async (peer, scale) => {
      const [eve, ada] = [await boundKey(peer), await boundKey(peer)]
      for (let count = 0; count < maxProofs; count += 1) expectStatus(await statusOf(peer, eve.message()), 200)
      for (let count = 0; count < maxProofs * scale; count += 1) expectStatus(await statusOf(peer, eve.message()), 429)
      const { body, status } = await peer.send(ada.message(), peer.urls.guarded)
      expectResult({ body, status })
    },
    cost: {
      size: 1000,
      // The key of the proof is not the key of the token.
      send: async (peer, size) => {
        const [eve, ada] = await keysOf(peer)
        expectStatus(await statusOf(peer, withAuthorization(`DPoP ${eve.token}`, ada.proof(eve.token, size))), 401)
      },
    },
  },
]

interface BoundKey {
  readonly token: string
  /** Signs a proof with a `jti` of a given length. */
  readonly proof: (token: string, length?: number) => string
  /** Creates a call with a new proof. */
  readonly message: () => Message
}

const keysByPeer = new WeakMap<Attacker, Promise<readonly [BoundKey, BoundKey]>>()

function keysOf(peer: Attacker): Promise<readonly [BoundKey, BoundKey]> {
  const keys = keysByPeer.get(peer) ?? Promise.all([boundKey(peer), boundKey(peer)])
  keysByPeer.set(peer, keys)
  return keys
}

async function boundKey(peer: Attacker): Promise<BoundKey> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { crv, kty, x, y } = publicKey.export({ format: 'jwk' })
  // RFC 7638: the members are in lexicographic order.
  const token = await peer.target.ask<string>('sign', { jkt: sha256(JSON.stringify({ crv, kty, x, y })) })
  const proof = (of: string, length = 0): string => {
    const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: { crv, kty, x, y } }
    const claims = { jti: randomUUID().padEnd(length, 'x'), iat: Math.floor(Date.now() / 1000), htm: 'POST' }
    return signed(privateKey, header, { ...claims, htu: guardedResource, ath: sha256(of) })
  }
  return { token, proof, message: () => withAuthorization(`DPoP ${token}`, proof(token)) }
}

function signed(key: KeyObject, header: object, claims: object): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

async function statusOf(peer: Attacker, message: Message): Promise<number> {
  const { status } = await peer.send(message, peer.urls.guarded)
  return status
}

function expectStatus(status: number, expected: number): void {
  if (status !== expected) throw new Error(`expected status ${expected}, received ${status}`)
}
