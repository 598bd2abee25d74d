import type { ElicitAnswer } from '@x/client'

type Content = NonNullable<ElicitAnswer['content']>

/** Describes an answer in a few words. */
export function showAnswer({ action, content = {} }: ElicitAnswer): string {
  if (action === 'decline') return 'declined'
  if (action === 'cancel') return 'cancelled'
  const values = Object.values(content).flatMap((value) => (value === undefined ? [] : [showValue(value)]))
  return values.length === 0 ? 'accepted' : values.join(' · ')
}

function showValue(value: NonNullable<Content[string]>): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = typeof value === 'object' ? value.join(', ') : String(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
