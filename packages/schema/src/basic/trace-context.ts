import type { JsonObject } from '@x/core'

/** W3C Trace Context and W3C Baggage of a `_meta` (basic/index, OpenTelemetry trace context). */
export interface TraceContext {
  readonly traceparent?: string | undefined
  /** Vendor's part of the trace context. Absent without a `traceparent`. */
  readonly tracestate?: string | undefined
  readonly baggage?: string | undefined
}

/** Leaves malformed parts out, as W3C requires. */
export function traceContextOf(meta: JsonObject | undefined): TraceContext {
  if (meta === undefined) return {}
  const { traceparent, tracestate, baggage } = meta
  const validContext: { -readonly [K in keyof TraceContext]: TraceContext[K] } = {}
  if (isTraceparent(traceparent)) {
    validContext.traceparent = traceparent
    if (isTracestate(tracestate)) validContext.tracestate = tracestate
  }
  if (isBaggage(baggage)) validContext.baggage = baggage
  return validContext
}

/** Versions above 00 may append fields. `ff` is no version, and ids of zeros are invalid. */
const traceparentPattern =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-[\x21-\x7e]{0,256})?$/

function isTraceparent(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 512) return false
  const match = traceparentPattern.exec(value)
  return match !== null && (match[1] !== '00' || match[2] === undefined)
}

const tracestateKeyPattern = /^(?:[a-z0-9][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/
const tracestateValuePattern = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/
const maxTracestateLength = 32 * 520

function isTracestate(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > maxTracestateLength) return false
  const keys = new Set<string>()
  const members = value
    .split(',')
    .map(trimBlanks)
    .filter((member) => member !== '')
  for (const member of members) {
    const [key, text] = splitPair(member)
    if (keys.has(key) || !tracestateKeyPattern.test(key) || !tracestateValuePattern.test(text)) return false
    keys.add(key)
  }
  return members.length > 0 && members.length <= 32
}

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const baggageValuePattern = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/

function isBaggage(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 8192) return false
  const members = value.split(',')
  return members.length <= 180 && members.every((member) => member.split(';').every(isBaggageMemberPart))
}

/** The first part is `key=value`. A later one is a property, which may be a key without a value. */
function isBaggageMemberPart(part: string, index: number): boolean {
  if (index > 0 && !part.includes('=')) return tokenPattern.test(trimBlanks(part))
  const [key, value] = splitPair(part)
  return part.includes('=') && tokenPattern.test(trimBlanks(key)) && baggageValuePattern.test(trimBlanks(value))
}

function splitPair(text: string): [key: string, value: string] {
  const at = text.indexOf('=')
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(codeUnit: number): boolean {
  return codeUnit === 0x20 || codeUnit === 0x09
}
