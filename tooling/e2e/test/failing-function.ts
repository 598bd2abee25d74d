/** What each of these functions fails with. */
export const failure = new Error('a function of an author failed')

/** The ways in which a function fails. Its type is that of any callback, as TypeScript cannot exclude either. */
export const failing: readonly [string, () => never][] = [
  [
    'throws',
    () => {
      throw failure
    },
  ],
  ['rejects', () => Promise.reject(failure) as never],
]

/** Runs each callback in each way. Vitest fails the run for a rejection that no code handles. */
export function eachFailing<Options>(
  rows: Readonly<Record<string, (fail: () => never) => Options>>,
): [string, Options][] {
  return Object.entries(rows).flatMap(([name, create]) =>
    failing.map(([way, fail]): [string, Options] => [`${name} ${way}`, create(fail)]),
  )
}

/** Returns true if an error is the failure, quotes it, has it as a cause, or says that there was a promise instead of a result. */
export function isFromFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { message, cause } = error
  return message.includes(failure.message) || message.includes('returned a promise') || isFromFailure(cause)
}
