import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

/** The response of a path: a JSON value, a complete response, or a function that writes the response. */
export type ScriptedAnswer =
  | { readonly json: unknown; readonly status?: number }
  | {
      readonly body: string
      readonly status?: number
      readonly type?: string
      readonly headers?: Record<string, string>
    }
  | ((request: IncomingMessage, response: ServerResponse) => void)

/** A received request. */
export interface ScriptedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** The differences of a token from a valid one. */
export interface TokenChanges {
  /** Claims to set. `undefined` omits a claim. */
  readonly claims?: JWTPayload
  readonly header?: Readonly<Record<string, unknown>>
}

/** An authorization server under the control of a test, which signs any claims. */
export interface ScriptedAuthServer {
  readonly issuer: string
  readonly requests: readonly ScriptedRequest[]
  /** The key in use. Each rotation has a new `kid`. */
  readonly publicJwk: JWK & { readonly kid: string }
  /** Sets the response of a path. `undefined` restores the default response. */
  answer(path: string, answer: ScriptedAnswer | undefined): void
  /** Generates a new key, which replaces the published one. */
  rotate(): Promise<void>
  /** Resets every connection, until it is called with false. */
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

/** Starts a scripted server. `claims` are the claims of a valid token, beside `iss`, `iat` and `exp`. */
export async function startScriptedAuthServer(claims: JWTPayload = {}): Promise<ScriptedAuthServer> {
  const requests: ScriptedRequest[] = []
  const changed = new Map<string, ScriptedAnswer>()
  let isBroken = false
  let key = await generateKey(1)
  let rotations = 1
  const server = createServer((request, response) => {
    // Tests count the open connections of their process.
    response.shouldKeepAlive = false
    if (isBroken) return void request.socket.destroy()
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request
      const path = url.split('?', 1)[0] ?? ''
      requests.push({ method, path, headers, body })
      respond(changed.get(path) ?? defaultAnswer(path, issuer, key), request, response)
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
      key = await generateKey(rotations)
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

async function generateKey(number: number): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const publicJwk = { ...(await exportJWK(publicKey)), kid: `key-${number}`, use: 'sig', alg: 'ES256' }
  return { privateKey, publicJwk }
}

function sign(claims: JWTPayload, { privateKey, publicJwk }: SigningKey, changes: TokenChanges = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const all = { iat: now, exp: now + fiveMinutes, ...claims, ...changes.claims }
  const present = Object.entries(all).filter(([, value]) => value !== undefined)
  const header = { alg: 'ES256', kid: publicJwk.kid, typ: 'at+jwt', ...changes.header }
  return new SignJWT(Object.fromEntries(present)).setProtectedHeader(header).sign(privateKey)
}

function defaultAnswer(path: string, issuer: string, { publicJwk }: SigningKey): ScriptedAnswer {
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
