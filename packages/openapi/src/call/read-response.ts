import { encodeBase64, findJsonProblem, type JsonObject, type JsonValue, parseJson, stringifyWellFormed } from '@x/core'
import type { ContentBlock } from '@x/schema'
import { ToolError } from '@x/server'
import { cleanText } from '../document/clean-text.ts'
import { baseTypeOf, isJsonType } from '../document/open-document.ts'
import type { OperationPlan } from '../plan/plan-operation.ts'

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
  readonly transform: (value: JsonValue) => JsonValue
}

/** Leaves room for the message around it. */
// limit: response depth | count | levels of the JSON of a response | the model gets an error
const maxDepth = 200

// limit: errors of an API | characters | the text of a response with 4xx | cut
const maxErrorLength = 2000

/** @throws ToolError for a response that is no success or cannot be shown. */
export function readResponse(response: ApiResponse, context: ResponseContext): ApiResult {
  const { status, bytes, headers } = response
  if (status < 200 || status > 299) throw new ToolError(describeStatus(response, context.plan))
  if (bytes === undefined) throw new ToolError(describeLong(context))
  if (bytes.length === 0) return { content: [blockOf(`Done (status ${status}, no content)`)] }
  const result = toResult(response, bytes, context)
  const next = describeNextPage(headers.get('link'), context)
  return next === undefined ? result : { ...result, content: [...result.content, blockOf(next)] }
}

function toResult({ headers, text }: ApiResponse, bytes: Uint8Array, context: ResponseContext): ApiResult {
  const mediaType = typeOfContent(headers)
  const [kind] = mediaType.split('/', 1)
  if (isJsonType(mediaType)) {
    const value = parseJsonResponse(text, context)
    return { content: [blockOf(stringifyWellFormed(value))], structuredContent: value }
  }
  if (kind === 'text' || /[/+](?:xml|yaml)$/.test(mediaType)) return { content: [blockOf(text)] }
  const isShown = /^[\w/.+-]{1,100}$/.test(mediaType)
  if (isShown && (kind === 'image' || kind === 'audio'))
    return { content: [{ type: kind, data: encodeBase64(bytes), mimeType: mediaType }] }
  throw new ToolError(`The API answered with ${bytes.length} bytes of the type ${isShown ? mediaType : 'unknown'}`)
}

function blockOf(text: string): ContentBlock {
  return { type: 'text', text }
}

function typeOfContent(headers: Headers): string {
  return baseTypeOf(headers.get('content-type') ?? '')
}

function parseJsonResponse(text: string, { transform }: ResponseContext): JsonValue {
  const value = parseJson(text)
  if (value === undefined) throw new ToolError('The API answered with a text that is not JSON, although it says so')
  if (findJsonProblem(value, { maxDepth }) !== undefined)
    throw new ToolError(`The API answered with JSON that is more than ${maxDepth} levels deep`)
  // A transform may return anything, and texts may have halves of characters.
  return parseJson(stringifyWellFormed(transform(value))) ?? null
}

function describeStatus({ status, headers, text }: ApiResponse, { operation }: OperationPlan): string {
  if (status < 400) return `The API answered with a redirect (status ${status}), which is not followed`
  const retryAfter = headers.get('retry-after')
  const failure = `${operation.method} ${operation.path} failed with status ${status}`
  const wait = retryAfter === null ? '' : `, retry after ${cleanText(retryAfter, 50)}`
  // Only logged, because the text of a 5xx may have addresses and passwords.
  const mediaType = typeOfContent(headers)
  const isShown = status < 500 && (isJsonType(mediaType) || mediaType.startsWith('text/plain'))
  const shown = isShown ? cleanText(text, maxErrorLength) : ''
  return `${failure}${wait}${shown === '' ? '' : `:\n${shown}`}`
}

/** Callers usually ask for less with these arguments. */
const limiting = /^(?:per_?page|page_?size|limit|first|top|count|max_?results|size|fields|select|include|filter|q)$/i

function describeLong({ plan, maxBytes }: ResponseContext): string {
  const names = plan.parameters.map(({ argument }) => argument).filter((name) => limiting.test(name))
  const advice = names.length === 0 ? '' : `. Ask for less with ${names.join(', ')}`
  return `The API answered with more than ${maxBytes} bytes${advice}`
}

/** Arguments of the next page, which a header `Link` names (RFC 8288). Nothing is fetched by itself. */
function describeNextPage(header: string | null, { plan, args }: ResponseContext): string | undefined {
  const address = /<([^<>]{1,2000})>\s*;[^,<]{0,200}\brel="?next\b/i.exec(header ?? '')?.[1]
  if (address === undefined || !URL.canParse(address, 'https://api.invalid')) return undefined
  const { searchParams } = new URL(address, 'https://api.invalid')
  const changed = plan.parameters.flatMap(({ name, argument, place }): [string, JsonValue][] => {
    const text = place === 'query' ? searchParams.get(name) : null
    if (text === null || text === String(args[argument] ?? '')) return []
    return [[argument, /^\d{1,15}$/.test(text) ? Number(text) : text]]
  })
  if (changed.length === 0) return undefined
  return `There is a next page, with the arguments ${JSON.stringify(Object.fromEntries(changed)).slice(0, maxErrorLength)}`
}
