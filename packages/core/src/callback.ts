/**
 * Calls a function of an author whose result nothing waits for, such as a log or an observer. An async function fits
 * every type that returns `void`, and its rejection would end the process; so what it throws or rejects with goes to
 * `report`, which must not throw.
 */
export function callListener<T>(listener: (value: T) => unknown, value: T, report: (error: unknown) => void): void {
  try {
    const result = listener(value)
    if (isPromiseLike(result)) result.then(undefined, report)
  } catch (error) {
    report(error)
  }
}

/**
 * Checks the result of a function that must answer at once. A promise is truthy and has none of the expected members,
 * so taking one for an answer would, for example, show a hidden tool to every caller.
 *
 * @throws TypeError for a promise. What the promise rejects with is dropped.
 */
export function requireSync<T>(name: string, result: T): T {
  if (!isPromiseLike(result)) return result
  result.then(undefined, () => {})
  throw new TypeError(`${name} returned a promise: it must return its result at once`)
}

/** The part of a store that belongs to one owner, or the store itself if it has no parts. */
export function storeOfOwner<Store>(
  store: Store & { readonly forOwner?: ((owner: string) => Store) | undefined },
  owner: string,
): Store {
  return requireSync('forOwner', store.forOwner?.(owner)) ?? store
}

/** True for a promise, also of another realm or library. Never true for JSON, which has no functions. */
export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return 'then' in value && typeof value.then === 'function'
}
