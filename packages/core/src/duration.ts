/** Writes milliseconds in their largest unit, such as `5m`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000)
  const sign = ms < 0 ? '-' : ''
  if (seconds < 120) return `${sign}${seconds}s`
  if (seconds < 7200) return `${sign}${Math.round(seconds / 60)}m`
  return seconds < 172_800 ? `${sign}${Math.round(seconds / 3600)}h` : `${sign}${Math.round(seconds / 86_400)}d`
}

/** Writes a `Retry-After` header: whole seconds, at least one (RFC 9110, section 10.2.3). */
export function formatRetryAfter(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)))
}
