import * as oauth from 'oauth4webapi'
import { raceWithCancellation, quoteText } from '@x/core'
import { AuthError, isAuthError } from './auth-error.ts'
import {
  type ClientIdentity,
  findOrRegisterClient,
  forgetUnknownClient,
  isConfiguredClient,
  isUnknownClient,
  updateRegistration,
} from './client-identity.ts'
import { addPendingLogin, type AnsweredLogin, takePendingLogin } from './pending-logins.ts'
import { requireEndpoint } from './server-metadata.ts'
import { toAuthenticatedClient, pushAuthorizationRequest } from './server-requests.ts'
import type { AuthRecords, PendingLogin, StoredClient, StoredToken } from './stored.ts'
import { exchangeCode, type TokenGrant, toStoredToken } from './token-requests.ts'
import type { GrantRequest, RequestGrant, TokenRequirements, TokenSource } from './token-source.ts'

/** Sends a person to the authorization server, and receives the response. */
export interface Redirect {
  /**
   * `web` if the redirect URI is a page on another host than this machine, else `native`
   * (basic/authorization/client-registration).
   */
  readonly applicationType: 'native' | 'web'
  /** Starts to listen for the response. The caller closes the listener. */
  open(signal: AbortSignal, options?: RedirectOptions): Promise<RedirectListener>
  /** Says that a call has waited for a second for another login, which may be open in another process. */
  readonly showWait?: ((message: string) => void) | undefined
}

/** What a redirect must know of the client that logs in. */
export interface RedirectOptions {
  /** Redirect URIs that the client has registered. Every authorization server accepts at least one of them. */
  readonly registeredUris: readonly string[]
  /** Scopes that the person has not granted yet. Empty at the first login. */
  readonly addedScopes?: readonly string[] | undefined
}

/** Receives the response of one login. */
export interface RedirectListener {
  /** Redirect URI of this login. */
  readonly uri: string
  /** Redirect URIs to register, if they differ from `uri`. */
  readonly registeredUris?: readonly string[] | undefined
  /** Sends the person to `url`. Resolves with the address of the redirect whose parameter `state` has this value. */
  visit(url: URL, state: string): Promise<URL>
  close(): Promise<void>
}

export interface CodeFlowOptions {
  readonly identity: ClientIdentity
  readonly redirect: Redirect
  readonly records: AuthRecords
  readonly now: () => number
  readonly openLogins: TokenSource['openLogins']
}

// limit: pending login | ms | a login of a user of a web host | the user must start again
const loginTimeoutMs = 600_000

/** Obtains tokens through logins of a person, by the code flow with PKCE (basic/authorization). */
export function createCodeFlow(options: CodeFlowOptions): RequestGrant {
  return async (requirements) => {
    const { server, issuer } = requirements.serverContext
    checkPkce(server)
    const { clients } = options.records
    const readRegistration = (): Promise<StoredClient | undefined> => clients.read(clients.toKey(issuer))
    const registration = await readRegistration()
    try {
      return await runLogin(options, requirements, registration)
    } catch (error) {
      if (registration === undefined || !isUnknownClient(error)) throw error
      const currentRegistration = await readRegistration()
      // A client of the options stays: a server that refuses it would refuse it again.
      if (currentRegistration?.id === registration.id) throw error
      return runLogin(options, { ...requirements, lastClientId: registration.id }, currentRegistration)
    }
  }
}

async function runLogin(
  options: CodeFlowOptions,
  requirements: GrantRequest,
  registration: StoredClient | undefined,
): Promise<StoredToken> {
  const { serverContext } = requirements
  const registeredUris = registration?.redirectUris ?? []
  const { addedScopes } = requirements
  const redirectListener = await options.redirect.open(serverContext.signal, { registeredUris, addedScopes })
  try {
    const begunLogin = await beginLogin(options, requirements, redirectListener)
    const answerUrl = await visitLoginPage(options, requirements, { redirectListener, begunLogin })
    const answeredLogin = await takePendingLogin(options, answerUrl, begunLogin.state)
    return await finishLogin(options, serverContext, answeredLogin)
  } finally {
    await redirectListener.close()
  }
}

/** After a login without a response, the next one registers the client again. */
async function visitLoginPage(
  { records, now, openLogins }: CodeFlowOptions,
  { serverContext, endpoint, lastClientId, addedScopes = [] }: GrantRequest,
  context: { readonly redirectListener: RedirectListener; readonly begunLogin: Awaited<ReturnType<typeof beginLogin>> },
): Promise<URL> {
  const { url, state, client } = context.begunLogin
  const { issuer, signal } = serverContext
  // The person wonders why a login that worked yesterday is asked for again.
  const isNewClient = lastClientId !== undefined && lastClientId !== client.id
  const reason = isNewClient ? ': the program has a new client id there, so its earlier login has ended' : ''
  const purpose = addedScopes.length === 0 ? '' : ` for ${addedScopes.join(' ')}`
  const message = `A login${purpose} is open in the browser, at ${url.origin}${url.pathname}${reason}`
  const endOpenLogin = openLogins.open(
    endpoint.href,
    new AuthError('login_pending', message, { issuer, url, addedScopes }),
  )
  try {
    return await raceWithCancellation(context.redirectListener.visit(url, state), signal)
  } catch (error) {
    // In a web page, the response arrives at `finishLogin` within ten minutes, or never.
    const isOpen = isAuthError(error) && error.code === 'authorization_needed'
    const replaceAt = isOpen ? now() + loginTimeoutMs : now()
    await updateRegistration(records, { issuer, id: client.id }, (stored) => ({
      ...stored,
      replaceAt: stored.replaceAt ?? replaceAt,
    }))
    throw error
  } finally {
    endOpenLogin()
  }
}

