/** Counts how often the scopes of an operation were asked for lately. */
export interface StepUps {
  /** Counts one more; `false` when the operation has had its share. */
  take(operation: string): boolean
}

const windowMs = 300_000
const maxInWindow = 2
const maxOperations = 1000

// basic/authorization, step-up flow: a server that is never content must not send a person to log in for ever.
export function createStepUps(now: () => number): StepUps {
  const taken = new Map<string, { readonly since: number; readonly count: number }>()
  return {
    take: (operation) => {
      const known = taken.get(operation)
      const isRecent = known !== undefined && now() - known.since < windowMs
      const { since, count } = isRecent ? known : { since: now(), count: 0 }
      if (count >= maxInWindow) return false
      if (!isRecent && taken.size >= maxOperations) taken.clear()
      taken.set(operation, { since, count: count + 1 })
      return true
    },
  }
}
