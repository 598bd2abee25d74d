import { type InputRequest, isJsonObject, type JsonObject, type JsonValue, type RpcRequest } from '@x/schema'
import { isStateError, StateUsageError } from '@x/state-codec'
import type { LegacySettings } from './options.ts'
import { createBoundedMap, type Session } from './session.ts'

/** A page that the user of a call has agreed to visit. */
export interface AcceptedPage {
  readonly url: string
  readonly elicitationId: string
  readonly acceptedAt: number
}

/** A call that waits for answers, as the `state` of each of its questions carries it (SEP-1685). */
export interface WaitingCall {
  readonly request: RpcRequest
  /** The `requestState` of the round; undefined when the server gave none. */
  readonly requestState: JsonValue | undefined
  /** The questions of the round by their keys; undefined for one that needs no answer of the client. */
  readonly questions: ReadonlyMap<string, InputRequest['method'] | undefined>
  /** The stream of the call, and the number of events that it had. */
  readonly streamId: string
  readonly eventCount: number
  readonly roundCount: number
  readonly pages: readonly AcceptedPage[]
}

/** A waiting call, and which of its questions a state belongs to. */
export interface OpenedState {
  readonly key: string
  readonly call: WaitingCall
}

/** The client and the question that a state is good for. */
export interface StateBinding {
  readonly session: Session
  readonly questionId: string
}

/** Seals and opens the `state` of questions. */
export interface QuestionStates {
  /** Answers of clients that were sent a state and did not return it. */
  missingEchoCount: number
  /** Notes that a question is not waited for any more, so that its state opens nothing at this instance. */
  withdraw(questionId: string): void
  /** Returns true for a client that gets states: one that declared the echo, or every one where the author says so. */
  belongsToSession(session: Session): boolean
  /** Seals the state of one question; undefined where the author wants none, or it is too large. */
  seal(openedState: OpenedState, method: string, binding: StateBinding): Promise<string | undefined>
  /**
   * Opens what a client returned, once. Undefined for a state that is altered, foreign, expired or used (STA-005,
   * STA-006).
   */
  open(state: unknown, binding: StateBinding): Promise<OpenedState | undefined>
}

const statePurpose = 'legacy-state'
const contentVersion = 1
const maxWithdrawnQuestions = 100_000

/** Creates the states of an extension; undefined when its author did not switch them on. */
export function createQuestionStates(settings: LegacySettings): QuestionStates | undefined {
  const { stateSettings, warn } = settings
  if (stateSettings === undefined) return undefined
  const { codecs, sendsToAll, chooseCodecName } = stateSettings
  const ttlMs = settings.answerTimeoutMs + settings.resumeWindowMs
  const withdrawnQuestions = createBoundedMap<true>(maxWithdrawnQuestions)
  return {
    missingEchoCount: 0,
    withdraw: (questionId) => withdrawnQuestions.set(questionId, true),
    belongsToSession: ({ capabilities }) => sendsToAll || capabilities.experimental?.['requestState'] !== undefined,
    async seal(openedState, method, binding) {
      const codecName = chooseCodecName({ method, tool: toolNameIn(openedState.call.request) })
      const codec = codecs.get(codecName ?? defaultCodecKey)
      try {
        const sealedState = await codec?.seal(encodeOpenedState(openedState), {
          purpose: statePurpose,
          binding: bindingOf(binding),
          ttlMs,
        })
        return sealedState === undefined || codecName === '' ? sealedState : `${codecName}:${sealedState}`
      } catch (error) {
        if (!isStateError(error) && !(error instanceof StateUsageError)) throw error
        warn({ code: 'limit', message: `The state of a question was left out: ${error.message}` })
        return undefined
      }
    },
    async open(givenState, binding) {
      if (typeof givenState !== 'string' || withdrawnQuestions.get(binding.questionId) === true) return undefined
      const colonIndex = givenState.indexOf(':')
      const codec = codecs.get(colonIndex === -1 ? '' : givenState.slice(0, colonIndex))
      try {
        const content = await codec?.open(givenState.slice(colonIndex + 1), {
          purpose: statePurpose,
          binding: bindingOf(binding),
        })
        return content === undefined ? undefined : decodeOpenedState(content)
      } catch (error) {
        // A store behind the codec that cannot be reached says nothing of the state.
        if (!isStateError(error) || error.code === 'unavailable') throw error
        warn({ code: 'state_rejected', message: `The state of an answer was not accepted: ${error.detail}` })
        return undefined
      }
    },
  }
}

// No codec has this name.
const defaultCodecKey = ':'

function toolNameIn({ method, params }: RpcRequest): string | undefined {
  const name = method === 'tools/call' ? params?.['name'] : undefined
  return typeof name === 'string' ? name : undefined
}

// The session is bound to its principal, and a question to its call.
function bindingOf({ session, questionId }: StateBinding): JsonValue {
  return [session.key, questionId]
}

function encodeOpenedState({ key, call }: OpenedState): JsonValue {
  return [key, encodeWaitingCall(call)]
}

function decodeOpenedState(content: JsonValue): OpenedState | undefined {
  const [key, encodedCall = null] = Array.isArray(content) ? content : []
  const call = decodeWaitingCall(encodedCall)
  return call === undefined || typeof key !== 'string' ? undefined : { key, call }
}

/** Encodes a waiting call as JSON. */
export function encodeWaitingCall(call: WaitingCall): JsonValue {
  const { request, requestState = null, questions, streamId, eventCount, roundCount, pages } = call
  const { id, method, params = null } = request
  const askedQuestions = [...questions].map(
    ([questionKey, questionMethod]): JsonValue => [questionKey, questionMethod ?? null],
  )
  const acceptedPages = pages.map(({ url, elicitationId, acceptedAt }): JsonValue => [url, elicitationId, acceptedAt])
  return [
    contentVersion,
    [id, method, params],
    requestState,
    askedQuestions,
    [streamId, eventCount, roundCount],
    acceptedPages,
  ]
}

/** Decodes what `encodeWaitingCall` wrote, of this version of the package or another; undefined for another form. */
export function decodeWaitingCall(content: JsonValue): WaitingCall | undefined {
  if (!Array.isArray(content) || content[0] !== contentVersion) return undefined
  const [, requestFields, requestState, questionEntries, streamPosition, pageEntries] = content as unknown as readonly [
    number,
    readonly [string | number, string, JsonObject | null],
    JsonValue,
    readonly (readonly [string, InputRequest['method'] | null])[],
    readonly [string, number, number],
    readonly (readonly [string, string, number])[],
  ]
  const [id, method, params] = requestFields
  const [streamId, eventCount, roundCount] = streamPosition
  return {
    request: { jsonrpc: '2.0', id, method, ...(isJsonObject(params) && { params }) },
    requestState: requestState ?? undefined,
    questions: new Map(
      questionEntries.map(([questionKey, questionMethod]) => [questionKey, questionMethod ?? undefined]),
    ),
    streamId,
    eventCount,
    roundCount,
    pages: pageEntries.map(([url, elicitationId, acceptedAt]) => ({ url, elicitationId, acceptedAt })),
  }
}
