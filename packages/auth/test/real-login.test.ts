import { dpop } from '../src/dpop.ts'
import { readFile } from 'node:fs/promises'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { describe, expect, test, vi } from 'vitest'
import { memoryAuthStore, oauth, type OAuthOptions } from '../src/client.ts'
import { callItems, createRealWorld, type RealWorld, redirectUri, type TokenExchange } from './real-world.ts'

// Each test starts processes of its own.
vi.setConfig({ testTimeout: 120_000 })

const login = ({ person, fetch }: RealWorld, options: Partial<OAuthOptions> = {}) =>
  oauth({ client: { name: 'Items' }, redirect: person, fetch, ...options })

const grantTypes = ({ exchanges }: RealWorld) => exchanges.map(({ form }) => form.get('grant_type'))

const lastOf = ({ exchanges }: RealWorld): TokenExchange => {
  const last = exchanges.at(-1)
  if (last === undefined) throw new Error('no token was requested')
  return last
}

/** Presents a refresh token again, as an attacker with a copy would. */
const replay = async ({ as }: RealWorld, { form }: TokenExchange) => {
  const response = await fetch(`${as.issuer}/token`, { method: 'POST', body: form })
  const answer: unknown = await response.json()
  return [response.status, answer]
}

describe('At a real authorization server', () => {
  test('a person logs in with a client that registers itself, and the next program needs no login [AUT-001 AUT-031 AUT-032 AUT-036 AUS-029]', async () => {
    await using real = await createRealWorld()
    const store = memoryAuthStore()
    expect(await callItems(real.url, login(real, { store }))).toMatch(/^ada by \S+$/)
    expect(await callItems(real.url, login(real, { store }))).toMatch(/^ada by /)
    expect([real.person.visited.length, grantTypes(real)]).toEqual([1, ['authorization_code']])
    const [visited] = real.person.visited
    const resources = [visited?.searchParams, real.exchanges[0]?.form].map((params) => params?.getAll('resource'))
    expect(resources).toEqual([[real.url], [real.url]])
  })

  test('fifty calls at once refresh a token that rotates once, and the login lives on', async () => {
    await using real = await createRealWorld()
    let time = Date.now()
    const auth = login(real, { runtime: { now: () => time } })
    await using connection = connectHttp(real.url, { auth })
    const client = createClient(connection, { name: 'test', version: '1.0.0' })
    await client.callTool('who_am_i', {})
    for (const refreshes of [1, 2]) {
      time += 3_600_000
      await Promise.all(Array.from({ length: 50 }, () => client.callTool('who_am_i', {})))
      expect(grantTypes(real)).toEqual(['authorization_code', ...Array(refreshes).fill('refresh_token')])
    }
    const tokens = real.exchanges.map(({ answer }) => answer['refresh_token'])
    expect(new Set(tokens).size).toBe(3)
    expect(real.person.visited).toHaveLength(1)
  })

  test('a refresh token that comes twice ends the login there, and the person logs in once more [AUE-024]', async () => {
    await using real = await createRealWorld()
    let time = Date.now()
    const auth = login(real, { runtime: { now: () => time } })
    await callItems(real.url, auth)
    time += 3_600_000
    await callItems(real.url, auth)
    expect(await replay(real, lastOf(real))).toMatchObject([400, { error: 'invalid_grant' }])
    time += 3_600_000
    await auth.login(real.url)
    expect(await callItems(real.url, auth)).toMatch(/^ada by /)
    expect([real.person.visited.length, grantTypes(real).slice(2)]).toEqual([
      2,
      ['refresh_token', 'authorization_code'],
    ])
  })

  test('the metadata document of the guide is a client id that it takes [AUR-003 AUR-006 AUR-007]', async () => {
    const document = JSON.parse(await readFile(new URL('../examples/client.json', import.meta.url), 'utf8'))
    const metadataUrl: string = document.client_id
    await using real = await createRealWorld({ clientDocuments: { [metadataUrl]: document } })
    expect(document.redirect_uris).toContain(redirectUri)
    const auth = login(real, { client: { name: 'Items', metadataUrl } })
    expect(await callItems(real.url, auth)).toBe(`ada by ${metadataUrl}`)
  })

  test.each([
    ['names another client id', { client_id: 'https://items.example.com/other.json' }, 'invalid_client'],
    ['has no redirect URIs', { redirect_uris: [] }, 'invalid_redirect_uri'],
  ])('a metadata document that %s is refused there [AUR-006 AUR-007]', async (_, changes, code) => {
    const metadataUrl = 'https://items.example.com/client.json'
    const document = JSON.parse(await readFile(new URL('../examples/client.json', import.meta.url), 'utf8'))
    await using real = await createRealWorld({ clientDocuments: { [metadataUrl]: { ...document, ...changes } } })
    const auth = login(real, { client: { name: 'Items', metadataUrl } })
    const refused = { cause: { message: expect.stringContaining(code) } }
    await expect(callItems(real.url, auth)).rejects.toMatchObject(refused)
    expect(real.exchanges).toEqual([])
  })

  test('requests are pushed where it takes no others, by a client that was registered beforehand [AUE-032]', async () => {
    const registered = { client_id: 'cli', client_secret: 'cli-secret', redirect_uris: [redirectUri] }
    await using real = await createRealWorld({
      requirePushedRequests: true,
      clients: [{ ...registered, application_type: 'native', grant_types: ['authorization_code', 'refresh_token'] }],
    })
    const registrations = [{ issuer: real.as.issuer, id: 'cli', secret: 'cli-secret' }]
    expect(await callItems(real.url, login(real, { client: { name: 'Items', registrations } }))).toBe('ada by cli')
    const [visited] = real.person.visited
    expect([...(visited?.searchParams.keys() ?? [])].toSorted()).toEqual(['client_id', 'request_uri'])
  })

  test('a tool that needs more has the person asked for all scopes, and logout ends what it issued', async () => {
    await using real = await createRealWorld()
    const auth = login(real)
    await callItems(real.url, auth)
    expect(await callItems(real.url, auth, 'update')).toBe('updated')
    const scopes = real.person.visited.map((url) => url.searchParams.get('scope')?.split(' ').toSorted())
    expect(scopes).toEqual([
      ['items:read', 'offline_access'],
      ['items:read', 'items:write', 'offline_access'],
    ])
    await auth.logout(real.url)
    const { form, answer } = lastOf(real)
    const again = { grant_type: 'refresh_token', refresh_token: String(answer['refresh_token']) }
    const copied = new URLSearchParams({ ...again, client_id: form.get('client_id') ?? '' })
    expect(await replay(real, { form: copied, answer: {} })).toMatchObject([400, { error: 'invalid_grant' }])
  })

  test('tokens are bound to a key, with nonces of both servers, and refreshed with it [AUE-012 AUE-014 AUE-015]', async () => {
    await using real = await createRealWorld({ dpop: true, requireDpopNonce: true, tokenTtl: 60 })
    let time = Date.now()
    const auth = login(real, { dpop: dpop({ required: true }), runtime: { now: () => time } })
    expect(await callItems(real.url, auth)).toMatch(/^ada by /)
    const { access_token: token, token_type: type } = lastOf(real).answer
    expect(type).toBe('DPoP')
    const stolen = connectHttp(real.url, { headers: { authorization: `Bearer ${String(token)}` } })
    const thief = createClient(stolen, { name: 'thief', version: '1.0.0' })
    await expect(thief.callTool('who_am_i', {})).rejects.toMatchObject({ rpc: { message: expect.any(String) } })
    await stolen.close()
    // More than half of the token's minute has passed. A proof may differ by a whole one.
    time += 40_000
    expect(await callItems(real.url, auth)).toMatch(/^ada by /)
    expect([real.person.visited.length, lastOf(real).form.get('grant_type')]).toEqual([1, 'refresh_token'])
  })
})
