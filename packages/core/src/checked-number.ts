/** Which numbers an option may have. */
export interface NumberBounds {
  /** Default: 1. */
  readonly min?: number
  /** Default: no maximum. */
  readonly max?: number
  /**
   * Accepts only whole numbers up to 2^53 - 1. With false, any number is valid, also an infinite one. Default: true.
   */
  readonly isWhole?: boolean
}

const defaults = { min: 1, max: Number.POSITIVE_INFINITY, isWhole: true } satisfies NumberBounds

/**
 * Checks a numeric option, in all packages. Throws a RangeError for a value outside of the bounds.
 *
 * @example
 * checkedNumber('timeoutMs', options.timeoutMs, { max: maxTimerMs }) // RangeError for 0
 */
export function checkedNumber(name: string, value: unknown, bounds: NumberBounds = {}): number {
  const { min, max, isWhole } = { ...defaults, ...bounds }
  const isKind = typeof value === 'number' && (!isWhole || Number.isSafeInteger(value))
  if (isKind && value >= min && value <= max) return value
  const upTo = max === Number.POSITIVE_INFINITY ? '' : ` to ${max}`
  throw new RangeError(
    `${name} is ${typeof value === 'string' ? JSON.stringify(value) : String(value)}: write a ${isWhole ? 'whole ' : ''}number from ${min}${upTo}`,
  )
}
