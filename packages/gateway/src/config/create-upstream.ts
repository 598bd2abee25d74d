import { resolve } from 'node:path'
import { tokenExchange } from '@x/auth/exchange'
import type { ClientRegistration, UserLogin } from '@x/auth/login'
import { clientCredentials } from '@x/auth/machine'
import { connectAny } from '@x/legacy/client'
import type { HttpAuthorizer } from '@x/exchange'
import type { ToolRules } from '../upstream/tool-rules.ts'
import type { GatewayUpstreamOptions } from '../upstream/upstream.ts'
import { createFetch } from './create-fetch.ts'
import { openPinFile } from './file-pins.ts'
import type { CommandUpstream, UrlUpstream } from './file-schema.ts'
import type { SecretReader, SecretReference } from './secret-reader.ts'

/** The parameters with which every upstream of a file is created. */
export interface UpstreamSource {
  /** The folder of the file, to which its paths are relative. */
  readonly folder: string
  readonly secrets: SecretReader
  /** The logins of callers. Undefined for a file without `login`. */
  readonly logins?: UserLogin | undefined
}

export async function createUpstream(
  name: string,
  upstream: UrlUpstream | CommandUpstream,
  source: UpstreamSource,
): Promise<GatewayUpstreamOptions> {
  const { tools, timeoutMs, required } = upstream
  const connection =
    'url' in upstream
      ? await connectUrl(name, upstream, source)
      : { connect: await connectCommand(name, upstream, source) }
  return { ...connection, tools: tools && createToolRules(name, tools, source), timeoutMs, required }
}

function createToolRules(
  upstream: string,
  { pins, ...rules }: NonNullable<UrlUpstream['tools']>,
  { folder }: UpstreamSource,
): ToolRules {
  return { ...rules, pins: pins === undefined ? undefined : openPinFile(resolve(folder, pins)).storeOf(upstream) }
}

type Connect = GatewayUpstreamOptions['connect']
type CredentialSource = NonNullable<GatewayUpstreamOptions['credential']>

async function connectUrl(
  name: string,
  { url, auth = {}, headers }: UrlUpstream,
  source: UpstreamSource,
): Promise<Pick<GatewayUpstreamOptions, 'connect' | 'credential'>> {
  const place = `upstreams.${name}`
  const entries: [string, string][] = []
  for (const [header, reference] of Object.entries(headers ?? {}))
    entries.push([header, await source.secrets.read(`${place}.headers.${header}`, reference)])
  const own = await createServerAuthorizer(`${place}.auth`, { url, auth }, source)
  const credential =
    (await createExchange(`${place}.auth.tokenExchange`, { url, auth }, source)) ??
    (await createUserLogin(`${place}.auth.userLogin`, url, auth, source))
  const http = { headers: Object.fromEntries(entries) }
  return { connect: (caller) => connectAny(url, { http: { ...http, auth: own ?? caller.auth } }), credential }
}

type UpstreamAuth = NonNullable<UrlUpstream['auth']>
type UpstreamAddress = { readonly url: string; readonly auth: UpstreamAuth }

async function createServerAuthorizer(
  place: string,
  { url, auth: { bearer, clientCredentials: account } }: UpstreamAddress,
  { secrets }: UpstreamSource,
): Promise<HttpAuthorizer | undefined> {
  if (bearer !== undefined) {
    const authorization = `Bearer ${await secrets.read(`${place}.bearer`, bearer)}`
    return { headers: () => ({ authorization }), onResponse: () => undefined }
  }
  if (account === undefined) return undefined
  const { issuer, id, secret: reference } = account
  const secret = await secrets.read(`${place}.clientCredentials.secret`, reference)
  // An empty secret is a problem that the reader has kept.
  return secret === ''
    ? undefined
    : clientCredentials({ issuer, client: { id, secret }, fetch: createFetch([url, issuer]) })
}

async function createExchange(
  place: string,
  { url, auth: { tokenExchange: exchange } }: UpstreamAddress,
  { secrets }: UpstreamSource,
): Promise<CredentialSource | undefined> {
  if (exchange === undefined) return undefined
  const { id, secret: reference, ...options } = exchange
  const secret = await secrets.read(`${place}.secret`, reference)
  return secret === ''
    ? undefined
    : tokenExchange({ ...options, client: { id, secret }, fetch: createFetch([url, options.issuer]) })
}

async function createUserLogin(
  place: string,
  url: string,
  { userLogin: login }: UpstreamAuth,
  { secrets, logins }: UpstreamSource,
): Promise<CredentialSource | undefined> {
  if (login === undefined) return undefined
  const { client } = login
  const registration = client && (await readAccount(`${place}.client`, client, secrets))
  return logins?.credentialFor(url, registration)
}

/** Reads the secret of an account of the gateway. */
export async function readAccount(
  place: string,
  { issuer, id, secret }: { readonly issuer: string; readonly id: string; readonly secret: SecretReference },
  secrets: SecretReader,
): Promise<ClientRegistration> {
  return { issuer, id, secret: await secrets.read(`${place}.secret`, secret) }
}

async function connectCommand(
  name: string,
  { command, args, env = {}, cwd }: CommandUpstream,
  { folder, secrets }: UpstreamSource,
): Promise<Connect> {
  const entries: [string, string][] = []
  for (const [variable, value] of Object.entries(env)) {
    const place = `upstreams.${name}.env.${variable}`
    entries.push([variable, typeof value === 'string' ? value : await secrets.read(place, value)])
  }
  const target = { command, args, env: Object.fromEntries(entries), cwd: resolve(folder, cwd ?? '.') }
  return () => connectAny(target, { stdio: { stderr: 'inherit' } })
}
