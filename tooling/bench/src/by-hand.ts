import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { metaKeys, protocolVersion } from '@x/schema'
import * as z from 'zod'
import { serveMeasured } from './peers/serve-measured.ts'
import type { Programs } from './processes.ts'

// Two servers of one tool as a careful author writes them who has only this one: `node:http`, `JSON.parse`, zod, and a
// line for each check that the revision asks of every server. Other methods and notifications are not served.

/** The hand-written servers: with the echo tool, and with the tool that asks twice. */
export const programs: Programs = {
  echo: () => serveMeasured(serveByHand(echo)),
  flow: () => serveMeasured(serveByHand(resolveBug)),
}

/** A `tools/call` whose message, headers and `_meta` are checked. */
interface HandCall {
  readonly name: string
  readonly arguments: unknown
  readonly inputResponses: Readonly<Record<string, unknown>>
  readonly requestState: string | undefined
  /** The user of the header that a proxy would write. */
  readonly user: string | undefined
  readonly canElicit: boolean
}

/** A failure that the client receives as a JSON-RPC error. */
class HandError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const maxBodyBytes = 4 * 1024 * 1024
const maxUserLength = 256
const serverInfo = { name: 'bench', version: '1.0.0' }

function serveByHand(callTool: (call: HandCall) => object): Server {
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
    const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo }
    respond(response, 200, { jsonrpc: '2.0', id, result: { ...result, _meta } })
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
function membersOf(value: unknown): Readonly<Record<string, unknown>> {
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

/** Validates the arguments of a call, and returns the text of a tool, or an error for the model. */
function callWith<S extends z.ZodType>(call: HandCall, schema: S, run: (args: z.output<S>) => object): object {
  const { data, error } = schema.safeParse(call.arguments)
  return error === undefined
    ? run(data)
    : { resultType: 'complete', isError: true, content: [{ type: 'text', text: z.prettifyError(error) }] }
}

function textResult(text: string): object {
  return { resultType: 'complete', content: [{ type: 'text', text }] }
}

const echoInput = z.object({ text: z.string(), times: z.number().int().min(1).max(10) })

function echo(call: HandCall): object {
  if (call.name !== 'echo') throw new HandError(-32602, 'No such tool')
  return callWith(call, echoInput, ({ text, times }) => textResult(text.repeat(times)))
}

const input = z.object({ id: z.number().int() })
const resolution = z.object({ resolution: z.enum(['Fixed', 'Duplicate']) })
const original = z.object({ id: z.number().int() })

const questions = {
  resolution: questionOf('How was it resolved?', resolution),
  original: questionOf('Which bug does it repeat?', original),
}

/**
 * A tool with two questions. The question that was asked and the answer so far are in the state, which is encrypted,
 * expires, is bound to the user, the tool and its arguments, and whose key may be rotated. An answer without the state
 * of its question is not used.
 */
function resolveBug(call: HandCall): object {
  if (call.name !== 'resolve_bug') throw new HandError(-32602, 'No such tool')
  if (call.user === undefined) throw new HandError(-32602, 'Log in')
  return callWith(call, input, ({ id }) => {
    const state = openState(call)
    const how = state?.how ?? (state && acceptedContent(call, 'resolution', resolution)?.resolution)
    if (how === undefined) return askClient(call, 'resolution')
    const bug = state?.asked === 'original' ? acceptedContent(call, 'original', original) : undefined
    return bug === undefined ? askClient(call, 'original', how) : textResult(`#${id} is ${how} of #${bug.id}`)
  })
}

function questionOf(message: string, schema: z.ZodType): object {
  const { type, properties, required } = z.toJSONSchema(schema)
  const params = { mode: 'form', message, requestedSchema: { type, properties, required } }
  return { method: 'elicitation/create', params }
}

function askClient(call: HandCall, asked: keyof typeof questions, how: string | null = null): object {
  if (!call.canElicit) throw new HandError(-32021, 'The client must declare elicitation')
  const requestState = sealState([Date.now() + lifetimeMs, bindingOf(call), asked, how])
  return { resultType: 'input_required', inputRequests: { [asked]: questions[asked] }, requestState }
}

function acceptedContent<S extends z.ZodType>(call: HandCall, key: string, schema: S): z.output<S> | undefined {
  if (!Object.hasOwn(call.inputResponses, key)) return undefined
  const { action, content } = membersOf(call.inputResponses[key])
  if (action !== 'accept') throw new HandError(-32603, 'The user declined')
  return schema.safeParse(content).data
}

const lifetimeMs = 3_600_000
const gcm = { authTagLength: 16 }
const keys = new Map([
  ['k2', randomBytes(32)],
  ['k1', randomBytes(32)],
])
const [[primaryId, primaryKey] = ['', Buffer.alloc(0)]] = keys
const sealedState = z.tuple([z.number(), z.string(), z.enum(['resolution', 'original']), z.string().nullable()])

function sealState(content: z.input<typeof sealedState>): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', primaryKey, nonce)
  cipher.setAAD(Buffer.from(primaryId))
  const ciphertext = cipher.update(JSON.stringify(content), 'utf8')
  cipher.final()
  return `${primaryId}.${Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]).toString('base64url')}`
}

/** Returns the content of the state of a request. Undefined for a request without a state. */
function openState(call: HandCall): { readonly asked: string; readonly how: string | undefined } | undefined {
  if (call.requestState === undefined) return undefined
  const [id = '', text = ''] = call.requestState.split('.')
  const key = keys.get(id)
  const bytes = Buffer.from(text, 'base64url')
  if (key === undefined || bytes.length < 28) throw new HandError(-32602, 'Invalid requestState')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), gcm)
  decipher.setAAD(Buffer.from(id))
  decipher.setAuthTag(bytes.subarray(-16))
  try {
    const content = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
    const [until, binding, asked, how] = sealedState.parse(JSON.parse(content.toString()))
    if (until > Date.now() && binding === bindingOf(call)) return { asked, how: how ?? undefined }
  } catch {
    // The tag does not match, or another program wrote the state with this key.
  }
  throw new HandError(-32602, 'Invalid requestState')
}

/** Returns a digest of what a state is for. A client must repeat its arguments unchanged. */
function bindingOf({ name, arguments: given, user }: HandCall): string {
  return createHash('sha256')
    .update(JSON.stringify([user, name, given]))
    .digest('base64url')
}
