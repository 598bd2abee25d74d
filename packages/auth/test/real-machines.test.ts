import { type AuthServer, startAuthServer } from '@tooling/auth-server'
import { startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { dpop } from '../src/dpop.ts'
import { enterprise } from '../src/enterprise.ts'
import { clientCredentials, workload } from '../src/machine.ts'
import { rejectionOf } from '../src/testing/world.ts'
import { callItems, createRealWorld, logInByHand, redirectUri } from './real-world.ts'

// Each test starts processes of its own.
vi.setConfig({ testTimeout: 120_000 })

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const withoutPages = { redirect_uris: [], response_types: [] }
const job = { ...withoutPages, client_id: 'job', client_secret: 'job-secret', grant_types: ['client_credentials'] }

describe('At a real authorization server', () => {
  test('a job logs in with its secret, and asks for more scopes when a tool needs them [AUE-017]', async () => {
    await using real = await createRealWorld({ clients: [job] })
    const auth = clientCredentials({ issuer: real.as.issuer, client: { id: 'job', secret: 'job-secret' } })
    expect(await callItems(real.url, auth)).toBe('job by job')
    expect(await callItems(real.url, auth, 'update')).toBe('updated')
  })

  test('a job logs in with a key that the server knows, and not with another [AUE-017 AUE-022]', async () => {
    const known = await generateKeyPair('ES256', { extractable: true })
    const other = await generateKeyPair('ES256', { extractable: true })
    const jwks = { keys: [{ ...(await exportJWK(known.publicKey)), kid: 'key', alg: 'ES256', use: 'sig' }] }
    const { client_secret: _, ...keyed } = { ...job, token_endpoint_auth_method: 'private_key_jwt', jwks }
    await using real = await createRealWorld({ clients: [keyed] })
    const authOf = async ({ privateKey }: typeof known) => {
      const key = { privateKey: await exportPKCS8(privateKey), algorithm: 'ES256' }
      return clientCredentials({ issuer: real.as.issuer, client: { id: 'job', key } })
    }
    expect(await callItems(real.url, await authOf(known))).toBe('job by job')
    const refused = await rejectionOf(callItems(real.url, await authOf(other)))
    expect(refused).toMatchObject({ code: 'token_rejected', error: 'invalid_client' })
  })

  test('the tokens of a job are bound to a key, with a nonce of each server [AUE-012 AUE-014 AUE-015]', async () => {
    await using real = await createRealWorld({ clients: [job], dpop: true, requireDpopNonce: true })
    const client = { id: 'job', secret: 'job-secret' }
    const auth = clientCredentials({
      issuer: real.as.issuer,
      client,
      dpop: dpop({ required: true }),
      fetch: real.fetch,
    })
    expect(await callItems(real.url, auth)).toBe('job by job')
    const types = real.exchanges.map(({ answer }) => answer['error'] ?? answer['token_type'])
    expect(types).toEqual(['use_dpop_nonce', 'DPoP'])
  })

  test('a workload is known by the token of its platform, and an expired one is refused once [AUE-021]', async () => {
    await using platform = await startScriptedAuthServer({ sub: 'importer' })
    await using real = await createRealWorld({
      trusted: { [platform.issuer]: { keys: [platform.publicJwk] } },
      clients: [
        { ...withoutPages, client_id: 'importer', token_endpoint_auth_method: 'none', grant_types: [jwtBearer] },
      ],
    })
    const authOf = (claims: { exp?: number }) =>
      workload({
        issuer: real.as.issuer,
        client: { id: 'importer' },
        assertion: () => platform.sign({ claims: { aud: real.as.issuer, ...claims }, header: { typ: 'JWT' } }),
        fetch: real.fetch,
      })
    expect(await callItems(real.url, authOf({}))).toBe('importer by importer')
    const refused = await rejectionOf(callItems(real.url, authOf({ exp: 1 })))
    expect(refused).toMatchObject({ code: 'token_rejected', error: 'invalid_grant' })
    expect(real.exchanges.map(({ form }) => form.get('grant_type'))).toEqual([jwtBearer, jwtBearer])
  })

  test('a person of an enterprise is known by the login at its identity provider [AUE-019 AUE-020]', async () => {
    const client = { client_id: 'assistant', client_secret: 'at-idp', redirect_uris: [redirectUri] }
    await using idp = await startAuthServer({
      clients: [{ ...client, application_type: 'native', grant_types: ['authorization_code', exchange] }],
    })
    const atServer = { ...withoutPages, client_id: 'assistant', client_secret: 'at-as', grant_types: [jwtBearer] }
    const trusted = { [idp.issuer]: `${idp.issuer}/jwks` }
    await using real = await createRealWorld({ trusted, clients: [atServer] })
    const authOf = (identity: () => Promise<string>) =>
      enterprise({
        issuer: real.as.issuer,
        client: { id: 'assistant', secret: 'at-as' },
        idp: { issuer: idp.issuer, client: { id: 'assistant', secret: 'at-idp' } },
        identity,
      })
    expect(
      await callItems(
        real.url,
        authOf(() => idTokenOf(idp)),
      ),
    ).toBe('ada by assistant')
    const refused = await rejectionOf(
      callItems(
        real.url,
        authOf(async () => 'made.up.token'),
      ),
    )
    expect(refused).toMatchObject({ code: 'token_rejected', issuer: idp.issuer, error: 'invalid_grant' })
  })
})

/** Logs Ada in at the identity provider, as the program of an enterprise does. */
async function idTokenOf(idp: AuthServer): Promise<string> {
  const client = { id: 'assistant', secret: 'at-idp', redirectUri }
  const { id_token: idToken } = await logInByHand(idp, client, { scope: 'openid' })
  return idToken
}
