/**
 * The user said no to a question, or turned away from it. Thrown by `ctx.elicit` and `ctx.elicitUrl`; uncaught, it ends
 * the call with a result that says so. `ctx.ask` returns it instead (client/elicitation, response actions).
 */
export class InputDeclined extends Error {
  override readonly name = 'InputDeclined'
  /** The key of the question. */
  readonly key: string
  readonly action: 'decline' | 'cancel'

  constructor(key: string, action: 'decline' | 'cancel') {
    super(`The user ${action === 'decline' ? 'declined to answer' : 'dismissed'} the question "${key}"`)
    this.key = key
    this.action = action
  }
}

/** Returns true for an {@link InputDeclined}. */
export function isInputDeclined(error: unknown): error is InputDeclined {
  return error instanceof InputDeclined
}
