/** A failed check: where, what was expected, and what was found. It does not contain the value. */
export interface Failure {
  /** Leads from the checked value to the invalid part, such as `.name` or `[0].type`. Empty for the value itself. */
  readonly path: string
  readonly expected: string
  readonly got: string
}

/** Checks a value in place. `undefined` means that it is valid. */
export type Check = (value: unknown) => Failure | undefined

export function typeFailure(expectedType: string, value: unknown): Failure {
  return { path: '', expected: expectedType, got: describeKind(value) }
}

/** Puts a key of the enclosing object in front of a failure's path. */
export function prefixFailurePath(failure: Failure, key: string): Failure {
  const pathStep = plainKeyPattern.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, maxShownKeyLength))}]`
  return { ...failure, path: pathStep + failure.path }
}

/** A message repeats so much of a peer's key. */
const maxShownKeyLength = 100

const plainKeyPattern = /^[\w$]{1,100}$/

function describeKind(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  const type = typeof value
  return type === 'object' ? 'an object' : `a ${type}`
}
