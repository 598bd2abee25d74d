import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { metaKeys, protocolVersion } from '@x/schema'

/** A `tools/call` whose message, headers and `_meta` a hand-written server has checked. */
export interface HandCall {
  readonly name: string
  readonly arguments: unknown
  readonly inputResponses: Readonly<Record<string, unknown>>
  readonly requestState: string | undefined
  /** The user of the header that a proxy would write. */
  readonly user: string | undefined
  readonly canElicit: boolean
}

/** A failure that the client receives as a JSON-RPC error. */
export class HandError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const maxBodyBytes = 4 * 1024 * 1024
const maxUserLength = 256
const serverInfo = { name: 'bench', version: '1.0.0' }

/**
 * Serves `tools/call` as a careful author writes it who has only this one server: `node:http`, `JSON.parse`, and a line
 * for each check that the revision asks of every server. Other methods and notifications are not served.
 */
export function serveByHand(callTool: (call: HandCall) => object): Server {
  return createServer((request, response) => {
    const problem = findHeaderProblem(request)
    if (problem !== undefined) {
      respond(response, problem.status, { error: problem.message })
      return
    }
    const chunks: Buffer[] = []
    let byteCount = 0
    request.on('data', (chunk: Buffer) => {
      byteCount += chunk.length
      if (byteCount > maxBodyBytes) request.destroy()
      else chunks.push(chunk)
    })
    request.on('end', () => answer(request, response, { text: Buffer.concat(chunks).toString(), callTool }))
  })
}

function findHeaderProblem({ method, headers }: IncomingMessage): { status: number; message: string } | undefined {
  if (method !== 'POST') return { status: 405, message: 'Use POST' }
  if (!isLocal(`http://${headers.host}`)) return { status: 403, message: 'Unknown host' }
  if (headers.origin !== undefined && !isLocal(headers.origin)) return { status: 403, message: 'Unknown origin' }
  if (headers['content-type']?.startsWith('application/json') !== true)
    return { status: 415, message: 'Send application/json' }
  if (!mediaTypes.every((type) => headers.accept?.includes(type)))
    return { status: 406, message: 'Accept application/json and text/event-stream' }
  return undefined
}

const mediaTypes = ['application/json', 'text/event-stream']

function isLocal(url: string): boolean {
  return /^https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(url)
}

interface Answering {
  readonly text: string
  readonly callTool: (call: HandCall) => object
}

function answer(request: IncomingMessage, response: ServerResponse, { text, callTool }: Answering): void {
  let id: unknown = null
  try {
    const message = parseBody(text)
    id = message.id
    const result = callTool(readCall(message, request))
    respond(response, 200, {
      jsonrpc: '2.0',
      id,
      result: { ...result, _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } },
    })
  } catch (error) {
    const { code, message } = error instanceof HandError ? error : new HandError(-32603, 'Internal error')
    respond(response, 400, { jsonrpc: '2.0', id, error: { code, message } })
  }
}

interface Message {
  readonly id: unknown
  readonly method: unknown
  readonly params: Readonly<Record<string, unknown>>
}

function parseBody(text: string): Message {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new HandError(-32700, 'The body is not JSON')
  }
  const { jsonrpc, id, method, params } = membersOf(body)
  if (jsonrpc !== '2.0' || (typeof id !== 'string' && typeof id !== 'number'))
    throw new HandError(-32600, 'The body is not a JSON-RPC request')
  return { id, method, params: membersOf(params) }
}

function readCall({ method, params }: Message, { headers }: IncomingMessage): HandCall {
  const { name, requestState, _meta } = params
  const meta = membersOf(_meta)
  if (method !== 'tools/call') throw new HandError(-32601, 'Only tools/call is served')
  if (typeof name !== 'string') throw new HandError(-32602, 'name must be a string')
  if (requestState !== undefined && typeof requestState !== 'string')
    throw new HandError(-32602, 'requestState must be a string')
  if (meta[metaKeys.protocolVersion] !== protocolVersion) throw new HandError(-32022, 'Unsupported protocol version')
  const repeated = [headers['mcp-protocol-version'], headers['mcp-method'], headers['mcp-name']]
  if (repeated[0] !== protocolVersion || repeated[1] !== method || repeated[2] !== name)
    throw new HandError(-32020, 'The headers do not repeat the body')
  const canElicit = membersOf(meta[metaKeys.clientCapabilities])['elicitation'] !== undefined
  const inputResponses = membersOf(params['inputResponses'])
  return { name, arguments: params['arguments'], inputResponses, requestState, user: userOf(headers), canElicit }
}

function userOf(headers: IncomingMessage['headers']): string | undefined {
  const user = headers['x-user']
  if (user === undefined || (typeof user === 'string' && user.length <= maxUserLength)) return user
  throw new HandError(-32602, 'x-user is no name')
}

/** Returns the members of an object, and none for any other value. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? // An object that JSON.parse made has members of unknown types.
      (value as Readonly<Record<string, unknown>>)
    : {}
}

function respond(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
