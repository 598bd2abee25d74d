/** Counts how often the scopes of an operation were asked for lately. */
export interface StepUpLimiter {
  /** Counts one more; `false` when the operation has had its share. */
  tryAcquire(operation: string): boolean
}

const windowMs = 300_000
const maxAttemptsInWindow = 2
const maxOperations = 1000

// basic/authorization, step-up flow: a server that is never content must not send a person to log in for ever.
export function createStepUpLimiter(now: () => number): StepUpLimiter {
  const attempts = new Map<string, { readonly since: number; readonly count: number }>()
  return {
    tryAcquire: (operation) => {
      const attempt = attempts.get(operation)
      const isRecent = attempt !== undefined && now() - attempt.since < windowMs
      const { since, count } = isRecent ? attempt : { since: now(), count: 0 }
      if (count >= maxAttemptsInWindow) return false
      if (!isRecent && attempts.size >= maxOperations) attempts.clear()
      attempts.set(operation, { since, count: count + 1 })
      return true
    },
  }
}
