import { showCount } from '../units.ts'
import type { FieldKind } from './field.ts'

interface Range {
  readonly least: number | undefined
  readonly most: number | undefined
}

/** Describes the limits of a field in words; nothing when there are none. */
export function limitsOf(kind: FieldKind): string | undefined {
  switch (kind.type) {
    case 'text':
      return inWords({ least: kind.minLength, most: kind.maxLength }, 'character')
    case 'number': {
      const range = inWords({ least: kind.minimum, most: kind.maximum })
      if (!kind.whole) return range
      return range === undefined ? 'A whole number' : `A whole number, ${range.toLowerCase()}`
    }
    case 'choices':
      return inWords({ least: kind.minItems, most: kind.maxItems }, 'option')
    case 'json':
      return 'Written as JSON'
    default:
      return undefined
  }
}

function inWords({ least, most }: Range, unit = ''): string | undefined {
  const low = unit !== '' && least === 0 ? undefined : least
  const high = isReached(most) ? most : undefined
  if (low === undefined) return high === undefined ? undefined : `At most ${amount(high, unit)}`
  if (high === undefined) return `At least ${amount(low, unit)}`
  return low === high ? amount(low, unit) : `${low} to ${amount(high, unit)}`
}

function amount(number: number, unit: string): string {
  return unit === '' ? String(number) : showCount(number, unit)
}

/** The largest numbers of 32 and 53 bits are bounds of machines, which tell a person nothing. */
function isReached(most: number | undefined): most is number {
  return most !== undefined && most < 2_147_483_647
}
