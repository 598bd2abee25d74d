import { type ChangeBus, type Runtime, runtimeOf } from '@x/core'
import { type Call, createCall, type Server } from '@x/exchange'
import { isJsonObject, type JsonObject, metaKeys, protocolVersion, type RpcResponse, type WireError } from '@x/schema'
import { type Context, createServer, type McpServer, type ServerDefinition, type Tool, tool } from '@x/server'
import { randomKey, sealedState, type StateCodec } from '@x/state-codec'
import { z } from 'zod'
import { parseSessionMetadata, sessionKey, type SessionMetadata } from '../session-metadata.ts'
import { sessions as createSessions, type Sessions, type SessionsApi } from '../server/sessions.ts'
import type { SessionEvents, SessionOptions } from '../server/session-options.ts'

/** What these tests keep in a session. */
export type Notes = { readonly notes: readonly string[] }

const notesState = {
  schema: z.object({ notes: z.array(z.string()) }),
  initial: { notes: [] } as Notes,
}

/** The clock of these tests begins here. */
export const midnight = Date.UTC(2026, 1, 28)

/** The test advances it. */
export interface ManualClock extends Pick<Runtime, 'now'> {
  advance(ms: number): void
}

export function createManualClock(): ManualClock {
  let time = midnight
  return { now: () => time, advance: (ms) => void (time += ms) }
}

/** With a new key, and the clock of the test. */
export function createCodec(clock: Pick<Runtime, 'now'>, options: { readonly maxAgeMs?: number } = {}): StateCodec {
  return sealedState({ keys: [randomKey()], runtime: clock, ...options })
}

/** What a test replaces of a server, for the sessions of one definition. */
export interface TestHost {
  readonly codec?: StateCodec | undefined
  readonly stateCodec?: StateCodec | undefined
  readonly bus?: ChangeBus | undefined
  readonly runtime?: Partial<Runtime> | undefined
  /** Gets the errors that sessions log. */
  readonly onError?: ((error: unknown, method: string | undefined) => void) | undefined
}

/** The host of the returned sessions has the given parts. */
export function onHost<State>(defined: Sessions<State>, { codec, bus, runtime, onError }: TestHost): Sessions<State> {
  const { start } = defined
  if (start === undefined) throw new Error('sessions begin with their server')
  return {
    ...defined,
    start: (host) =>
      start({
        ...host,
        ...(codec !== undefined && { state: codec }),
        ...(bus !== undefined && { bus }),
        runtime: runtimeOf({ ...runtime }),
        log: onError === undefined ? host.log : ({ err, method }) => onError(err, method),
      }),
  }
}

export type NotesOptions = SessionOptions & SessionEvents<Notes> & TestHost

/** The state is a list of notes. The errors that the sessions report are in a list too. */
export function createNotesSessions({
  codec,
  stateCodec,
  bus,
  runtime,
  onError: listener,
  ...options
}: NotesOptions = {}): {
  readonly sessions: Sessions<Notes>
  readonly now: ManualClock
  readonly reported: unknown[]
} {
  const now = createManualClock()
  const reported: unknown[] = []
  const onError = (error: unknown): void => void reported.push(error)
  const defined = createSessions({ ...options, state: { ...notesState, codec: stateCodec } })
  const testHost = { codec: codec ?? createCodec(now), bus, runtime: runtime ?? now, onError: listener ?? onError }
  const sessions = onHost(defined, testHost)
  return { sessions, now, reported }
}

/** Adds a note to its session and returns all notes. */
export function createNoteTool(sessions: Sessions<Notes>): Tool {
  return tool('note', {
    description: 'Notes a text',
    input: z.object({ text: z.string() }),
    run({ text }, ctx: Context) {
      const session = sessions.of(ctx)
      session.setState({ notes: [...session.state.notes, text] })
      return session.state.notes.join(' ')
    },
  })
}

export function createTestServer(definition: Partial<ServerDefinition>): McpServer {
  return createServer({ name: 'demo', version: '1.0.0', state: false, ...definition })
}

export function sessionsOf(server: McpServer): SessionsApi {
  if ('sessions' in server) return server.sessions as SessionsApi
  throw new Error('The server has no sessions')
}

const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })

/** A server with sessions, and an equal one without. */
export interface NotesServer extends ReturnType<typeof createNotesSessions> {
  readonly server: McpServer
  readonly plain: McpServer
}

/** With the tools `note` and `greet`. */
export function createNotesServer(options: NotesOptions = {}): NotesServer {
  const defined = createNotesSessions(options)
  const tools = [createNoteTool(defined.sessions), greet]
  return {
    ...defined,
    plain: createTestServer({ tools }),
    server: createTestServer({ tools, extensions: [defined.sessions] }),
  }
}

/** What a test may choose of a request. */
export interface AskOptions extends Partial<Call> {
  /** Hostile requests may have any value. */
  readonly session?: unknown
  readonly meta?: JsonObject
}

/** A valid request, except for what the test replaces. */
export function sendRequest(
  { exchange }: Pick<Server, 'exchange'>,
  ...[method, params = {}, asking = {}]: RequestArguments
): Promise<RpcResponse> {
  const { session, meta, ...call } = asking
  const _meta = {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientCapabilities]: { elicitation: { form: {} } },
    ...(session !== undefined && { [sessionKey]: session }),
    ...meta,
  }
  // Copied as JSON, so that the test and the server share no objects.
  const request = JSON.parse(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }))
  return exchange(request, createCall(call))
}

export type RequestArguments = [method: string, params?: JsonObject | undefined, asking?: AskOptions | undefined]

/** Throws if the request fails. */
export async function resultOf(server: Pick<Server, 'exchange'>, ...question: RequestArguments): Promise<JsonObject> {
  const response = await sendRequest(server, ...question)
  if ('result' in response) return response.result
  throw new Error(`${question[0]} failed: ${JSON.stringify(response.error)}`)
}

/** Throws if the request succeeds. */
export async function errorOf(server: Pick<Server, 'exchange'>, ...question: RequestArguments): Promise<WireError> {
  const response = await sendRequest(server, ...question)
  if ('error' in response) return response.error
  throw new Error(`${question[0]} succeeded: ${JSON.stringify(response.result)}`)
}

export async function createSession(
  server: Pick<Server, 'exchange'>,
  asking: AskOptions = {},
): Promise<SessionMetadata> {
  return requireSessionMetadata((await resultOf(server, 'sessions/create', {}, asking))['session'])
}

export function sessionOfResult(result: JsonObject): SessionMetadata {
  return requireSessionMetadata(isJsonObject(result['_meta']) ? result['_meta'][sessionKey] : undefined)
}

/** Returns the text of the result, and the session after the call. */
export async function callIn(
  server: Pick<Server, 'exchange'>,
  session: SessionMetadata | undefined,
  ...[name, args = {}, asking = {}]: RequestArguments
): Promise<{ readonly text: string; readonly session: SessionMetadata }> {
  const result = await resultOf(server, 'tools/call', { name, arguments: args }, { ...asking, session })
  const after = session === undefined ? { sessionId: 'none' } : { ...session, ...sessionOfResult(result) }
  return { text: textOf(result), session: after }
}

/** Of the only content of a result. */
export function textOf({ content }: JsonObject): string {
  const block = Array.isArray(content) ? content[0] : undefined
  return isJsonObject(block) && typeof block['text'] === 'string' ? block['text'] : ''
}

function requireSessionMetadata(value: unknown): SessionMetadata {
  const session = parseSessionMetadata(value)
  if ('issue' in session) throw new Error(`The session ${session.issue}: ${JSON.stringify(value)}`)
  return session
}
