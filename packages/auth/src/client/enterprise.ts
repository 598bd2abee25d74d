import { checkArgument, type OptionTable, resolveOptions } from '@x/core'
import type { AuthorizationServer } from 'oauth4webapi'
import { AuthError, isAuthError } from './auth-error.ts'
import { type FetchFunction, platformFetch } from '../bounded-fetch.ts'
import {
  type MachineAuth,
  createMachineAuth,
  machineOptionTable,
  type MachineOptions,
  requestWithAssertion,
} from './machine.ts'
import { createClientAuthenticator, requireClientAuthenticator, type MachineClient } from './machine-client.ts'
import { parseSafeUrl } from './safe-url.ts'
import { discoverServerMetadata } from './server-metadata.ts'
import { exchangeToken, tokenTypeUrnOf } from './token-requests.ts'
import type { TokenRequirements } from './token-source.ts'

/** The identity provider of an enterprise, and the client as which the program is registered there. */
export interface IdentityProvider {
  /** Issuer of the identity provider, in the exact spelling of its metadata. */
  readonly issuer: string
  /** Endpoint that exchanges tokens. Default: the token endpoint in the issuer's metadata. */
  readonly tokenEndpoint?: string | undefined
  /** Client of the program at the identity provider. It has a key or a secret unless it is a public client. */
  readonly client: MachineClient
}

/** What the identity provider issued when a person logged in. */
export interface IdentityAssertion {
  readonly token: string
  readonly type: 'id_token' | 'saml2'
}

/** Why a person's identity is asked for. */
export interface IdentityRequest {
  /**
   * Identity token that the identity provider refused because it has expired, so a new one is needed. Undefined in the
   * first request.
   */
  readonly rejectedToken: string | undefined
  /** Aborts when no call waits for the identity any longer. */
  readonly signal: AbortSignal
}

/** Options of {@link enterprise}. */
export interface EnterpriseOptions extends MachineOptions {
  /** Client of the program at the MCP server's authorization server. It must have a key or a secret. */
  readonly client: MachineClient
  readonly idp: IdentityProvider
  /** Says who the person is: an ID token as a string, or an {@link IdentityAssertion}. */
  identity(request: IdentityRequest): string | IdentityAssertion | Promise<string | IdentityAssertion>
}

const enterpriseOptionTable = {
  ...machineOptionTable,
  client: undefined,
  idp: undefined,
  identity: undefined,
} satisfies OptionTable<EnterpriseOptions>

/**
 * Uses the login of a person at the identity provider of their enterprise, which decides which MCP servers the person
 * may use (extensions/auth/enterprise-managed-authorization). The identity is exchanged for a grant (ID-JAG), which the
 * MCP server's authorization server accepts; no person is asked to consent.
 *
 * Throws a `TypeError` for a client without a key or a secret, and for a token endpoint that is not https. Calls reject
 * with {@link AuthError}.
 *
 * @example
 * const auth = enterprise({
 *   issuer: 'https://auth.example.com',
 *   client: { id: 'items', secret },
 *   idp: { issuer: 'https://idp.example.com', client: { id: 'items-at-idp', key: { privateKey } } },
 *   identity: () => session.idToken,
 * })
 */
export function enterprise(options: EnterpriseOptions): MachineAuth {
  resolveOptions(options, enterpriseOptionTable, 'enterprise')
  checkArgument(options, { where: 'enterprise', takes: 'an object with client', needs: ['client'] })
  const authenticate = requireClientAuthenticator(options.client)
  const exchangeIdentity = createIdentityExchange(options)
  return createMachineAuth(options, {
    extension: 'io.modelcontextprotocol/enterprise-managed-authorization',
    clientId: options.client.id,
    request: async (requirements) =>
      requestWithAssertion(requirements, authenticate, await exchangeIdentity(requirements)),
  })
}

function createIdentityExchange({
  idp,
  identity,
  fetch = platformFetch,
}: EnterpriseOptions): (requirements: TokenRequirements) => Promise<string> {
  const authenticate = createClientAuthenticator(idp.client)
  const findServer = createIdentityServerFinder(idp)
  return async (requirements) => {
    const { signal } = requirements.serverContext
    const server = await findServer(fetch, signal)
    const serverContext = { server, issuer: idp.issuer, fetch, signal }
    const client = await authenticate(server)
    const exchange = async (assertion: IdentityAssertion): Promise<string> =>
      (await exchangeToken(serverContext, client, createIdJagFields(requirements, assertion))).accessToken
    const assertion = toIdentityAssertion(await identity({ rejectedToken: undefined, signal }))
    try {
      return await exchange(assertion)
    } catch (error) {
      if (!isAuthError(error) || error.error !== 'invalid_grant') throw error
      const nextAssertion = toIdentityAssertion(await identity({ rejectedToken: assertion.token, signal }))
      // The provider would refuse the same identity again.
      if (nextAssertion.token === assertion.token) throw error
      return exchange(nextAssertion)
    }
  }
}

function toIdentityAssertion(identity: string | IdentityAssertion): IdentityAssertion {
  const assertion = typeof identity === 'string' ? { token: identity, type: 'id_token' as const } : identity
  if (assertion.token !== '') return assertion
  throw new AuthError('client_needed', '`identity` returned an empty token: the user must log in at the provider')
}

function createIdJagFields(
  { serverContext, resource, scopes }: TokenRequirements,
  { token, type }: IdentityAssertion,
): Parameters<typeof exchangeToken>[2] {
  return {
    requested_token_type: tokenTypeUrnOf('id-jag'),
    audience: serverContext.server.issuer,
    resource,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    subject_token: token,
    subject_token_type: tokenTypeUrnOf(type),
  }
}

/** The provider's address is trusted, because the user has configured it. */
function createIdentityServerFinder({
  issuer,
  tokenEndpoint,
}: IdentityProvider): (fetch: FetchFunction, signal: AbortSignal) => Promise<AuthorizationServer> {
  for (const url of [issuer, ...(tokenEndpoint === undefined ? [] : [tokenEndpoint])]) checkProviderUrl(url)
  if (tokenEndpoint !== undefined) return async () => ({ issuer, token_endpoint: tokenEndpoint })
  return (fetch, signal) => discoverServerMetadata({ issuer, sourceUrl: new URL(issuer), fetch, signal })
}

function checkProviderUrl(text: string): void {
  if (!URL.canParse(text)) throw new TypeError(`\`idp\` has ${JSON.stringify(text)}, which is not an absolute URL`)
  try {
    parseSafeUrl(text, new URL(text), '`idp`')
  } catch (error) {
    throw new TypeError(error instanceof Error ? error.message : '`idp` has an address that is not https')
  }
}
