declare const valueType: unique symbol

/**
 * Names one value of a call's context, and its type. Keys of the same name are the same key, also from two copies of a
 * package.
 */
export interface ContextKey<T> {
  readonly id: symbol
  readonly [valueType]?: T
}

/**
 * Data that accompanies a call and is not in its request. It never changes; `withContext` makes a call with one more
 * value.
 */
export interface CallContext {
  /** Returns the value of a key, or undefined when nobody has set it. */
  get<T>(key: ContextKey<T>): T | undefined
}

/**
 * Makes a key. Create it once, at module level, and give it a name with the prefix of its package or domain.
 *
 * @example
 * const tenantKey = contextKey<string>('com.example/tenant')
 */
export function contextKey<T>(name: string): ContextKey<T> {
  return { id: Symbol.for(`x.context ${name}`) }
}

/** The context without a value. */
export const emptyContext: CallContext = { get: () => undefined }
