import { isDeepStrictEqual } from 'node:util'
import {
  type ClientCapabilities,
  type InputRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  metaKeys,
  type RpcResponse,
  type WireError,
} from '@x/schema'
import type { LogRecord } from '@x/core'
import { shapes, zodOf } from '@x/schema/zod'
import type { StateCodec } from '@x/state-codec'
import type { Awaitable, Context, InputRequiredReturn, McpServer, ServerDefinition } from '../index.ts'
import { createServer, prompt, resource, sealedState, tool } from '../index.ts'
import { sendRequest, type AskOptions, createLogCollector, type ReportedError } from './ask.ts'

/** What a test's handler does. */
export type RunHandler = (ctx: Context) => Awaitable<string | InputRequiredReturn>

/** A server with one handler, under the name `do`, and what it told its author. */
export interface TestServer {
  readonly server: McpServer
  readonly kind: HandlerKind
  readonly warnings: LogRecord[]
  readonly reported: ReportedError[]
}

/** One of the three things that may ask (basic/patterns/mrtr, supported requests). */
export interface HandlerKind {
  readonly kind: 'tool' | 'prompt' | 'resource'
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read'
  readonly params: JsonObject
  readonly offer: (run: RunHandler) => Partial<ServerDefinition>
  /** Where the text of a result stands. */
  readonly text: (result: JsonObject) => JsonValue | undefined
}

export const toolKind: HandlerKind = {
  kind: 'tool',
  method: 'tools/call',
  params: { name: 'do' },
  offer: (run) => ({ tools: [tool('do', { description: 'Does', run: (_, ctx) => run(ctx) })] }),
  text: (result) => valueAt(result, 'content', 0, 'text'),
}

/** The three kinds, for what is the same in all of them. */
export const handlerKinds: readonly HandlerKind[] = [
  toolKind,
  {
    kind: 'prompt',
    method: 'prompts/get',
    params: { name: 'do' },
    offer: (run) => ({ prompts: [prompt('do', { run: (_, ctx) => run(ctx) })] }),
    text: (result) => valueAt(result, 'messages', 0, 'content', 'text'),
  },
  {
    kind: 'resource',
    method: 'resources/read',
    params: { uri: 'do://it' },
    offer: (run) => ({ resources: [resource('do://it', { name: 'Do', read: run })] }),
    text: (result) => valueAt(result, 'contents', 0, 'text'),
  },
]

/** Both ways in which handlers run: once per round, and again from the top at every await. */
export const replayModes = [{ strictReplay: false }, { strictReplay: true }] as const

/** A client that can do everything. */
export const fullCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
} as const satisfies ClientCapabilities

const stateKeys = ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef']

/** Makes a server of one handler. Every server has the same keys, as the instances of a fleet do. */
export function serve(
  run: RunHandler,
  settings: Partial<ServerDefinition> = {},
  kind: HandlerKind = toolKind,
): TestServer {
  const { reported, warnings, log } = createLogCollector()
  const server = createServer({
    name: 'demo',
    version: '1',
    state: sealedState({ keys: stateKeys }),
    log,
    ...kind.offer(run),
    ...settings,
  })
  return { server, kind, warnings, reported }
}

/** What a retry brings. */
export interface Retry {
  readonly responses?: JsonValue | undefined
  readonly state?: string | undefined
}

/**
 * Sends the request of a served handler once, from a client that can do everything unless `options.meta` says
 * otherwise.
 */
export async function send(
  { server, kind }: TestServer,
  { responses, state }: Retry = {},
  options: AskOptions = {},
): Promise<Round> {
  const params = {
    ...kind.params,
    ...(responses !== undefined && { inputResponses: responses }),
    ...(state !== undefined && { requestState: state }),
  }
  const meta = { [metaKeys.clientCapabilities]: fullCapabilities, ...options.meta }
  return roundOf(await sendRequest(server, kind.method, params, { ...options, meta }), kind)
}

/** One answer of a server: what it asks, or how the call ended. */
export interface Round {
  readonly response: RpcResponse
  /** What is asked, by wire key; empty when the call has ended. */
  readonly requests: Readonly<Record<string, InputRequest>>
  readonly state: string | undefined
  /** The text of a final result. */
  readonly text: JsonValue | undefined
  readonly isError: boolean
  readonly error: WireError | undefined
}

