/** Formats a size: `312 B`, `1.4 kB`. */
export function showBytes(bytes: number): string {
  return bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} kB`
}

/** Formats a duration: `84 ms`, `1.2 s`. */
export function showDuration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.max(1, Math.round(milliseconds))} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}

/** Formats an amount with its unit: `1 question`, `2 questions`. */
export function showCount(amount: number, what: string): string {
  return `${amount} ${what}${amount === 1 ? '' : 's'}`
}
