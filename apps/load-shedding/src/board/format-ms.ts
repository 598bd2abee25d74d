/** Formats milliseconds as text, in seconds from 1000 on. A missing value is a dash. */
export function formatMs(ms: number | null): string {
  if (ms === null || Number.isNaN(ms)) return '–'
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