function roundOf(response: RpcResponse, kind: HandlerKind): Round {
  const ended = { response, requests: {}, state: undefined, text: undefined, isError: false, error: undefined }
  if ('error' in response) return { ...ended, error: response.error }
  const { result } = response
  if (result['resultType'] !== 'input_required') {
    return { ...ended, text: kind.text(result), isError: result['isError'] === true }
  }
  const { requestState } = zodOf(shapes.inputRequiredResult).parse(result)
  // One by one, because zod leaves out a member whose name is __proto__.
  const asked = Object.entries(result['inputRequests'] ?? {})
  const requests = Object.fromEntries(asked.map(([key, request]) => [key, zodOf(shapes.inputRequest).parse(request)]))
  return { ...ended, requests, state: requestState }
}

/** What a test's client answers to a wire key; undefined leaves it out. */
export type Answer = JsonObject | ((request: InputRequest, round: number) => JsonObject | undefined)

/** A call that was played to its end. */
export interface AnsweredCall extends Round {
  /** Every round before the last. */
  readonly rounds: readonly Round[]
  /** The wire keys that were asked, round by round. */
  readonly asked: readonly (readonly string[])[]
}

/**
 * Plays a call to its end: answers what is asked by wire key, and retries with the state. Several servers take turns.
 * Fails when the same is asked thrice with no answer to give.
 */
export async function completeCall(
  served: TestServer | readonly [TestServer, ...TestServer[]],
  answers: Readonly<Record<string, Answer>> = {},
  options: AskOptions = {},
): Promise<AnsweredCall> {
  const instances: readonly TestServer[] = 'server' in served ? [served] : served
  const rounds: Round[] = []
  let retry: Retry = {}
  for (let number = 0; number < 40; number++) {
    const instance = instances[number % instances.length]
    if (instance === undefined) throw new Error('play needs a server')
    const round = await send(instance, retry, options)
    if (round.state === undefined)
      return { ...round, rounds, asked: rounds.map(({ requests }) => Object.keys(requests)) }
    rounds.push(round)
    retry = { responses: answersTo(round, answers, number), state: round.state }
    rejectRepeatedRound(rounds, retry)
  }
  throw new Error('The call asks for ever')
}

function answersTo({ requests }: Round, answers: Readonly<Record<string, Answer>>, number: number): JsonObject {
  const given: [string, JsonObject][] = []
  for (const [key, request] of Object.entries(requests)) {
    const answer = Object.hasOwn(answers, key) ? answers[key] : undefined
    const response = typeof answer === 'function' ? answer(request, number) : answer
    if (response !== undefined) given.push([key, response])
  }
  return Object.fromEntries(given)
}

function rejectRepeatedRound(rounds: readonly Round[], { responses }: Retry): void {
  const [first, second, third] = rounds.slice(-3).map(({ requests }) => requests)
  const empty = isJsonObject(responses) && Object.keys(responses).length === 0
  // A call that only moves asks nothing, however often.
  if (
    third === undefined ||
    Object.keys(third).length === 0 ||
    !empty ||
    !isDeepStrictEqual(first, third) ||
    !isDeepStrictEqual(second, third)
  )
    return
  throw new Error(`Nobody answers ${Object.keys(third).join(', ')}`)
}

/** The answer of a user who filled in a form. */
export function accept(content: JsonObject = {}): JsonObject {
  return { action: 'accept', content }
}

/** What a test's transparent codec was asked to do. */
export interface StateRecorder {
  readonly codec: StateCodec
  /** Every value that was sealed, as the very text. */
  readonly sealed: string[]
  readonly opened: string[]
}

/** A codec that hides nothing, for looking inside; it checks the binding as a real one does. */
export function createStateRecorder(): StateRecorder {
  const sealed: string[] = []
  const opened: string[] = []
  const codec: StateCodec = {
    async seal(value, { binding }) {
      sealed.push(JSON.stringify(value))
      return JSON.stringify([value, binding])
    },
    async open(token, { binding }) {
      opened.push(token)
      const [value, bound] = JSON.parse(token)
      if (!isDeepStrictEqual(bound, JSON.parse(JSON.stringify(binding)))) throw new Error('bound to something else')
      return value
    },
  }
  return { codec, sealed, opened }
}

function valueAt(value: JsonValue | undefined, ...path: readonly (string | number)[]): JsonValue | undefined {
  let found = value
  for (const step of path) {
    if (Array.isArray(found) && typeof step === 'number') found = found[step]
    else found = isJsonObject(found) && typeof step === 'string' ? found[step] : undefined
  }
  return found
}
