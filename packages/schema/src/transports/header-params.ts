import { errorCodes, McpError } from '../basic/mcp-error.ts'
import { decodeBase64, encodeBase64, isJsonObject, type JsonObject, quoteText } from '@x/core'
import { type Subschema, collectSubschemas } from '../json-schema/subschemas.ts'

/** A tool's parameter whose value an HTTP header repeats (basic/transports/streamable-http, custom headers). */
export interface HeaderParam {
  /** What follows `Mcp-Param-` in the header's name, with the case that the schema uses. */
  readonly name: string
  /** Property names on the path from the arguments to the parameter. */
  readonly path: readonly string[]
  readonly type: 'string' | 'integer' | 'boolean'
}

/** Header values by name, which ignores case in headers that came over HTTP. A `Map` is one. */
export interface HeaderParams {
  get(name: string): string | undefined
  forEach(visit: (value: string, name: string) => void): void
}

/**
 * Finds the parameters that a tool's input schema marks with `x-mcp-header`, or the reason why a mark is not allowed. A
 * client over HTTP leaves out a tool with such a mark (basic/transports/streamable-http, schema extension).
 */
export function parseHeaderParams(
  inputSchema: JsonObject,
): { readonly params: readonly HeaderParam[] } | { readonly reason: string } {
  const subschemasOrProblem = collectSubschemas(inputSchema)
  if (typeof subschemasOrProblem === 'string') return { reason: subschemasOrProblem }
  const params: HeaderParam[] = []
  const names = new Set<string>()
  for (const subschema of subschemasOrProblem) {
    if (!Object.hasOwn(subschema.schema, annotationKeyword)) continue
    const param = readAnnotation(subschema)
    if (typeof param === 'string') return { reason: param }
    if (names.has(param.name.toLowerCase()))
      return { reason: `${annotationKeyword} ${quoteText(param.name)} is used twice` }
    names.add(param.name.toLowerCase())
    params.push(param)
  }
  return { params }
}

/**
 * Encodes a call's arguments as header values, by {@link HeaderParam.name}. One that is absent or `null` has no header.
 * Throws `McpError(invalidParams)` for an integer beyond ±(2^53 - 1), and for text with a lone surrogate.
 */
export function encodeHeaderArguments(
  params: readonly HeaderParam[],
  args: JsonObject | undefined,
): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (const param of params) {
    const value = readArgument(param, args)
    if (value === undefined) continue
    if (isUnsafeInteger(param, value)) throw new McpError(errorCodes.invalidParams, describeUnsafeInteger(param))
    headers.set(param.name, encodeHeaderValue(String(value)))
  }
  return headers
}

/**
 * Checks that each header equals the argument that it repeats, and that an absent argument has none. Throws
 * `McpError(headerMismatch)`, whose message has the name of the header and both values
 * (basic/transports/streamable-http, server validation).
 */
export function checkHeaderParams(
  params: readonly HeaderParam[],
  args: JsonObject | undefined,
  headers: HeaderParams,
): void {
  for (const param of params) {
    const headerValue = headers.get(param.name)
    const value = readArgument(param, args)
    const problem =
      value === undefined ? describeUnexpectedHeader(headerValue) : describeHeaderMismatch(param, value, headerValue)
    if (problem !== undefined) throw new McpError(errorCodes.headerMismatch, `Mcp-Param-${param.name} ${problem}`)
  }
}

const annotationKeyword = 'x-mcp-header'

/** RFC 9110, section 5.1. At most 128 characters, because servers limit the length of header names. */
const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/

const headerParamTypes = ['string', 'integer', 'boolean'] as const

function readAnnotation({ schema, pointer, propertyPath }: Subschema): HeaderParam | string {
  const name = schema[annotationKeyword]
  const annotationPlace = `${annotationKeyword} at ${pointer === '' ? 'the root' : pointer}`
  if (typeof name !== 'string') return `${annotationPlace} must be a string`
  if (!tokenPattern.test(name))
    return `${annotationPlace} is ${quoteText(name)}, which is not a header name of 1 to 128 characters`
  if (propertyPath === undefined || propertyPath.length === 0) {
    return `${annotationPlace} is not on a way of properties alone from the root of the schema`
  }
  const type = headerParamTypes.find((candidate) => candidate === schema['type'])
  if (type === undefined) return `${annotationPlace} is on a parameter whose type is not string, integer or boolean`
  return { name, path: propertyPath, type }
}

