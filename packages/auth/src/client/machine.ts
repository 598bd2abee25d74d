import { checkArgument, type OptionTable, resolveOptions } from '@x/core'
import type { HttpAuthorizer } from '@x/transport-http/client'
import { AuthError } from './auth-error.ts'
import type { AuthServerSettings, GivenResource } from './authorize.ts'
import { Authorizer, type AuthorizerOptions, resolveAuthorizerDeps } from './authorizer.ts'
import { matchesBinding } from './dpop-binding.ts'
import { withoutFragment } from './safe-url.ts'
import {
  type ClientAuthenticator,
  createClientAuthenticator,
  requireClientAuthenticator,
  type MachineClient,
} from './machine-client.ts'
import { type TokenGrant, requestGrant, toStoredToken } from './token-requests.ts'
import type { TokenRequirements } from './token-source.ts'

/** Options of the authorizers that need no person. */
export interface MachineOptions extends AuthServerSettings, AuthorizerOptions {
  /**
   * Issuer of the authorization server, in its exact spelling. If the MCP server names another one, nothing is sent to
   * that.
   */
  readonly issuer: string
  /**
   * Resource and scopes of an API that publishes no metadata (RFC 9728), as a plain HTTP API does. Then the first
   * request already has a token. Default: the metadata of the endpoint.
   */
  readonly metadata?: GivenResource | undefined
}

export const machineOptionTable = {
  issuer: undefined,
  metadata: undefined,
  resource: undefined,
  alias: undefined,
  endpoints: undefined,
  dpop: undefined,
  store: undefined,
  fetch: undefined,
  runtime: undefined,
} satisfies OptionTable<MachineOptions>

const clientCredentialsOptionTable = {
  ...machineOptionTable,
  client: undefined,
} satisfies OptionTable<ClientCredentialsOptions>

const workloadOptionTable = {
  ...machineOptionTable,
  client: undefined,
  assertion: undefined,
} satisfies OptionTable<WorkloadOptions>

/** An authorizer that needs no person. */
export interface MachineAuth extends HttpAuthorizer {
  /** Declare the extension in use: pass them to `createClient` as `capabilities`. */
  readonly capabilities: AuthCapabilities
  /** Obtains a token for a server before the first request to it. */
  login(url: string | URL, options?: { readonly signal?: AbortSignal }): Promise<void>
}

/** Client capabilities that declare authorization extensions. */
export interface AuthCapabilities {
  readonly extensions: Readonly<Record<string, Readonly<Record<string, never>>>>
}

/** Options of {@link clientCredentials}. */
export interface ClientCredentialsOptions extends MachineOptions {
  readonly client: MachineClient
}

/**
 * Authorizes a program that acts for itself and not for a person, by the client credentials grant
 * (extensions/auth/oauth-client-credentials). It obtains a new token before the current one expires.
 *
 * Throws a `TypeError` for a client without a key or a secret. Calls reject with {@link AuthError}.
 *
 * @example
 * const auth = clientCredentials({ issuer: 'https://login.example.com', client: { id: 'nightly', key: { privateKey } } })
 * await using connection = connectHttp('https://mcp.example.com/mcp', { auth })
 * const client = createClient(connection, { name: 'nightly', version: '1.0.0', capabilities: auth.capabilities })
 */
export function clientCredentials(options: ClientCredentialsOptions): MachineAuth {
  resolveOptions(options, clientCredentialsOptionTable, 'clientCredentials')
  checkArgument(options, { where: 'clientCredentials', takes: 'an object with client', needs: ['client'] })
  const authenticate = requireClientAuthenticator(options.client)
  return createMachineAuth(options, {
    extension: 'io.modelcontextprotocol/oauth-client-credentials',
    clientId: options.client.id,
    request: async (requirements) =>
      requestGrant(requirements.serverContext, await authenticate(requirements.serverContext.server), {
        grantType: 'client_credentials',
        fields: createGrantFields(requirements),
      }),
  })
}

/** Options of {@link workload}. */
export interface WorkloadOptions extends MachineOptions {
  /** Has a key or a secret if the authorization server requires client authentication beside the JWT. */
  readonly client: MachineClient
  /** Gives the JWT of the workload, such as a projected service account token. Called for each new token. */
  assertion(): string | Promise<string>
}

const jwtBearerGrantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/**
 * Authorizes a workload: presents the JWT that its platform issues as a grant (RFC 7523). If the authorization server
 * refuses a request, no second one is sent.
 *
 * Calls reject with {@link AuthError}.
 *
 * @example
 * const assertion = () => readFile('/var/run/secrets/tokens/mcp', 'utf8')
 * const auth = workload({ issuer: 'https://login.example.com', client: { id: 'importer' }, assertion })
 */
export function workload(options: WorkloadOptions): MachineAuth {
  resolveOptions(options, workloadOptionTable, 'workload')
  checkArgument(options, { where: 'workload', takes: 'an object with client', needs: ['client'] })
  const authenticate = createClientAuthenticator(options.client)
  return createMachineAuth(options, {
    clientId: options.client.id,
    request: async (requirements) => requestWithAssertion(requirements, authenticate, await options.assertion()),
  })
}

/** RFC 7523, section 2.1: the JWT is the grant. */
export async function requestWithAssertion(
  requirements: TokenRequirements,
  authenticate: ClientAuthenticator,
  assertionText: string,
): Promise<TokenGrant> {
  // A file usually ends with a line break.
  const assertion = assertionText.trim()
  if (assertion === '') throw new AuthError('client_needed', 'The assertion is empty: it must be a JWT')
  const client = await authenticate(requirements.serverContext.server)
  return requestGrant(requirements.serverContext, client, {
    grantType: jwtBearerGrantType,
    fields: { ...createGrantFields(requirements), assertion },
  })
}

export function createGrantFields({ serverContext, resource, scopes }: TokenRequirements): Record<string, string> {
  return {
    ...(serverContext.sendsResource && { resource }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
}

export function createMachineAuth(
  options: MachineOptions,
  grant: {
    /** Identifier of the extension that defines this grant. Undefined if clients do not declare it. */
    readonly extension?: string | undefined
    readonly clientId: string
    request(requirements: TokenRequirements): Promise<TokenGrant>
  },
): MachineAuth {
  const { issuer, alias, resource, endpoints, metadata } = options
  const deps = resolveAuthorizerDeps(options)
  const { clientId } = grant
  const authorizer = new Authorizer({
    ...deps,
    settingsByIssuer: new Map([[issuer, { alias, resource, endpoints }]]),
    preferredIssuers: [],
    configuredIssuer: issuer,
    givenResource: metadata,
    requiresUserInteraction: false,
    isUsable: async (token) => token.clientId === clientId && (await matchesBinding(deps.dpop, token)),
    // RFC 6749, section 4.4.3: such a grant should return no refresh token. It is requested again instead.
    findClient: () => undefined,
    requestGrant: async (requirements) => {
      const requestedScopes = requirements.scopes.filter((scope) => scope !== 'offline_access')
      const token = toStoredToken(await grant.request({ ...requirements, scopes: requestedScopes }), deps.now())
      return { ...token, refresh: undefined, requested: requestedScopes, clientId }
    },
  })
  const { extension } = grant
  return {
    capabilities: { extensions: extension === undefined ? {} : { [extension]: {} } },
    headers: (target) => authorizer.headers(target),
    onResponse: (head, target) => authorizer.onResponse(head, target),
    login: (url, { signal = new AbortController().signal } = {}) => authorizer.login(withoutFragment(url), signal),
  }
}
