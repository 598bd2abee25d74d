import { createHash, randomUUID } from 'node:crypto'
import { createLedger } from '@x/core'
import { memoryStore, randomKey, sealedState, StateError } from '@x/state-codec'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { type ProtectedServer, createProtectedServer, resource } from '../testing/protected.ts'

const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
const jwk = await exportJWK(publicKey)
const jkt = await calculateJwkThumbprint(jwk)
const hash = (value: string) => createHash('sha256').update(value).digest('base64url')

interface ProofChanges {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  readonly key?: typeof privateKey
}

/** A proof that is right in everything but the changes. */
function proofFor(token: string, { claims = {}, header = {}, key = privateKey }: ProofChanges = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const all = { jti: randomUUID(), iat: now, htm: 'POST', htu: resource, ath: hash(token), ...claims }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  return new SignJWT(Object.fromEntries(given))
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
    .sign(key)
}

const bound = (server: ProtectedServer) => server.issuer.sign({ claims: { cnf: { jkt } } })
const sendBound = (server: ProtectedServer, token: string, proof?: string) =>
  server.send(undefined, { headers: { authorization: `DPoP ${token}`, ...(proof !== undefined && { dpop: proof }) } })

test('a bound token with a proof of its key is good, with each proof once [AUE-012]', async () => {
  await using server = await createProtectedServer({ dpop: 'accepted' })
  const token = await bound(server)
  const proof = await proofFor(token)
  expect((await sendBound(server, token, proof)).status).toBe(200)
  const again = await sendBound(server, token, proof)
  expect([again.status, again.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringMatching(/^DPoP error="invalid_dpop_proof", resource_metadata="[^"]+", algs="RS256 [^"]+", Bearer /),
  ])
  expect((await sendBound(server, token, await proofFor(token))).status).toBe(200)
  expect(server.listErrorCodes()).toEqual(['invalid_proof'])
})

const seconds = Math.floor(Date.now() / 1000)
const other = await generateKeyPair('ES256', { extractable: true })
const otherJwk = await exportJWK(other.publicKey)
test.each<[string, ProofChanges]>([
  ['for another method', { claims: { htm: 'GET' } }],
  ['for another path', { claims: { htu: `${resource}/other` } }],
  ['for another host', { claims: { htu: 'https://evil.example/mcp' } }],
  ['for no address', { claims: { htu: undefined } }],
  ['that is old', { claims: { iat: seconds - 90 } }],
  ['that is made ahead', { claims: { iat: seconds + 90 } }],
  ['without a time', { claims: { iat: undefined } }],
  ['for another token', { claims: { ath: hash('other') } }],
  ['for no token', { claims: { ath: undefined } }],
  ['without an id', { claims: { jti: undefined } }],
  ['with an empty id', { claims: { jti: '' } }],
  ['of another type', { header: { typ: 'jwt' } }],
  ['of another key', { header: { jwk: otherJwk }, key: other.privateKey }],
  ['that names a key which did not sign it', { key: other.privateKey }],
  ['that shows its private key', { header: { jwk: { ...jwk, d: (await exportJWK(privateKey)).d } } }],
  ['without a key', { header: { jwk: undefined } }],
  ['signed with a secret', { header: { jwk: { kty: 'oct', k: 'AAAA' } } }],
])('a proof %s is refused [AUE-012]', async (_, changes) => {
  await using server = await createProtectedServer({ dpop: 'accepted' })
  const token = await bound(server)
  const response = await sendBound(server, token, await proofFor(token, changes))
  expect([
    response.status,
    response.headers.get('www-authenticate')?.startsWith('DPoP error="invalid_dpop_proof"'),
  ]).toEqual([401, true])
  expect([server.listErrorCodes(), server.principals]).toEqual([['invalid_proof'], []])
})

test('a malformed proof is rejected [AUE-012]', async () => {
  await using server = await createProtectedServer({ dpop: 'accepted' })
  const token = await bound(server)
  const proof = await proofFor(token)
  for (const bad of [undefined, '', 'a.b.c', `${proof}, ${proof}`, 'a'.repeat(9000), proof.slice(0, -6)])
    expect((await sendBound(server, token, bad)).status).toBe(401)
  expect(server.principals).toEqual([])
})

test('the address of a proof is compared without its query, and with scheme and host in any case', async () => {
  await using server = await createProtectedServer({ dpop: 'accepted' })
  const token = await bound(server)
  for (const htu of [`${resource}?a=b`, `${resource}#c`, 'HTTPS://MCP.example.com:443/mcp'])
    expect((await sendBound(server, token, await proofFor(token, { claims: { htu } }))).status).toBe(200)
})

