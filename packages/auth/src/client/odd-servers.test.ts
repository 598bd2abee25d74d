import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '@x/schema'
import type { ReceivedRequest, Reply, Route } from '../testing/http-script.ts'
import {
  callWithAuth,
  completeResponse,
  createTestEnvironment,
  rejectionOf,
  type TestEnvironment,
} from '../testing/world.ts'
import type { OAuthOptions } from './code-authorizer.ts'

const resourcePath = '/.well-known/oauth-protected-resource'
const oauthPath = '/.well-known/oauth-authorization-server'
const openidPath = '/.well-known/openid-configuration'

type Change = (w: TestEnvironment) => void

/** Moves the metadata of the authorization server to another path, with the issuer that this path belongs to. */
const moveMetadata =
  (path: string, issuerPath = ''): Change =>
  ({ authorizationServer: as, resource, browser }) => {
    const issuer = as.issuer + issuerPath
    as.routes.delete(oauthPath)
    as.routes.set(path, () => ({ body: { ...as.metadata, issuer } }))
    resource.metadata['authorization_servers'] = [issuer]
    browser.transformAnswer = (answer) => (answer.searchParams.set('iss', issuer), answer)
  }

/** Names an issuer in its own metadata that differs from the one in the metadata of the resource. */
const nameIssuer =
  (named: (issuer: string) => string, inResource = (issuer: string) => issuer): Change =>
  ({ authorizationServer: as, resource, browser }) => {
    as.metadata['issuer'] = named(as.issuer)
    resource.metadata['authorization_servers'] = [inResource(as.issuer)]
    browser.transformAnswer = (answer) => (answer.searchParams.set('iss', named(as.issuer)), answer)
  }

/** Sends another challenge to requests without a token. */
const challenge =
  (header: ((metadataUrl: string) => string) | undefined): Change =>
  ({ resource: { routes, origin } }) => {
    const mcp = routes.get('/mcp')
    const headers: Record<string, string> =
      header === undefined ? {} : { 'www-authenticate': header(`${origin}${resourcePath}/mcp`) }
    routes.set('/mcp', (one) => (one.headers.authorization && mcp ? mcp(one) : { status: 401, headers, body: 'no' }))
  }

const changeBody =
  (path: string, members: JsonObject, more: Partial<Reply> = {}): Change =>
  ({ authorizationServer: { routes } }) => {
    const route = routes.get(path)
    routes.set(path, async (one: ReceivedRequest) => {
      const reply = await route?.(one)
      return { ...reply, ...more, body: { ...(reply?.body as object), ...members } }
    })
  }

/** Moves the metadata of the resource from the path of the endpoint to the root. */
const moveResourceMetadata: Change = ({ resource }) => {
  const route = resource.routes.get(`${resourcePath}/mcp`)
  resource.routes.delete(`${resourcePath}/mcp`)
  if (route) resource.routes.set(resourcePath, route)
}

/** Makes the resource its own authorization server, without metadata of its own. */
const removeResourceMetadata: Change = ({ authorizationServer: as, resource, browser }) => {
  for (const path of [resourcePath, `${resourcePath}/mcp`]) resource.routes.delete(path)
  for (const path of ['/authorize', '/token', '/register'])
    resource.routes.set(path, as.routes.get(path) ?? (() => ({ status: 404 })))
  browser.transformAnswer = (answer) => (answer.searchParams.delete('iss'), answer)
}

const all =
  (...changes: Change[]): Change =>
  (w) => {
    for (const change of changes) change(w)
  }

/** Servers that log in by default. The guide for logins has the same titles. */
const accepted: readonly (readonly [string, Change])[] = [
  ['OAuth metadata, the path of the issuer inserted', moveMetadata(`${oauthPath}/tenant`, '/tenant')],
  ['OpenID metadata, the path of the issuer inserted', moveMetadata(`${openidPath}/tenant`, '/tenant')],
  ['OpenID metadata, appended to the path of the issuer', moveMetadata(`/tenant${openidPath}`, '/tenant')],
  ['OpenID metadata alone', moveMetadata(openidPath)],
  ['metadata at the root, for an issuer with a path', moveMetadata(oauthPath, '/tenant')],
  ['an issuer with a slash in its own metadata alone', nameIssuer((issuer) => `${issuer}/`)],
  [
    'an issuer with a slash in the metadata of the resource alone',
    nameIssuer(
      (issuer) => issuer,
      (issuer) => `${issuer}/`,
    ),
  ],
  [
    'metadata of the resource at the root',
    all(
      challenge(() => 'Bearer'),
      moveResourceMetadata,
    ),
  ],
  ['no metadata of the resource (2025-03-26)', all(challenge(undefined), removeResourceMetadata)],
  ['401 without a challenge', challenge(undefined)],
  ['a challenge of `Bearer` and no more', challenge(() => 'Bearer')],
  ['`Basic` before `Bearer`', challenge((url) => `Basic realm="x, y", Bearer resource_metadata="${url}"`)],
  ['the origin as the resource', ({ resource }) => (resource.metadata['resource'] = resource.origin)],
  [
    'the origin with a slash as the resource',
    ({ resource }) => (resource.metadata['resource'] = `${resource.origin}/`),
  ],
  ['a resource with one slash more than the endpoint', ({ resource }) => (resource.metadata['resource'] += '/')],
  [
    '`iss` in the response, though it is not promised',
    ({ authorizationServer: { metadata } }) => delete metadata['authorization_response_iss_parameter_supported'],
  ],
  [
    'a registration with `null` members',
    changeBody('/register', { client_secret: null, client_secret_expires_at: null, scope: null }),
  ],
  ['`bearer` as the type of the token', changeBody('/token', { token_type: 'bearer' })],
  ['a lifetime as text, `"3600"`', changeBody('/token', { expires_in: '3600' })],
  [
    'a token response of the type `text/plain`',
    changeBody('/token', {}, { headers: { 'content-type': 'text/plain' } }),
  ],
  ['no lifetime', ({ authorizationServer: as }) => (as.expiresIn = undefined)],
  ['scopes in the metadata of the resource', ({ resource }) => (resource.metadata['scopes_supported'] = ['read'])],
]

