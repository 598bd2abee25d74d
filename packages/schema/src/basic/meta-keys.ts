/** Keys of `_meta` that the protocol reserves (basic/index, `_meta`). */
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

/** The specification states no limit. */
const maxKeyLength = 512

/** True for a key of `_meta` in the specified form: an optional prefix and a name (basic/index, `_meta`). */
export function isMetaKey(key: string): boolean {
  if (key.length > maxKeyLength) return false
  const slashIndex = key.indexOf('/')
  return (
    (slashIndex === -1 || prefixPattern.test(key.slice(0, slashIndex))) && namePattern.test(key.slice(slashIndex + 1))
  )
}

/**
 * Keys of `_meta` that this project defines. Other implementations may use them, and a peer that does not know them
 * ignores them (basic/index, `_meta`).
 */
export const projectMetaKeys = {
  /**
   * On a request: the id of the call, which is the same each time that the client sends the call
   * (docs/guides/idempotent-calls).
   */
  idempotencyKey: 'dev.x/idempotencyKey',
  /** On a tool: true if the tool honours idempotency keys, so that a client may send a call of the tool again. */
  keyedEffects: 'dev.x/keyedEffects',
  /** On a task: its progress, as an object `{ progress, total? }` with numbers. */
  progress: 'dev.x/progress',
  /**
   * On a result with `requestState` and without `inputRequests`: the milliseconds after which the client should send
   * the call again.
   */
  retryAfterMs: 'dev.x/retryAfterMs',
} as const
