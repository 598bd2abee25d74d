/** The readiness of the parts of a server: its extensions, its codec of `requestState`, and its bus. */
export interface PartReadiness {
  /** Resolves with whether every required part can be reached. Never rejects. */
  ready(): Promise<boolean>
  /** The names of the parts that could not be reached at the last check. */
  unavailableNames(): readonly string[]
}

/** A part of a server that may depend on a store or a message broker. */
export interface ServerPart {
  /** Its name in `load.unavailable`. */
  readonly name: string
  /** The beginning of the report about it, such as `The bus cannot be reached`. */
  readonly problem: string
  /** The consequence while it cannot be reached and is not required, for the report. */
  readonly consequence: string
  /** Returns true when the server can serve no call without it. */
  readonly isRequired: () => boolean
  /** Returns false when it cannot be reached; undefined of a part that always is. A rejection counts as false. */
  readonly check: () => boolean | undefined | Promise<boolean | undefined>
  readonly report: (error: unknown) => void
}

/** Checks parts together. Only a change is reported, because a probe comes every few seconds. */
export function createPartReadiness(parts: readonly ServerPart[]): PartReadiness {
  const unavailableNames = new Set<string>()
  const checkPart = async (part: ServerPart): Promise<boolean> => {
    const { isReachable, cause } = await checkReachable(part)
    const { name } = part
    if (isReachable) {
      unavailableNames.delete(name)
      return true
    }
    const isRequired = part.isRequired()
    const consequence = isRequired ? 'the server is not ready' : part.consequence
    if (!unavailableNames.has(name)) part.report(new Error(`${part.problem}: ${consequence}`, { cause }))
    unavailableNames.add(name)
    return !isRequired
  }
  return {
    ready: async () => (await Promise.all(parts.map(checkPart))).every(Boolean),
    unavailableNames: () => parts.map(({ name }) => name).filter((name) => unavailableNames.has(name)),
  }
}

async function checkReachable({ check }: ServerPart): Promise<{ isReachable: boolean; cause?: unknown }> {
  try {
    return { isReachable: (await check()) ?? true }
  } catch (cause) {
    return { isReachable: false, cause }
  }
}