test('a bound token is never a bearer token, and a bearer token is never a bound one [AUE-013]', async () => {
  for (const dpop of ['accepted', 'required', undefined] as const) {
    await using server = await createProtectedServer({ dpop })
    const token = await bound(server)
    expect((await server.send(token, { headers: { dpop: await proofFor(token) } })).status).toBe(401)
    const free = await server.issuer.sign()
    expect((await sendBound(server, free, await proofFor(free))).status).toBe(401)
    expect(server.principals).toEqual([])
    expect(server.listErrorCodes()).toEqual(['wrong_scheme', 'wrong_scheme'])
  }
})

test('a token that is remembered is still checked for its proof', async () => {
  await using server = await createProtectedServer({ dpop: 'accepted' })
  const token = await bound(server)
  expect((await sendBound(server, token, await proofFor(token))).status).toBe(200)
  expect((await sendBound(server, token)).status).toBe(401)
  expect((await server.send(token)).status).toBe(401)
})

test('where proofs are required, a bearer token is refused and the challenge names DPoP alone', async () => {
  await using server = await createProtectedServer({ dpop: 'required' })
  const missing = await server.send()
  expect(missing.headers.get('www-authenticate')).toMatch(
    /^DPoP scope="items:read", resource_metadata="[^"]+", algs="[^"]+"$/,
  )
  expect((await server.send(await server.issuer.sign())).status).toBe(401)
  const metadata = await server.handler(new Request(new URL('/.well-known/oauth-protected-resource', resource)))
  expect(await metadata.json()).toMatchObject({
    dpop_bound_access_tokens_required: true,
    dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
  })
})

test('where proofs are accepted, the first challenge names both ways', async () => {
  await using server = await createProtectedServer({ dpop: 'accepted' })
  const missing = await server.send()
  expect(missing.headers.get('www-authenticate')).toMatch(
    /^Bearer scope="items:read", resource_metadata="[^"]+", DPoP algs="/,
  )
})

test('a server with nonces has each proof made with a recent one, whichever instance made it [AUE-012]', async () => {
  const nonce = sealedState({ keys: [randomKey()], audience: 'items' })
  await using server = await createProtectedServer({ dpop: { state: nonce } })
  await using sibling = await createProtectedServer({ dpop: { state: nonce }, issuers: () => [server.issuer.issuer] })
  const token = await bound(server)
  const asked = await sendBound(server, token, await proofFor(token))
  expect([asked.status, asked.headers.get('www-authenticate')?.startsWith('DPoP error="use_dpop_nonce"')]).toEqual([
    401,
    true,
  ])
  const given = asked.headers.get('dpop-nonce') ?? ''
  const withNonce = (value: string) => proofFor(token, { claims: { nonce: value } })
  expect((await sendBound(server, token, await withNonce(given))).status).toBe(200)
  expect((await sendBound(sibling, token, await withNonce(given))).status).toBe(200)
  const madeUp = await sendBound(server, token, await withNonce('made-up'))
  expect([madeUp.status, madeUp.headers.get('dpop-nonce')]).toEqual([401, expect.any(String)])
  // The proof's own time is checked against the same clock.
  server.advanceTime(301_000)
  const claims = { nonce: given, iat: Math.floor(Date.now() / 1000) + 301 }
  expect((await sendBound(server, token, await proofFor(token, { claims }))).headers.get('dpop-nonce')).not.toBeNull()
})

test('instances that share a store take each proof once [AUE-012]', async () => {
  const usedProofs = memoryStore()
  await using server = await createProtectedServer({ dpop: { usedProofs } })
  await using sibling = await createProtectedServer({ dpop: { usedProofs }, issuers: () => [server.issuer.issuer] })
  const token = await bound(server)
  const proof = await proofFor(token)
  expect((await sendBound(server, token, proof)).status).toBe(200)
  expect((await sendBound(sibling, token, proof)).status).toBe(401)
})

const away = () => Promise.reject(new StateError('unavailable', 'away', { retryAfterMs: 3000 }))
test.each([
  ['the store of used proofs', { usedProofs: { add: away } }],
  ['the codec of nonces', { state: { seal: async () => 'nonce', open: away } }],
])('while %s is away, the answer is 503 and in the log', async (_, dpop) => {
  await using server = await createProtectedServer({ dpop })
  const token = await bound(server)
  const response = await sendBound(server, token, await proofFor(token, { claims: { nonce: 'given' } }))
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '3'])
  expect(server.records).toMatchObject([{ level: 'error', code: 'unavailable' }])
})

