import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT } from 'jose'
import { expect, test } from 'vitest'
import { createProtectedServer, resource } from '../testing/protected.ts'

const metadata = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"'
const invalid = `Bearer error="invalid_token", scope="items:read", ${metadata}`

test.each([
  ['with a slash at its end', `${resource}/`],
  ['with a fragment', `${resource}#a`],
  ['with a query', `${resource}?a=1`],
  ['with a host in another case', 'https://MCP.example.com/mcp'],
  ['with a path in another case', 'https://mcp.example.com/MCP'],
  ['with its default port', 'https://mcp.example.com:443/mcp'],
  ['of the origin', 'https://mcp.example.com'],
  ['over http', 'http://mcp.example.com/mcp'],
  ['with an escape', 'https://mcp.example.com/%6dcp'],
  ['with a space', `${resource} `],
  ['of another server', 'https://other.example.com/mcp'],
  ['that is empty', ''],
  ['that is an empty list', []],
  ['that lists others', ['https://mcp.example.com', `${resource}/`]],
  ['that is missing', undefined],
])(
  'a token for an audience %s is refused (GHSA-rvq5-wwqv-78pq) [AUT-041 AUT-045 AUT-046 AUE-007 AUS-003 AUS-027]',
  async (_, aud) => {
    await using server = await createProtectedServer()
    // A claim that is undefined is left out.
    const response = await server.send(await server.issuer.sign({ claims: { aud: aud as string } }))
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, invalid])
    expect([server.listErrorCodes(), server.principals]).toEqual([['wrong_audience'], []])
    // The operator sees both sides; an audience names a server and no person.
    expect(String(server.errors[0])).toContain(`${JSON.stringify(aud) ?? 'none'}, and this server is "${resource}"`)
  },
)

test('an audience among others is this one', async () => {
  await using server = await createProtectedServer()
  expect(
    (await server.send(await server.issuer.sign({ claims: { aud: ['https://other.example', resource] } }))).status,
  ).toBe(200)
})

test('an issuer may have an audience of its own, which then is the only one', async () => {
  await using server = await createProtectedServer({ issuers: (issuer) => [{ issuer, audience: 'api://items' }] })
  expect((await server.send(await server.issuer.sign({ claims: { aud: 'api://items' } }))).status).toBe(200)
  expect((await server.send(await server.issuer.sign())).status).toBe(401)
})

const past = Math.floor(Date.now() / 1000) - 3600
test.each([
  ['that has expired', { exp: past }, 'expired'],
  ['that never ends', { exp: undefined }, 'invalid_claim'],
  ['that ends at no time', { exp: 'soon' }, 'invalid_claim'],
  ['that is not valid yet', { nbf: past + 7200 }, 'not_yet_valid'],
  ['of another issuer', { iss: 'https://evil.example' }, 'unknown_issuer'],
  ['of an issuer that differs by a slash', { iss: 'slash' }, 'unknown_issuer'],
  ['without an issuer', { iss: undefined }, 'malformed'],
  ['whose subject is a number', { sub: 1001 }, 'invalid_claim'],
  ['whose client is a number', { client_id: 7 }, 'invalid_claim'],
  ['without a subject and a client', { sub: undefined, client_id: undefined }, 'invalid_claim'],
])('a token %s is refused like any other [AUT-042 AUT-043 AUS-026]', async (_, claims, code) => {
  await using server = await createProtectedServer()
  const iss = 'iss' in claims && claims.iss === 'slash' ? { iss: `${server.issuer.issuer}/` } : {}
  const response = await server.send(await server.issuer.sign({ claims: { ...claims, ...iss } as never }))
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, invalid])
  expect([server.listErrorCodes(), server.principals]).toEqual([[code], []])
})

test.each([
  ['exp', -20, 200],
  ['exp', -40, 401],
  ['nbf', 20, 200],
  ['nbf', 40, 401],
])('clocks may differ by 30 seconds: %s of %i seconds from now is answered with %i', async (name, seconds, status) => {
  await using server = await createProtectedServer()
  const time = Math.floor(Date.now() / 1000) + seconds
  expect((await server.send(await server.issuer.sign({ claims: { [name]: time } }))).status).toBe(status)
})

test.each(['at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT', undefined])('a token of type %s is one', async (typ) => {
  await using server = await createProtectedServer()
  expect((await server.send(await server.issuer.sign({ header: { typ } }))).status).toBe(200)
})

test.each(['logout+jwt', 'dpop+jwt', 'secevent+jwt', 'id_token', '', 7, 'at+jwt '])(
  'a token of type %s is refused [AUE-006]',
  async (typ) => {
    await using server = await createProtectedServer()
    expect((await server.send(await server.issuer.sign({ header: { typ } }))).status).toBe(401)
    expect(server.principals).toEqual([])
  },
)

test('a token without a signature, and one signed with the public key as a secret, are refused [AUE-006]', async () => {
  await using server = await createProtectedServer()
  const { issuer, publicJwk } = server.issuer
  const claims = { iss: issuer, aud: resource, sub: 'ada', scope: 'items:read' }
  const none = new UnsecuredJWT(claims).setExpirationTime('5m').encode()
  const secrets = [JSON.stringify(publicJwk), await exportSPKI((await importJWK(publicJwk, 'ES256')) as never)]
  const hmacs = secrets.map((secret) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: publicJwk.kid, typ: 'at+jwt' })
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(secret)),
  )
  for (const token of [none, `${none}e30`, ...(await Promise.all(hmacs))])
    expect((await server.send(token)).status).toBe(401)
  expect(server.listErrorCodes()).toEqual(Array.from({ length: 4 }, () => 'unsupported_algorithm'))
  // A key was not even looked for.
  expect(server.issuer.requests).toEqual([])
})

test('a token that was altered, or signed with another key, is refused', async () => {
  await using server = await createProtectedServer()
  const token = await server.issuer.sign()
  const [head = '', body = '', signature = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const other = Buffer.from(JSON.stringify({ ...claims, sub: 'eve' })).toString('base64url')
  const { privateKey } = await generateKeyPair('ES256')
  const forged = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid: server.issuer.publicJwk.kid, typ: 'at+jwt' })
    .sign(privateKey)
  for (const bad of [`${head}.${other}.${signature}`, forged, `${head}.${body}.`])
    expect((await server.send(bad)).status).toBe(401)
  expect(server.listErrorCodes()).toEqual(['invalid_signature', 'invalid_signature', 'invalid_signature'])
})

test('keys that a token brings along are not looked at [AUE-006]', async () => {
  await using server = await createProtectedServer()
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  const claims = { iss: server.issuer.issuer, aud: resource, sub: 'eve' }
  const header = { alg: 'ES256', typ: 'at+jwt', jwk, jku: 'https://evil.example/jwks', x5u: 'https://evil.example/x' }
  const token = await new SignJWT(claims).setProtectedHeader(header).setExpirationTime('5m').sign(privateKey)
  expect((await server.send(token)).status).toBe(401)
  expect(server.listErrorCodes()).toEqual(['invalid_signature'])
})

test.each(['a', 'a.b', 'a.b.c', '..', 'a.b.c.d.e', 'e30.e30.e30', 'bnVsbA.bnVsbA.bnVsbA', '-._~+/', 'e30.W10.x'])(
  'what is no token (%s) is refused',
  async (token) => {
    await using server = await createProtectedServer()
    const response = await server.send(token)
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, invalid])
    expect(server.listErrorCodes()).toEqual(['malformed'])
  },
)
