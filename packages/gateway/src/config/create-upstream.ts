import { resolve } from 'node:path'
import type { ClientRegistration } from '@x/auth/login'
import { connectAny } from '@x/legacy/client'
import type { ToolRules } from '../upstream/tool-rules.ts'
import type { GatewayServerOptions, GatewayUpstreamOptions } from '../upstream/upstream-options.ts'
import { openPinFile } from './file-pins.ts'
import { createApiServer } from './create-api-server.ts'
import {
  createExchange,
  createServerAuthorizer,
  type CredentialSource,
  type UpstreamAuth,
  type UpstreamSource,
} from './create-credentials.ts'
import type { CommandUpstream, OpenApiUpstream, UrlUpstream } from './file-schema.ts'
import type { SecretReader, SecretReference } from './secret-reader.ts'

export type { UpstreamSource } from './create-credentials.ts'

export async function createUpstream(
  name: string,
  upstream: UrlUpstream | CommandUpstream | OpenApiUpstream,
  source: UpstreamSource,
): Promise<GatewayUpstreamOptions | GatewayServerOptions> {
  const { tools, timeoutMs, required } = upstream
  const rules = { tools: tools && createToolRules(name, tools, source), timeoutMs, required }
  if ('openapi' in upstream) return { server: await createApiServer(name, upstream, source), ...rules }
  const connection =
    'url' in upstream
      ? await connectUrl(name, upstream, source)
      : { connect: await connectCommand(name, upstream, source) }
  return { ...connection, ...rules }
}

function createToolRules(
  upstream: string,
  { pins, ...rules }: NonNullable<UrlUpstream['tools']>,
  { folder }: UpstreamSource,
): ToolRules {
  return { ...rules, pins: pins === undefined ? undefined : openPinFile(resolve(folder, pins)).storeOf(upstream) }
}

async function connectUrl(
  name: string,
  { url, auth = {}, headers }: UrlUpstream,
  source: UpstreamSource,
): Promise<Pick<GatewayUpstreamOptions, 'connect' | 'credential'>> {
  const place = `upstreams.${name}`
  const own = await createServerAuthorizer(`${place}.auth`, { url, auth }, source)
  const credential =
    (await createExchange(`${place}.auth.tokenExchange`, { url, auth }, source)) ??
    (await createUserLogin(`${place}.auth.userLogin`, url, auth, source))
  const http = { headers: await source.secrets.readAll(`${place}.headers`, headers) }
  return {
    connect: (caller) => connectAny(url, { http: { ...http, auth: own ?? caller.auth }, log: source.log }),
    credential,
  }
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

/** Reads the secret of one of the gateway's accounts. */
export async function readAccount(
  place: string,
  { issuer, id, secret }: { readonly issuer: string; readonly id: string; readonly secret: SecretReference },
  secrets: SecretReader,
): Promise<ClientRegistration> {
  return { issuer, id, secret: await secrets.read(`${place}.secret`, secret) }
}

async function connectCommand(
  name: string,
  { command, args, env, cwd }: CommandUpstream,
  { folder, secrets, log }: UpstreamSource,
): Promise<GatewayUpstreamOptions['connect']> {
  const variables = await secrets.readAll(`upstreams.${name}.env`, env)
  const target = { command, args, env: variables, cwd: resolve(folder, cwd ?? '.') }
  // Kept as well, so that an error can show the last lines.
  const stderr = (line: string): void => {
    if (log === undefined) process.stderr.write(`${name}: ${line}\n`)
    else log({ level: 'info', code: 'upstream_stderr', name, message: line })
  }
  return () => connectAny(target, { stdio: { stderr }, log })
}