/** Servers that are refused. The error names the setting that accepts them, if there is one. */
const refused: [
  title: string,
  change: Change,
  message: RegExp,
  settingsOf?: (issuer: string, found: string) => Partial<OAuthOptions>,
][] = [
  [
    'an issuer of another host in its own metadata',
    nameIssuer(() => 'https://as.example.com'),
    /`alias: "(.*?)"` of this issuer accepts it: set it only if you know/,
    (issuer, alias) => ({ issuers: { [issuer]: { alias } } }),
  ],
  [
    'metadata of the resource, and no metadata of the authorization server',
    ({ authorizationServer: { routes }, browser }) => {
      routes.delete(oauthPath)
      browser.transformAnswer = (answer) => (answer.searchParams.delete('iss'), answer)
    },
    /`endpoints: '(default)'` of this issuer accepts/,
    (issuer) => ({ issuers: { [issuer]: { endpoints: 'default' } } }),
  ],
  [
    'no `registration_endpoint`',
    ({ authorizationServer: { metadata } }) => delete metadata['registration_endpoint'],
    /give it in `(registrations)`/,
    (issuer) => ({ client: { name: 'test', registrations: [{ issuer, id: 'by-hand' }] } }),
  ],
  [
    'no `code_challenge_methods_supported`',
    ({ authorizationServer: { metadata } }) => delete metadata['code_challenge_methods_supported'],
    /S256 in (code_challenge_methods_supported), and no setting replaces that/,
  ],
]

describe('A server that differs from the specification or from most others,', () => {
  test.each(accepted)('by %s, is logged in at [AUD-013 AUD-014]', async (_title, change) => {
    await using w = await createTestEnvironment()
    change(w)
    const auth = w.createOAuth()
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
  })

  test.each<(typeof refused)[number]>(refused)(
    'by %s, is refused with the way out',
    async (_title, change, message, settingsOf) => {
      await using w = await createTestEnvironment()
      change(w)
      const error = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
      const [, found = ''] = message.exec(String(error)) ?? []
      expect(found, String(error)).not.toBe('')
      expect(w.browser.visited).toEqual([])
      if (settingsOf === undefined) return
      const auth = w.createOAuth(settingsOf(w.authorizationServer.issuer, found))
      expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    },
  )

  test('has a row in the guide', async () => {
    const guide = await readFile(new URL('../../../../docs/guides/authorization-servers.md', import.meta.url), 'utf8')
    const rows = guide.split('\n').filter((line) => line.startsWith('| '))
    const titles = ['the specification', ...[...accepted, ...refused].map(([title]) => title)]
    expect(titles).toHaveLength(27)
    for (const title of titles) expect(rows.filter((row) => row.startsWith(`| ${title} |`))).toHaveLength(1)
  })
})

test.each([
  ['no quotes', (url: string) => `Bearer resource_metadata=${url}, scope=read`],
  ['apostrophes', (url: string) => `Bearer resource_metadata='${url}', scope='read'`],
  ['a path', (url: string) => `Bearer resource_metadata="${new URL(url).pathname}", scope="read"`],
  ['two values', (url: string) => `Bearer scope="read", resource_metadata="${url}x", resource_metadata="${url}"`],
  ['one value twice', (url: string) => `Bearer resource_metadata="${url}", resource_metadata="${url}", scope="read"`],
  ['no value', () => 'Bearer resource_metadata=, scope="read"'],
  ['an empty value', () => 'Bearer resource_metadata="", scope="read"'],
])('A challenge whose resource_metadata has %s leads to the metadata [AUD-008]', async (title, header) => {
  await using w = await createTestEnvironment()
  challenge(header)(w)
  expect(await callWithAuth(w.resource.url, w.createOAuth())).toMatchObject(completeResponse)
  if (title !== 'no value') expect(w.browser.visited[0]?.searchParams.get('scope')).toBe('read')
})

/** Redirects a path of a server to others, one after the other. */
function redirect({ routes }: { readonly routes: Map<string, Route> }, path: string, places: readonly string[]): void {
  const route = routes.get(path)
  for (const [index, place] of places.entries())
    routes.set(places[index - 1] ?? path, () => ({ status: 302, headers: { location: place } }))
  const last = places.at(-1)
  if (route && last?.startsWith('/')) routes.set(last, route)
}

describe('Metadata that redirects', () => {
  const rows = [
    ['resource', `${resourcePath}/mcp`],
    ['authorizationServer', oauthPath],
  ] as const
  test.each(rows)('within the origin of the %s is followed three times', async (of, path) => {
    await using w = await createTestEnvironment()
    redirect(w[of], path, ['/a', '/b', '/c'])
    expect(await callWithAuth(w.resource.url, w.createOAuth())).toMatchObject(completeResponse)
    redirect(w[of], '/c', ['/d'])
    const error = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
    expect(error).toMatchObject({ code: 'server_unavailable' })
  })

  test.each(rows)('from the %s to another origin is explained', async (of, path) => {
    await using w = await createTestEnvironment()
    redirect(w[of], path, ['https://elsewhere.example.com/x?secret=1'])
    const error = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
    expect(error).toHaveProperty(
      'message',
      `${w[of].origin} redirects to https://elsewhere.example.com: a login follows redirects of metadata alone, and within one origin`,
    )
  })
})
