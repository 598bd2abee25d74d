import {
  encodeBase64,
  errorRecord,
  findJsonProblem,
  type JsonObject,
  type JsonValue,
  type Log,
  parseJson,
  stringifyWellFormed,
} from '@x/core'
import type { ContentBlock } from '@x/schema'
import { isToolError, ToolError } from '@x/server'
import { cleanText } from '../document/clean-text.ts'
import { baseTypeOf, isJsonType, isReading } from '../document/open-document.ts'
import type { OpenApiOperation } from '../plan/options.ts'
import type { OperationPlan } from '../plan/plan-operation.ts'
import { describeNextPage } from './describe-next-page.ts'
import { findLargeInteger, hasRoundedNumber } from './large-integers.ts'

/** Status, headers and first bytes of a response. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Headers
  /** Undefined if the body has more bytes than are read. */
  readonly bytes: Uint8Array | undefined
  /** First bytes as text. */
  readonly text: string
}

/** JSON, because a step records it. */
export interface ApiResult {
  readonly content: ContentBlock[]
  readonly structuredContent?: JsonValue
}

export interface ResponseContext {
  readonly plan: OperationPlan
  readonly args: JsonObject
  readonly maxBytes: number
  readonly transform: ((value: JsonValue) => JsonValue) | undefined
  readonly log: Log
}

/** Leaves room for the message around it. */
// limit: response depth | count | levels of the JSON of a response | the model gets an error
const maxDepth = 200

// limit: errors of an API | characters | the text of a response with 4xx | cut
const maxErrorLength = 2000

/** @throws ToolError for a response that is no success or cannot be shown. */
export async function readResponse(response: ApiResponse, context: ResponseContext): Promise<ApiResult> {
  const { status, bytes, headers } = response
  const { plan, args } = context
  if (status < 200 || status > 299) throw new ToolError(describeStatus(response, plan))
  if (bytes === undefined) failAfterEffect(describeLong(context), plan)
  if (bytes.length === 0) return { content: [blockOf(`Done (status ${status}, no content)`)] }
  const result = toResult(response, bytes, context)
  const next = await describeNextPage(headers.get('link'), plan, args)
  return next === undefined ? result : { ...result, content: [...result.content, blockOf(next)] }
}

/**
 * Tells the model that a request which failed may have had its effect, so that it does not simply repeat it. Empty for
 * an operation that only reads, and for a status with which the API refuses.
 */
export function describeEffect(operation: OpenApiOperation, status = 0): string {
  const isRefused = status >= 400 && status <= 499
  return isRefused || isReading(operation) ? '' : '. The request may have had its effect'
}

function failAfterEffect(message: string, { operation }: OperationPlan): never {
  throw new ToolError(`${message}${describeEffect(operation)}`)
}

function toResult({ headers, text }: ApiResponse, bytes: Uint8Array, context: ResponseContext): ApiResult {
  const mediaType = typeOfContent(headers)
  const [kind] = mediaType.split('/', 1)
  if (isJsonType(mediaType)) return toJsonResult(text, context)
  if (kind === 'text' || /[/+](?:xml|yaml)$/.test(mediaType)) return { content: [blockOf(text)] }
  const isShown = /^[\w/.+-]{1,100}$/.test(mediaType)
  if (isShown && (kind === 'image' || kind === 'audio'))
    return { content: [{ type: kind, data: encodeBase64(bytes), mimeType: mediaType }] }
  failAfterEffect(
    `The API answered with ${bytes.length} bytes of the type ${isShown ? mediaType : 'unknown'}`,
    context.plan,
  )
}

function blockOf(text: string): ContentBlock {
  return { type: 'text', text }
}

function typeOfContent(headers: Headers): string {
  return baseTypeOf(headers.get('content-type') ?? '')
}

function toJsonResult(text: string, context: ResponseContext): ApiResult {
  const { plan, transform } = context
  const parsed = parseJson(text)
  if (parsed === undefined) failAfterEffect('The API answered with a text that is not JSON, although it says so', plan)
  if (findJsonProblem(parsed, { maxDepth, acceptsLeaves: true }) !== undefined)
    failAfterEffect(`The API answered with JSON that is more than ${maxDepth} levels deep`, plan)
  const value = transformValue(parsed, context)
  if (!hasRoundedNumber(text)) return { content: [blockOf(stringifyWellFormed(value))], structuredContent: value }
  if (transform !== undefined) return describeRounded(value)
  // A model that reads a rounded id would use it, so only a tool that promises structured content has any.
  return { content: [blockOf(text)], ...(plan.output !== undefined && { structuredContent: value }) }
}

/** A transform may return anything, and texts may have halves of characters. */
function transformValue(value: JsonValue, { plan, transform, log }: ResponseContext): JsonValue {
  try {
    return parseJson(stringifyWellFormed(transform === undefined ? value : transform(value))) ?? null
  } catch (error) {
    if (isToolError(error)) throw error
    log(errorRecord(error, { name: `${plan.operation.method} ${plan.operation.path}` }))
    return failAfterEffect('The response of the API cannot be shown, because the option transform failed', plan)
  }
}

function describeRounded(value: JsonValue): ApiResult {
  const result = { content: [blockOf(stringifyWellFormed(value))], structuredContent: value }
  if (findLargeInteger(value, '') === undefined) return result
  const note = `Integers beyond ${Number.MAX_SAFE_INTEGER} are rounded here. Do not use them as ids`
  return { ...result, content: [...result.content, blockOf(note)] }
}

function describeStatus({ status, headers, text }: ApiResponse, { operation }: OperationPlan): string {
  const effect = describeEffect(operation, status)
  if (status < 400) return `The API answered with a redirect (status ${status}), which is not followed${effect}`
  const retryAfter = headers.get('retry-after')
  const failure = `${operation.method} ${operation.path} failed with status ${status}`
  const wait = retryAfter === null ? '' : `, retry after ${cleanText(retryAfter, 50)}`
  // Only logged, because the text of a 5xx may have addresses and passwords.
  const mediaType = typeOfContent(headers)
  const isShown = status < 500 && (isJsonType(mediaType) || mediaType.startsWith('text/plain'))
  const shown = isShown ? cleanText(text, maxErrorLength) : ''
  return `${failure}${wait}${effect}${shown === '' ? '' : `:\n${shown}`}`
}

/** Callers usually ask for less with these arguments. A write must not be made again for that. */
const limiting = /^(?:per_?page|page_?size|limit|first|top|count|max_?results|size|fields|select|include|filter|q)$/i

function describeLong({ plan, maxBytes }: ResponseContext): string {
  const names = plan.parameters.map(({ argument }) => argument).filter((name) => limiting.test(name))
  const advice = names.length === 0 || !isReading(plan.operation) ? '' : `. Ask for less with ${names.join(', ')}`
  return `The API answered with more than ${maxBytes} bytes${advice}`
}
