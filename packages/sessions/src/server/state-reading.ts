import type { JsonValue } from '@x/schema'
import type { SessionState } from './session-options.ts'
import { SessionUsageError } from './session-usage-error.ts'

/** Turns what a session holds into a state, and back. */
export interface StateReading<State extends JsonValue> {
  /** Undefined is a session that has none yet. One that is no state any more begins anew, and is reported. */
  read(value: JsonValue | undefined, report: (error: unknown) => void): State
  /** Throws for what is no state. */
  check(next: State): State
}

/** Sessions whose handlers keep nothing in them. */
export const noState: StateReading<null> = { read: () => null, check: () => null }

/** Reads and checks states by their schema. */
export function readingOf<State extends JsonValue>({ schema, initial }: SessionState<State>): StateReading<State> {
  const validate = (value: unknown): State => {
    const result = schema['~standard'].validate(value)
    if (result instanceof Promise) {
      throw new SessionUsageError(
        'The schema of a session state must answer at once: leave its asynchronous checks to the handlers',
      )
    }
    if (result.issues === undefined) return result.value
    throw new SessionUsageError(`This is no state of a session: ${result.issues.map(describe).join('; ')}`)
  }
  return {
    read(value, report) {
      try {
        return validate(value ?? initial)
      } catch (error) {
        report(error)
        return validate(initial)
      }
    },
    check: validate,
  }
}

function describe({
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
