import type { JsonObject } from '@x/core'
import { type HttpAuthorizer, HttpError } from '@x/transport-http/client'
import { toDisplayLine } from '../terminal/display-text.ts'
import { fetchResourceMetadata } from './stored-login.ts'

/** Sends the token of `--token`. If the server rejects it, the error says what the server wants. */
export function createTokenAuthorizer(token: string): HttpAuthorizer {
  return {
    headers: () => ({ authorization: `Bearer ${token}` }),
    onResponse: async ({ status, header }, { url, signal }) => {
      const challenge = header('www-authenticate')
      const missing = readMissingScope(status, challenge)
      if (missing !== undefined) {
        const lines = [
          `The token of --token (or MCPX_TOKEN) lacks a scope: the server wants ${toDisplayLine(missing)}`,
          'Get a token with it. Without one, you log in at a terminal, and grant it there.',
        ]
        throw new HttpError('status', lines.join('\n'), { origin: url.origin, status })
      }
      if (status !== 401) return undefined
      const scope = readChallengeParam(challenge, 'scope')
      const metadata = await findMetadata(challenge, url, signal)
      const lines = ['The server rejects the token of --token (or MCPX_TOKEN)', ...describeWanted(metadata, scope)]
      throw new HttpError('status', lines.join('\n'), { origin: url.origin, status })
    },
  }
}

/** The scopes that a server wants beyond those of the token. Undefined for another response. */
export function readMissingScope(status: number, challenge: string | undefined): string | undefined {
  const isMissing = status === 403 && readChallengeParam(challenge, 'error') === 'insufficient_scope'
  return isMissing ? readChallengeParam(challenge, 'scope') : undefined
}

/** The first of that name, of any challenge. */
export function readChallengeParam(header: string | undefined, name: string): string | undefined {
  const [, quoted, plain] = new RegExp(`\\b${name}\\s*=\\s*(?:"([^"]*)"|([^",\\s]+))`, 'i').exec(header ?? '') ?? []
  return quoted ?? plain
}

/** Of the server alone: a challenge must not send requests to elsewhere. */
async function findMetadata(challenge: string | undefined, url: URL, signal: AbortSignal): Promise<JsonObject> {
  const address = readChallengeParam(challenge, 'resource_metadata') ?? ''
  const metadataUrl = URL.canParse(address) ? new URL(address) : undefined
  return (metadataUrl?.origin === url.origin && (await fetchResourceMetadata(metadataUrl, signal))) || {}
}

function describeWanted(
  { resource, authorization_servers: issuers }: JsonObject,
  scope: string | undefined,
): readonly string[] {
  if (!Array.isArray(issuers) || issuers.length === 0)
    return ['It names no authorization server: look for the reason in its log, or ask its operator for a token.']
  const parts = [
    `It takes tokens of ${issuers.join(' or ')}`,
    ...(typeof resource === 'string' ? [`for ${resource}`] : []),
    ...(scope === undefined || scope === '' ? [] : [`with the scopes ${scope}`]),
  ]
  return [
    `${toDisplayLine(parts.join(' '))}.`,
    'Its log says what is wrong with this one. Without a token, you log in at a terminal.',
  ]
}
