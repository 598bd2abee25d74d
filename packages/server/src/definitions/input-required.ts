import type { InputRequest, JsonValue } from '@x/schema'

const explicit = Symbol('explicit round')

/**
 * The input that a handler requires of the client, and the state that it gets back with the answers; see
 * {@link inputRequired}.
 */
export interface InputRequired {
  readonly [explicit]: true
  readonly requests: { readonly [key: string]: InputRequest }
  readonly state: JsonValue | undefined
}

/**
 * Ends a run by asking, in the protocol's own terms, for handlers that want every round in sight: return it, and in the next
 * round read `ctx.responses` and `ctx.state`. The state is sealed on its way; the contents of forms are the client's word, and
 * the handler checks them. At least one of the two must be there (basic/patterns/mrtr, server requirements).
 *
 * @example
 * const name = ctx.responses.get('name')
 * if (name === undefined) return inputRequired({ requests: { name: { method: 'elicitation/create', params } } })
 */
export function inputRequired({
  requests = {},
  state,
}: {
  readonly requests?: { readonly [key: string]: InputRequest } | undefined
  readonly state?: JsonValue | undefined
}): InputRequired {
  return { [explicit]: true, requests, state }
}

/** Returns true for the value of {@link inputRequired}. */
export function isInputRequired(value: unknown): value is InputRequired {
  return typeof value === 'object' && value !== null && explicit in value
}
