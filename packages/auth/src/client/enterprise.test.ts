import { describe, expect, test } from 'vitest'
import { type ScriptedAuthorizationServer, createScriptedAuthorizationServer } from '../testing/scripted-as.ts'
import {
  callWithAuth,
  createTestEnvironment,
  rejectionOf,
  completeResponse,
  type TestEnvironment,
} from '../testing/world.ts'
import { enterprise, type EnterpriseOptions } from './enterprise.ts'
import type { MachineAuth } from './machine.ts'

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const idJag = 'urn:ietf:params:oauth:token-type:id-jag'

interface Enterprise extends TestEnvironment {
  readonly idp: ScriptedAuthorizationServer
  employee(options?: Partial<EnterpriseOptions>): MachineAuth
}

async function enterpriseWorld(): Promise<Enterprise> {
  const world = await createTestEnvironment()
  const idp = await createScriptedAuthorizationServer()
  let grants = 0
  idp.otherGrants.set(exchange, () => ({
    body: { access_token: `jag-${(grants += 1)}`, issued_token_type: idJag, token_type: 'N_A', expires_in: 300 },
  }))
  world.authorizationServer.otherGrants.set(jwtBearer, (form) => ({
    scope: form.get('scope') ?? '',
    resource: world.resource.url,
  }))
  const employee = (options: Partial<EnterpriseOptions> = {}): MachineAuth =>
    enterprise({
      issuer: world.authorizationServer.issuer,
      client: { id: 'items', secret: 'items-secret' },
      idp: { issuer: idp.issuer, client: { id: 'items-at-idp', secret: 'idp-secret' } },
      identity: () => 'id-token-1',
      ...options,
    })
  return {
    ...world,
    idp,
    employee,
    [Symbol.asyncDispose]: async () => {
      await world[Symbol.asyncDispose]()
      await idp[Symbol.asyncDispose]()
    },
  }
}

const tokenRequests = ({ received }: ScriptedAuthorizationServer) => received.filter(({ path }) => path === '/token')

