import type { JsonValue } from '@x/schema'
import type { SessionState } from './session-options.ts'
import { SessionError } from '../session-error.ts'

export interface StateParser<State> {
  /** Undefined if the handlers keep no state. */
  readonly initial: State | undefined
  /** A state that the schema no longer accepts is reported, and the initial one takes its place. */
  parse(value: JsonValue | undefined, report: (error: unknown) => void): State
  /** Gives the schema's output. Throws if the schema rejects the state. */
  validate(next: State): State
  serialize(state: State): JsonValue
}

/** For sessions without state. */
export const statelessParser: StateParser<null> = {
  initial: undefined,
  parse: () => null,
  validate: () => null,
  serialize: () => null,
}

/**
 * Makes the parser for a schema.
 *
 * @throws SessionError for an initial state that the schema rejects, and for an asynchronous schema.
 */
export function createStateParser<State>({ schema, initial }: SessionState<State>): StateParser<State> {
  const validate = (value: unknown): State => {
    const result = schema['~standard'].validate(value)
    if (result instanceof Promise) {
      throw new SessionError(
        'usage',
        'The schema of a session state must be synchronous: leave asynchronous checks to the handlers',
      )
    }
    if (result.issues === undefined) return result.value
    throw new SessionError('usage', `Not a session state: ${result.issues.map(describeIssue).join('; ')}`)
  }
  const initialState = validate(initial)
  return {
    initial: initialState,
    parse(value, report) {
      try {
        return validate(value)
      } catch (error) {
        report(error)
        return initialState
      }
    },
    validate,
    // The cast is safe: `MustBeJson` admits only JSON types. TypeScript does not take an interface for a `JsonValue`.
    serialize: (state) => state as JsonValue,
  }
}

function describeIssue({
  message,
  path = [],
}: {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
}): string {
  const keys = path.map((segment) =>
    String(typeof segment === 'object' && segment !== null && 'key' in segment ? segment.key : segment),
  )
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
}
