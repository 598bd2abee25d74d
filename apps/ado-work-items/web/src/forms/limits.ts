import type { FieldKind } from './field.ts'

interface Range {
  readonly least: number | undefined
  readonly most: number | undefined
}

/** What is allowed in a field, in words; nothing when anything is. */
export function limitsOf(kind: FieldKind): string | undefined {
  switch (kind.type) {
    case 'text':
      return inWords({ least: kind.minLength, most: kind.maxLength }, 'characters')
    case 'number': {
      const range = inWords({ least: kind.minimum, most: kind.maximum })
      if (!kind.whole) return range
      return range === undefined ? 'A whole number' : `A whole number, ${range.toLowerCase()}`
    }
    case 'choices':
      return inWords({ least: kind.minItems, most: kind.maxItems }, 'options')
    case 'json':
      return 'Written as JSON'
    default:
      return undefined
  }
}

function inWords({ least, most }: Range, unit = ''): string | undefined {
  // A bound of zero characters, and one that nobody reaches, say nothing.
  const low = least === undefined || (unit !== '' && least === 0) ? undefined : least
  const high = most === undefined || most >= 2_147_483_647 ? undefined : most
  const end = unit === '' ? '' : ` ${unit}`
  if (low !== undefined && high !== undefined) return low === high ? `${low}${end}` : `${low} to ${high}${end}`
  if (low !== undefined) return `At least ${low}${end}`
  return high === undefined ? undefined : `At most ${high}${end}`
}
