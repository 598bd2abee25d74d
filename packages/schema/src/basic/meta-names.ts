/** The `_meta` keys of this project: others may use them, and whoever does not know them ignores them (basic/index, `_meta`). */
export const metaNames = {
  /** On a request: names the call, the same each time that it is sent (docs/guides/idempotent-calls). */
  idempotencyKey: 'dev.x/idempotencyKey',
  /** On a tool: its effects honour their idempotency keys, so a call of it may be sent again. */
  keyedEffects: 'dev.x/keyedEffects',
  /** On a task: the numbers of its progress, `{ progress, total? }`. */
  progress: 'dev.x/progress',
  /** On a result with `requestState` alone: after how many milliseconds the client should send the call again. */
  retryAfterMs: 'dev.x/retryAfterMs',
} as const