test('a proof is remembered while the clock is wrong, and later ones are not remembered for longer', async () => {
  const ledger = createLedger()
  await using server = await createProtectedServer({ dpop: 'accepted', ledger })
  const token = await server.issuer.sign({ claims: { cnf: { jkt }, exp: seconds + 7200 } })
  const proof = await proofFor(token)
  expect((await sendBound(server, token, proof)).status).toBe(200)
  server.changeClock(-3_600_000)
  for (const iat of [seconds - 3600, seconds - 3300]) {
    expect((await sendBound(server, token, await proofFor(token, { claims: { iat } }))).status).toBe(200)
    server.advanceTime(300_000)
  }
  // The first proof, and the last one.
  expect(ledger.usedInAll('proofs')).toBe(2)
  server.changeClock(3_000_000)
  expect((await sendBound(server, token, proof)).status).toBe(401)
})

test('a proof is remembered for as long as its time could be right', async () => {
  await using server = await createProtectedServer({ dpop: 'accepted' })
  const token = await server.issuer.sign({ claims: { cnf: { jkt }, exp: seconds + 7200 } })
  const proof = await proofFor(token, { claims: { iat: Math.floor(Date.now() / 1000) + 58 } })
  expect((await sendBound(server, token, proof)).status).toBe(200)
  for (const ms of [30_000, 60_000, 20_000]) {
    server.advanceTime(ms)
    expect((await sendBound(server, token, proof)).status).toBe(401)
  }
  expect(server.errors.every((error) => error instanceof Error && error.message === 'The proof was used before')).toBe(
    true,
  )
})

test('the proofs of one key are bounded, those of another key are accepted meanwhile, and all end after minutes [AUE-012]', async () => {
  const ledger = createLedger({}, { proofs: { perCaller: 3, total: 100 } })
  await using server = await createProtectedServer({ dpop: 'accepted', ledger })
  const exp = seconds + 7200
  const token = await server.issuer.sign({ claims: { cnf: { jkt }, exp } })
  for (let sent = 0; sent < 3; sent += 1)
    expect((await sendBound(server, token, await proofFor(token))).status).toBe(200)
  const limited = await sendBound(server, token, await proofFor(token))
  expect([limited.status, limited.headers.get('retry-after'), await limited.json()]).toEqual([
    429,
    '1',
    expect.objectContaining({
      error: expect.objectContaining({ data: { reason: 'quota', limit: 'proofs', max: 3, retryAfterMs: 1000 } }),
    }),
  ])
  const otherToken = await server.issuer.sign({ claims: { cnf: { jkt: await calculateJwkThumbprint(otherJwk) }, exp } })
  const otherProof = await proofFor(otherToken, { header: { jwk: otherJwk }, key: other.privateKey })
  expect((await sendBound(server, otherToken, otherProof)).status).toBe(200)
  server.advanceTime(150_000)
  const laterProof = await proofFor(token, { claims: { iat: seconds + 150 } })
  expect((await sendBound(server, token, laterProof)).status).toBe(200)
  expect(ledger.usedInAll('proofs')).toBe(1)
})

const certificate = new TextEncoder().encode('a certificate, as DER')
const thumbprint = createHash('sha256').update(certificate).digest('base64url')

test('a token that is bound to a certificate is good with that certificate alone [AUE-016]', async () => {
  let given: Uint8Array<ArrayBuffer> | undefined = certificate
  await using server = await createProtectedServer({ certificateOf: () => given })
  const token = await server.issuer.sign({ claims: { cnf: { 'x5t#S256': thumbprint } } })
  expect((await server.send(token)).status).toBe(200)
  given = new TextEncoder().encode('another')
  expect((await server.send(token)).status).toBe(401)
  given = undefined
  expect((await server.send(token)).status).toBe(401)
  expect(server.listErrorCodes()).toEqual(['wrong_certificate', 'wrong_certificate'])
  const metadata = await server.handler(new Request(new URL('/.well-known/oauth-protected-resource', resource)))
  expect(await metadata.json()).toMatchObject({ tls_client_certificate_bound_access_tokens: true })
})

test.each([
  ['a certificate that the connection does not expose', { 'x5t#S256': thumbprint }],
  ['something unknown', { kid: 'k' }],
  ['something unknown beside', { jkt, kid: 'k' }],
  ['nothing', {}],
  ['no object', 'k'],
  ['a list', [jkt]],
  ['a thumbprint that is none', { jkt: 7 }],
])('a token that is bound to %s is refused [AUE-013 AUE-016]', async (_, cnf) => {
  await using server = await createProtectedServer()
  const token = await server.issuer.sign({ claims: { cnf: cnf as never } })
  expect((await server.send(token)).status).toBe(401)
  expect((await sendBound(server, token, await proofFor(token))).status).toBe(401)
  expect(server.principals).toEqual([])
})
