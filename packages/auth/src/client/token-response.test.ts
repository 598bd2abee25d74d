import { expect, test } from 'vitest'
import type { JsonObject } from '@x/schema'
import {
  callWithAuth,
  completeResponse,
  createTestEnvironment,
  rejectionOf,
  type TestEnvironment,
} from '../testing/world.ts'

/** A JWT that is signed with a key that nobody has, as better-auth issues it. */
const strayIdToken = [{ alg: 'HS256' }, { aud: 'x' }, 'mac'].map((part) => btoa(JSON.stringify(part))).join('.')

/** Changes the members of the JSON body at a path of the authorization server. */
function changeReply(w: TestEnvironment, path: string, members: JsonObject, more: object = {}): void {
  const { routes } = w.authorizationServer
  const route = routes.get(path)
  routes.set(path, async (one) => {
    const reply = await route?.(one)
    return { ...reply, ...more, body: { ...(reply?.body as object), ...members } }
  })
}

test.each<[string, JsonObject, object?]>([
  ['an id_token that is signed with a lost key', { id_token: strayIdToken }],
  ['an id_token that is no JWT', { id_token: 7 }],
  ['a scope of null', { scope: null }],
  ['a list of scopes', { scope: ['read'] }],
  ['a refresh_token of null', { refresh_token: null }],
  ['an empty refresh_token', { refresh_token: '' }],
  ['a lifetime of null', { expires_in: null }],
  ['a lifetime as text', { expires_in: '3600' }],
  ['a lifetime that is no number', { expires_in: 'soon' }],
  ['an error of null', { error: null, error_description: null }],
  ['members of other protocols', { user: { id: 7 }, not_before_policy: 0, session_state: null }],
  ['a type in capitals', { token_type: 'BEARER' }],
  ['the type text/plain', {}, { headers: { 'content-type': 'text/plain' } }],
  ['the status 201', {}, { status: 201 }],
  ['a stray challenge', {}, { headers: { 'www-authenticate': 'Basic realm="x"' } }],
])('A token response with %s logs in, and refreshes [AUT-102]', async (_title, members, more) => {
  await using w = await createTestEnvironment()
  changeReply(w, '/token', members, more)
  const auth = w.createOAuth()
  expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
  w.authorizationServer.expireTokens()
  expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
  expect(w.browser.visited).toHaveLength('refresh_token' in members ? 2 : 1)
})

const words = 'The code passed is incorrect or expired.'

test.each<[string, object, string]>([
  ['an error with the status 200', { error: 'bad_verification_code', error_description: words }, words],
  ['an error without words', { error: 'bad_verification_code' }, 'refused with "bad_verification_code"'],
  ['no token', { token_type: 'Bearer' }, 'it has the status 200 and no access_token or error'],
  ['no type', { access_token: 'a' }, 'it has no token_type'],
  ['another type', { access_token: 'a', token_type: 'mac' }, 'the token_type is "mac", and not "Bearer"'],
  ['no object', [], 'it has the status 200 and no access_token or error'],
])('A token response with %s ends the login with what is wrong', async (_title, body, message) => {
  await using w = await createTestEnvironment()
  w.authorizationServer.routes.set('/token', () => ({ body }))
  const error = await rejectionOf(callWithAuth(w.resource.url, w.createOAuth()))
  expect(error).toMatchObject({ code: 'token_rejected', message: expect.stringContaining(message) })
  expect(error).toHaveProperty('error', 'error' in body ? 'bad_verification_code' : undefined)
})

test.each<[string, (w: TestEnvironment) => void]>([
  [
    'a pushed request with the status 200 and no lifetime',
    (w) => {
      w.authorizationServer.metadata['require_pushed_authorization_requests'] = true
      w.authorizationServer.metadata['pushed_authorization_request_endpoint'] = `${w.authorizationServer.issuer}/par`
      changeReply(w, '/par', { expires_in: null }, { status: 200 })
    },
  ],
  [
    'a registration with members of other types',
    (w) => changeReply(w, '/register', { client_secret: null, client_secret_expires_at: null, contacts: 7, scope: [] }),
  ],
  ['a registration without redirect URIs', (w) => changeReply(w, '/register', { redirect_uris: null })],
  [
    'metadata whose other members are of other types',
    (w) =>
      Object.assign(w.authorizationServer.metadata, {
        revocation_endpoint: 'here',
        pushed_authorization_request_endpoint: 7,
        introspection_endpoint: null,
        scopes_supported: 'read',
        response_types_supported: 'code',
        userinfo_endpoint: 'javascript:alert(1)',
        id_token_signing_alg_values_supported: [],
      }),
  ],
  [
    'metadata of the resource whose other members are of other types',
    (w) => Object.assign(w.resource.metadata, { scopes_supported: 'read', jwks_uri: 7, resource_name: null }),
  ],
  [
    'an authorization response with members of other flows',
    (w) => {
      w.browser.transformAnswer = (answer) => {
        for (const name of ['id_token', 'token', 'response', 'session_state']) answer.searchParams.set(name, 'x')
        return answer
      }
    },
  ],
])('A login with %s succeeds [AUT-102]', async (_title, change) => {
  await using w = await createTestEnvironment()
  change(w)
  expect(await callWithAuth(w.resource.url, w.createOAuth())).toMatchObject(completeResponse)
})

test('A revocation that answers 204 is one', async () => {
  await using w = await createTestEnvironment()
  const auth = w.createOAuth()
  await callWithAuth(w.resource.url, auth)
  w.authorizationServer.routes.set('/revoke', () => ({ status: 204, body: '' }))
  await auth.logout(w.resource.url)
})
