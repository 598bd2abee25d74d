/** Milliseconds as people read them. */
export function formatMs(ms: number | null): string {
  if (ms === null || Number.isNaN(ms)) return '–'
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
