/** The readiness of the parts that one definition gives a server: its codec of `requestState`, and its bus. */
export interface PartReadiness {
  /** Resolves with whether every required part can be reached. Never rejects. */
  ready(): Promise<boolean>
  /** The names of the parts that could not be reached at the last check. */
  unavailableNames(): readonly string[]
}

/** A part of a server that may have a store or a message broker of its own. */
export interface ServerPart {
  /** The name of its option, in the log and in `load.unavailable`. */
  readonly name: string
  /** True when the server can serve no call without it. */
  readonly isRequired: boolean
  /** Makes a round trip to it; undefined of a part that is always reachable. */
  readonly ping: () => Promise<unknown> | undefined
}

/** Checks parts together. Only a change is reported, because a probe comes every few seconds. */
export function createPartReadiness(parts: readonly ServerPart[], report: (error: unknown) => void): PartReadiness {
  const unavailableNames = new Set<string>()
  const checkPart = async ({ name, isRequired, ping }: ServerPart): Promise<boolean> => {
    try {
      await ping()
      unavailableNames.delete(name)
      return true
    } catch (cause) {
      const consequence = isRequired ? 'the server is not ready' : 'changes of other instances are missed meanwhile'
      if (!unavailableNames.has(name)) report(new Error(`\`${name}\` cannot be reached: ${consequence}`, { cause }))
      unavailableNames.add(name)
      return !isRequired
    }
  }
  return {
    ready: async () => (await Promise.all(parts.map(checkPart))).every(Boolean),
    unavailableNames: () => [...unavailableNames],
  }
}
