import type { ServerWarning } from '../request/server-warning.ts'

/** At most so many warnings are remembered as said; later ones are not said at all. */
const maxReported = 1000

/** Passes every warning on once. A listener that fails changes nothing. */
export function reportOnce(listen: (warning: ServerWarning) => void): (warning: ServerWarning) => void {
  const said = new Set<string>()
  return (warning) => {
    const identity = JSON.stringify([warning.code, warning.where, warning.key])
    if (said.has(identity) || said.size >= maxReported) return
    said.add(identity)
    try {
      listen(warning)
    } catch {
      // The call goes on: its answer must not depend on how warnings are written down.
    }
  }
}