// basic/authorization/security-considerations: no login at a server that does not list S256.
function checkPkce({ issuer, code_challenge_methods_supported: methods }: oauth.AuthorizationServer): void {
  if (methods?.includes('S256')) return
  const problem = 'does not list S256 in code_challenge_methods_supported, and no setting replaces that'
  const message = `The authorization server ${quoteText(issuer)} ${problem}`
  throw new AuthError('pkce_unsupported', message, { issuer })
}

async function beginLogin(
  options: CodeFlowOptions,
  requirements: TokenRequirements,
  redirectListener: RedirectListener,
): Promise<{ readonly state: string; readonly url: URL; readonly client: StoredClient }> {
  const { records, now } = options
  const { serverContext, resource, scopes, endpoint } = requirements
  const { issuer } = serverContext
  const authorizationEndpoint = requireEndpoint(serverContext, 'authorization_endpoint')
  // Checked now: no person is sent to a login whose code could not be exchanged.
  requireEndpoint(serverContext, 'token_endpoint')
  const { uri, registeredUris = [uri] } = redirectListener
  const clientRedirectTarget = { uri, registeredUris, applicationType: options.redirect.applicationType }
  const client = await findOrRegisterClient(serverContext, options.identity, {
    records,
    target: clientRedirectTarget,
    now: now(),
  })
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
  const params = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: uri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  if (serverContext.sendsResource) params.set('resource', resource)
  if (scopes.length > 0) params.set('scope', scopes.join(' '))
  // RFC 9449, section 10: the code is bound to the key, so that a thief of the code cannot exchange it.
  if (serverContext.dpop !== undefined) params.set('dpop_jkt', await serverContext.dpop.getThumbprint())
  // OpenID Connect Core, section 11: `offline_access` needs the consent of the person.
  if (scopes.includes('offline_access')) params.set('prompt', 'consent')
  const loginFields = { issuer, resource, verifier, client, redirectUri: uri, requested: scopes }
  const pendingLogin: PendingLogin = { ...loginFields, endpoint: endpoint.href, expiresAt: now() + loginTimeoutMs }
  await addPendingLogin(records, state, pendingLogin)
  const requiresPushedRequest = serverContext.server.require_pushed_authorization_requests === true
  const authorizationParams = requiresPushedRequest
    ? await forgetUnknownClient(
        pushAuthorizationRequest(serverContext, toAuthenticatedClient(client, serverContext.server), params),
        { records, issuer, id: client.id },
      )
    : params
  const url = new URL(authorizationEndpoint)
  for (const [name, value] of authorizationParams) url.searchParams.set(name, value)
  return { state, url, client }
}

/** Checks the response to a login, and exchanges its code for a token. */
export async function finishLogin(
  { identity, records, now }: Pick<CodeFlowOptions, 'identity' | 'records' | 'now'>,
  serverContext: TokenRequirements['serverContext'],
  login: AnsweredLogin,
): Promise<StoredToken> {
  const { requested, client } = login
  const registration = { records, issuer: serverContext.issuer, id: client.id }
  const grant = await forgetUnknownClient(exchangeLogin(serverContext, login), registration)
  await updateRegistration(records, registration, (stored) => ({ ...stored, replaceAt: undefined }))
  const isConfigured = isConfiguredClient(serverContext, identity)
  const clientFields = { clientId: client.id, client: isConfigured ? undefined : client }
  return { ...toStoredToken(grant, now()), requested, ...clientFields }
}

async function exchangeLogin(
  serverContext: TokenRequirements['serverContext'],
  login: AnsweredLogin,
): Promise<TokenGrant> {
  const { server, sendsResource } = serverContext
  const { redirectUri, verifier, resource } = login
  const client = toAuthenticatedClient(login.client, server)
  const params = validateAuthResponse(server, client.client, login)
  const sentResource = sendsResource ? resource : undefined
  return exchangeCode(serverContext, client, { params, redirectUri, verifier, resource: sentResource })
}

/** The library refuses a response with a token, which the code flow never asks for. */
function pickResponseParams({ searchParams }: URL): URLSearchParams {
  const names = ['code', 'state', 'iss', 'error', 'error_description']
  return new URLSearchParams([...searchParams].filter(([name]) => names.includes(name)))
}

function validateAuthResponse(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  { responseUrl, state }: AnsweredLogin,
): URLSearchParams {
  const { issuer } = server
  try {
    // For the library an empty `iss` is an absent one, so `iss` is compared here.
    if (responseUrl.searchParams.has('iss') && responseUrl.searchParams.get('iss') !== issuer)
      throw new Error('another issuer')
    const params = oauth.validateAuthResponse(server, client, pickResponseParams(responseUrl), state)
    if (params.getAll('code').length !== 1) throw new Error('no code, or several')
    return params
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      const { error: code, error_description: description } = error
      const details = description === undefined ? '' : `: ${quoteText(description)}`
      const message = `The authorization server ${quoteText(issuer)} answered ${quoteText(code)}${details}`
      throw new AuthError('authorization_denied', message, { issuer, error: code })
    }
    // RFC 9207, section 2.4: the response may come from another server, so the message contains no part of it.
    const message = `The response of the login is not one of ${quoteText(issuer)}: it was not used`
    throw new AuthError('response_invalid', message, { issuer })
  }
}
