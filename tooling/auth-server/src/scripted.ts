import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

/** The answer of a path: a JSON value, a whole answer, or a function that answers itself. */
export type ScriptedAnswer =
  | { readonly json: unknown; readonly status?: number }
  | {
      readonly body: string
      readonly status?: number
      readonly type?: string
      readonly headers?: Record<string, string>
    }
  | ((request: IncomingMessage, response: ServerResponse) => void)

/** A request that came. */
export interface ScriptedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Deviations of a token from a good one. */
export interface TokenChanges {
  /** Claims to set, or with undefined to leave out. */
  readonly claims?: JWTPayload
  readonly header?: Readonly<Record<string, unknown>>
}

/** An authorization server under the control of a test, which signs any claims. */
export interface ScriptedAuthServer {
  readonly issuer: string
  readonly requests: readonly ScriptedRequest[]
  /** The key in use. Each rotation has a new `kid`. */
  readonly publicJwk: JWK & { readonly kid: string }
  /** Changes what a path answers. Without an answer it is its own again. */
  answer(path: string, answer: ScriptedAnswer | undefined): void
  /** Makes a new key, and publishes it alone. */
  rotate(): Promise<void>
  /** Breaks every connection off, until it is called with false. */
  break(isBroken: boolean): void
  sign(changes?: TokenChanges): Promise<string>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

interface SigningKey {
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK & { readonly kid: string }
}

const fiveMinutes = 300

/** Starts a scripted server. `claims` are those of a good token, beside `iss`, `iat` and `exp`. */
export async function startScriptedAuthServer(claims: JWTPayload = {}): Promise<ScriptedAuthServer> {
  const requests: ScriptedRequest[] = []
  const changed = new Map<string, ScriptedAnswer>()
  let isBroken = false
  let key = await makeKey(1)
  let rotations = 1
  const server = createServer((request, response) => {
    // Tests count the open connections of their own process.
    response.shouldKeepAlive = false
    if (isBroken) return void request.socket.destroy()
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request
      const path = url.split('?', 1)[0] ?? ''
      requests.push({ method, path, headers, body })
      respond(changed.get(path) ?? usual(path, issuer, key), request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    issuer,
    requests,
    get publicJwk() {
      return key.publicJwk
    },
    answer(path, answer) {
      if (answer === undefined) changed.delete(path)
      else changed.set(path, answer)
    },
    async rotate() {
      rotations += 1
      key = await makeKey(rotations)
    },
    break(broken) {
      isBroken = broken
      if (broken) server.closeAllConnections()
    },
    sign: (changes) => sign({ ...claims, iss: issuer }, key, changes),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function makeKey(number: number): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const publicJwk = { ...(await exportJWK(publicKey)), kid: `key-${number}`, use: 'sig', alg: 'ES256' }
  return { privateKey, publicJwk }
}

function sign(claims: JWTPayload, { privateKey, publicJwk }: SigningKey, changes: TokenChanges = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const all = { iat: now, exp: now + fiveMinutes, ...claims, ...changes.claims }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  const header = { alg: 'ES256', kid: publicJwk.kid, typ: 'at+jwt', ...changes.header }
  return new SignJWT(Object.fromEntries(given)).setProtectedHeader(header).sign(privateKey)
}

function usual(path: string, issuer: string, { publicJwk }: SigningKey): ScriptedAnswer {
  if (path === '/jwks') return { json: { keys: [publicJwk] } }
  if (path === '/.well-known/oauth-authorization-server') return { json: metadataOf(issuer) }
  return { json: { error: 'not_found' }, status: 404 }
}

function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    introspection_endpoint: `${issuer}/introspect`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  }
}

function respond(answer: ScriptedAnswer, request: IncomingMessage, response: ServerResponse): void {
  if (typeof answer === 'function') return answer(request, response)
  const { status = 200 } = answer
  if ('json' in answer) {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer.json))
    return
  }
  response.writeHead(status, { 'Content-Type': answer.type ?? 'text/html', ...answer.headers }).end(answer.body)
}
