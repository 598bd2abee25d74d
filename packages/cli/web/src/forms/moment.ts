/** Converts a time with a zone, such as `2026-07-28T12:00:00Z`, to the value of a `datetime-local` input. */
export function toLocalMoment(text: string): string {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) return ''
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${String(time.getFullYear()).padStart(4, '0')}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
}

/** Converts a local time to UTC. Returns `undefined` for an invalid time. */
export function fromLocalMoment(text: string): string | undefined {
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