type Scalar = string | number | boolean

/** Undefined for what is no string, number or boolean: the input schema rejects it. */
function readArgument({ path }: HeaderParam, args: JsonObject | undefined): Scalar | undefined {
  let value: unknown = args
  for (const name of path) {
    if (!isJsonObject(value)) return undefined
    value = readOwnMember(value, name)
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

function describeUnexpectedHeader(headerValue: string | undefined): string | undefined {
  return headerValue === undefined ? undefined : `is ${quoteText(headerValue)}, but the arguments have no such value`
}

function describeHeaderMismatch(
  param: HeaderParam,
  value: Scalar,
  headerValue: string | undefined,
): string | undefined {
  if (headerValue === undefined) return `is missing, the arguments say ${quoteText(String(value))}`
  if (isUnsafeInteger(param, value)) return `cannot be checked: ${describeUnsafeInteger(param)}`
  const text = decodeHeaderValue(headerValue)
  if (text === undefined) return `is ${quoteText(headerValue)}, which is not a header value or not canonical Base64`
  const isEqual =
    param.type === 'integer' && typeof value === 'number' ? isSameNumber(text, value) : text === String(value)
  return isEqual ? undefined : `is ${quoteText(text)}, the arguments say ${quoteText(String(value))}`
}

// A gateway may write 42.0. Forms that only some readers understand, such as 0x2a, 042 or 4.2e1, are rejected.
const decimalPattern = /^-?(?:0|[1-9][0-9]{0,15})(?:\.0{1,16})?$/

function isSameNumber(text: string, value: number): boolean {
  return text === String(value) || (decimalPattern.test(text) && Number(text) === value)
}

function isUnsafeInteger(param: HeaderParam, value: Scalar): boolean {
  return param.type === 'integer' && Number.isInteger(value) && !Number.isSafeInteger(value)
}

function describeUnsafeInteger({ path }: HeaderParam): string {
  return `${path.join('.')} must lie within ±(2^53 - 1) to be sent in a header`
}

/**
 * Encodes a text as an HTTP header value. Plain ASCII stays; any other text becomes `=?base64?…?=` with the Base64 of
 * its UTF-8 bytes (basic/transports/streamable-http, value encoding). Throws `McpError(invalidParams)` for a lone
 * surrogate, which UTF-8 cannot represent.
 */
export function encodeHeaderValue(value: string): string {
  if (plainValuePattern.test(value) && !isSentinel(value)) return value
  const bytes = encoder.encode(value)
  if (decoder.decode(bytes) !== value) {
    throw new McpError(errorCodes.invalidParams, 'A header cannot carry text with half a surrogate pair')
  }
  return sentinelPrefix + encodeBase64(bytes) + sentinelSuffix
}

/**
 * Decodes an HTTP header value. `undefined` for a character that a header may not contain, and for Base64 that is not
 * the canonical encoding of a UTF-8 text (basic/transports/streamable-http, value encoding). Remove surrounding white
 * space before, which is no part of the value in HTTP.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!plainValuePattern.test(value)) return undefined
  if (!isSentinel(value)) return value
  // In =?base64?= the prefix and the suffix share a character, so there is no content between them.
  return value.length < sentinelPrefix.length + sentinelSuffix.length
    ? undefined
    : decodeEncodedText(value.slice(sentinelPrefix.length, -sentinelSuffix.length))
}

const sentinelPrefix = '=?base64?'
const sentinelSuffix = '?='

/**
 * Visible ASCII, with spaces and tabs between other characters. No text matches in two ways, so matching takes linear
 * time.
 */
const plainValuePattern = /^(?:[\x21-\x7e]+(?:[\t ]+[\x21-\x7e]+)*)?$/

const encoder = new TextEncoder()
// A byte order mark is a part of the text here, and no mark of the encoding.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function isSentinel(value: string): boolean {
  return value.startsWith(sentinelPrefix) && value.endsWith(sentinelSuffix)
}

function decodeEncodedText(base64: string): string | undefined {
  const bytes = decodeBase64(base64)
  // `decodeBase64` accepts missing padding, spaces and stray bits. With two encodings of one text, a gateway and a
  // server could see different values, so only the canonical one is accepted.
  if (bytes === undefined || encodeBase64(bytes) !== base64) return undefined
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Never an inherited one. */
function readOwnMember(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}
