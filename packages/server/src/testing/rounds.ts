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

export type RunHandler = (ctx: Context) => Awaitable<string | InputRequiredReturn>

/** A server with one handler, named `do`, and what it logged. */
export interface TestServer {
  readonly server: McpServer
  readonly kind: HandlerKind
  readonly warnings: LogRecord[]
  readonly reported: ReportedError[]
}

/** A kind of definition whose handler may ask (basic/patterns/mrtr, supported requests). */
export interface HandlerKind {
  readonly kind: 'tool' | 'prompt' | 'resource'
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read'
  readonly params: JsonObject
  readonly offer: (run: RunHandler) => Partial<ServerDefinition>
  readonly text: (result: JsonObject) => JsonValue | undefined
}

export const toolKind: HandlerKind = {
  kind: 'tool',
  method: 'tools/call',
  params: { name: 'do' },
  offer: (run) => ({ tools: [tool('do', { description: 'Does', run: (_, ctx) => run(ctx) })] }),
  text: (result) => valueAt(result, 'content', 0, 'text'),
}

/** For tests that apply to all three kinds. */
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

/** A run for each round, and a run from the top at every await. */
export const replayModes = [{ strictReplay: false }, { strictReplay: true }] as const

/** A client that supports every kind of question. */
export const fullCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
} as const satisfies ClientCapabilities

const stateKeys = ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef']

/** A server with one handler. All these servers have the same keys, like instances of one service. */
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

/** What a retry brings: answers and state. */
export interface Retry {
  readonly responses?: JsonValue | undefined
  readonly state?: string | undefined
}

/**
 * Sends the request of a served handler once, with the capabilities of {@link fullCapabilities} unless `options.meta`
 * has others.
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

/** One response of a server: its questions, or how the call ended. */
export interface Round {
  readonly response: RpcResponse
  /** Questions by wire key. Empty if the call has ended. */
  readonly requests: Readonly<Record<string, InputRequest>>
  readonly state: string | undefined
  /** Text of a final result. */
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
  // Parsed one by one, because zod omits a member with the name `__proto__`.
  const asked = Object.entries(result['inputRequests'] ?? {})
  const requests = Object.fromEntries(asked.map(([key, request]) => [key, zodOf(shapes.inputRequest).parse(request)]))
  return { ...ended, requests, state: requestState }
}

/** How a test answers a question. Undefined sends no answer. */
export type Answer = JsonObject | ((request: InputRequest, round: number) => JsonObject | undefined)

/** A call that ran through all its rounds. */
export interface AnsweredCall extends Round {
  /** All rounds before the last one. */
  readonly rounds: readonly Round[]
  /** Wire keys of each round's questions. */
  readonly asked: readonly (readonly string[])[]
}

/**
 * Runs a call through all its rounds, with answers by wire key. Several servers take turns. Throws if the same
 * unanswered questions arrive three times.
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
  // Rounds without questions are hand-offs, of which any number is allowed.
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

/** A user who accepted a form. */
export function accept(content: JsonObject = {}): JsonObject {
  return { action: 'accept', content }
}

/** A codec whose tokens a test can read, with a record of its use. */
export interface StateRecorder {
  readonly codec: StateCodec
  /** What was sealed, as JSON. */
  readonly sealed: string[]
  readonly opened: string[]
}

/** Tokens are readable. Like a real codec, it checks the binding. */
export function createStateRecorder(): StateRecorder {
  const sealed: string[] = []
  const opened: string[] = []
  const codec: StateCodec = {
    async seal(value, { binding, since }) {
      sealed.push(JSON.stringify(value))
      return JSON.stringify([value, binding, since])
    },
    async open(token, { binding, onOpen }) {
      opened.push(token)
      const [value, bound, since = 0] = JSON.parse(token)
      onOpen?.({ ttlMs: 1, since })
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