describe('enterprise', () => {
  test('exchanges the identity for a grant, and the grant for a token [AUE-019 AUE-020]', async () => {
    await using w = await enterpriseWorld()
    w.resource.metadata['scopes_supported'] = ['read']
    expect(await callWithAuth(w.resource.url, w.employee())).toMatchObject(completeResponse)
    const [asked] = tokenRequests(w.idp)
    expect(Object.fromEntries(asked?.form ?? [])).toEqual({
      grant_type: exchange,
      requested_token_type: idJag,
      audience: w.authorizationServer.issuer,
      resource: w.resource.url,
      scope: 'read',
      subject_token: 'id-token-1',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    })
    const [granted] = tokenRequests(w.authorizationServer)
    expect(Object.fromEntries(granted?.form ?? [])).toEqual({
      grant_type: jwtBearer,
      assertion: 'jag-1',
      resource: w.resource.url,
      scope: 'read',
    })
    const basic = (text: string): string => `Basic ${btoa(text)}`
    expect([asked, granted].map((one) => one?.headers.authorization)).toEqual([
      basic('items-at-idp:idp-secret'),
      basic('items:items-secret'),
    ])
    expect(w.authorizationServer.count('/authorize')).toBe(0)
    // Neither server sees what is the other’s.
    for (const secret of ['id-token-1', 'idp-secret'])
      expect(w.authorizationServer.describeRequests()).not.toContain(secret)
    expect(w.idp.describeRequests()).not.toContain(btoa('items:items-secret'))
  })

  test('declares its extension, and gets a new grant for each token', async () => {
    await using w = await enterpriseWorld()
    const auth = w.employee()
    await callWithAuth(w.resource.url, auth)
    w.authorizationServer.expireTokens()
    await callWithAuth(w.resource.url, auth)
    expect(tokenRequests(w.authorizationServer).map(({ form }) => form.get('assertion'))).toEqual(['jag-1', 'jag-2'])
    expect(auth.capabilities).toEqual({
      extensions: { 'io.modelcontextprotocol/enterprise-managed-authorization': {} },
    })
  })

  test('takes SAML assertions, a token endpoint without metadata, and public clients of the provider', async () => {
    await using w = await enterpriseWorld()
    const idp = { issuer: w.idp.issuer, tokenEndpoint: `${w.idp.issuer}/token`, client: { id: 'items-at-idp' } }
    await callWithAuth(w.resource.url, w.employee({ idp, identity: () => ({ token: '<saml/>', type: 'saml2' }) }))
    expect(Object.fromEntries(tokenRequests(w.idp)[0]?.form ?? [])).toMatchObject({
      subject_token: '<saml/>',
      subject_token_type: 'urn:ietf:params:oauth:token-type:saml2',
      client_id: 'items-at-idp',
    })
    expect(w.idp.count('/.well-known/oauth-authorization-server')).toBe(0)
  })

  test('asks for the identity once more when it has ended', async () => {
    await using w = await enterpriseWorld()
    const good = w.idp.otherGrants.get(exchange)
    w.idp.otherGrants.set(exchange, (form, received) =>
      form.get('subject_token') === 'id-token-2' && good
        ? good(form, received)
        : { status: 400, body: { error: 'invalid_grant' } },
    )
    const rejectedToken: unknown[] = []
    const identity: EnterpriseOptions['identity'] = (request) => {
      rejectedToken.push(request.rejectedToken)
      return request.rejectedToken === undefined ? 'id-token-1' : 'id-token-2'
    }
    expect(await callWithAuth(w.resource.url, w.employee({ identity }))).toMatchObject(completeResponse)
    expect(rejectedToken).toEqual([undefined, 'id-token-1'])
  })

  test.each([
    ['stays the same', () => 'id-token-1', 1],
    [
      'is refused again',
      ({ rejectedToken }: { rejectedToken: string | undefined }) => `${rejectedToken ?? 'id-token'}-x`,
      2,
    ],
  ])('gives up when the identity %s', async (_, identity, requests) => {
    await using w = await enterpriseWorld()
    w.idp.otherGrants.set(exchange, () => ({ status: 400, body: { error: 'invalid_grant' } }))
    const error = await rejectionOf(callWithAuth(w.resource.url, w.employee({ identity })))
    expect(error).toMatchObject({ code: 'token_rejected', error: 'invalid_grant', issuer: w.idp.issuer })
    expect([tokenRequests(w.idp).length, tokenRequests(w.authorizationServer).length]).toEqual([requests, 0])
  })

  test.each([
    ['the policy says no', { status: 400, body: { error: 'access_denied' } }, 'token_rejected'],
    ['the provider is unreachable', { status: 503 }, 'server_unavailable'],
    [
      'the provider sends an access token instead',
      {
        body: {
          access_token: 'an-access-token',
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          token_type: 'Bearer',
        },
      },
      'token_rejected',
    ],
    ['the provider does not say what it sends', { body: { access_token: 'x', token_type: 'N_A' } }, 'token_rejected'],
  ])('fails when %s: the authorization server is not asked', async (_, reply, code) => {
    await using w = await enterpriseWorld()
    w.idp.otherGrants.set(exchange, () => reply)
    const error = await rejectionOf(callWithAuth(w.resource.url, w.employee()))
    expect(error).toMatchObject({ code, issuer: w.idp.issuer })
    expect([tokenRequests(w.idp).length, tokenRequests(w.authorizationServer).length]).toEqual([1, 0])
    const text = JSON.stringify([String(error), error])
    for (const secret of ['id-token-1', 'an-access-token', 'secret']) expect(text).not.toContain(secret)
  })

  test('fails with the error of the authorization server when that refuses the grant', async () => {
    await using w = await enterpriseWorld()
    w.authorizationServer.otherGrants.set(jwtBearer, () => ({ status: 400, body: { error: 'invalid_grant' } }))
    const error = await rejectionOf(callWithAuth(w.resource.url, w.employee()))
    expect(error).toMatchObject({
      code: 'token_rejected',
      error: 'invalid_grant',
      issuer: w.authorizationServer.issuer,
    })
    expect([tokenRequests(w.idp).length, tokenRequests(w.authorizationServer).length]).toEqual([1, 1])
  })

  test('asks the provider for nothing when the server names another authorization server', async () => {
    await using w = await enterpriseWorld()
    await using evil = await createScriptedAuthorizationServer()
    w.resource.metadata['authorization_servers'] = [evil.issuer]
    expect(await rejectionOf(callWithAuth(w.resource.url, w.employee()))).toMatchObject({ code: 'client_needed' })
    expect([w.idp.received.length, evil.received.length]).toEqual([0, 0])
  })

  test('says that the identity is empty', async () => {
    await using w = await enterpriseWorld()
    expect(await rejectionOf(callWithAuth(w.resource.url, w.employee({ identity: () => '' })))).toMatchObject({
      code: 'client_needed',
    })
  })

  test.each(['http://idp.example.com', 'idp.example.com', 'file:///idp', 'https://a:b@idp.example.com'])(
    'is refused for a provider at %s',
    (issuer) => {
      const client = { id: 'items', secret: 'items-secret' }
      const make = (): MachineAuth =>
        enterprise({ issuer: 'https://a.example', client, idp: { issuer, client }, identity: () => 'x' })
      expect(make).toThrow(TypeError)
    },
  )
})
