/** One line of a trace. */
export interface TraceLine {
  readonly atMs: number
  readonly host: string
  readonly text: string
}

/** The events of one simulation. */
export interface Trace {
  add(host: string, text: string): void
  /** Replaces long ids with short ones, as in the lines. */
  shorten(text: string): string
  readonly lines: readonly TraceLine[]
}

/** Creates an empty trace. */
export function createTrace(now: () => number): Trace {
  const lines: TraceLine[] = []
  const shortIds = createShortIds()
  return {
    lines,
    shorten: shortIds,
    add: (host, text) => void lines.push({ atMs: now(), host, text: shortIds(text) }),
  }
}

/** Ids of tasks, calls and claims: 20 characters or more without a space. */
const longIds = /[A-Za-z0-9_-]{20,}/gu

/** Returns a function that replaces long ids with short ones. The first id becomes `#1`. */
function createShortIds(): (text: string) => string {
  const ids = new Map<string, string>()
  return (text) =>
    text.replace(longIds, (id) => {
      const shortId = ids.get(id) ?? `#${ids.size + 1}`
      ids.set(id, shortId)
      return shortId
    })
}

/** Returns the text of a line: the virtual time in seconds, the process, and the event. */
export function formatLine({ atMs, host, text }: TraceLine): string {
  return `${(atMs / 1000).toFixed(3).padStart(9)} s  ${host.padEnd(10)}  ${text}`
}
