/** A failed check, with the path, the expected type, and the actual type. It does not contain the value. */
export interface Failure {
  /** The path from the checked value to the invalid part, such as `.name` or `[0].type`. Empty for the value itself. */
  readonly path: string
  readonly expected: string
  readonly got: string
}

/** Checks a value in place. Returns `undefined` when it is valid. */
export type Check = (value: unknown) => Failure | undefined

/** Creates the failure for a value that does not have the expected type. */
export function typeFailure(expectedType: string, value: unknown): Failure {
  return { path: '', expected: expectedType, got: describeKind(value) }
}

/** Adds a key of the enclosing object to the front of a failure's path. */
export function prefixFailurePath(failure: Failure, key: string): Failure {
  const pathStep = plainKeyPattern.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, maxShownKeyLength))}]`
  return { ...failure, path: pathStep + failure.path }
}

/** The maximum number of characters of a peer's key that a message repeats. */
const maxShownKeyLength = 100

const plainKeyPattern = /^[\w$]{1,100}$/

function describeKind(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  const type = typeof value
  return type === 'object' ? 'an object' : `a ${type}`
}
