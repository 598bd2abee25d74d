import type { UserLogin } from '@x/auth/login'
import { type GivenResource, tokenExchange } from '@x/auth/exchange'
import { clientCredentials } from '@x/auth/machine'
import type { HttpAuthorizer, Log } from '@x/exchange'
import type { StateCodec } from '@x/state-codec'
import type { GatewayUpstreamOptions } from '../upstream/upstream-options.ts'
import { createFetch } from './create-fetch.ts'
import type { UrlUpstream } from './file-schema.ts'
import type { SecretReader } from './secret-reader.ts'

/** What every upstream of a file is created with. */
export interface UpstreamSource {
  /** Paths of the file are relative to this folder, its own. */
  readonly folder: string
  readonly secrets: SecretReader
  /** Undefined for a file without `login`. */
  readonly logins?: UserLogin | undefined
  /** State and log of the gateway, which servers in its process share. */
  readonly state?: StateCodec | undefined
  readonly log?: Log | undefined
}

export type CredentialSource = NonNullable<GatewayUpstreamOptions['credential']>
export type UpstreamAuth = NonNullable<UrlUpstream['auth']>
type UpstreamAddress = { readonly url: string; readonly auth: UpstreamAuth }

/** Authorizes requests with an account of the gateway. Undefined for other credentials. */
export async function createServerAuthorizer(
  place: string,
  { url, auth: { bearer, clientCredentials: account } }: UpstreamAddress,
  { secrets }: UpstreamSource,
): Promise<HttpAuthorizer | undefined> {
  if (bearer !== undefined) {
    const authorization = `Bearer ${await secrets.read(`${place}.bearer`, bearer)}`
    return { headers: () => ({ authorization }), onResponse: () => undefined }
  }
  if (account === undefined) return undefined
  const { issuer, id, secret: reference, ...rest } = account
  const secret = await secrets.read(`${place}.clientCredentials.secret`, reference)
  // An empty secret is a problem that the reader has kept.
  return secret === ''
    ? undefined
    : clientCredentials({
        issuer,
        client: { id, secret },
        metadata: metadataOf(rest),
        fetch: createFetch([url, issuer]),
      })
}

function metadataOf({
  resource,
  scopes,
}: {
  readonly resource?: string | undefined
  readonly scopes?: readonly string[] | undefined
}): GivenResource | undefined {
  return resource === undefined ? undefined : { resource, scopes }
}

/** Exchanges the tokens of callers. Undefined for other credentials. */
export async function createExchange(
  place: string,
  { url, auth: { tokenExchange: exchange } }: UpstreamAddress,
  { secrets }: UpstreamSource,
): Promise<CredentialSource | undefined> {
  if (exchange === undefined) return undefined
  const { id, secret: reference, resource, scopes, ...options } = exchange
  const metadata = metadataOf({ resource, scopes })
  const secret = await secrets.read(`${place}.secret`, reference)
  return secret === ''
    ? undefined
    : tokenExchange({ ...options, metadata, client: { id, secret }, fetch: createFetch([url, options.issuer]) })
}
