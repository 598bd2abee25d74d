import {
  type ClientCapabilities,
  type InputRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type RpcRequest,
} from '@x/schema'

/** A page that a call's user has agreed to visit. */
export interface AcceptedPage {
  readonly url: string
  readonly elicitationId: string
  readonly acceptedAt: number
}

/** A question of a round, as it was sent to the client. */
export interface RoundQuestion {
  /** Its key in `inputRequests`. */
  readonly key: string
  /** Id of the request with the question. */
  readonly id: string
  readonly method: InputRequest['method']
  readonly params: JsonObject | undefined
}

/**
 * The questions that a call has asked its client at once, with everything that any instance needs to continue the call.
 */
export interface WaitingRound {
  /** Only one instance may use the answers of the round with this id. */
  readonly id: string
  /** Key of the call's session, or of its pair of streams. */
  readonly owner: string
  readonly request: RpcRequest
  /** The `requestState` of the result that asks the questions. Undefined if it has none. */
  readonly requestState: JsonValue | undefined
  readonly questions: readonly RoundQuestion[]
  /** Keys of requests for pages to which the user has already agreed, and which the server requests again. */
  readonly repeatedKeys: readonly string[]
  /** Id of the call's stream. `eventCount` is how many events it had before the questions. */
  readonly streamId: string
  readonly eventCount: number
  /** Rounds before this one. */
  readonly roundCount: number
  readonly pages: readonly AcceptedPage[]
  /** When the questions were asked, in milliseconds since 1970. */
  readonly askedAt: number
}

/** Why a call cannot continue. */
export type CallFailure =
  | { readonly missingCapabilities: ClientCapabilities }
  /** What the question needs, and the client's revision does not have. */
  | { readonly unsupported: string }
  | { readonly message: string }

const contentVersion = 2

/** Encodes a round as JSON. With `withParams` it includes the questions' params, so that they can be sent again. */
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
 * Reads what {@link encodeRound} of this or another version of the package has made. Undefined for any other format.
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

/** The size of a round in characters of its JSON, for the byte quota of its caller. */
export function sizeOfRound({ request, requestState, questions }: WaitingRound): number {
  const params = questions.map((question) => question.params ?? null)
  return JSON.stringify([request.params ?? null, requestState ?? null, params]).length
}
