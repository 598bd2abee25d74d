import { type InputRequest, isJsonObject, type JsonObject, type JsonValue, type RpcRequest } from '@x/schema'

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
  /** The id of the request that asks it. */
  readonly id: string
  readonly method: InputRequest['method']
  readonly params: JsonObject | undefined
}

/** A call that waits for the answers of its client: everything that an instance needs to continue it. */
export interface WaitingRound {
  /** Identifies the round, whose answers one instance may use. */
  readonly id: string
  /** The key of its session, or of its pair of streams. */
  readonly owner: string
  readonly request: RpcRequest
  /** The `requestState` of the round, undefined when the server gave none. */
  readonly requestState: JsonValue | undefined
  readonly questions: readonly RoundQuestion[]
  /** The keys of pages that were visited before, about which the server asks again. */
  readonly repeatedKeys: readonly string[]
  /** The stream of the call, and the number of events that it had before the questions. */
  readonly streamId: string
  readonly eventCount: number
  /** The rounds before this one. */
  readonly roundCount: number
  readonly pages: readonly AcceptedPage[]
  /** Milliseconds since 1970. */
  readonly askedAt: number
}

const contentVersion = 2

/** Encodes a round as JSON. `withParams` includes what the questions ask, so that they can be sent again. */
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

/** Decodes a value of {@link encodeRound}, of this version of the package or another, undefined for another form. */
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

/** Returns the size of a waiting round in characters of its JSON, which its caller's bytes are counted by. */
export function sizeOfRound({ request, requestState, questions }: WaitingRound): number {
  const params = questions.map((question) => question.params ?? null)
  return JSON.stringify([request.params ?? null, requestState ?? null, params]).length
}
