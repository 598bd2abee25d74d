import { showCount } from '../units.ts'
import type { FieldKind } from './field.ts'

/** Describes the limits of a field. Undefined if there are none. */
export function limitsOf(kind: FieldKind): string | undefined {
  switch (kind.type) {
    case 'text':
      return inWords({ min: kind.minLength, max: kind.maxLength }, 'character')
    case 'number': {
      const range = inWords({ min: kind.minimum, max: kind.maximum })
      if (!kind.whole) return range
      return range === undefined ? 'A whole number' : `A whole number, ${range.toLowerCase()}`
    }
    case 'choices':
      return inWords({ min: kind.minItems, max: kind.maxItems }, 'option')
    case 'json':
      return 'Written as JSON'
    default:
      return undefined
  }
}

function inWords(
  { min, max }: { readonly min: number | undefined; readonly max: number | undefined },
  unit = '',
): string | undefined {
  const low = isRelevant(min) && !(unit !== '' && min === 0) ? min : undefined
  const high = isRelevant(max) ? max : undefined
  if (low === undefined) return high === undefined ? undefined : `At most ${amount(high, unit)}`
  if (high === undefined) return `At least ${amount(low, unit)}`
  return low === high ? amount(low, unit) : `${low} to ${amount(high, unit)}`
}

function amount(number: number, unit: string): string {
  return unit === '' ? String(number) : showCount(number, unit)
}

/** Returns true if a limit is useful to the user. The bounds of 32-bit and 53-bit integers are technical limits. */
function isRelevant(limit: number | undefined): limit is number {
  return limit !== undefined && Math.abs(limit) < 2_147_483_647
}
