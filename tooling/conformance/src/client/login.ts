import { type ClientRegistration, oauth, type RedirectListener, type Redirect } from '@x/auth/client'
import { dpop } from '@x/auth/dpop'
import { enterprise } from '@x/auth/enterprise'
import {
  type AuthCapabilities,
  clientCredentials,
  type MachineAuth,
  type MachineClient,
  workload,
} from '@x/auth/machine'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { HttpAuthorizer } from '@x/transport-http/client'

const redirectUri = 'http://localhost:3000/callback'
const metadataUrl = 'https://conformance-test.local/client-metadata.json'

/** An authorizer, and the extensions that it declares. */
export type ScenarioAuth = HttpAuthorizer & { readonly capabilities?: AuthCapabilities }

/** The authorizers of the extensions, by the names of the suite's scenarios. */
const machineAuths: ReadonlyMap<string, (issuer: string, context: JsonObject) => MachineAuth> = new Map([
  ['auth/client-credentials-basic', withCredentials],
  ['auth/client-credentials-jwt', withCredentials],
  ['auth/wif-jwt-bearer', withWorkloadIdentity],
  ['auth/enterprise-managed-authorization', withEnterpriseIdentity],
])

/** Creates the authorizer of an authorization scenario. Returns undefined for other scenarios. */
export async function authorizerFor(
  scenario: string,
  url: string,
  context: JsonObject,
): Promise<ScenarioAuth | undefined> {
  if (!scenario.startsWith('auth/')) return undefined
  const machine = machineAuths.get(scenario)
  if (machine !== undefined) return machine(await issuerOf(url), context)
  const registrations = registrationsOf(context)
  const client = { name: 'conformance-client', metadataUrl, registrations }
  const binding = scenario.startsWith('auth/dpop') ? dpop({ required: true }) : undefined
  return oauth({ client, redirect: withoutBrowser, dpop: binding })
}

/** Reads the issuer from the metadata of the resource, because the suite provides credentials without their issuer. */
async function issuerOf(url: string): Promise<string> {
  const { origin, pathname } = new URL(url)
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`)
  const metadata: unknown = await response.json()
  const issuers = isJsonObject(metadata) ? metadata['authorization_servers'] : undefined
  const issuer = Array.isArray(issuers) ? issuers[0] : undefined
  if (typeof issuer !== 'string') throw new Error('the metadata of the suite has no authorization server')
  return issuer
}

function withCredentials(issuer: string, context: JsonObject): MachineAuth {
  return clientCredentials({ issuer, client: machineClientOf(context) })
}

function withWorkloadIdentity(issuer: string, context: JsonObject): MachineAuth {
  const { client_id: id } = context
  return workload({ issuer, client: { id: String(id) }, assertion: () => String(context['valid_jwt']) })
}

function withEnterpriseIdentity(issuer: string, context: JsonObject): MachineAuth {
  const { idp_issuer: provider, idp_token_endpoint: tokenEndpoint, idp_client_id: id } = context
  const idp = { issuer: String(provider), tokenEndpoint: String(tokenEndpoint), client: { id: String(id) } }
  return enterprise({ issuer, client: machineClientOf(context), idp, identity: () => String(context['idp_id_token']) })
}

function machineClientOf({ client_id: id, client_secret: secret, ...context }: JsonObject): MachineClient {
  const { private_key_pem: privateKey, signing_algorithm: algorithm } = context
  if (typeof secret === 'string') return { id: String(id), secret }
  return { id: String(id), key: { privateKey: String(privateKey), algorithm: String(algorithm) } }
}

/** Sends the authorization request as a browser does, and reads the redirect. No server listens at the redirect URI. */
const withoutBrowser: Redirect = {
  applicationType: 'native',
  open: async (signal): Promise<RedirectListener> => ({
    uri: redirectUri,
    visit: async (url) => {
      const response = await fetch(url, { redirect: 'manual', signal })
      await response.body?.cancel()
      return new URL(response.headers.get('location') ?? '', redirectUri)
    },
    close: async () => {},
  }),
}

function registrationsOf(context: JsonObject): readonly ClientRegistration[] {
  const { issuer, client_id: id, client_secret: secret } = context
  if (typeof issuer !== 'string' || typeof id !== 'string') return []
  return [{ issuer, id, secret: typeof secret === 'string' ? secret : undefined }]
}
