/** A failed check: the path, the expected type, and the type found. It repeats nothing of the value itself. */
export interface Failure {
  /** The path from the checked value to the invalid part, such as `.name` or `[0].type`. Empty for the value itself. */
  readonly path: string
  readonly expected: string
  readonly got: string
}

/** Checks a value in place. Returns `undefined` when it is valid. */
export type Check = (value: unknown) => Failure | undefined

/** Creates the failure of a value of another type. */
export function typeFailure(expectedType: string, value: unknown): Failure {
  return { path: '', expected: expectedType, got: describeKind(value) }
}

/** Prefixes the path of a failure with the key of the enclosing object. */
export function prefixFailurePath(failure: Failure, key: string): Failure {
  const pathStep = plainKeyPattern.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, maxShownKeyLength))}]`
  return { ...failure, path: pathStep + failure.path }
}

/** The number of characters of a peer's key that a message repeats. */
const maxShownKeyLength = 100

const plainKeyPattern = /^[\w$]{1,100}$/

function describeKind(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  const type = typeof value
  return type === 'object' ? 'an object' : `a ${type}`
}
