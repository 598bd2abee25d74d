import type { JsonValue } from '@x/schema'
import type { SessionState } from './session-options.ts'
import { SessionUsageError } from './session-errors.ts'

/** Parses and checks the states of sessions. */
export interface StateParser<State> {
  /** The first state of a session, undefined where its handlers keep none. */
  readonly initial: State | undefined
  /**
   * Parses the state that a request brought. One that the schema no longer accepts is reported and replaced by the
   * initial one.
   */
  parse(value: JsonValue | undefined, report: (error: unknown) => void): State
  /** Returns a state that the schema accepts. Throws for others. */
  validate(next: State): State
  /** Returns a state as JSON. */
  serialize(state: State): JsonValue
}

/** The parser of sessions without state. */
export const statelessParser: StateParser<null> = {
  initial: undefined,
  parse: () => null,
  validate: () => null,
  serialize: () => null,
}

/**
 * Makes the parser of a schema.
 *
 * @throws SessionUsageError for an initial state that the schema rejects, and for an asynchronous schema.
 */
export function createStateParser<State>({ schema, initial }: SessionState<State>): StateParser<State> {
  const validate = (value: unknown): State => {
    const result = schema['~standard'].validate(value)
    if (result instanceof Promise) {
      throw new SessionUsageError(
        'The schema of a session state must be synchronous: leave asynchronous checks to the handlers',
      )
    }
    if (result.issues === undefined) return result.value
    throw new SessionUsageError(`Not a session state: ${result.issues.map(describeIssue).join('; ')}`)
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
    // The options take types of JSON alone (MustBeJson). Interfaces are among them, which the compiler does not see as
    // JsonValue.
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
