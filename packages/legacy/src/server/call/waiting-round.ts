import {
  type ClientCapabilities,
  type InputRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type RpcRequest,
} from '@x/schema'

/** A page that the user of a call has agreed to visit. */
export interface AcceptedPage {
  readonly url: string
  readonly elicitationId: string
  readonly acceptedAt: number
}

/** A question of a round, as it was sent to the client. */
export interface RoundQuestion {
  /** The key of the question in `inputRequests`. */
  readonly key: string
  /** The id of the request with the question. */
  readonly id: string
  readonly method: InputRequest['method']
  readonly params: JsonObject | undefined
}

/**
 * A round: the questions that a call has sent to its client at once, and all data with which any instance can continue
 * the call.
 */
export interface WaitingRound {
  /** The id of the round. Only one instance may use the answers of a round. */
  readonly id: string
  /** The key of the call's session, or of its pair of streams. */
  readonly owner: string
  readonly request: RpcRequest
  /** The `requestState` of the result that asks the questions. Undefined if the result has none. */
  readonly requestState: JsonValue | undefined
  readonly questions: readonly RoundQuestion[]
  /** The keys of requests for pages to which the user has already agreed, and which the server requests again. */
  readonly repeatedKeys: readonly string[]
  /** The id of the call's stream. `eventCount` is the number of its events before the questions. */
  readonly streamId: string
  readonly eventCount: number
  /** The number of rounds before this one. */
  readonly roundCount: number
  readonly pages: readonly AcceptedPage[]
  /** The time at which the questions were asked, in milliseconds since 1970. */
  readonly askedAt: number
}

/** The reason why a call cannot continue. */
export type CallFailure =
  | { readonly missingCapabilities: ClientCapabilities }
  /** What the question needs, and the revision of the client does not have. */
  | { readonly unsupported: string }
  | { readonly message: string }

const contentVersion = 2

/**
 * Encodes a round as JSON. With `withParams` it includes the params of the questions, so that they can be sent again.
 */
export function encodeRound(round: WaitingRound, { withParams }: { readonly withParams: boolean }): JsonValue {
  const { request, requestState = null, questions, streamId, eventCount, roundCount, pages } = round
  const { id, method, params = null } = request
  const questionRows = questions.map(
    (question): JsonValue => [
      question.key,
      question.id,
      question.method,
      ...(withParams && question.params !== undefined ? [question.params] : []),
    ],
  )
  return [
    contentVersion,
    [round.id, round.owner, round.askedAt],
    [id, method, params],
    requestState,
    questionRows,
    [...round.repeatedKeys],
    [streamId, eventCount, roundCount],
    pages.map(({ url, elicitationId, acceptedAt }): JsonValue => [url, elicitationId, acceptedAt]),
  ]
}

/**
 * Decodes a value that {@link encodeRound} of this or another version of the package has made. Undefined if the value
 * has another format.
 */
export function decodeRound(content: JsonValue | undefined): WaitingRound | undefined {
  if (!Array.isArray(content) || content[0] !== contentVersion) return undefined
  const [, roundFields, requestFields, requestState, questionRows, repeatedKeys, position, pageRows] =
    content as unknown as readonly [
      number,
      readonly [string, string, number],
      readonly [string | number, string, JsonObject | null],
      JsonValue,
      readonly (readonly [string, string, InputRequest['method'], JsonObject?])[],
      readonly string[],
      readonly [string, number, number],
      readonly (readonly [string, string, number])[],
    ]
  const [roundId, owner, askedAt] = roundFields
  const [id, method, params] = requestFields
  const [streamId, eventCount, roundCount] = position
  return {
    id: roundId,
    owner,
    askedAt,
    request: { jsonrpc: '2.0', id, method, ...(isJsonObject(params) && { params }) },
    requestState: requestState ?? undefined,
    questions: questionRows.map(([key, questionId, questionMethod, questionParams]) => ({
      key,
      id: questionId,
      method: questionMethod,
      params: questionParams,
    })),
    repeatedKeys,
    streamId,
    eventCount,
    roundCount,
    pages: pageRows.map(([url, elicitationId, acceptedAt]) => ({ url, elicitationId, acceptedAt })),
  }
}

/** Returns the size of a round in characters of its JSON, for the byte quota of its caller. */
export function sizeOfRound({ request, requestState, questions }: WaitingRound): number {
  const params = questions.map((question) => question.params ?? null)
  return JSON.stringify([request.params ?? null, requestState ?? null, params]).length
}
