/** The `_meta` keys that the protocol reserves (basic/index, `_meta`). */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  progressToken: 'progressToken',
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  baggage: 'baggage',
} as const

const labelPattern = '[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
const prefixPattern = new RegExp(`^${labelPattern}(?:\\.${labelPattern})*$`)
const namePattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

/** The second label of a reserved prefix, as in `io.modelcontextprotocol/` or `dev.mcp/`. */
const reservedLabels: ReadonlySet<string | undefined> = new Set(['modelcontextprotocol', 'mcp'])

const reservedNames: ReadonlySet<string> = new Set(Object.values(metaKeys))

/** The longest key that is examined. The specification states no limit. */
const maxKeyLength = 512

/** Returns true if a `_meta` key has the specified form: an optional prefix and a name (basic/index, `_meta`). */
export function isMetaKey(key: string): boolean {
  if (key.length > maxKeyLength) return false
  const slashIndex = key.indexOf('/')
  return (
    (slashIndex === -1 || prefixPattern.test(key.slice(0, slashIndex))) && namePattern.test(key.slice(slashIndex + 1))
  )
}

/** Returns true if a `_meta` key is reserved for the protocol (basic/index, `_meta`). */
export function isReservedMetaKey(key: string): boolean {
  const slashIndex = key.indexOf('/')
  if (slashIndex === -1) return reservedNames.has(key)
  return reservedLabels.has(key.slice(0, slashIndex).split('.', 2)[1])
}

/**
 * The `_meta` keys of this project. Other implementations may use them. A peer that does not know them ignores them
 * (basic/index, `_meta`).
 */
export const projectMetaKeys = {
  /** On a request: names the call, the same each time that it is sent (docs/guides/idempotent-calls). */
  idempotencyKey: 'dev.x/idempotencyKey',
  /** On a tool: its effects honour their idempotency keys, so a call of it may be sent again. */
  keyedEffects: 'dev.x/keyedEffects',
  /** On a task: the numbers of its progress, `{ progress, total? }`. */
  progress: 'dev.x/progress',
  /** On a result with `requestState` alone: after how many milliseconds the client should send the call again. */
  retryAfterMs: 'dev.x/retryAfterMs',
} as const
